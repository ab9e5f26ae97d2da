//! The report's own rules on the last seconds of a repeat that goes on.
//!
//! The last seconds are put together as if they were the hold of a repeat that has ended: what judges runs judges them
//! too.

use kgauge_scenario::Trial;

use super::LiveRepeat;
use crate::series::{CpuSeries, cpu_series_of};
use crate::summary::{GeneratorVerdict, LimitVerdict, Summary};
use kgauge_results::folder::{RepeatRead, RunRead};
use kgauge_results::run::{
    CpuRecord, CutShortChecks, Evidence, FlowRecord, RepeatOutcome, RepeatRecord, RunStatus,
    StageSpan, Subject,
};
use kgauge_results::stage::{SECOND_NS, Stage};

/// So many seconds are judged together: as many as are kept whole, less one for slices that come late.
const SECONDS: u32 = 3;

/// What the rules say of the last seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveVerdict {
    /// Whether the generator keeps its schedule, and if not, whose doing that is.
    pub generator: GeneratorVerdict,
    /// What limits the load.
    pub limit: LimitVerdict,
}

impl LiveRepeat {
    /// What each load thread has spun away so far, which is no work.
    pub fn spun(&mut self, at_ns: u64, spun_ns: &[u64]) {
        let is_new = |last: &(u64, Vec<u64>)| last.0 + SECOND_NS / 5 <= at_ns;
        if self.spun.back().is_none_or(is_new) {
            self.spun.push_back((at_ns, spun_ns.to_vec()));
        }
        while self.spun.len() > 64 {
            self.spun.pop_front();
        }
    }

    /// Judges the seconds up to and with a whole one. `frame` is the run folder without what grows; `None` while too
    /// little was seen, and without a finding.
    /// Its plan has this repeat's trial alone: it is copied each time.
    pub fn judge(&self, frame: &RunRead, second: u32) -> Option<LiveVerdict> {
        if self.flows.is_empty() {
            return None;
        }
        let start_ns = u64::from((second + 1).checked_sub(SECONDS)?) * SECOND_NS;
        let end_ns = u64::from(second + 1) * SECOND_NS;
        let evidence: Vec<Evidence> = self.evidence.recent(start_ns).cloned().collect();
        let mut trials = frame.plan.as_ref()?.trials.iter();
        let trial = trials.find(|trial| trial.index == self.key.trial)?;
        let repeat = self.last_seconds(trial, &evidence, start_ns, end_ns);
        let run = RunRead {
            dir: frame.dir.clone(),
            head: frame.head.clone(),
            status: RunStatus::Running,
            scenarios: Vec::new(),
            plan: frame.plan.clone(),
            environment: frame.environment.clone(),
            search: None,
            ab: None,
            tune: None,
            checkup: None,
            cut_short: CutShortChecks::default(),
            events: self.outages.clone(),
            evidence,
            repeats: vec![repeat],
            defects: Vec::new(),
        };
        let trial = Summary::of(&run).trials.pop()?;
        Some(LiveVerdict {
            generator: trial.generator,
            limit: trial.limit?,
        })
    }

    fn last_seconds(
        &self,
        trial: &Trial,
        evidence: &[Evidence],
        start_ns: u64,
        end_ns: u64,
    ) -> RepeatRead {
        let span = StageSpan {
            stage: Stage::Hold,
            start_ns,
            end_ns,
        };
        let flows = trial
            .flows
            .iter()
            .map(|flow| FlowRecord::new(flow.name().to_owned(), vec![span], 0));
        let seconds = (start_ns / SECOND_NS) as u32..(end_ns / SECOND_NS) as u32;
        RepeatRead {
            key: self.key,
            record: Some(RepeatRecord {
                key: self.key,
                started_unix_ms: 0,
                flows: flows.collect(),
                topics: Vec::new(),
                cpu: self.cpu(evidence, start_ns, end_ns),
                replication: None,
                brokers: Vec::new(),
                verification: None,
                agents: Vec::new(),
                outcome: RepeatOutcome::Complete,
            }),
            flows: self
                .flows
                .iter()
                .map(|(index, flow)| (*index, flow.last_seconds(seconds.clone())))
                .collect(),
        }
    }

    /// CPU of generator and target between two moments.
    fn cpu(&self, evidence: &[Evidence], start_ns: u64, end_ns: u64) -> Option<CpuRecord> {
        let evidence: Vec<&Evidence> = evidence.iter().collect();
        let span_ns = end_ns.saturating_sub(start_ns);
        let used = |series: &CpuSeries| {
            let cores = series.mean_cores(start_ns, end_ns)?;
            Some((cores * span_ns as f64) as u64)
        };
        let mut cpu = CpuRecord {
            span_ns,
            ..CpuRecord::default()
        };
        let mut spun_ns = 0;
        for series in cpu_series_of(&evidence) {
            let Some(ns) = used(&series) else { continue };
            match series.subject {
                Subject::Generator => cpu.generator_process_ns = Some(ns),
                Subject::Target { .. } => {
                    let before_ns = cpu.target_process_ns.unwrap_or(0);
                    cpu.target_process_ns = Some(before_ns.saturating_add(ns));
                }
                Subject::GeneratorThread { thread } => {
                    let own_spun_ns = self.spun_between(thread, start_ns, end_ns);
                    let worked_ns = ns.saturating_sub(own_spun_ns);
                    spun_ns += own_spun_ns;
                    cpu.generator_threads += 1;
                    cpu.generator_threads_ns += worked_ns;
                    cpu.generator_thread_ns_max = cpu.generator_thread_ns_max.max(worked_ns);
                }
                Subject::Process { .. }
                | Subject::Host
                | Subject::Cluster { .. }
                | Subject::Flow { .. } => {}
            }
        }
        cpu.generator_spun_ns = Some(spun_ns);
        (cpu.generator_threads > 0).then_some(cpu)
    }

    /// CPU time that a thread spent busy-waiting between two moments, to the nearest sample.
    fn spun_between(&self, thread: u32, start_ns: u64, end_ns: u64) -> u64 {
        let at = |at_ns: u64| {
            let looks = self
                .spun
                .iter()
                .take_while(|(seen_ns, _)| *seen_ns <= at_ns);
            let last = looks.last().or(self.spun.front());
            last.and_then(|(_, spun_ns)| spun_ns.get(thread as usize).copied())
        };
        let (start, end) = (at(start_ns), at(end_ns));
        end.unwrap_or(0).saturating_sub(start.unwrap_or(0))
    }
}
