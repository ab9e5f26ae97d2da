//! Waits for a run in Kubernetes, shows what happens, and fetches its results.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use kgauge_client::Interrupt;

use super::error::DeployError;
use super::log_lines::{LogLines, LogStep};
use super::pod_states::RunPods;
use super::refusal::Refusals;
use super::run::DeployedRun;
use crate::kubectl_error::KubectlError;

/// The last line of a lead's log: its results can be fetched.
pub const READY_LINE: &str = "kgauge: the results are ready";

/// How often the pods' states are read until all run, and how often after that.
const POLL_START: Duration = Duration::from_secs(1);
const POLL_RUNNING: Duration = Duration::from_secs(5);

/// How long one look at the lead's log lasts.
const LOG_WAIT: Duration = Duration::from_millis(200);

/// The same state is shown again after this time, so that nobody thinks that nothing happens.
const REPEAT: Duration = Duration::from_secs(10);

/// How long pods may wait for nodes: autoscalers start machines within minutes.
const PENDING_MAX: Duration = Duration::from_secs(600);

/// How long a Job may have no pods before its events are read.
const CREATED_MAX: Duration = Duration::from_secs(5);

/// How long a lead may take to end its run after Ctrl-C.
const STOP_MAX: Duration = Duration::from_secs(60);

/// How long a lead may take to end its run after it lost an agent. A longer time means that the agent never joined it.
const LOST_MAX: Duration = Duration::from_secs(60);

/// How long Kubernetes may not answer: the run does not need this machine.
const OUTAGE_MAX: Duration = Duration::from_secs(180);

/// How often results are fetched: a connection may break.
const FETCH_TRIES: u32 = 3;

/// How a run is followed.
#[derive(Debug)]
pub struct FollowOptions<'a> {
    /// The folder for the lead's results, which must not exist; the one around it must.
    pub results: &'a Path,
    /// Raising it ends the run and fetches what there is.
    pub interrupt: &'a Interrupt,
    /// Raising it ends the run at once.
    pub abandon: &'a Interrupt,
    /// Whether the run goes on without agents that it lost.
    pub tolerates_lost: bool,
}

/// Follows the run to its end, and fetches the lead's results.
///
/// # Errors
/// The first reason why there can be no results.
pub fn follow(
    run: &DeployedRun,
    options: &FollowOptions<'_>,
    show: &mut dyn FnMut(&str),
) -> Result<(), DeployError> {
    let now = Instant::now();
    let mut follower = Follower {
        run,
        options,
        show,
        start: now,
        are_started: false,
        shown: (String::new(), now),
        failed: BTreeSet::new(),
        lost_since: None,
        refusals: None,
        lead: None,
        log: None,
        lines_shown: 0,
        next_log: now,
        next_poll: now,
        log_outage: Outage(None),
        outage: Outage(None),
    };
    let lead = follower.await_results()?;
    follower.fetch(&lead)
}

/// A time in which `kubectl` failed.
struct Outage(Option<Instant>);

impl Outage {
    /// # Errors
    /// The error, if it does not pass or lasts too long.
    fn note(&mut self, error: KubectlError, show: &mut dyn FnMut(&str)) -> Result<(), DeployError> {
        if !error.may_pass() {
            return Err(error.into());
        }
        match self.0 {
            Some(since) if since.elapsed() >= OUTAGE_MAX => return Err(error.into()),
            Some(_) => {}
            None => {
                self.0 = Some(Instant::now());
                let minutes = OUTAGE_MAX.as_secs() / 60;
                show(&format!(
                    "kgauge: {error}; trying again for {minutes} minutes"
                ));
            }
        }
        Ok(())
    }
}

struct Follower<'a> {
    run: &'a DeployedRun,
    options: &'a FollowOptions<'a>,
    show: &'a mut dyn FnMut(&str),
    start: Instant,
    /// Whether all pods have run.
    are_started: bool,
    /// The state of the pods that was shown last.
    shown: (String, Instant),
    /// Agents whose end was shown.
    failed: BTreeSet<String>,
    lost_since: Option<Instant>,
    /// Since Kubernetes refuses to create pods.
    refusals: Option<Refusals>,
    /// The name of the lead's pod, once it runs.
    lead: Option<String>,
    log: Option<LogLines>,
    /// A new connection begins with the first line again.
    lines_shown: usize,
    next_log: Instant,
    next_poll: Instant,
    log_outage: Outage,
    outage: Outage,
}

impl Follower<'_> {
    /// Returns the lead's pod when it has results.
    fn await_results(&mut self) -> Result<String, DeployError> {
        let mut stop_deadline = None;
        loop {
            if let Some(lead) = self.read_log()? {
                return Ok(lead);
            }
            let now = Instant::now();
            if self.options.interrupt.is_raised() && stop_deadline.is_none() && self.stop()? {
                stop_deadline = Some(now + STOP_MAX);
            }
            let is_over = stop_deadline.is_some_and(|deadline| now >= deadline);
            if is_over || self.options.abandon.is_raised() {
                return Err(DeployError::Interrupted);
            }
            if now >= self.next_poll {
                let pause = match self.are_started {
                    false => self.check_start()?,
                    true => self.check_running()?,
                };
                self.next_poll = Instant::now() + pause;
            }
        }
    }

    /// Asks the lead to end the run and write its report; false if Kubernetes did not answer.
    fn stop(&mut self) -> Result<bool, DeployError> {
        if self.lead.is_none() {
            self.check_start()?;
        }
        let lead = self.lead.as_ref().ok_or(DeployError::Interrupted)?;
        match self.run.request_stop(lead) {
            Ok(()) => Ok(true),
            Err(error) => {
                self.outage.note(error, self.show)?;
                Ok(false)
            }
        }
    }

    /// Shows what the lead printed. Returns its pod when it has results.
    fn read_log(&mut self) -> Result<Option<String>, DeployError> {
        let Some(lead) = &self.lead else {
            std::thread::sleep(LOG_WAIT);
            return Ok(None);
        };
        let Some(log) = &mut self.log else {
            match Instant::now() >= self.next_log {
                true => self.log = Some(self.run.log_lines(lead, self.lines_shown)?),
                false => std::thread::sleep(LOG_WAIT),
            }
            return Ok(None);
        };
        match log.next(LOG_WAIT) {
            LogStep::Line(line) if line.contains(READY_LINE) => return Ok(Some(lead.clone())),
            LogStep::Line(line) => {
                self.lines_shown += 1;
                self.log_outage = Outage(None);
                (self.show)(&line);
            }
            LogStep::Nothing => {}
            LogStep::End(failure) => {
                self.log = None;
                self.next_log = Instant::now() + POLL_START;
                // Has the lead ended, or did the connection break?
                self.next_poll = Instant::now();
                if let Some(error) = failure {
                    self.log_outage.note(error, self.show)?;
                }
            }
        }
        Ok(None)
    }

    /// Takes an answer; none while Kubernetes does not answer.
    fn answer(
        &mut self,
        answer: Result<RunPods, KubectlError>,
    ) -> Result<Option<RunPods>, DeployError> {
        match answer {
            Ok(pods) => {
                if self.outage.0.take().is_some() {
                    (self.show)("kgauge: Kubernetes answers again");
                }
                Ok(Some(pods))
            }
            Err(error) => {
                self.outage.note(error, self.show)?;
                Ok(None)
            }
        }
    }

    /// Checks pods of which some do not run yet. Returns when to check again.
    fn check_start(&mut self) -> Result<Duration, DeployError> {
        let pods = self.run.pods();
        let Some(pods) = self.answer(pods)? else {
            return Ok(POLL_START);
        };
        if let Some(obstacle) = pods.obstacle() {
            return Err(obstacle);
        }
        self.note_failed(&pods)?;
        let state = pods.describe(self.run.agents);
        if state != self.shown.0 || self.shown.1.elapsed() >= REPEAT {
            (self.show)(&format!("kgauge: {state}"));
            self.shown = (state, Instant::now());
        }
        if let Some(lead) = pods.lead().filter(|lead| lead.is_running()) {
            self.lead = Some(lead.name().to_owned());
        }
        let count = self.run.agents as usize + 1;
        self.are_started = pods.started() >= count;
        match self.are_started {
            true => Ok(POLL_RUNNING),
            false => self.check_wait(&pods, count),
        }
    }

    /// # Errors
    /// Why waiting for pods does not help, or that it took too long.
    fn check_wait(&mut self, pods: &RunPods, count: usize) -> Result<Duration, DeployError> {
        let waited = self.start.elapsed();
        let are_missing = pods.items.len() < count && waited >= CREATED_MAX;
        match are_missing.then(|| self.run.refusal()).flatten() {
            Some(message) => self.note_refusal(message, pods.items.len())?,
            None => self.refusals = None,
        }
        if waited < PENDING_MAX {
            return Ok(POLL_START);
        }
        let (count, message) = pods.unscheduled().unwrap_or_else(|| {
            let missing = count.saturating_sub(pods.started());
            let message = pods.waiting();
            let message = message.unwrap_or_else(|| "Kubernetes gives no reason".to_owned());
            (missing, message)
        });
        Err(DeployError::Pending {
            count,
            minutes: PENDING_MAX.as_secs() / 60,
            message,
        })
    }

    /// Waits for a while for Kubernetes to create pods that it refuses, unless waiting cannot help.
    fn note_refusal(&mut self, message: String, pods: usize) -> Result<(), DeployError> {
        let now = Instant::now();
        let refusals = self
            .refusals
            .get_or_insert_with(|| Refusals::new(pods, now));
        let left = refusals.time_left(&message, pods, now);
        if left.is_zero() {
            return Err(DeployError::NotCreated(message));
        }
        let shown = refusals.shown.map(|shown| now.duration_since(shown));
        if shown.is_none_or(|ago| ago >= REPEAT) {
            refusals.shown = Some(now);
            let seconds = left.as_secs();
            (self.show)(&format!(
                "kgauge: Kubernetes refuses pods, waiting ({seconds} s left): {message}"
            ));
        }
        Ok(())
    }

    /// Checks a run whose pods all run. Returns when to check again.
    fn check_running(&mut self) -> Result<Duration, DeployError> {
        let lead = self.run.lead_pod();
        if let Some(pods) = self.answer(lead)? {
            let end = match pods.lead() {
                Some(pod) => pod.end(),
                None => Some(DeployError::Ended {
                    pod: "of the lead".to_owned(),
                    why: "it was deleted".to_owned(),
                }),
            };
            end.map_or(Ok(()), Err)?;
        }
        let failed = self.run.failed_agents();
        if let Some(pods) = self.answer(failed)? {
            self.note_failed(&pods)?;
        }
        Ok(POLL_RUNNING)
    }

    /// Shows agents that failed. A lead that has lost an agent ends the run, but it waits for one that never joined.
    fn note_failed(&mut self, pods: &RunPods) -> Result<(), DeployError> {
        for (pod, end) in pods.failed_agents() {
            if self.failed.insert(pod.name().to_owned()) {
                (self.show)(&format!("kgauge: {end}"));
            }
            let since = *self.lost_since.get_or_insert_with(Instant::now);
            let is_unnoticed = !self.options.tolerates_lost && since.elapsed() >= LOST_MAX;
            if pod.was_refused() || is_unnoticed {
                return Err(end);
            }
        }
        Ok(())
    }

    /// Fetches the results, and lets the lead end.
    fn fetch(&mut self, lead: &str) -> Result<(), DeployError> {
        (self.show)("kgauge: fetching the results");
        let mut tries = 1;
        while let Err(error) = self.run.fetch(lead, self.options.results) {
            if !error.may_pass() || tries == FETCH_TRIES {
                return Err(error);
            }
            (self.show)(&format!("kgauge: {error}; fetching them again"));
            let _ = std::fs::remove_dir_all(self.options.results);
            tries += 1;
            std::thread::sleep(POLL_START);
        }
        self.run.release(lead);
        Ok(())
    }
}
