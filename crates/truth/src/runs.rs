//! The suite's runs: made as any run is, and read back from their folders as by any reader.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kgauge_analyze::Summary;
use kgauge_analyze::summary::FlowSummary;
use kgauge_results::folder::FlowRead;
use kgauge_results::run::{EventKind, EvidenceKind, NodeStall, Subject};
use kgauge_results::{Histogram, RunRead, TimeKind};
use kgauge_runner::{
    FolderChoice, OnTargetReady, OrRunError, Question, RepeatEnd, RunError, RunRequest, RunTarget,
    ScenarioChanges, write_results,
};
use kgauge_scenario::{FlowPlan, Partitioner, Shape, Trial};

use crate::Suite;
use crate::files::write;
use crate::formula::{StalledHold, WaitSpan};
use crate::lost::{Lost, MachineLog};
use crate::machine::{self, MachineRecording};
use crate::scenarios::{BESIDE, TruthScenario};

/// A run of the suite, read from its folder.
#[derive(Debug)]
pub(crate) struct TruthRun {
    pub(crate) read: RunRead,
    pub(crate) summary: Summary,
    /// What was recorded about the machine meanwhile.
    machine: MachineLog,
}

/// The last run of each scenario, by its name.
#[derive(Debug, Default)]
pub(crate) struct Runs(BTreeMap<&'static str, TruthRun>);

impl Runs {
    pub(crate) fn get(&self, scenario: TruthScenario) -> Option<&TruthRun> {
        self.0.get(scenario.name)
    }

    /// The part of the processors that others used, in the run in which it was most.
    pub(crate) fn used_by_others_max(&self) -> Option<f64> {
        // In one run, Java is part of the check.
        let alone = self.0.iter().filter(|(name, _)| **name != BESIDE.name);
        let used = alone.filter_map(|(_, ran)| ran.used_by_others());
        used.reduce(f64::max)
    }

    /// Reads a run of an earlier suite from its folder; returns whether there is one.
    pub(crate) fn read(
        &mut self,
        scenario: TruthScenario,
        dir: &Path,
        tries: u32,
    ) -> Result<bool, RunError> {
        let folder = dir.join(folder(scenario, tries));
        if !folder.is_dir() {
            return Ok(false);
        }
        let read = RunRead::open(&folder).or_bad_input()?;
        let summary = Summary::of(&read);
        let machine = machine::read(&machine_log(scenario, dir, tries));
        let ran = TruthRun {
            read,
            summary,
            machine,
        };
        self.0.insert(scenario.name, ran);
        Ok(true)
    }

    /// Writes the scenario to a file and runs it as any user would.
    pub(crate) fn make(
        &mut self,
        scenario: TruthScenario,
        suite: &mut Suite<'_>,
        tries: u32,
        on_target_ready: Option<&OnTargetReady<'_>>,
    ) -> Result<(), RunError> {
        let (suite_request, dir) = (suite.request, suite.dir);
        let file = dir
            .join("scenarios")
            .join(format!("{}.yaml", scenario.name));
        write(&file, scenario.text)?;
        let changes = ScenarioChanges {
            size: suite_request.size(),
            ..ScenarioChanges::default()
        };
        let question = Question::read(&file.display().to_string(), &changes)?;
        let target = RunTarget::parse(RunTarget::DEFAULT, &question)?;
        target.check(&question)?;
        let request = RunRequest {
            folder: FolderChoice::New(dir.join(folder(scenario, tries))),
            seed: suite_request.seed,
            command: suite_request.command.clone(),
            stop: suite_request.stop.clone(),
            on_target_ready,
            ..RunRequest::new(&question, &target, suite_request.host.clone())
        };
        let recording = MachineRecording::start()?;
        let finished = kgauge_runner::run(&request, suite.observer);
        let log = recording.end();
        let finished = finished?;
        let (read, summary) = write_results(&finished.dir)?;
        match finished.ended? {
            RepeatEnd::Complete => {}
            RepeatEnd::Interrupted => return Err(RunError::interrupted("stopped by the user")),
        }
        let machine = machine::keep(log, &machine_log(scenario, dir, tries))?;
        let ran = TruthRun {
            read,
            summary,
            machine,
        };
        self.0.insert(scenario.name, ran);
        Ok(())
    }
}

/// The run folder of a try: `stall`, `stall-2`.
fn folder(scenario: TruthScenario, tries: u32) -> String {
    match tries {
        1 => scenario.name.to_owned(),
        tries => format!("{}-{tries}", scenario.name),
    }
}

fn machine_log(scenario: TruthScenario, dir: &Path, tries: u32) -> PathBuf {
    dir.join(format!("{}.machine.json", folder(scenario, tries)))
}

impl TruthRun {
    /// Scenarios of the suite have one trial.
    pub(crate) fn trial(&self) -> Option<&Trial> {
        self.read.plan.as_ref()?.trials.first()
    }

    /// The summary of a flow.
    pub(crate) fn flow(&self, name: &str) -> Option<&FlowSummary> {
        let flows = &self.summary.trials.first()?.flows;
        flows.iter().find(|flow| flow.name == name)
    }

    /// The plan of a flow.
    pub(crate) fn flow_plan(&self, name: &str) -> Option<&FlowPlan> {
        let flows = &self.trial()?.flows;
        flows.iter().find(|flow| flow.name() == name)
    }

    /// What the slices of a flow add up to. Scenarios of the suite have one repeat.
    fn slices(&self, flow: &str) -> Option<&FlowRead> {
        let index = self.flow(flow)?.index;
        self.read.repeats.first()?.flows.get(&index)
    }

    /// A distribution of a flow's hold.
    pub(crate) fn times(&self, flow: &str, kind: TimeKind) -> Option<&Histogram> {
        let hold = self.slices(flow)?.hold()?;
        Some(hold.times(kind)).filter(|times| !times.is_empty())
    }

    /// A distribution of a flow over all stages.
    pub(crate) fn times_of_all(&self, flow: &str, kind: TimeKind) -> Option<Histogram> {
        let mut all = Histogram::new();
        for slice in self.slices(flow)?.stages.values() {
            all.add(slice.times(kind));
        }
        (!all.is_empty()).then_some(all)
    }

    /// The length of a flow's warm-up and hold, and its records in flight integrated over all stages.
    pub(crate) fn in_flight_of_all(&self, flow: &str) -> Option<(f64, f64)> {
        let stages = self.trial()?.stages;
        let slices = self.slices(flow)?.stages.values();
        let record_ns = slices.map(|slice| u128::from(slice.counts.in_flight_record_ns));
        let span_ns = (stages.warm_up_ns + stages.hold_ns?) as f64;
        Some((span_ns, record_ns.sum::<u128>() as f64))
    }

    /// The part of the machine's processors that neither the generator nor the target used while it ran; the run
    /// folder's evidence says so once a second.
    pub(crate) fn used_by_others(&self) -> Option<f64> {
        let cpus = self.read.environment.as_ref()?.machine.cpu_count?;
        // The time from the first sample to the last, and the CPU time in it.
        let used = |of: fn(&Subject) -> bool| {
            let evidence = self.read.evidence.iter().filter(|seen| of(&seen.subject));
            let mut samples = evidence.filter_map(|seen| match seen.kind {
                EvidenceKind::Cpu { user_ns, system_ns } => {
                    Some((seen.at_ns?, user_ns + system_ns))
                }
                _ => None,
            });
            let first = samples.next()?;
            let last = samples.next_back()?;
            Some((last.0 - first.0, last.1.saturating_sub(first.1)))
        };
        let (span_ns, all_ns) = used(|subject| *subject == Subject::Host)?;
        let (_, generator_ns) = used(|subject| *subject == Subject::Generator)?;
        let (_, target_ns) = used(|subject| matches!(subject, Subject::Target { .. }))?;
        let others_ns = all_ns.saturating_sub(generator_ns + target_ns);
        (span_ns > 0).then(|| others_ns as f64 / (span_ns as f64 * f64::from(cpus)))
    }

    /// What other programs took while it ran. `None` if no event in its folder has a time.
    pub(crate) fn lost(&self) -> Option<Lost<'_>> {
        // An event is written at its time or a little later: the least difference is the start of the repeat.
        let starts = self.read.events.iter().filter_map(|event| {
            let at_ns = event.at_ns?;
            Some(event.at_unix_ms as f64 * 1e6 - at_ns as f64)
        });
        Some(Lost {
            log: &self.machine,
            origin_unix_ns: starts.reduce(f64::min)?,
        })
    }

    /// The known answers of its stalls to a flow, from what the flow's node recorded about each.
    pub(crate) fn stalled_hold(&self, flow: &str) -> Option<StalledHold> {
        let trial = self.trial()?;
        let warm_up_ns = trial.stages.warm_up_ns as f64;
        StalledHold::of(trial, |entry| {
            let spans = self.node_stall(flow, entry).map(|(stall, per_ns)| {
                let on_hold = |at_ns: u64| at_ns as f64 - warm_up_ns;
                let answers = stall.answers.iter();
                let answers: Vec<(f64, u64)> = answers
                    .map(|(at_ns, records)| (on_hold(*at_ns), *records))
                    .collect();
                WaitSpan::of_answers(on_hold(stall.begin_ns), &answers, per_ns)
            });
            spans.unwrap_or_default()
        })
    }

    /// What a flow's own node recorded about a stall, and the flow's records per nanosecond. A node that serves several
    /// flows cannot tell their records apart.
    fn node_stall(&self, name: &str, entry: usize) -> Option<(&NodeStall, f64)> {
        let flows = &self.trial()?.flows;
        let FlowPlan::Produce(flow) = self.flow_plan(name)? else {
            return None;
        };
        let (Shape::Constant { per_second } | Shape::Poisson { per_second }) = flow.shape else {
            return None;
        };
        let stalls = self
            .read
            .events
            .iter()
            .find_map(|event| match &event.kind {
                EventKind::Fault {
                    active: false,
                    entry: Some(of),
                    stalls,
                    ..
                } if *of as usize == entry => Some(stalls),
                _ => None,
            })?;
        let stall = match flow.settings.partitioner {
            Partitioner::Broker(node) => stalls.iter().find(|stall| i32::from(stall.node) == node),
            Partitioner::Sticky | Partitioner::RoundRobin | Partitioner::Partition(_) => stalls
                .first()
                .filter(|_| flows.len() == 1 && stalls.len() == 1),
        };
        Some((stall?, per_second / 1e9))
    }

    /// What the nodes counted of the requests that a fault struck: requests, and records in them.
    pub(crate) fn struck(&self, entry: u32) -> Option<(u64, u64)> {
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
    pub(crate) fn grown_on(&self, node: i32) -> Option<u64> {
        let record = self.read.repeats.first()?.record.as_ref()?;
        let partitions = record.topics.iter().flat_map(|topic| &topic.partitions);
        let led = partitions.filter(|partition| partition.leader == Some(node));
        let grown = led.map(|partition| partition.end_after?.checked_sub(partition.end_before?));
        let sum = grown.sum::<Option<i64>>()?;
        u64::try_from(sum).ok()
    }
}
