//! A run with `--agents k8s:...`: its pods are created, followed and removed.

use std::fs;
use std::path::{Path, PathBuf};

use kgauge_kubernetes::{AgentsManifest, DeployError, DeployedRun, Kubectl, STATUS_FILE, follow};
use kgauge_runner::{
    ConsentAnswer, Question, StopRequests, fresh_number, name_slug, run_dir, run_id, unix_ms,
    without_secrets,
};

use super::pod_target::{PodTarget, PodTargetError, pod_target};
use super::prepare::{manifest_of, pod_options};
use crate::args::RunArgs;
use crate::ask::may_begin;
use crate::exit::{ExitStatus, OrStop, stop};
use crate::run::report;
use crate::{interrupt, print};

/// Runs the question in pods, puts its run folder on this machine, and reports.
pub(super) fn deploy(
    arguments: &RunArgs,
    question: &Question,
    agents: &str,
) -> anyhow::Result<ExitStatus> {
    let options = pod_options(agents)?;
    check_flags(arguments)?;
    let target = pod_target(arguments.targets.first().map(String::as_str));
    let target = target.map_err(|error| match error {
        PodTargetError::Other(error) => error,
        PodTargetError::NoUser(user) => stop(
            ExitStatus::BadInput,
            format!(
                "KafkaUser {} has no Secret in namespace {}\n  kgauge agents manifest prints a KafkaUser to apply",
                user.name, user.namespace
            ),
        ),
    })?;
    let id = run_id(unix_ms(), fresh_number());
    let name = name_slug(arguments.conduct.name.as_deref().unwrap_or(&question.name))?;
    let out = run_dir(arguments.conduct.out.as_deref(), &name, &id)?;
    check_out(&out)?;
    let more = lead_arguments(arguments);
    let instance = format!("kgauge-{id}");
    let seed = arguments.conduct.seed;
    let manifest = manifest_of(instance, options, question, seed, &target, more)?;
    ask(arguments, question, &manifest, &target)?;
    let stopping = interrupt::listen("stopping: the lead ends the run and writes its report")?;
    let results = follow_pods(&manifest, &out, &stopping)?;
    finish(arguments, &results, &out)
}

/// Flags whose meaning ends at this machine.
fn check_flags(arguments: &RunArgs) -> anyhow::Result<()> {
    let conduct = &arguments.conduct;
    let mut metrics = conduct.metrics.iter();
    let has_password = metrics.any(|metrics| without_secrets(metrics) != *metrics);
    let refused = [
        (arguments.targets.len() > 1, "several targets"),
        (arguments.resume.is_some(), "--resume"),
        (arguments.checkup.is_some(), "checkup"),
        (arguments.destination.is_some(), "--destination"),
        (!arguments.prices.is_empty(), "--price"),
        // Arguments of pods can be read by everybody in the namespace.
        (has_password, "passwords in --metrics"),
        (conduct.serve.is_some(), "--serve"),
        (conduct.kafka_home.is_some(), "--kafka-home"),
        (!conduct.network_speeds.is_empty(), "--network-speed"),
        (
            conduct.agents.agents_token_file.is_some(),
            "--agents-token-file",
        ),
    ];
    match refused.iter().find(|(is_given, _)| *is_given) {
        Some((_, flag)) => Err(stop(
            ExitStatus::BadInput,
            format!("--agents k8s: does not work with {flag}; leave it out"),
        )),
        None => Ok(()),
    }
}

/// Flags that the lead takes in place of this process.
fn lead_arguments(arguments: &RunArgs) -> Vec<String> {
    let conduct = &arguments.conduct;
    let mut more = Vec::new();
    if let Some(name) = &conduct.name {
        more.push(format!("--name={name}"));
    }
    if let Some(topic) = &conduct.allow_existing {
        more.push(format!("--allow-existing={topic}"));
    }
    if conduct.keep {
        more.push("--keep".to_owned());
    }
    if conduct.no_wire_evidence {
        more.push("--no-wire-evidence".to_owned());
    }
    more.extend(conduct.agents.lead_arguments());
    more.extend(
        conduct
            .metrics
            .iter()
            .map(|metrics| format!("--metrics={metrics}")),
    );
    more
}

fn check_out(out: &Path) -> anyhow::Result<()> {
    let is_free = match fs::read_dir(out) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => !out.exists(),
    };
    match is_free {
        true => Ok(()),
        false => Err(stop(
            ExitStatus::BadInput,
            format!(
                "--out {}: the folder is not empty; name another",
                out.display()
            ),
        )),
    }
}

/// Shows what will happen, and asks.
fn ask(
    arguments: &RunArgs,
    question: &Question,
    manifest: &AgentsManifest,
    target: &PodTarget,
) -> anyhow::Result<()> {
    let options = &manifest.options;
    print::message(&format!(
        "kgauge: {} agents and a lead in namespace {}, each with {} CPUs and {} memory, image {}\nkgauge: target {} ({})",
        options.replicas,
        options.namespace,
        options.cpu,
        options.memory,
        options.image,
        target.text,
        target.config.servers()
    ));
    if arguments.conduct.yes {
        return Ok(());
    }
    print::message(&question.preview(arguments.conduct.seed)?.to_string());
    match may_begin() {
        ConsentAnswer::Yes => Ok(()),
        ConsentAnswer::No => Err(stop(
            ExitStatus::BadInput,
            "not confirmed; nothing was created",
        )),
        ConsentAnswer::NobodyThere => Err(stop(
            ExitStatus::BadInput,
            "cannot ask for confirmation: stdin is not a terminal (use --yes)",
        )),
    }
}

/// Creates the pods, and returns the folder with the lead's results. Nothing stays in the cluster, however it ends.
fn follow_pods(
    manifest: &AgentsManifest,
    out: &Path,
    stopping: &StopRequests,
) -> anyhow::Result<PathBuf> {
    let results = out.with_extension("fetching");
    let failed = |error: DeployError| {
        let status = match error {
            DeployError::Interrupted => ExitStatus::Interrupted,
            _ => ExitStatus::BadInput,
        };
        stop(status, format!("--agents k8s: {error}\n  {}", error.fix()))
    };
    let yaml = manifest.yaml().or_bad_input()?;
    print::message(&format!("kgauge: creating {}", manifest.instance));
    let kubectl = Kubectl::new(stopping.all.clone());
    let run = DeployedRun::create(manifest, yaml, kubectl);
    let run = run.map_err(|error| failed(error.into()))?;
    let mut show = |line: &str| print::message(line);
    let followed = follow(&run, &results, &stopping.load, &stopping.all, &mut show);
    print::message("kgauge: removing the pods");
    if let Err(error) = run.remove() {
        print::message(&format!(
            "kgauge: {} is still in namespace {}: {error}\n  kubectl delete job,service,configmap,secret -n {} -l \
             app.kubernetes.io/instance={}",
            manifest.instance,
            manifest.options.namespace,
            manifest.options.namespace,
            manifest.instance
        ));
    }
    match followed {
        Ok(()) => Ok(results),
        Err(error) => {
            let _ = fs::remove_dir_all(&results);
            Err(failed(error))
        }
    }
}

/// Puts the run folder into its place, and reports as after a run on this machine.
fn finish(arguments: &RunArgs, results: &Path, out: &Path) -> anyhow::Result<ExitStatus> {
    let status = fs::read_to_string(results.join(STATUS_FILE)).unwrap_or_default();
    let status = status
        .trim()
        .parse()
        .map_or(ExitStatus::Defect, ExitStatus::of_code);
    let run = results.join("run");
    if !run.exists() {
        let _ = fs::remove_dir_all(results);
        return Err(stop(
            status,
            "the lead has no results; its messages above say why",
        ));
    }
    // An empty folder may be there.
    let _ = fs::remove_dir(out);
    fs::rename(&run, out).or_unwritable()?;
    let _ = fs::remove_dir_all(results);
    let reported = report(out, arguments.conduct.json, arguments.conduct.detail)?;
    // The lead also knows of what happened outside of the figures.
    Ok(ExitStatus::gravest(&[reported, status]))
}
