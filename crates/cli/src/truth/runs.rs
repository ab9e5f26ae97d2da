//! The suite's runs: made as any run is, and read back from their folders as by any reader.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context;
use kgauge_results::run::{EventKind, EvidenceKind, Subject};
use kgauge_results::summary::FlowSummary;
use kgauge_results::{Histogram, Kind, RunRead, Summary};
use kgauge_scenario::{FlowPlan, Trial};

use super::formula::StalledHold;
use super::scenarios::{BESIDE, Shipped};
use crate::exit::OrStop;
use crate::interrupt::Stopping;
use crate::run::{self, Beside};

/// A run of the suite, read from its folder.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) read: RunRead,
    pub(super) summary: Summary,
}

/// All runs so far, by the name of their scenario.
#[derive(Debug, Default)]
pub(super) struct Runs(BTreeMap<&'static str, Ran>);

/// How the runs are made.
pub(super) struct RunOrder<'a> {
    /// Scenarios and run folders go here.
    pub(super) dir: &'a Path,
    pub(super) quick: bool,
    pub(super) seed: Option<u64>,
    pub(super) stopping: &'a Stopping,
}

impl Runs {
    pub(super) fn get(&self, scenario: Shipped) -> Option<&Ran> {
        self.0.get(scenario.name)
    }

    /// The part of the processors that others used, in the run in which it was most.
    pub(super) fn used_by_others_max(&self) -> Option<f64> {
        // The Java beside one of them is ours too.
        let alone = self.0.iter().filter(|(name, _)| **name != BESIDE.name);
        let used = alone.filter_map(|(_, ran)| ran.used_by_others());
        used.reduce(f64::max)
    }

    /// Reads a run that an earlier suite has left in its folder, if there is one.
    pub(super) fn read(&mut self, scenario: Shipped, dir: &Path) -> anyhow::Result<()> {
        let dir = dir.join(scenario.name);
        if dir.is_dir() {
            let read = RunRead::open(&dir).or_bad_input()?;
            let summary = Summary::of(&read);
            self.0.insert(scenario.name, Ran { read, summary });
        }
        Ok(())
    }

    /// Writes the scenario down and runs it: the arguments are those of `kgauge run`, and so is
    /// everything from here on.
    pub(super) fn make(
        &mut self,
        scenario: Shipped,
        order: &RunOrder<'_>,
        beside: Option<&Beside<'_>>,
    ) -> anyhow::Result<()> {
        let texts = order.dir.join("scenarios");
        let file = texts.join(format!("{}.yaml", scenario.name));
        fs::create_dir_all(&texts)
            .and_then(|()| fs::write(&file, scenario.text))
            .with_context(|| format!("cannot write {}", file.display()))
            .or_failed()?;
        let mut words = vec![
            "--out".into(),
            order.dir.join(scenario.name).into_os_string(),
        ];
        if order.quick {
            words.push("--quick".into());
        }
        if let Some(seed) = order.seed {
            words.push(format!("--seed={seed}").into());
        }
        words.push(file.into_os_string());
        let (read, summary) = run::one(&words, order.stopping, beside)?;
        self.0.insert(scenario.name, Ran { read, summary });
        Ok(())
    }
}

impl Ran {
    /// Scenarios of the suite have one trial.
    pub(super) fn trial(&self) -> Option<&Trial> {
        self.read.plan.as_ref()?.trials.first()
    }

    /// What the summary says of a flow.
    pub(super) fn flow(&self, name: &str) -> Option<&FlowSummary> {
        let flows = &self.summary.trials.first()?.flows;
        flows.iter().find(|flow| flow.name == name)
    }

    /// The plan of a flow.
    pub(super) fn flow_plan(&self, name: &str) -> Option<&FlowPlan> {
        let flows = &self.trial()?.flows;
        flows.iter().find(|flow| flow.name() == name)
    }

    /// A distribution of a flow's hold.
    pub(super) fn times(&self, flow: &str, kind: Kind) -> Option<&Histogram> {
        let index = self.flow(flow)?.index;
        let read = self.read.repeats.first()?.flows.get(&index)?;
        Some(read.hold()?.times(kind)).filter(|times| !times.is_empty())
    }

    /// A distribution of a flow over all stages.
    pub(super) fn times_of_all(&self, flow: &str, kind: Kind) -> Option<Histogram> {
        let index = self.flow(flow)?.index;
        let read = self.read.repeats.first()?.flows.get(&index)?;
        let mut all = Histogram::new();
        let stages = read.stages.values();
        stages.for_each(|slice| all.add(slice.times(kind)));
        (!all.is_empty()).then_some(all)
    }

    /// The part of the machine's processors that neither the generator nor the target used while it ran; the run
    /// folder's evidence says so once a second.
    pub(super) fn used_by_others(&self) -> Option<f64> {
        let cpus = self.read.environment.as_ref()?.machine.cpu_count?;
        let looks = |of: fn(&Subject) -> bool| {
            let evidence = self.read.evidence.iter().filter(|seen| of(&seen.subject));
            let mut looks = evidence.filter_map(|seen| match seen.kind {
                EvidenceKind::Cpu { user_ns, system_ns } => {
                    Some((seen.at_ns?, user_ns + system_ns))
                }
                _ => None,
            });
            let first = looks.next()?;
            let last = looks.next_back()?;
            Some((last.0 - first.0, last.1.saturating_sub(first.1)))
        };
        let (span_ns, all_ns) = looks(|subject| *subject == Subject::Host)?;
        let (_, generator_ns) = looks(|subject| *subject == Subject::Generator)?;
        let (_, target_ns) = looks(|subject| matches!(subject, Subject::Target { .. }))?;
        let others_ns = all_ns.saturating_sub(generator_ns + target_ns);
        (span_ns > 0).then(|| others_ns as f64 / (span_ns as f64 * f64::from(cpus)))
    }

    /// The known answers of its stalls.
    pub(super) fn stalled_hold(&self) -> Option<StalledHold> {
        StalledHold::of(self.trial()?, |entry| {
            let mut begins = self.read.events.iter().filter(|event| {
                matches!(event.kind, EventKind::Fault { active: true, entry: Some(of), .. }
                    if of as usize == entry)
            });
            begins.next()?.at_ns
        })
    }

    /// What the nodes counted of the requests that a fault struck: requests, and records in them.
    pub(super) fn struck(&self, entry: u32) -> Option<(u64, u64)> {
        let ends = self
            .read
            .events
            .iter()
            .filter_map(|event| match event.kind {
                EventKind::Fault {
                    active: false,
                    entry: Some(of),
                    requests: Some(requests),
                    records: Some(records),
                    ..
                } if of == entry => Some((requests, records)),
                _ => None,
            });
        ends.reduce(|sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// By how many records the partitions grew that a node led at the end.
    pub(super) fn grown_on(&self, node: i32) -> Option<u64> {
        let record = self.read.repeats.first()?.record.as_ref()?;
        let partitions = record.topics.iter().flat_map(|topic| &topic.partitions);
        let led = partitions.filter(|partition| partition.leader == Some(node));
        let grown = led.map(|partition| partition.end_after?.checked_sub(partition.end_before?));
        let sum = grown.sum::<Option<i64>>()?;
        u64::try_from(sum).ok()
    }
}
