//! One repeat of one trial: load, evidence, and what the brokers count before and after.

use std::collections::BTreeMap;
use std::sync::Arc;

use kgauge_agents::lead::AgentsTrouble;
use kgauge_load::{Clock, HoldControl, LedgerFolder, LoadOutcome, LoadProgress};
use kgauge_observe::{BrokerSource, Sampler, SamplingPlan, WireWatcher};
use kgauge_report::text::flow::group_trouble;
use kgauge_results::recorder::{SliceTap, WriteError};
use kgauge_results::run::{
    AgentRecord, EventKind, FlowRecord, RepeatKey, RepeatOutcome, RepeatRecord, StageSpan,
};
use kgauge_results::{FolderError, RepeatFolder, Slice, SlicesWritten, Stage};
use kgauge_scenario::{FlowPlan, Share, Trial};

use crate::ab;
use crate::broker_sources;
use crate::checkup::ActiveCheckup;
use crate::counts::{count, ends};
use crate::drivers::{self, DriverTrack};
use crate::error::{OrRunError, RunError, in_one_line};
use crate::faults::{FaultThread, restore};
use crate::followers;
use crate::ids::unix_ms;
use crate::load_run::{self, LoadRun};
use crate::mirror::Mirror;
use crate::mirror_copy::{self, EchoDelay};
use crate::observer::{RepeatView, RunEvent};
use crate::outages::{self, OutageWait};
use crate::prepared_topic::PreparedTopic;
use crate::process_cpu::{ProcessCpu, TargetsCpu};
use crate::repeat_end::RepeatEnd;
use crate::session::Session;
use crate::verify::{self, LoadedRepeat};
use crate::warm_up::WarmUp;
use crate::wire::{self, Held};
use kgauge_observe::CpuTrack;

/// Runs one repeat on a topic that is ready.
pub(crate) fn repeat(
    session: &mut Session<'_>,
    trial: &Trial,
    share: &Share,
    prepared_topic: &PreparedTopic,
) -> Result<RepeatEnd, RunError> {
    let facts = &prepared_topic.facts;
    let key = RepeatKey {
        trial: trial.index,
        repeat: share.repeat,
    };
    let before = ends(&mut session.cluster, &facts.name);
    let before = before.map_err(|error| outages::offsets_unknown(&error))?;
    let folder = begin(session, key)?;
    let started_unix_ms = unix_ms();
    let ledgers = verify::ledgers(trial, &folder, prepared_topic, &before, started_unix_ms)?;
    let ledgers = ledgers.as_ref();
    let measured = measure(session, trial, share, prepared_topic, &folder, ledgers)?;
    let outcome = &measured.load;

    let ended = how_it_ended(session);
    let may_follow = ended == RepeatEnd::Complete;
    let (topic, unknown) = count(&mut session.cluster, facts, &before, outcome, may_follow);
    let unknown = unknown.map(|error| outages::offsets_unknown(&error));
    if may_follow && unknown.is_none() {
        outages::report_answers_after(session, facts, key, outcome);
    }
    let replication =
        followers::await_followers(session, trial, prepared_topic, (measured.clock, outcome));
    let loaded = ledgers.map(|ledgers| LoadedRepeat {
        trial,
        share,
        topic: prepared_topic,
        before: &before,
        outcome: Some(outcome),
        had_outage: measured.had_outage,
        agents: &measured.agents,
        ledgers,
        started_unix_ms: measured.started_unix_ms(),
    });
    let verification = verify::check(session, loaded.as_ref())?;
    let end = measured.end(ended, unknown.as_ref());
    let mut flows = flow_records(session, trial, outcome, &measured.cpu.drivers);
    let hold = (outcome.hold_start_ns, outcome.hold_end_ns);
    let seen = (&measured.behind, measured.cpu.replicator_between(hold));
    mirror_copy::record(
        session,
        prepared_topic.copy.as_ref(),
        outcome,
        seen,
        &mut flows,
    );
    note_clock_bounds(&mut flows, &measured.echo_bounds_ns);
    let record = RepeatRecord {
        key,
        started_unix_ms,
        flows,
        topics: vec![topic],
        cpu: Some(measured.cpu.record(outcome)),
        replication,
        brokers: broker_ids(session),
        verification,
        agents: measured.agents.clone(),
        outcome: end.clone(),
    };
    let ended_event = EventKind::RepeatEnded { outcome: end };
    session.event(Some((key, outcome.end_ns)), ended_event);
    let kept = finish(session, folder, &record);
    if let Some(trouble) = measured.trouble {
        return Err(trouble.into_error());
    }
    kept.or_unwritable()?;
    match unknown {
        Some(error) if ended == RepeatEnd::Complete => Err(error),
        Some(_) | None => Ok(ended),
    }
}

/// Writes down how far the end-to-end times of each flow may be off.
fn note_clock_bounds(flows: &mut [FlowRecord], bounds_ns: &[(usize, u64)]) {
    for (flow, bound_ns) in bounds_ns {
        if let Some(record) = flows.get_mut(*flow) {
            record.clock_bound_ns = Some(*bound_ns);
        }
    }
}

/// Node ids of the cluster's brokers.
fn broker_ids(session: &Session<'_>) -> Vec<i32> {
    let brokers = session.cluster.metadata().brokers.iter();
    brokers.map(|broker| broker.id).collect()
}

/// Whether the user has ended it.
fn how_it_ended(session: &mut Session<'_>) -> RepeatEnd {
    if !session.stopping.is_wanted() {
        return RepeatEnd::Complete;
    }
    // The first signal ends the load; what the brokers have is still worth a short question.
    session.cluster.set_interrupt(session.stopping.all.clone());
    if let Some(mirror) = &mut session.mirror {
        mirror.set_interrupt(session.stopping.all.clone());
    }
    RepeatEnd::Interrupted
}

/// Opens the folder of a repeat.
fn begin(session: &mut Session<'_>, key: RepeatKey) -> Result<RepeatFolder, RunError> {
    session.observer.observe(&RunEvent::RepeatBegins(key));
    let tap = session.slice_tap.clone();
    let tap = tap.map(|tap| Arc::new(move |slice: &Slice| tap(key, slice)) as SliceTap);
    session.folder.begin_repeat_tapped(key, tap).or_unwritable()
}

/// Waits until the recordings are on disk.
fn finish(
    session: &mut Session<'_>,
    folder: RepeatFolder,
    record: &RepeatRecord,
) -> Result<SlicesWritten, FolderError> {
    let kept = folder.finish(record);
    session.observer.observe(&RunEvent::RepeatEnds {
        key: record.key,
        outcome: &record.outcome,
    });
    kept
}

/// The result of a load, and the samples taken during it.
struct MeasuredRepeat {
    /// That of the load.
    clock: Clock,
    load: LoadOutcome,
    agents: Vec<AgentRecord>,
    /// Of each flow whose end-to-end times compare two clocks, their largest error.
    echo_bounds_ns: Vec<(usize, u64)>,
    cpu: ProcessCpu,
    behind: EchoDelay,
    /// A broker was away at some time of the load.
    had_outage: bool,
    trouble: Option<Trouble>,
}

impl MeasuredRepeat {
    /// The start of the load, in milliseconds since 1970.
    fn started_unix_ms(&self) -> u64 {
        u64::try_from(self.clock.unix_ms(0)).unwrap_or(0)
    }

    /// How the repeat ended, for its record; `unknown` is why the records on the brokers could not be counted.
    fn end(&self, ended: RepeatEnd, unknown: Option<&RunError>) -> RepeatOutcome {
        match (&self.trouble, ended) {
            (Some(trouble), _) => RepeatOutcome::Failed {
                why: in_one_line(&trouble.words()),
            },
            (None, RepeatEnd::Complete) if let Some(error) = unknown => RepeatOutcome::Failed {
                why: in_one_line(&error.to_string()),
            },
            (None, RepeatEnd::Interrupted) => RepeatOutcome::Interrupted,
            (None, RepeatEnd::Complete) if self.load.broken => RepeatOutcome::Failed {
                why: "a client was refused, or records were corrupt or missing; see events.jsonl"
                    .to_owned(),
            },
            (None, RepeatEnd::Complete) => RepeatOutcome::Complete,
        }
    }
}

/// A `group.id` of the run's own for each group of the trial; the end of the run deletes them.
fn groups_of(session: &mut Session<'_>, trial: &Trial, repeat: u32) -> BTreeMap<String, String> {
    let mut groups = BTreeMap::new();
    for flow in &trial.flows {
        if let FlowPlan::Consume(flow) = flow {
            for of_group in flow.group_labels() {
                let label = format!("g{:02}-r{repeat:02}-{of_group}", trial.index);
                let label = session.label(&label);
                groups.insert(of_group, session.topics.group(&label));
            }
        }
    }
    groups
}

/// Connects, runs the load, observes.
fn measure(
    session: &mut Session<'_>,
    trial: &Trial,
    share: &Share,
    prepared_topic: &PreparedTopic,
    folder: &RepeatFolder,
    ledgers: Option<&LedgerFolder>,
) -> Result<MeasuredRepeat, RunError> {
    let groups = groups_of(session, trial, share.repeat);
    let load = LoadRun::prepare(session, share, prepared_topic, ledgers, (folder, &groups))?;
    let key = folder.key();
    // Their first answers may take long: that is no part of the load's time.
    let brokers = broker_sources::sources(session, key);
    ab::await_other_side(session);
    let clock = load.start_clock();
    session.event(Some((key, 0)), EventKind::RepeatStarted);
    set_checkup_trial(session, Some(key.trial));
    let sampler = start_sampler(session, key, clock, brokers)?;
    let asked = wire::start(session, &prepared_topic.facts, &groups, (key, clock))?;
    let faults = FaultThread::start(session, share, &prepared_topic.facts.name, (key, clock))?;
    let pids = load.driver_pids();
    let mut watch = RepeatWatch::new(session, trial, folder, pids);
    // However short the load is, there is a look on either side of it.
    watch.cpu.sample(clock.now_ns());
    let interrupt = watch.session.stopping.load.clone();
    let outcome = load.run(share, folder, (clock, &interrupt), |progress, control| {
        watch.sample(progress, control);
    });
    watch.cpu.sample(clock.now_ns());
    let (mut trouble, mut cpu, behind) = (watch.trouble, watch.cpu, watch.behind);
    let had_outage = watch.had_outage;
    let wire_notes = asked.map(WireWatcher::stop).unwrap_or_default();
    set_checkup_trial(session, None);
    let watched = session.target_processes.clone();
    let healed = restore(session, faults, &prepared_topic.facts.name, (key, clock));
    if session.target_processes != watched {
        // Nobody has watched the processes that were started in between.
        cpu.targets.clear();
    }
    let ended = outcome?;
    let mut load = ended.outcome;
    cpu.agents = ended.agents_cpu;
    outages::limit_questions(session, trial, &load);
    if trouble.is_none() && trial.faults.is_empty() && load.is_target_gone {
        let words = outages::gone_words(&load);
        trouble = (!session.stopping.is_wanted()).then_some(Trouble::Target(words));
    }
    // What can be read of a cluster that has not recovered is counted and checked nevertheless.
    let not_healed = healed.err().map(|error| Trouble::Target(error.to_string()));
    trouble = trouble.or(not_healed);
    if load.is_target_gone && !trial.faults.is_empty() {
        load.is_target_gone = is_gone(session, prepared_topic);
    }
    let of_driver = || load.driver_trouble.clone().map(Trouble::Driver);
    trouble = trouble.or_else(of_driver);
    trouble = trouble.or(ended.trouble.map(Trouble::Agents));
    for text in sampler.stop().notes.into_iter().chain(wire_notes) {
        session.event(Some((key, load.end_ns)), EventKind::Warning { text });
    }
    for flow in &load.flows {
        if let Some(trouble) = flow.group.as_ref().and_then(group_trouble) {
            let text = format!("{}: {trouble}", flow.name);
            session.event(Some((key, load.end_ns)), EventKind::Warning { text });
        }
    }
    if load.incidents_dropped > 0 {
        let text = format!("{} more incidents are not listed", load.incidents_dropped);
        session.event(Some((key, load.end_ns)), EventKind::Warning { text });
    }
    Ok(MeasuredRepeat {
        clock,
        agents: ended.agents,
        echo_bounds_ns: ended.echo_bounds_ns,
        cpu,
        behind,
        had_outage: had_outage || !load.outages.is_empty(),
        load,
        trouble,
    })
}

/// Whether no partition of the topic has a leader, after the faults are over.
fn is_gone(session: &mut Session<'_>, topic: &PreparedTopic) -> bool {
    if session.stopping.is_wanted() {
        return true;
    }
    let name = topic.facts.name.as_str();
    let found = session.cluster.refresh(&[name]).ok();
    let found = found.and_then(|found| found.topic(name));
    let mut partitions = found.into_iter().flat_map(|topic| &topic.partitions);
    partitions.all(|partition| partition.leader_id.is_none())
}

/// What ended a load early.
enum Trouble {
    /// Slices cannot be written.
    Results(WriteError),
    /// The target's process has ended, or its disk is nearly full.
    Target(String),
    /// Another client's process has ended.
    Driver(String),
    /// An agent is gone, or its clock stepped.
    Agents(AgentsTrouble),
}

impl Trouble {
    fn words(&self) -> String {
        match self {
            Self::Results(error) => error.to_string(),
            Self::Agents(trouble) => trouble.to_string(),
            Self::Target(words) | Self::Driver(words) => words.clone(),
        }
    }

    fn into_error(self) -> RunError {
        match self {
            Self::Results(error) => RunError::System(error.to_string()),
            Self::Target(words) => RunError::cluster(words),
            Self::Driver(words) => RunError::Load(words),
            Self::Agents(AgentsTrouble::Results(words)) => RunError::System(words),
            Self::Agents(trouble) => RunError::Load(trouble.to_string()),
        }
    }
}

/// Samples a running load ten times per second.
struct RepeatWatch<'a, 'b> {
    session: &'a mut Session<'b>,
    trial: &'a Trial,
    folder: &'a RepeatFolder,
    cpu: ProcessCpu,
    behind: EchoDelay,
    held: Held,
    trouble: Option<Trouble>,
    had_outage: bool,
    warm_up: WarmUp,
    hold_start_ns: u64,
}

impl<'a, 'b> RepeatWatch<'a, 'b> {
    fn new(
        session: &'a mut Session<'b>,
        trial: &'a Trial,
        folder: &'a RepeatFolder,
        drivers: Vec<(usize, u32)>,
    ) -> Self {
        let cpu = ProcessCpu {
            generator: CpuTrack::of(Some(std::process::id())),
            agents: None,
            drivers: drivers.into_iter().map(DriverTrack::of).collect(),
            targets: TargetsCpu::of(&session.target_processes),
            replicator: session.mirror.as_ref().map(Mirror::cpu_track),
        };
        Self {
            session,
            trial,
            folder,
            cpu,
            behind: EchoDelay::default(),
            held: Held::default(),
            trouble: None,
            had_outage: false,
            warm_up: WarmUp::new(trial),
            hold_start_ns: trial.stages.warm_up_limit_ns(),
        }
    }

    fn sample(&mut self, progress: &LoadProgress, control: &dyn HoldControl) {
        self.cpu.sample(progress.elapsed_ns);
        self.warm_up
            .check(progress.elapsed_ns, &self.cpu.targets, control);
        self.hold_start_ns = control.hold_start_ns();
        if self.is_hold(progress.elapsed_ns) {
            self.behind.sample(&progress.behind);
        }
        let folder = &self.session.folder;
        self.held.sample(folder, self.folder.key(), progress);
        for incident in &progress.incidents {
            let text = format!("{}: {}", incident.flow, incident.what);
            let at = Some((self.folder.key(), incident.at_ns));
            self.session
                .event(at, EventKind::Error { text, code: None });
        }
        self.had_outage |= !progress.outage_changes.is_empty();
        let wait = OutageWait::of_load(self.trial, self.hold_start_ns);
        let key = Some(self.folder.key());
        outages::report_outages(self.session, key, wait, progress);
        if self.trouble.is_none() {
            let results = self.folder.failure().map(Trouble::Results);
            let target = || self.session.target_trouble().map(Trouble::Target);
            let silence = || outages::given_up(self.trial, progress).map(Trouble::Target);
            self.trouble = results.or_else(target).or_else(silence);
            if self.trouble.is_some() {
                self.session.stopping.load.raise();
            }
        }
        let view = RepeatView {
            load: progress,
            trial: self.trial,
            hold_start_ns: self.hold_start_ns,
            is_warm_up_open: self.warm_up.goes_on(),
        };
        self.session.observer.observe(&RunEvent::Progress(&view));
    }

    fn is_hold(&self, at_ns: u64) -> bool {
        let hold_ns = self.trial.stages.hold_ns;
        let end_ns = hold_ns.map(|hold_ns| self.hold_start_ns + hold_ns);
        at_ns >= self.hold_start_ns && end_ns.is_none_or(|end_ns| at_ns < end_ns)
    }
}

/// The guard of a checkup asks nothing between loads.
fn set_checkup_trial(session: &Session<'_>, trial: Option<u32>) {
    if let Some(checkup) = &session.checkup {
        checkup.set_trial(trial);
    }
}

fn start_sampler(
    session: &Session<'_>,
    key: RepeatKey,
    clock: Clock,
    brokers: Vec<Box<dyn BrokerSource>>,
) -> Result<Sampler, RunError> {
    let beside = session.mirror.as_ref().map(Mirror::processes);
    let targets = session.target_processes.iter().cloned();
    let targets = targets.chain(beside.unwrap_or_default());
    let targets = targets.chain(load_run::agent_processes(session));
    let evidence = session.folder.evidence();
    let health = session.checkup.as_ref().and_then(ActiveCheckup::tap);
    Sampler::start(
        SamplingPlan::each_second(key, targets.collect())
            .with_data_dirs(session.data_dirs.clone())
            .with_speeds(session.request.target.speeds.clone()),
        brokers,
        move || clock.now_ns(),
        move |seen| {
            if let Some(health) = &health {
                health.note(seen);
            }
            evidence.write(seen).map_err(|error| error.to_string())
        },
    )
    .map_err(|error| RunError::system("cannot start the thread that observes", &error))
}

fn flow_records(
    session: &Session<'_>,
    trial: &Trial,
    outcome: &LoadOutcome,
    drivers: &[DriverTrack],
) -> Vec<FlowRecord> {
    let spans = [
        (Stage::WarmUp, 0, outcome.hold_start_ns),
        (Stage::Hold, outcome.hold_start_ns, outcome.hold_end_ns),
        (Stage::Drain, outcome.hold_end_ns, outcome.end_ns),
    ];
    let stages: Vec<StageSpan> = spans
        .into_iter()
        .filter(|(_, start_ns, end_ns)| end_ns > start_ns)
        .map(|(stage, start_ns, end_ns)| StageSpan {
            stage,
            start_ns,
            end_ns,
        })
        .collect();
    let of = |(index, flow): (usize, &FlowPlan)| FlowRecord {
        name: flow.name().to_owned(),
        stages: stages.clone(),
        threads: outcome.worker_hold_cpu_ns.len() as u32,
        driver: drivers::record(index, outcome, drivers),
        group: outcome.flows.get(index).and_then(|flow| flow.group),
        members: outcome
            .flows
            .get(index)
            .map_or_else(Vec::new, |flow| flow.members.clone()),
        transactions: outcome.flows.get(index).and_then(|flow| flow.transactions),
        mirror: None,
        connections: outcome
            .flows
            .get(index)
            .filter(|_| flow.produces().is_none_or(|flow| flow.driver.is_kgauge()))
            .map(|flow| flow.totals.connections),
        ceiling: session.ceilings.of_flow(index),
        clock_bound_ns: None,
        pace: outcome.flows.get(index).map(|flow| flow.pace.clone()),
    };
    trial.flows.iter().enumerate().map(of).collect()
}
