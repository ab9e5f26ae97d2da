//! Rights, objects, and runs that a namespace lets through, delays or refuses.

use std::time::Instant;

use anyhow::{Result, ensure};

use super::check_list::CheckList;
use super::control_plane::{expect_status, tail};
use super::objects::{self, QUOTA, RUNS};
use super::pod_runs::{PodRuns, RECORDS};

/// The agents of a run.
pub(super) const AGENTS: u32 = 5;

/// Runs all checks of this file.
///
/// # Errors
/// The user cannot get the rights that all further checks need.
pub(super) fn check(runs: &PodRuns<'_>, list: &mut CheckList<'_>) -> Result<()> {
    runs.check(list, "rights", rights);
    runs.plane.apply(&[
        objects::role_binding(RUNS, "kgauge-runner"),
        objects::role_binding(objects::KAFKA, "kgauge-target"),
    ])?;
    runs.check(list, "objects", objects_are_accepted);
    runs.check(list, "restricted", restricted);
    runs.check(list, "run", run);
    runs.check(list, "image", image);
    runs.check(list, "quota", quota);
    runs.check(list, "pending", pending);
    Ok(())
}

/// Without a right, nothing is created, and all rights of the Role are named.
fn rights(runs: &PodRuns<'_>) -> Result<String> {
    let finished = runs.run(&runs.words("counted.yaml", "rights", AGENTS, ""))?;
    expect_status(&finished, 2)?;
    for right in ["create secrets", "create jobs.batch", "create pods/exec"] {
        ensure!(
            finished.stderr.contains(right),
            "{right} is not named: {}",
            tail(&finished.stderr)
        );
    }
    runs.await_gone()?;
    Ok("all missing rights are named, and nothing was created".to_owned())
}

/// What kgauge prints for GitOps passes the API server's validation, with unknown fields as errors.
fn objects_are_accepted(runs: &PodRuns<'_>) -> Result<String> {
    let pods = format!(
        "k8s:replicas={AGENTS},namespace={RUNS},pull-secret=login,node-selector=pool=load,deadline=90min"
    );
    let words = ["agents", "manifest", &pods, "counted.yaml", "--target"];
    let printed = runs.call(&[&words[..], &[runs.servers.as_str()]].concat(), 0)?;
    let dry = ["apply", "--dry-run=server", "--validate=strict", "-f", "-"];
    let accepted = runs.plane.good(&dry, Some(&printed.stdout))?;
    let count = accepted.lines().count();
    ensure!(count == 5, "{count} objects: {accepted}");
    Ok(format!("{count} objects of a manifest are accepted"))
}

/// The standard is enforced: a pod that does not satisfy it is refused.
fn restricted(runs: &PodRuns<'_>) -> Result<String> {
    let pod = objects::careless_pod().to_string();
    let create = ["create", "--dry-run=server", "-f", "-"];
    let finished = runs.plane.kubectl(&create, Some(&pod))?;
    ensure!(
        finished
            .stderr
            .contains("violates PodSecurity \"restricted"),
        "a careless pod is not refused: {}",
        tail(&finished.stderr)
    );
    Ok("other pods are refused".to_owned())
}

/// From start to end, as a user with the rights of the Role.
fn run(runs: &PodRuns<'_>) -> Result<String> {
    let start = Instant::now();
    let finished = runs.run(&runs.words("counted.yaml", "run", AGENTS, ""))?;
    let took = start.elapsed();
    expect_status(&finished, 0)?;
    let running = format!("lead running, {AGENTS} of {AGENTS} agents running");
    ensure!(
        finished.stderr.contains(&running),
        "not all pods ran: {}",
        tail(&finished.stderr)
    );
    runs.check_counted("run")?;
    let agents = runs.summary("run")?["trials"][0]["agents"]["count"].as_u64();
    ensure!(
        agents == Some(AGENTS.into()),
        "{agents:?} agents generated the load"
    );
    let gone = runs.await_gone()?;
    Ok(format!(
        "{RECORDS} records of {AGENTS} pods arrived; {:.1} s, and {:.1} s until everything was removed",
        took.as_secs_f64(),
        gone.as_secs_f64()
    ))
}

/// An image that nobody has.
fn image(runs: &PodRuns<'_>) -> Result<String> {
    let words = runs.words("counted.yaml", "image", AGENTS, "");
    let other = |word: String| word.replace(objects::IMAGE, "registry.example/none:1");
    let words: Vec<String> = words.into_iter().map(other).collect();
    let finished = runs.run(&words)?;
    expect_status(&finished, 2)?;
    for part in ["ImagePullBackOff", "registry.example/none:1", "pull-secret"] {
        ensure!(
            finished.stderr.contains(part),
            "no {part}: {}",
            tail(&finished.stderr)
        );
    }
    runs.await_gone()?;
    Ok("ImagePullBackOff ends the run".to_owned())
}

/// A quota that has no room for all pods.
fn quota(runs: &PodRuns<'_>) -> Result<String> {
    runs.plane.apply(&[objects::quota()])?;
    // Until it is counted, Kubernetes refuses pods for another reason.
    runs.await_field(&["resourcequota", QUOTA, "-n", RUNS], "/status/hard/pods")?;
    let finished = runs.run(&runs.words("counted.yaml", "quota", AGENTS, ""));
    let delete = ["delete", "resourcequota", QUOTA, "-n", RUNS];
    runs.plane.good(&delete, None)?;
    let finished = finished?;
    expect_status(&finished, 2)?;
    ensure!(
        finished
            .stderr
            .contains(&format!("exceeded quota: {QUOTA}")),
        "the quota is not named: {}",
        tail(&finished.stderr)
    );
    runs.await_gone()?;
    Ok("a quota ends the run".to_owned())
}

/// Pods that find no node until there is room for them.
fn pending(runs: &PodRuns<'_>) -> Result<String> {
    runs.set_usable(false)?;
    let waiting = || -> Result<_> {
        let run = runs.begin(&runs.words("counted.yaml", "pending", AGENTS, ""))?;
        runs.await_words(&run, "for a node: 0/3 nodes are available")?;
        Ok(run)
    };
    let run = waiting();
    runs.set_usable(true)?;
    let run = run?;
    runs.await_end(&run, 0)?;
    runs.check_counted("pending")?;
    runs.await_gone()?;
    Ok("the scheduler's message is shown, and the run goes on when there is room".to_owned())
}
