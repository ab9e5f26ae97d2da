//! A repeat on all agents, from its announced start to its end.

use std::cell::Cell;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use kgauge_client::Interrupt;
use kgauge_load::{Clock, HoldControl, Incident, LedgerFolder, LoadOutcome, LoadProgress};
use kgauge_results::PaceSeries;
use kgauge_results::folder::{AgentFiles, AgentLinesError};
use kgauge_results::run::AgentRecord;
use kgauge_scenario::{ConsumeEnd, FlowPlan, Trial};

use super::ledgers::{LedgerKeepError, ReceivedLedgers};
use super::link::AgentEvent;
use super::merge::{MergeContext, merge};
use super::pool::AgentPool;
use super::progress::ReportedProgress;
use super::record::{AgentState, RepeatTrack, records};
use crate::clock::OffsetInterval;
use crate::protocol::{AgentMessage, LeadMessage};

/// The interval of progress reports, as that of the load engine.
const PROGRESS: Duration = Duration::from_millis(100);

/// How long agents may take to end after they were told to.
const STOP_MAX: Duration = Duration::from_secs(4);

/// How long an agent may take to end its load after the end of the drain.
const END_MAX: Duration = Duration::from_secs(20);

/// A repeat that the agents run.
pub struct AgentsRepeat<'a> {
    /// What they run.
    pub trial: &'a Trial,
    /// Where the lines of each agent go.
    pub files: Vec<AgentFiles>,
    /// Where the ledgers of their clients go, if records are verified.
    pub ledgers: Option<LedgerFolder>,
    /// Zero at the start.
    pub clock: Clock,
    /// Raised when the load must stop within a second.
    pub interrupt: &'a Interrupt,
    /// Flows that are spread so that agents read records of other agents.
    pub spread_echoes: Vec<usize>,
}

/// What agents have done.
#[derive(Debug)]
pub struct AgentsRun {
    /// All of them together.
    pub outcome: LoadOutcome,
    /// Each.
    pub records: Vec<AgentRecord>,
    /// CPU time of their processes within the hold; unknown if one did not tell.
    pub process_hold_cpu_ns: Option<u64>,
    /// Why the repeat is of no use, if so.
    pub trouble: Option<AgentsTrouble>,
}

/// Why a repeat on agents is of no use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentsTrouble {
    /// An agent was lost.
    #[error("lost {name}: {why}; what it had sent is kept (--agents-lost tolerate continues)")]
    Lost {
        /// The agent.
        name: String,
        /// What the lead noticed.
        why: String,
    },
    /// A clock stepped, or a machine was suspended: times of the repeat cannot be compared.
    #[error(
        "the clock of {name} stepped against the lead's during the repeat, so the repeat is void\n  find out what \
         suspends the machine or changes its clock"
    )]
    Stepped {
        /// The agent.
        name: String,
    },
    /// The load engine of an agent failed.
    #[error("{name}: {why}")]
    Failed {
        /// The agent.
        name: String,
        /// Its message.
        why: String,
    },
    /// Results cannot be written.
    #[error("{0}")]
    Results(String),
}

impl AgentPool {
    /// Runs the repeat that was prepared, from its announced start to its end.
    pub fn run(
        &mut self,
        repeat: AgentsRepeat<'_>,
        on_progress: &mut dyn FnMut(&LoadProgress, &dyn HoldControl),
    ) -> AgentsRun {
        let agents = self.agents.len();
        let mut running = RunningRepeat {
            reported: ReportedProgress::new(agents, repeat.trial.flows.len()),
            track: RepeatTrack::new(self),
            ledgers: repeat.ledgers.clone().map(ReceivedLedgers::new),
            hold_start_ns: Cell::new(repeat.trial.stages.warm_up_limit_ns()),
            trouble: None,
            stopped: None,
            is_hold_ended: false,
            are_echoes_ended: false,
            is_incomplete: false,
            clocks_second: None,
            pool: self,
            repeat,
        };
        for index in 0..agents {
            if running.pool.agents[index].lost.is_some() {
                running.reported.end(index);
            }
        }
        running.until_over(on_progress);
        running.finish()
    }
}

/// The state of a repeat on agents.
struct RunningRepeat<'a> {
    pool: &'a mut AgentPool,
    repeat: AgentsRepeat<'a>,
    reported: ReportedProgress,
    track: RepeatTrack,
    ledgers: Option<ReceivedLedgers>,
    hold_start_ns: Cell<u64>,
    trouble: Option<AgentsTrouble>,
    /// When the agents were told to stop.
    stopped: Option<Instant>,
    is_hold_ended: bool,
    are_echoes_ended: bool,
    /// Records of an echo flow were not read.
    is_incomplete: bool,
    /// The second of the last clock sample.
    clocks_second: Option<u64>,
}

impl RunningRepeat<'_> {
    fn until_over(&mut self, on_progress: &mut dyn FnMut(&LoadProgress, &dyn HoldControl)) {
        let mut next_report = Instant::now();
        while !self.track.is_over() {
            let now = Instant::now();
            if now >= next_report {
                next_report = now + PROGRESS;
                self.report(on_progress);
                self.end_counted_hold();
                self.end_echoes();
                self.stop_if_wanted();
                self.lose_overdue();
            }
            let wait = next_report.saturating_duration_since(Instant::now());
            match self
                .pool
                .events
                .recv_timeout(wait.max(Duration::from_millis(1)))
            {
                Ok((index, event)) => self.take(index, event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.note_missing_echoes();
        self.report(on_progress);
    }

    fn report(&mut self, on_progress: &mut dyn FnMut(&LoadProgress, &dyn HoldControl)) {
        let elapsed_ns = self.repeat.clock.now_ns();
        let offsets = self.track.sample(self.pool);
        if !self.repeat.spread_echoes.is_empty() {
            self.send_clock_shifts(&offsets);
        }
        let second = elapsed_ns / 1_000_000_000;
        if self.clocks_second != Some(second) {
            self.clocks_second = Some(second);
            self.keep_clocks(&offsets, elapsed_ns);
        }
        let progress = self.reported.take(elapsed_ns);
        on_progress(
            &progress,
            &AgentsControl {
                pool: self.pool,
                reported: &self.reported,
                hold_start_ns: &self.hold_start_ns,
                elapsed_ns,
            },
        );
    }

    /// Lets the agents know by how much their clocks have drifted since the start.
    fn send_clock_shifts(&self, offsets: &[Option<OffsetInterval>]) {
        for (agent, offset) in self.pool.agents.iter().zip(offsets) {
            if let (Some(start), Some(offset)) = (agent.start, offset) {
                let shift_ns = start.offset_ns.saturating_sub(offset.middle_ns());
                // A connection that has ended reports itself.
                let _ = agent
                    .outgoing
                    .message(&LeadMessage::ClockShift { shift_ns });
            }
        }
    }

    /// Writes the offset of each clock.
    fn keep_clocks(&mut self, offsets: &[Option<OffsetInterval>], at_ns: u64) {
        for (index, offset) in offsets.iter().enumerate() {
            if let Some(offset) = offset {
                let (low_ns, high_ns) = (offset.low_ns, offset.high_ns);
                self.keep(index, |files| files.add_clock(at_ns, low_ns, high_ns));
            }
        }
    }

    /// Takes what an agent sent. Nothing more is taken from one that counts as lost.
    fn take(&mut self, index: usize, event: AgentEvent) {
        if self.track.is_lost(index) {
            return;
        }
        match event {
            AgentEvent::Slices(lines) => self.keep(index, |files| files.add_slices(&lines)),
            AgentEvent::Evidence(lines) => self.keep(index, |files| files.add_evidence(&lines)),
            AgentEvent::Ledger(chunk) => self.keep_ledger(index, &chunk),
            AgentEvent::Lost(why) => self.lose(index, why),
            AgentEvent::Message(message) => self.take_message(index, *message),
        }
    }

    fn take_message(&mut self, index: usize, message: AgentMessage) {
        match message {
            AgentMessage::Progress {
                load,
                paces,
                counts_done_ns,
                echoes,
            } => {
                let reported = &mut self.reported;
                reported.report(index, *load, paces, counts_done_ns, echoes);
            }
            AgentMessage::Started { late_ns } => self.track.start(index, late_ns),
            AgentMessage::NotStarted => {
                self.end(index, AgentState::NotStarted);
                if self.stopped.is_none() {
                    let why = "it had nothing to start".to_owned();
                    let name = self.pool.name(index);
                    self.fail(AgentsTrouble::Failed { name, why });
                }
            }
            AgentMessage::Ended(outcome) => {
                self.reported.note_echoes(index, outcome.echoes.clone());
                self.end(index, AgentState::Ended(outcome));
            }
            AgentMessage::LoadFailed { why } => {
                self.end(index, AgentState::Failed);
                let name = self.pool.name(index);
                self.fail(AgentsTrouble::Failed { name, why });
            }
            AgentMessage::Hello { .. }
            | AgentMessage::Busy
            | AgentMessage::ClockAnswer { .. }
            | AgentMessage::Prepared { .. }
            | AgentMessage::PrepareFailed { .. } => {}
        }
    }

    /// An agent's load is over.
    fn end(&mut self, index: usize, state: AgentState) {
        self.reported.end(index);
        self.track.end(index, state);
    }

    fn keep(
        &mut self,
        index: usize,
        add: impl FnOnce(&mut AgentFiles) -> Result<(), AgentLinesError>,
    ) {
        let Some(files) = self.repeat.files.get_mut(index) else {
            return;
        };
        match add(files) {
            Ok(()) => {}
            Err(error @ AgentLinesError::Line { .. }) => self.lose(index, error.to_string()),
            Err(AgentLinesError::Folder(error)) => {
                self.fail(AgentsTrouble::Results(error.to_string()));
            }
        }
    }

    fn keep_ledger(&mut self, index: usize, chunk: &[u8]) {
        let Some(ledgers) = &mut self.ledgers else {
            return;
        };
        match ledgers.keep(index, chunk, self.repeat.trial) {
            Ok(()) => {}
            Err(error @ LedgerKeepError::Agent(_)) => self.lose(index, error.to_string()),
            Err(error) => self.fail(AgentsTrouble::Results(error.to_string())),
        }
    }

    /// An agent is lost. Its part of the repeat is whole if its load had ended.
    fn lose(&mut self, index: usize, why: String) {
        let was_running = self.track.is_running(index);
        self.pool.lose(index, why.clone());
        if !was_running {
            return;
        }
        self.track.lose(index, self.repeat.clock.now_ns());
        self.reported.end(index);
        if self.pool.is_broken() {
            let name = self.pool.name(index);
            self.fail(AgentsTrouble::Lost { name, why });
        }
    }

    /// The first trouble ends the load of all agents.
    fn fail(&mut self, trouble: AgentsTrouble) {
        if self.trouble.is_none() {
            self.trouble = Some(trouble);
        }
        self.stop();
    }

    fn stop(&mut self) {
        if self.stopped.is_none() {
            self.stopped = Some(Instant::now());
            self.pool.stop();
        }
    }

    fn stop_if_wanted(&mut self) {
        if self.repeat.interrupt.is_raised() {
            self.stop();
        }
    }

    /// The hold of flows with record counts ends when the counts of all agents are complete.
    fn end_counted_hold(&mut self) {
        if self.is_hold_ended || !is_counted(self.repeat.trial) {
            return;
        }
        let is_lost = |index: usize| self.track.is_lost(index);
        if let Some(at_ns) = self.reported.counts_done_ns(is_lost) {
            self.is_hold_ended = true;
            self.pool.send_all(&LeadMessage::EndHold { at_ns });
        }
    }

    /// Echo flows that are spread end when the agents together have read all that they have written.
    fn end_echoes(&mut self) {
        if self.are_echoes_ended || self.repeat.spread_echoes.is_empty() {
            return;
        }
        let is_read = |flow: &usize| {
            let all = self.reported.echo(*flow);
            all.is_written && all.echoed >= all.acked
        };
        if self.repeat.spread_echoes.iter().all(is_read) {
            self.are_echoes_ended = true;
            self.pool.send_all(&LeadMessage::EndEchoes);
        }
    }

    /// After a load that nobody stopped, all records of spread echo flows were read, or something is wrong. One agent
    /// alone cannot know.
    fn note_missing_echoes(&mut self) {
        if self.stopped.is_some() || self.track.states().any(AgentState::is_cut_short) {
            return;
        }
        for &flow in &self.repeat.spread_echoes {
            let all = self.reported.echo(flow);
            let missing = all.acked.saturating_sub(all.echoed);
            let name = self.repeat.trial.flows.get(flow).map(FlowPlan::name);
            if missing > 0 {
                self.is_incomplete = true;
                self.reported.note_incident(Incident {
                    at_ns: self.repeat.clock.now_ns(),
                    flow: name.unwrap_or_default().to_owned(),
                    what: format!(
                        "{missing} acked records were not read back by the end of the drain"
                    ),
                    is_bad: true,
                });
            }
        }
    }

    /// Agents whose load does not end are lost.
    fn lose_overdue(&mut self) {
        let stages = &self.repeat.trial.stages;
        let is_stopped = self.stopped.is_some_and(|at| at.elapsed() > STOP_MAX);
        let planned_ns = stages.hold_ns.map(|hold_ns| {
            let end_ns = self.hold_start_ns.get().saturating_add(hold_ns);
            let end_ns = end_ns.saturating_add(stages.drain_ns_max);
            end_ns.saturating_add(END_MAX.as_nanos() as u64)
        });
        let is_late = planned_ns.is_some_and(|end_ns| self.repeat.clock.now_ns() > end_ns);
        if !is_stopped && !is_late {
            return;
        }
        for index in 0..self.pool.agents.len() {
            if self.track.is_running(index) {
                self.lose(index, "its load did not end".to_owned());
            }
        }
    }

    fn finish(self) -> AgentsRun {
        let trial = self.repeat.trial;
        let mut outcome = merge(
            &self.track,
            MergeContext {
                names: trial
                    .flows
                    .iter()
                    .map(|flow| flow.name().to_owned())
                    .collect(),
                is_counted: is_counted(trial),
                hold_start_ns: self.hold_start_ns.get(),
                now_ns: self.repeat.clock.now_ns(),
                progress: &self.reported,
            },
        );
        outcome.broken |= self.is_incomplete;
        let records = records(self.pool, &self.track, &self.reported);
        // The user does not want the figures of this repeat.
        let is_of_use = !self.repeat.interrupt.is_raised();
        let mut stepped = records
            .iter()
            .filter(|record| record.clock.is_some_and(|clock| clock.is_stepped));
        let stepped = stepped.next().filter(|_| is_of_use);
        let stepped = stepped.map(|record| AgentsTrouble::Stepped {
            name: record.name.clone(),
        });
        AgentsRun {
            process_hold_cpu_ns: self.track.process_hold_cpu_ns(),
            trouble: self.trouble.or(stepped),
            outcome,
            records,
        }
    }
}

/// Whether flows have record counts that end the hold.
fn is_counted(trial: &Trial) -> bool {
    trial.flows.iter().any(|flow| match flow {
        FlowPlan::Produce(flow) => flow.records_max.is_some(),
        FlowPlan::Echo(flow) => flow.produce.records_max.is_some(),
        FlowPlan::Consume(flow) => flow.records != ConsumeEnd::StageEnd,
    })
}

/// Controls the hold of all agents.
struct AgentsControl<'a> {
    pool: &'a AgentPool,
    reported: &'a ReportedProgress,
    hold_start_ns: &'a Cell<u64>,
    elapsed_ns: u64,
}

impl HoldControl for AgentsControl<'_> {
    fn paces(&self) -> Vec<PaceSeries> {
        self.reported.paces()
    }

    fn end_hold(&self) {
        let at_ns = self.elapsed_ns;
        self.pool.send_all(&LeadMessage::EndHold { at_ns });
    }

    fn hold_start_ns(&self) -> u64 {
        self.hold_start_ns.get()
    }

    fn begin_hold(&self, at_ns: u64) {
        if at_ns < self.hold_start_ns.get() {
            self.hold_start_ns.set(at_ns);
            self.pool.send_all(&LeadMessage::BeginHold { at_ns });
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
