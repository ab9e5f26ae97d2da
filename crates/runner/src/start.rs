//! Everything before the first trial: the target, the plan, the disk check, the run folder.

use std::path::Path;

use kgauge_client::Cluster;
use kgauge_load::Ceilings;
use kgauge_results::run::{DiskBaseline, Environment, EventKind, TargetNote};
use kgauge_scenario::{Plan, RepeatKey};
use kgauge_target::{DiskSpace, Target, TargetFacts, TargetSpec, is_on_disk};

use crate::checkup::{self, ActiveCheckup};
use crate::clusters::{self, Clusters};
use crate::consent;
use crate::data_dirs;
use crate::disk_space::{DiskGuard, check_disks};
use crate::drivers;
use crate::environment::environment;
use crate::error::{OrRunError, RunError};
use crate::events::event;
use crate::fit::{check_topics, drop_unsupported, same_cluster};
use crate::from_disk;
use crate::gather_agents::{check_agents, gather_agents};
use crate::left_out::left_out;
use crate::metrics;
use crate::mirror::Mirror;
use crate::mirror_copy;
use crate::observer::{Activity, Observer, RepeatTap, RunEvent};
use crate::open_run::OpenRun;
use crate::processes;
use crate::request::RunRequest;
use crate::session::{ClusterHealth, Session};
use crate::shared::SharedTarget;
use crate::step_chooser::StepChooser;

/// A run whose target serves, and whose plan is written down.
pub(crate) struct PreparedRun<'a> {
    pub(crate) session: Session<'a>,
    pub(crate) plan: Plan,
    /// What is left to do, in order; searches add to it.
    pub(crate) steps: Vec<RepeatKey>,
    /// The A/B test or the search for settings that the run makes.
    pub(crate) chooser: Option<StepChooser>,
}

/// Starts the target, checks that everything fits, and writes the plan. After an error no target is left.
pub(crate) fn prepare<'a>(
    request: &'a RunRequest<'a>,
    opened: &'a mut OpenRun,
    observer: &'a mut dyn Observer,
) -> Result<PreparedRun<'a>, RunError> {
    let (question, stopping) = (request.question, &request.stop);
    let agents = gather_agents(request, &opened.run_id, observer)?;
    let drivers = drivers::programs(&question.trials, request)?;
    let (mut steps, left_out) = left_to_do(request, opened, observer)?;
    let first = steps.first();
    let first = first.and_then(|step| question.trials.get(step.trial as usize));
    let needs = first.map(|trial| trial.cluster.clone()).unwrap_or_default();
    let mut clusters = Clusters::new(request, &opened.folder, &opened.run_id, opened.number);
    let target = clusters.start(&needs)?;
    let mut cluster = target.connect(stopping.load.clone())?;
    let facts = target.facts(&mut cluster)?;
    request.target.check_existing(&mut cluster, &needs)?;
    let mut plan = plan_for(request, opened, &facts)?;
    check_agents(request, agents.as_ref(), (target.config(), &plan), observer)?;
    let mut notes = drop_unsupported(&mut plan, &facts, &mut cluster)?;
    let to_run = to_run(&plan, &steps);
    let topic = request.existing_topic.as_deref();
    check_topics(topic, &to_run, (&target, &facts), &mut cluster)?;
    let target_processes = processes::of(&target, &facts);
    let data_dirs = data_dirs::of(&target, &facts, &target_processes);
    from_disk::check(&to_run, &data_dirs)?;
    let dir = opened.folder.dir();
    let how = (request.keeps_data, !data_dirs.is_empty());
    let disks = check_disks(&target, &mut cluster, &to_run, dir, how)?;
    let known = ((&facts, &disks[..], &to_run), is_on_disk(&data_dirs));
    let checkup = checkup_of(request, (&target, &mut cluster), known, opened, observer)?;
    steps.retain(|_| checkup.as_ref().is_none_or(ActiveCheckup::may_load));
    announce(request, &mut cluster, &target)?;
    let mirror = Mirror::start_for(&clusters, &target, &needs)?;
    notes.extend(mirror_copy::note(&plan));
    // A resumed run wrote all of this when it first started.
    if opened.earlier.is_none() {
        let (disk, disk_note) = disk_baseline(request, dir, observer)?;
        notes.extend(several_clusters(&plan));
        notes.extend(target_notes(&request.target.spec));
        notes.extend(disk_note);
        let environment = environment(dir, &target, &facts, notes, disk);
        write_plan(request, opened, &plan, &environment, left_out)?;
    }
    let slice_tap = tap(opened, observer);
    let session = Session {
        metrics: metrics::known(request.target.metrics.clone(), &facts.brokers)?,
        request,
        observer,
        folder: &mut opened.folder,
        slice_tap,
        stopping: stopping.clone(),
        kind: target.kind(),
        client: target.config().clone(),
        nodes: facts.brokers.len(),
        topics: clusters::topics(&target, &opened.run_id)?,
        target: SharedTarget::new(target),
        cluster,
        mirror,
        clusters,
        is_warm: false,
        target_processes,
        disk_guard: DiskGuard::of(&data_dirs),
        data_dirs,
        drivers,
        agents,
        ceilings: Ceilings::default(),
        health: ClusterHealth::Sound,
        checkup,
    };
    Ok(PreparedRun {
        chooser: StepChooser::of(&plan, request, &facts, opened.earlier.as_ref())?,
        session,
        plan,
        steps,
    })
}

/// Calls whoever asked to be called when the target is ready.
fn announce(
    request: &RunRequest<'_>,
    cluster: &mut Cluster,
    target: &Target,
) -> Result<(), RunError> {
    match request.on_target_ready {
        Some(on_target_ready) => Ok(on_target_ready(cluster, target.config())?),
        None => Ok(()),
    }
}

/// Lets the observer see what the folder gets; returns its tap for slices.
fn tap(opened: &mut OpenRun, observer: &mut dyn Observer) -> Option<RepeatTap> {
    let taps = observer.taps();
    if let Some((evidence, events)) = taps.lines {
        opened.folder.tap(evidence, events);
    }
    taps.slices
}

/// Reports what the run will do to an existing cluster and asks for consent; a checkup reports it of every cluster.
/// Returns the checkup that the run makes, if it is one.
fn checkup_of(
    request: &RunRequest<'_>,
    (target, cluster): (&Target, &mut Cluster),
    ((facts, disks, to_run), reads_disk): ((&TargetFacts, &[DiskSpace], &Plan), bool),
    opened: &OpenRun,
    observer: &mut dyn Observer,
) -> Result<Option<ActiveCheckup>, RunError> {
    let is_existing = matches!(target, Target::Existing(_));
    let Some(checkup) = request.checkup else {
        if is_existing {
            consent::ask(request, to_run, facts, disks, observer)?;
        }
        return Ok(None);
    };
    let free = disks.iter().filter_map(|disk| disk.free_bytes).min();
    let mut checkup = checkup::begin(
        checkup,
        cluster,
        facts,
        (free.filter(|_| !is_existing), reads_disk),
    )?;
    observer.observe(&RunEvent::Remark(&checkup.announcement()));
    if is_existing && checkup.may_load() {
        consent::answer(request)?;
    }
    checkup.open(target.config(), &opened.folder)?;
    Ok(Some(checkup))
}

/// The plan of a new run, or that of an interrupted one.
fn plan_for(
    request: &RunRequest<'_>,
    opened: &OpenRun,
    facts: &TargetFacts,
) -> Result<Plan, RunError> {
    if let Some(earlier) = &opened.earlier {
        let plan = same_cluster(earlier, facts, request.target)?;
        // The user may have given a search for better settings more time.
        let tune = request.question.tune.clone();
        return Ok(Plan { tune, ..plan });
    }
    let mut cluster = facts.for_plan();
    // The first cluster may have another number of brokers, because that is varied.
    cluster.brokers = request.target.spec.brokers().unwrap_or(cluster.brokers);
    let question = request.question;
    question.plan(&opened.run_id, opened.seed, cluster)
}

/// Trials that will not run, and why.
type LeftOut = Vec<(u32, String)>;

/// What is left to do, and what the target cannot serve.
fn left_to_do(
    request: &RunRequest<'_>,
    opened: &OpenRun,
    observer: &mut dyn Observer,
) -> Result<(Vec<RepeatKey>, LeftOut), RunError> {
    let question = request.question;
    let left_out = left_out(question, request.target, observer);
    if question.ab.is_some() || question.tune.is_some() {
        return match left_out.into_iter().next() {
            // The test adds all repeats behind these.
            None => Ok((question.order(opened.seed), LeftOut::new())),
            Some((_, why)) => Err(RunError::input(why)),
        };
    }
    let is_done = |step: &RepeatKey| {
        let earlier = opened.earlier.as_ref();
        earlier.is_some_and(|earlier| earlier.is_done(step))
    };
    let is_left_out = |step: &RepeatKey| left_out.iter().any(|(trial, _)| *trial == step.trial);
    let mut steps = question.order(opened.seed);
    steps.retain(|step| !is_done(step) && !is_left_out(step));
    if opened.earlier.is_some() && steps.is_empty() {
        let words = "the target supports none of the run's remaining trials";
        return Err(RunError::input(words));
    }
    Ok((steps, left_out))
}

/// Keeps what is known of machine and target, the plan, the scenarios, and what will not run.
fn write_plan(
    request: &RunRequest<'_>,
    opened: &OpenRun,
    plan: &Plan,
    environment: &Environment,
    left_out: LeftOut,
) -> Result<(), RunError> {
    let folder = &opened.folder;
    let mut environment = environment.clone();
    let agents = request.agents.as_ref();
    if agents.is_some_and(|agents| !agents.spec.is_local()) {
        // The target may share a machine with the lead, which is not the load generator.
        environment.target.same_machine = None;
    }
    folder.write_environment(&environment).or_unwritable()?;
    folder.write_plan(plan).or_unwritable()?;
    for (name, text) in request.question.texts() {
        folder.write_scenario(name, text).or_unwritable()?;
    }
    for (trial, why) in left_out {
        let kind = EventKind::TrialLeftOut { trial, why };
        folder.events().write(&event(None, kind)).or_unwritable()?;
    }
    Ok(())
}

/// What the disk under the target does by itself, where the study asks; or why that is not known.
fn disk_baseline(
    request: &RunRequest<'_>,
    dir: &Path,
    observer: &mut dyn Observer,
) -> Result<(Option<DiskBaseline>, Option<TargetNote>), RunError> {
    if !request.question.wants_disk_baseline() {
        return Ok((None, None));
    }
    let error = match request.target.spec {
        TargetSpec::Existing(_) => None,
        TargetSpec::Embedded(_) | TargetSpec::Kafka(_) => {
            observer.observe(&RunEvent::Activity(&Activity::MeasuringDisk));
            match kgauge_observe::disk_baseline(dir, &|| request.stop.is_wanted()) {
                Ok(found) => return Ok((Some(found), None)),
                Err(error) if request.stop.is_wanted() => {
                    return Err(RunError::interrupted(error));
                }
                Err(error) => Some(error.to_string()),
            }
        }
    };
    Ok((None, Some(TargetNote::NoDiskBaseline { error })))
}

/// A note that the environment describes the brokers of the first cluster only.
fn several_clusters(plan: &Plan) -> Option<TargetNote> {
    let (first, rest) = plan.trials.split_first()?;
    let differ = rest
        .iter()
        .any(|trial| !trial.cluster.shares_with(&first.cluster));
    differ.then_some(TargetNote::SeveralClusters)
}

/// Notes on how brokers were started: what they have for faults takes time in every trial, and a JVM is slow at first.
fn target_notes(spec: &TargetSpec) -> impl Iterator<Item = TargetNote> {
    let kafka = match spec {
        TargetSpec::Kafka(kafka) => Some(kafka),
        TargetSpec::Embedded(_) | TargetSpec::Existing(_) => None,
    };
    let means = kafka
        .map(|kafka| kafka.means)
        .filter(|means| means.is_any());
    let for_faults = means.map(|means| TargetNote::FaultEquipment {
        preload: means.preload,
        proxy: means.proxy,
        fake_clock: means.fake_clock,
    });
    let is_cold = kafka.is_some() && !spec.warms_brokers();
    let cold = is_cold.then_some(TargetNote::NotWarmed);
    for_faults.into_iter().chain(cold)
}

/// The plan without what will not run.
fn to_run(plan: &Plan, steps: &[RepeatKey]) -> Plan {
    let mut to_run = plan.clone();
    to_run
        .trials
        .retain(|trial| steps.iter().any(|step| step.trial == trial.index));
    for trial in &mut to_run.trials {
        if let Some(ab) = &plan.ab {
            trial.repeats = ab.blocks_max;
        }
        if let Some(tune) = &plan.tune {
            let hold_ns = trial.stages.hold_ns.unwrap_or(u64::MAX).max(1);
            let repeats = tune.budget_ns / hold_ns.saturating_add(trial.stages.warm_up_ns);
            trial.repeats = u32::try_from(repeats).unwrap_or(u32::MAX).max(1);
        }
    }
    to_run
}
