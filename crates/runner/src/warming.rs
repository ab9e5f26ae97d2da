//! Brokers that have just started are warmed with load of the first trial's kind: a Java broker's first seconds are
//! several times slower than all later ones.

use std::collections::BTreeMap;

use kgauge_analyze::summary::COMPILING_MAX;
use kgauge_load::{Clock, HoldControl, LoadControl, LoadProgress, LoadSetup, PreparedLoad};
use kgauge_results::SliceSink;
use kgauge_results::run::{BrokerWarming, EventKind};
use kgauge_scenario::{
    ConsumeEnd, ConsumeFlow, FlowPlan, ProduceFlow, Share, Stages, StartOffset, TopicPlan, Trial,
};

use crate::error::RunError;
use crate::load_errors::{load_failed, prepare_failed};
use crate::observer::Activity;
use crate::outages::{OutageWait, report_outages};
use crate::process_cpu::TargetsCpu;
use crate::session::Session;

/// Length of a round: long enough to average over pauses of the garbage collector.
const ROUND_NS: u64 = 1_000_000_000;

/// The last rounds that are compared with as many before them.
const ROUNDS: usize = 4;

/// Brokers are warm when neither throughput nor CPU time per record improves by more than this.
const IMPROVEMENT_MAX: f64 = 0.10;

/// What most brokers need.
pub(crate) const USUAL_NS: u64 = 60_000_000_000;

/// No longer than this.
pub(crate) const LIMIT_NS: u64 = 90_000_000_000;

/// And no more bytes than this on the brokers' disks in each load, all replicas together.
const DISK_BYTES_MAX: u64 = 8 << 30;

/// Loads one after the other, each on a topic and with connections of its own. With the second one the JVM drops part
/// of the code that it compiled for the first, and compiles again as much as before.
const LOADS: u32 = 2;

/// Warms the brokers that kgauge started, once for each cluster. False when the user stopped it.
pub(crate) fn warm(session: &mut Session<'_>, share: &Share) -> Result<bool, RunError> {
    if session.is_warm || !session.request.target.spec.warms_brokers() {
        return Ok(true);
    }
    session.report(&Activity::WarmingBegins);
    let mut found = BrokerWarming::default();
    for load in 1..=LOADS {
        let rest_ns = LIMIT_NS.saturating_sub(found.length_ns);
        if rest_ns < ROUND_NS || session.stopping.is_wanted() {
            break;
        }
        let warming = share_of(share, rest_ns);
        let watched = warm_once(session, &warming, (load, found.length_ns))?;
        found = BrokerWarming {
            length_ns: found.length_ns + watched.length_ns,
            is_steady: watched.is_steady,
            records_per_s_first: match load {
                1 => watched.records_per_s_first,
                _ => found.records_per_s_first,
            },
            records_per_s_last: watched.records_per_s_last,
        };
    }
    session.is_warm = true;
    session.event(None, EventKind::BrokersWarmed(found));
    Ok(!session.stopping.is_wanted())
}

/// One load until its brokers are warm; `before_ns` is the length of those before it.
fn warm_once(
    session: &mut Session<'_>,
    warming: &Share,
    (load, before_ns): (u32, u64),
) -> Result<BrokerWarming, RunError> {
    let label = format!("warm-up-{}-{load}", session.clusters.started);
    // What it leaves must not be written to the disk during the first trial.
    let at_once = Some(("file.delete.delay.ms", "0".to_owned()));
    let topic = session.create_topic(&label, &warming.trial, at_once)?;
    let prepared = PreparedLoad::prepare(&LoadSetup {
        copy: None,
        verify: None,
        groups: &BTreeMap::new(),
        drivers: &[],
        share: warming,
        topic: &topic,
        also: &[],
        earliest: None,
        client: &session.client,
        // Nobody keeps these samples: the other end of the sink is dropped with the load.
        sink: &|| SliceSink::memory().0,
        interrupt: &session.stopping.load,
    });
    let prepared = prepare_failed(session, prepared)?;
    let mut watch = WarmingWatch::new(session, &warming.trial, before_ns);
    let ran = prepared.run_controlled(Clock::start(), |progress, control| {
        watch.check(progress, control)
    });
    let found = watch.found();
    ran.map_err(load_failed)?;
    let deleted = session.topics.delete(&mut session.cluster, &topic);
    if let Err(error) = deleted {
        // The guard tries again when the run ends.
        let text = error.to_string();
        session.event(None, EventKind::Warning { text });
    }
    Ok(found)
}

/// The trial's flows at full speed, on a topic like its own, by kgauge's engine.
fn share_of(share: &Share, length_ns: u64) -> Share {
    let trial = &share.trial;
    let mut flows: Vec<FlowPlan> = trial.flows.iter().flat_map(at_full_speed).collect();
    if flows.iter().all(|flow| flow.produces().is_none()) {
        flows.extend(trial.topic.preload.as_ref().map(|preload| {
            let record = preload.record.clone();
            FlowPlan::Produce(ProduceFlow::of_records("preload", record))
        }));
    }
    Share {
        trial: Trial {
            flows,
            topic: TopicPlan {
                preload: None,
                ..trial.topic.clone()
            },
            stages: Stages {
                warm_up_ns: 0,
                warm_up_ns_max: 0,
                hold_ns: Some(length_ns),
                drain_ns_max: trial.stages.drain_ns_max,
            },
            faults: Vec::new(),
            goals: Vec::new(),
            published: Vec::new(),
            ..trial.clone()
        },
        ..share.clone()
    }
}

fn at_full_speed(flow: &FlowPlan) -> Vec<FlowPlan> {
    let write = |flow: &ProduceFlow| FlowPlan::Produce(flow.at_full_speed());
    let read = |flow: ConsumeFlow| {
        FlowPlan::Consume(ConsumeFlow {
            name: format!("{} (reading)", flow.name),
            from: StartOffset::Latest,
            records: ConsumeEnd::StageEnd,
            group: None,
            groups: 1,
            ..flow
        })
    };
    match flow {
        FlowPlan::Produce(flow) => vec![write(flow)],
        FlowPlan::Consume(flow) => vec![read(flow.clone())],
        FlowPlan::Echo(flow) => vec![write(&flow.produce), read(flow.consume())],
    }
}

/// Ends the load when the brokers are warm.
struct WarmingWatch<'a, 'b> {
    session: &'a mut Session<'b>,
    wait: OutageWait,
    replication: u64,
    targets: TargetsCpu,
    last: (u64, u64),
    rounds: Vec<WarmingRound>,
    is_steady: bool,
    ended: bool,
    elapsed_ns: u64,
    before_ns: u64,
}

/// The figures of one round.
#[derive(Clone, Copy)]
struct WarmingRound {
    records_per_s: f64,
    /// Unknown if the processes are not visible.
    cpu_ns_per_record: Option<f64>,
    /// The part of that CPU time that the compilers of Java processes used.
    compiling: Option<f64>,
}

impl<'a, 'b> WarmingWatch<'a, 'b> {
    fn new(session: &'a mut Session<'b>, trial: &Trial, before_ns: u64) -> Self {
        Self {
            targets: TargetsCpu::of(&session.target_processes),
            session,
            wait: OutageWait::of_load(trial, 0),
            replication: u64::from(trial.topic.replication),
            last: (0, 0),
            rounds: Vec::new(),
            is_steady: false,
            ended: false,
            elapsed_ns: 0,
            before_ns,
        }
    }

    fn check(&mut self, progress: &LoadProgress, control: &LoadControl<'_>) {
        report_outages(self.session, None, self.wait, progress);
        if self.ended {
            return;
        }
        let now_ns = progress.elapsed_ns;
        self.elapsed_ns = now_ns;
        self.targets.sample(now_ns);
        let (last_ns, last_records) = self.last;
        let done = |flow: &kgauge_load::Totals| flow.acked + flow.consumed;
        let records: u64 = progress.flows.iter().map(done).sum();
        if now_ns >= last_ns + ROUND_NS {
            let new = records - last_records;
            let cpu_ns = self.targets.between(last_ns, now_ns);
            let compiling = self.targets.compiling_part(last_ns, now_ns);
            self.rounds.push(WarmingRound {
                records_per_s: new as f64 * 1e9 / (now_ns - last_ns) as f64,
                cpu_ns_per_record: cpu_ns.filter(|_| new > 0).map(|ns| ns as f64 / new as f64),
                compiling,
            });
            self.last = (now_ns, records);
            self.is_steady = is_steady(&self.rounds);
            let rate = self.rounds.last().map_or(0.0, |round| round.records_per_s);
            self.session.report(&Activity::Warming {
                elapsed_s: (self.before_ns + now_ns) / 1_000_000_000,
                limit_s: LIMIT_NS / 1_000_000_000,
                records_per_s: rate,
                compiling,
            });
        }
        let written: u64 = progress.flows.iter().map(|flow| flow.logical_bytes).sum();
        let is_full = written.saturating_mul(self.replication) > DISK_BYTES_MAX;
        if self.is_steady || is_full || self.session.target_trouble().is_some() {
            self.ended = true;
            control.end_hold();
        }
    }

    fn found(&self) -> BrokerWarming {
        let rate =
            |round: Option<&WarmingRound>| round.map_or(0, |round| round.records_per_s as u64);
        BrokerWarming {
            length_ns: self.elapsed_ns,
            is_steady: self.is_steady,
            records_per_s_first: rate(self.rounds.first()),
            records_per_s_last: rate(self.rounds.last()),
        }
    }
}

/// Whether the last rounds are no better than those before them, and the brokers hardly compile. Throughput alone may
/// stay on a level for ten seconds, while the compilers use half of the CPU time, and then double.
fn is_steady(rounds: &[WarmingRound]) -> bool {
    let Some(start) = rounds.len().checked_sub(2 * ROUNDS) else {
        return false;
    };
    let (before, after) = rounds[start..].split_at(ROUNDS);
    let mean = |rounds: &[WarmingRound], of: &dyn Fn(&WarmingRound) -> Option<f64>| {
        let values: Option<Vec<f64>> = rounds.iter().map(of).collect();
        values.map(|values| values.iter().sum::<f64>() / values.len() as f64)
    };
    let rate = |round: &WarmingRound| Some(round.records_per_s);
    let cpu = |round: &WarmingRound| round.cpu_ns_per_record;
    let no_faster =
        mean(after, &rate) <= mean(before, &rate).map(|rate| rate * (1.0 + IMPROVEMENT_MAX));
    let no_cheaper = match (mean(before, &cpu), mean(after, &cpu)) {
        (Some(before), Some(after)) => after >= before * (1.0 - IMPROVEMENT_MAX),
        _ => true,
    };
    let compiling = mean(after, &|round| round.compiling);
    no_faster && no_cheaper && compiling.is_none_or(|part| part <= COMPILING_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(of: &[(f64, f64)]) -> Vec<WarmingRound> {
        let round = |&(records_per_s, cpu): &(f64, f64)| WarmingRound {
            records_per_s,
            cpu_ns_per_record: Some(cpu),
            compiling: Some(0.02),
        };
        of.iter().map(round).collect()
    }

    #[test]
    fn brokers_that_get_faster_or_cheaper_are_not_warm() {
        let level = [(100.0, 10.0); 8];
        assert!(is_steady(&rounds(&level)));
        assert!(!is_steady(&rounds(&level[..7])));
        let mut faster = level;
        faster[4..].fill((120.0, 10.0));
        assert!(!is_steady(&rounds(&faster)));
        // A load at a rate that is kept shows it by its CPU time alone.
        let mut cheaper = level;
        cheaper[4..].fill((100.0, 8.0));
        assert!(!is_steady(&rounds(&cheaper)));
        let mut slower = level;
        slower[4..].fill((80.0, 12.0));
        assert!(is_steady(&rounds(&slower)));
    }

    #[test]
    fn brokers_that_compile_are_not_warm() {
        let mut level = rounds(&[(100.0, 10.0); 8]);
        level[4..]
            .iter_mut()
            .for_each(|round| round.compiling = Some(0.5));
        assert!(!is_steady(&level));
        // One short compilation is less than a tenth of four seconds.
        level[5..]
            .iter_mut()
            .for_each(|round| round.compiling = Some(0.0));
        level[4].compiling = Some(0.3);
        assert!(is_steady(&level));
        level[4].compiling = None;
        assert!(is_steady(&level));
    }
}
