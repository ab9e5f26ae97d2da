//! A run with `--agents k8s:...`: its pods are created, followed and removed.

use std::fs;
use std::path::{Path, PathBuf};

use kgauge_kubernetes::{
    AgentsManifest, DeployError, DeployedRun, FollowOptions, Kubectl, STATUS_FILE, follow,
};
use kgauge_results::folder::{RunOrigin, note_origin};
use kgauge_runner::{
    ConsentAnswer, Question, StopRequests, check_agents_plan, fresh_number, name_slug,
    remove_unused, run_dir, run_id, unix_ms,
};

use super::lead_flags::lead_arguments;
use super::pod_target::{PodTarget, PodTargetError, pod_target};
use super::prepare::{manifest_of, pod_options};
use crate::args::RunArgs;
use crate::ask::may_begin;
use crate::exit::{ExitStatus, OrStop, stop};
use crate::host::command_line;
use crate::run::report;
use crate::{interrupt, print};

/// Runs the question in pods, puts its run folder on this machine, and reports.
pub(super) fn deploy(
    arguments: &RunArgs,
    question: &Question,
    agents: &str,
) -> anyhow::Result<ExitStatus> {
    let options = pod_options(agents)?;
    let more = lead_arguments(arguments)?;
    check_agents_plan(question)?;
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
    let instance = format!("kgauge-{id}");
    let seed = arguments.conduct.seed;
    let manifest = manifest_of(instance, options, question, seed, &target, more)?;
    ask(arguments, question, &manifest, &target)?;
    let stopping = interrupt::listen("stopping: the lead ends the run and writes its report")?;
    let fetched = FetchedFolder::beside(&out, &manifest.instance)?;
    let results = fetched.0.join("results");
    follow_pods(arguments, &manifest, &results, &stopping)?;
    let texts = question.texts();
    let origin = RunOrigin {
        command: command_line(),
        target: target.text,
        scenarios: texts
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .collect(),
    };
    finish(arguments, &results, &out, &origin)
}

/// A folder next to the run folder for what arrives. Dropping it removes it.
struct FetchedFolder(PathBuf);

impl FetchedFolder {
    fn beside(out: &Path, instance: &str) -> anyhow::Result<Self> {
        let parent = out.parent().unwrap_or(Path::new(""));
        if !parent.as_os_str().is_empty() {
            fs::create_dir_all(parent).or_unwritable()?;
        }
        let dir = parent.join(format!(".{instance}.fetched"));
        fs::create_dir(&dir).or_unwritable()?;
        Ok(Self(dir))
    }
}

impl Drop for FetchedFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
        // Also the default folder around it, if nothing else is there.
        remove_unused(&self.0);
    }
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
    let preview = match &arguments.checkup {
        // Its loads depend on the cluster, which only pods may reach.
        Some(checkup) => format!(
            "a checkup of at most {} min; --max-rate and --max-disk limit what it writes",
            checkup.budget.as_secs().div_ceil(60)
        ),
        None => question.preview(arguments.conduct.seed)?.to_string(),
    };
    print::message(&preview);
    match may_begin() {
        ConsentAnswer::Yes => Ok(()),
        ConsentAnswer::No => Err(stop(
            ExitStatus::Interrupted,
            "not started; nothing was created",
        )),
        ConsentAnswer::NobodyThere => Err(stop(
            ExitStatus::BadInput,
            "cannot ask for confirmation: stdin is not a terminal (use --yes)",
        )),
    }
}

/// Creates the pods and fetches the lead's results. Nothing stays in the cluster, however it ends.
fn follow_pods(
    arguments: &RunArgs,
    manifest: &AgentsManifest,
    results: &Path,
    stopping: &StopRequests,
) -> anyhow::Result<()> {
    let failed = |error: DeployError| {
        let status = match error {
            DeployError::Interrupted => ExitStatus::Interrupted,
            _ => ExitStatus::BadInput,
        };
        stop(status, format!("--agents k8s: {error}\n  {}", error.fix()))
    };
    manifest.check().or_bad_input()?;
    print::message(&format!("kgauge: creating {}", manifest.instance));
    let kubectl = Kubectl::new(stopping.all.clone());
    let run = DeployedRun::create(manifest, kubectl).map_err(failed)?;
    let options = FollowOptions {
        results,
        interrupt: &stopping.load,
        abandon: &stopping.all,
        tolerates_lost: arguments.conduct.agents.tolerates_lost(),
    };
    let followed = follow(&run, &options, &mut |line| print::message(line));
    print::message("kgauge: removing the pods");
    if let Err(error) = run.remove() {
        let (instance, namespace) = (&manifest.instance, &manifest.options.namespace);
        print::message(&format!(
            "kgauge: {instance} is still in namespace {namespace}: {error}\n  kubectl delete \
             job,service,configmap,secret -n {namespace} -l app.kubernetes.io/instance={instance}"
        ));
    }
    followed.map_err(failed)
}

/// Puts the run folder into its place, and reports as after a run on this machine.
fn finish(
    arguments: &RunArgs,
    results: &Path,
    out: &Path,
    origin: &RunOrigin,
) -> anyhow::Result<ExitStatus> {
    let status = fs::read_to_string(results.join(STATUS_FILE)).unwrap_or_default();
    let status = status
        .trim()
        .parse()
        .map_or(ExitStatus::Defect, ExitStatus::of_code);
    let run = results.join("run");
    if !run.exists() {
        return Err(stop(
            status,
            "the lead has no results; its messages above have the reason",
        ));
    }
    note_origin(&run, origin).or_unwritable()?;
    // An empty folder may be there.
    let _ = fs::remove_dir(out);
    fs::rename(&run, out).or_unwritable()?;
    let reported = report(out, arguments.conduct.json, arguments.conduct.detail)?;
    // The lead also knows of what happened outside of the figures.
    Ok(ExitStatus::gravest(&[reported, status]))
}
