//! Runs that somebody or something ends: what is reported, what is kept, and what is left in the cluster.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;

use super::check_list::CheckList;
use super::control_plane::{expect_status, tail};
use super::objects::{IMAGE, RUNS};
use super::pod_runs::PodRuns;
use super::runs::AGENTS;
use crate::kafka::{Job, poll};
use crate::kgauge::{Background, acked_in_flows};

/// The last line of a lead's log.
const READY: &str = "kgauge: the results are ready";

/// A run whose lead nobody waits for.
const ALONE_MAX: Duration = Duration::from_secs(120);

/// Runs all checks of this file.
pub(super) fn check(runs: &PodRuns<'_>, list: &mut CheckList<'_>) {
    runs.check(list, "no-node", no_node);
    runs.check(list, "ctrl-c", ctrl_c);
    runs.check(list, "killed-agent", killed_agent);
    runs.check(list, "tolerated-agent", tolerated_agent);
    runs.check(list, "killed-lead", killed_lead);
    runs.check(list, "killed-kgauge", killed_kgauge);
    runs.check(list, "git-ops", git_ops);
}

/// Ctrl-C while pods wait for a node that does not exist.
fn no_node(runs: &PodRuns<'_>) -> Result<String> {
    let run =
        runs.begin(&runs.words("long.yaml", "no-node", AGENTS, ",node-selector=pool=none"))?;
    runs.await_words(&run, "node affinity/selector")?;
    run.running.signal(Signal::INT)?;
    runs.await_end(&run, 130)?;
    runs.await_gone()?;
    Ok("Ctrl-C removes pods that wait for a node".to_owned())
}

/// Ctrl-C while records flow: the lead ends the run, and its report arrives.
fn ctrl_c(runs: &PodRuns<'_>) -> Result<String> {
    let run = begin_long(runs, "ctrl-c", &[])?;
    run.running.signal(Signal::INT)?;
    runs.await_end(&run, 130)?;
    let acked = acked_in_flows(&runs.summary("ctrl-c")?)?;
    ensure!(acked > 0, "the report has no records");
    runs.await_gone()?;
    Ok(format!("the report arrives, with {acked} records"))
}

/// An agent is lost: the run ends at once, and what was streamed is kept.
fn killed_agent(runs: &PodRuns<'_>) -> Result<String> {
    let run = begin_long(runs, "killed-agent", &[])?;
    let pod = runs.pod("agent")?;
    runs.kill(&pod)?;
    let start = Instant::now();
    let text = runs.await_end(&run, 1)?;
    let took = start.elapsed();
    ensure!(text.contains("lost agent"), "no loss: {}", tail(&text));
    let acked = acked_in_flows(&runs.summary("killed-agent")?)?;
    ensure!(acked > 0, "the report has no records");
    runs.await_gone()?;
    Ok(format!(
        "the run ends within {:.1} s and keeps {acked} records",
        took.as_secs_f64()
    ))
}

/// The same, when the run may go on.
fn tolerated_agent(runs: &PodRuns<'_>) -> Result<String> {
    let run = begin_long(runs, "tolerated", &["--agents-lost", "tolerate"])?;
    let pod = runs.pod("agent")?;
    runs.kill(&pod)?;
    let ended = run.running.wait(ALONE_MAX)?;
    let status = ended.with_context(|| format!("it does not end: {}", tail(&run.text())))?;
    // Records that were in flight in the lost agent have no known outcome.
    ensure!(
        matches!(status.code(), Some(0 | 1)),
        "it ended with {status}: {}",
        tail(&run.text())
    );
    let summary = runs.summary("tolerated")?;
    let warnings = summary["trials"][0]["warnings"].as_array();
    let mut warnings = warnings.context("a trial has warnings")?.iter();
    ensure!(
        warnings.any(|warning| warning["kind"] == "agent-lost"),
        "no warning of the loss"
    );
    let name = pod["metadata"]["name"].as_str().unwrap_or_default();
    ensure!(
        run.text().contains(&format!("pod {name} ended")),
        "the pod is not named: {}",
        tail(&run.text())
    );
    runs.await_gone()?;
    Ok("the run goes on and its figures are marked".to_owned())
}

/// The lead is lost, and with it the results.
fn killed_lead(runs: &PodRuns<'_>) -> Result<String> {
    let run = begin_long(runs, "killed-lead", &[])?;
    let pod = runs.pod("lead")?;
    runs.kill(&pod)?;
    let text = runs.await_end(&run, 2)?;
    let name = pod["metadata"]["name"].as_str().unwrap_or_default();
    for part in [format!("pod {name} ended").as_str(), "exit status 137"] {
        ensure!(text.contains(part), "no {part:?}: {}", tail(&text));
    }
    runs.await_gone()?;
    Ok("the lead's pod is named".to_owned())
}

/// The user's machine is gone: the run ends in the cluster, and so do its objects when its Job does.
fn killed_kgauge(runs: &PodRuns<'_>) -> Result<String> {
    let short = ["--set", "stages.hold='5 s'"];
    let run = begin_long(runs, "killed-kgauge", &short)?;
    run.running.signal(Signal::KILL)?;
    let lead = runs.pod("lead")?;
    let name = lead["metadata"]["name"]
        .as_str()
        .context("a pod has a name")?;
    let log = ["logs", "-n", RUNS, name];
    let ready = poll(ALONE_MAX, || {
        let log = runs.plane.kubectl(&log, None)?;
        Ok(log.stdout.contains(READY).then_some(()))
    })?;
    ready.context("the lead has no results")?;
    runs.plane.good(&exec(name, &["signal", "release"]), None)?;
    let job = lead["metadata"]["labels"]["batch.kubernetes.io/job-name"].as_str();
    let job = format!("job/{}", job.context("a pod has a Job")?);
    // 15 minutes are the same but for their length.
    let patch = r#"{"spec": {"ttlSecondsAfterFinished": 1}}"#;
    runs.plane
        .good(&["patch", &job, "-n", RUNS, "-p", patch], None)?;
    let gone = runs.await_gone()?;
    Ok(format!(
        "the run ends without kgauge, and Kubernetes removes all objects ({:.1} s)",
        gone.as_secs_f64()
    ))
}

/// The commands of the guide for people who apply the objects themselves, as the user.
fn git_ops(runs: &PodRuns<'_>) -> Result<String> {
    let pods = format!("k8s:replicas=2,namespace={RUNS},image={IMAGE},cpu=500m,memory=256Mi");
    let words = [
        "agents",
        "manifest",
        &pods,
        "counted.yaml",
        "--name",
        "nightly",
        "--target",
    ];
    let manifest = runs
        .call(&[&words[..], &[runs.servers.as_str()]].concat(), 0)?
        .stdout;
    fs::write(runs.path("nightly.yaml"), manifest)?;
    user_kubectl(runs, "kubectl apply -f nightly.yaml")?;
    let ready = poll(ALONE_MAX, || {
        let log = user_kubectl(runs, &format!("kubectl logs -n {RUNS} job/nightly-lead"));
        Ok(log.is_ok_and(|log| log.contains(READY)).then_some(()))
    })?;
    ready.context("the lead has no results")?;
    let lead = format!("kubectl exec -n {RUNS} job/nightly-lead -- /kgauge agents");
    user_kubectl(runs, &format!("{lead} pack > results.tar.gz"))?;
    user_kubectl(runs, &format!("{lead} signal release"))?;
    user_kubectl(runs, "mkdir results && tar xzf results.tar.gz -C results")?;
    runs.call(&["report", "results/run"], 0)?;
    runs.check_counted("results/run")?;
    user_kubectl(runs, "kubectl delete -f nightly.yaml")?;
    runs.await_gone()?;
    Ok("the guide's commands bring the results".to_owned())
}

/// A long run whose agents have sent slices.
fn begin_long(runs: &PodRuns<'_>, out: &str, more: &[&str]) -> Result<Background> {
    let mut words = runs.words("long.yaml", out, AGENTS, "");
    words.extend(more.iter().map(|word| (*word).to_owned()));
    let run = runs.begin(&words)?;
    runs.await_load(&run, AGENTS)?;
    Ok(run)
}

fn exec<'a>(pod: &'a str, action: &[&'a str]) -> Vec<&'a str> {
    let words = ["exec", "-n", RUNS, pod, "--", "/kgauge", "agents"];
    [&words[..], action].concat()
}

/// A line of a shell, with the user's `kubectl`. Returns what it printed.
fn user_kubectl(runs: &PodRuns<'_>, line: &str) -> Result<String> {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(runs.kgauge.folder);
    let finished = Job::new(line.to_owned(), command, ALONE_MAX).run()?;
    expect_status(&finished, 0)?;
    Ok(finished.stdout)
}
