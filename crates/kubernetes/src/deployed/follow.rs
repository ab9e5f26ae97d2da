//! Waits for a run in Kubernetes, shows what happens, and fetches its results.

use std::path::Path;
use std::time::{Duration, Instant};

use kgauge_client::Interrupt;

use super::error::DeployError;
use super::log_lines::{LogLines, LogStep};
use super::pod_states::RunPods;
use super::run::DeployedRun;

/// The last line of a lead's log: its results can be fetched.
pub const READY_LINE: &str = "kgauge: the results are ready";

/// How often the pods' states are read.
const POLL: Duration = Duration::from_secs(1);

/// The same state is shown again after this time, so that nobody thinks that nothing happens.
const REPEAT: Duration = Duration::from_secs(10);

/// How long pods may wait for nodes: autoscalers start machines within minutes.
const PENDING_MAX: Duration = Duration::from_secs(600);

/// How long a Job may have no pods before its events are read.
const CREATED_MAX: Duration = Duration::from_secs(5);

/// How long a lead may take to end its run after Ctrl-C.
const STOP_MAX: Duration = Duration::from_secs(60);

/// Follows the run to its end, and puts the lead's folder of results into `dir`. Raising `interrupt` ends the run and
/// fetches what there is; raising `abandon` ends it at once.
///
/// # Errors
/// The first reason why there can be no results.
pub fn follow(
    run: &DeployedRun,
    dir: &Path,
    interrupt: &Interrupt,
    abandon: &Interrupt,
    show: &mut dyn FnMut(&str),
) -> Result<(), DeployError> {
    let pods = await_pods(run, interrupt, show)?;
    let Some(lead) = pods.lead() else {
        return Err(DeployError::NotCreated(
            "the pod of the lead disappeared".to_owned(),
        ));
    };
    let mut lines = run.log_lines(lead)?;
    let mut stop_deadline: Option<Instant> = None;
    let mut next_poll = Instant::now() + POLL;
    loop {
        match lines.next(Duration::from_millis(200)) {
            LogStep::Line(line) if line.contains(READY_LINE) => break,
            LogStep::Line(line) => show(&line),
            LogStep::Nothing => {}
            LogStep::End => {
                check_lead(run)?;
                // The connection broke: the log starts again.
                lines = reconnected(run, lead.name())?;
            }
        }
        if interrupt.is_raised() && stop_deadline.is_none() {
            stop_deadline = Some(Instant::now() + STOP_MAX);
            run.request_stop(lead.name())?;
        }
        let is_over = stop_deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if is_over || abandon.is_raised() {
            return Err(DeployError::Interrupted);
        }
        if Instant::now() >= next_poll {
            next_poll = Instant::now() + POLL;
            check_lead(run)?;
        }
    }
    show("kgauge: fetching the results");
    run.fetch(lead.name(), dir)
}

/// Waits until all pods run.
fn await_pods(
    run: &DeployedRun,
    interrupt: &Interrupt,
    show: &mut dyn FnMut(&str),
) -> Result<RunPods, DeployError> {
    let count = run.agents as usize + 1;
    let start = Instant::now();
    let mut shown = (String::new(), start);
    loop {
        if interrupt.is_raised() {
            return Err(DeployError::Interrupted);
        }
        let pods = run.pods()?;
        if let Some(obstacle) = pods.obstacle() {
            return Err(obstacle);
        }
        let state = pods.describe(run.agents);
        if state != shown.0 || shown.1.elapsed() >= REPEAT {
            show(&format!("kgauge: {state}"));
            shown = (state, Instant::now());
        }
        if pods.are_started(count) {
            return Ok(pods);
        }
        if pods.items.len() < count
            && start.elapsed() >= CREATED_MAX
            && let Some(message) = run.refusal()
        {
            return Err(DeployError::NotCreated(message));
        }
        if start.elapsed() >= PENDING_MAX {
            let (count, message) = pods.unscheduled().unwrap_or_else(|| {
                (
                    count - pods.items.len().min(count),
                    "Kubernetes gives no reason".to_owned(),
                )
            });
            return Err(DeployError::Pending {
                count,
                minutes: PENDING_MAX.as_secs() / 60,
                message,
            });
        }
        std::thread::sleep(POLL);
    }
}

/// # Errors
/// The lead's pod ended or is gone, so that nobody has results.
fn check_lead(run: &DeployedRun) -> Result<(), DeployError> {
    match run.pods()?.lead() {
        Some(pod) => pod.end().map_or(Ok(()), Err),
        None => Err(DeployError::Ended {
            pod: "of the lead".to_owned(),
            why: "it was deleted".to_owned(),
        }),
    }
}

fn reconnected(run: &DeployedRun, name: &str) -> Result<LogLines, DeployError> {
    std::thread::sleep(POLL);
    let pods = run.pods()?;
    let pod = pods.items.iter().find(|pod| pod.name() == name);
    match pod {
        Some(pod) => run.log_lines(pod),
        None => Err(DeployError::Ended {
            pod: name.to_owned(),
            why: "it was deleted".to_owned(),
        }),
    }
}
