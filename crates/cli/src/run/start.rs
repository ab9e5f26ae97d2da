//! Everything before the first trial: the target, the plan, the disk check, the run folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kgauge_client::{ClientConfig, Cluster};
use kgauge_load::DriverProgram;
use kgauge_observe::WatchedProcess;
use kgauge_results::folder::ResumedRun;
use kgauge_results::run::{DiskBaseline, EventKind, RepeatKey, RunHead, RunStatus};
use kgauge_results::{RunFolder, RunRead};
use kgauge_scenario::{ClusterFacts, ClusterNeeds, Driver, Plan, RepeatStep, Size, TargetKind};
use kgauge_target::{Target, TargetFacts, TargetSpec, TopicGuard};
use kgauge_wire::api::ApiKey;

use super::announce::{announcement, faults, planned_time};
use super::ceilings::Ceilings;
use super::clusters::{self, Clusters};
use super::consent;
use super::data_dirs;
use super::disk_space::{DiskGuard, check_room};
use super::drivers;
use super::environment::environment;
use super::left_out::left_out;
use super::metrics::{self, MetricsAddress};
use super::mirror::{self, Mirror};
use super::processes;
use super::question::Question;
use super::repeat::event;
use super::session::{ClusterHealth, Session};
use super::shared::SharedTarget;
use super::targets::NamedTarget;
use super::trial::check_existing_topic;
use crate::args::RunArgs;
use crate::exit::{ExitStatus, OrStop, Stop, stop};
use crate::interrupt::StopRequests;
use crate::live::LiveRunState;
use crate::print;
use crate::progress::ProgressLine;
use crate::run_ids::{check_name, fresh_number, run_dir, run_id, unix_ms};
use crate::targets::{TARGET_LOGS, failed};

/// A run that is wanted.
pub(super) struct RunRequest<'a> {
    pub(super) arguments: &'a RunArgs,
    pub(super) question: &'a Question,
    pub(super) target: &'a NamedTarget,
    /// The run folder; by default one named after the question.
    pub(super) dir: Option<PathBuf>,
    /// Where all randomness comes from; by default a new one is drawn.
    pub(super) seed: Option<u64>,
    /// Called when the target serves.
    pub(super) beside: Option<&'a Beside<'a>>,
    /// Where it shows itself, if anybody can see it.
    pub(super) board: Option<&'a Arc<LiveRunState>>,
}

/// What somebody does with a run's target beside the run.
pub(crate) type Beside<'a> = dyn Fn(&mut Cluster, &ClientConfig) -> anyhow::Result<()> + 'a;

/// A run that is ready.
pub(super) struct StartedRun {
    pub(super) session: Session,
    pub(super) plan: Plan,
    /// What is left to do, in order.
    pub(super) steps: Vec<RepeatStep>,
}

/// Starts the target and opens the run folder. After an error neither of them is left, but for a folder that was
/// there before.
pub(super) fn start(order: &RunRequest<'_>, stopping: StopRequests) -> anyhow::Result<StartedRun> {
    let mut opened = open(order)?;
    let ready = match ready(order, &opened, &stopping) {
        Ok(ready) => ready,
        Err(error) => return Err(give_up(&mut opened, error, &stopping)),
    };
    let Ready {
        metrics,
        drivers,
        target,
        mirror,
        clusters,
        cluster,
        topics,
        plan,
        steps,
        target_processes,
        data_dirs,
        disk_guard,
        nodes,
    } = ready;
    if let Some(board) = order.board {
        board.watch(&mut opened.folder);
    }
    let planned = planned_time(&plan, &steps);
    let progress = ProgressLine::start(planned, order.board.cloned());
    let dir = opened.folder.dir().display().to_string();
    let resumed = opened.folder.head().resumed_unix_ms.len();
    let place = (dir.as_str(), resumed > 0);
    progress.remark(&announcement(&plan, &steps, place, planned));
    for fault in faults(&plan, &steps) {
        progress.remark(&format!("kgauge: fault {fault}"));
    }
    let session = Session {
        kind: target.kind(),
        client: target.config().clone(),
        target: SharedTarget::new(target),
        mirror,
        clusters,
        nodes,
        cluster,
        folder: opened.folder,
        topics,
        stopping,
        progress,
        board: order.board.cloned(),
        keep: order.arguments.keep,
        is_warm: false,
        asks_brokers: !order.arguments.no_wire_evidence,
        target_processes,
        data_dirs,
        disk_guard,
        speeds: order.target.speeds.clone(),
        metrics,
        drivers,
        ceilings: Ceilings::default(),
        health: ClusterHealth::Sound,
        attempt: u32::try_from(resumed).unwrap_or(u32::MAX),
        existing_topic: order.arguments.allow_existing.clone(),
    };
    Ok(StartedRun {
        session,
        plan,
        steps,
    })
}

/// The run folder, before anything is started.
struct OpenRun {
    folder: RunFolder,
    run_id: String,
    seed: u64,
    /// Where the randomness of an embedded cluster's faults comes from.
    number: u64,
    /// Of a run that goes on: its plan, what is done, and how it had ended.
    before: Option<(Plan, BTreeSet<RepeatKey>, RunHead)>,
}

fn open(order: &RunRequest<'_>) -> anyhow::Result<OpenRun> {
    let (started_unix_ms, number) = (unix_ms(), fresh_number());
    if let Some(dir) = &order.arguments.resume {
        check_name(dir)?;
        let was = RunRead::head(dir).or_bad_input()?;
        let resumed = RunFolder::resume(dir, started_unix_ms);
        let ResumedRun { folder, plan, done } = resumed
            .map_err(|error| stop(ExitStatus::BadInput, format!("{}: {error}", dir.display())))?;
        let was_kept = was.command.iter().any(|word| word == "--keep");
        if !order.arguments.keep && !was_kept {
            clusters::remove_left_data(dir);
        }
        return Ok(OpenRun {
            run_id: plan.run_id.clone(),
            seed: plan.seed,
            number,
            before: Some((plan, done, was)),
            folder,
        });
    }
    let run_id = run_id(started_unix_ms, number);
    let dir = run_dir(order.dir.as_deref(), order.question.name(), &run_id)?;
    let mut head = RunHead::starting(run_id.clone(), command_line(), started_unix_ms);
    head.target = Some(order.target.text.clone());
    head.destination.clone_from(&order.arguments.destination);
    head.price_per_hour = order.target.price_per_hour;
    Ok(OpenRun {
        folder: RunFolder::create(&dir, head).or_bad_input()?,
        run_id,
        seed: order.seed.or(order.question.seed()).unwrap_or(number),
        number,
        before: None,
    })
}

/// A folder without a plan helps nobody: what fails before there is one takes it away again.
fn give_up(opened: &mut OpenRun, error: anyhow::Error, stopping: &StopRequests) -> anyhow::Error {
    let dir = opened.folder.dir().to_owned();
    let error = if stopping.is_wanted() {
        stop(ExitStatus::Interrupted, "stopped before the run began")
    } else {
        keep_logs(&dir, &opened.run_id, error)
    };
    match &opened.before {
        None => {
            let _ = std::fs::remove_dir_all(&dir);
        }
        Some((_, _, was)) => {
            // It stands as it stood: the next attempt finds it so.
            let ended = was.ended_unix_ms.unwrap_or_else(unix_ms);
            let status = match was.status {
                RunStatus::Running => RunStatus::Failed,
                status => status,
            };
            let _ = opened.folder.end(status, was.why.clone(), ended);
        }
    }
    error
}

/// An error that names a log of the target must not name one that is gone with the run folder: the
/// logs move to the folder for temporary files, and the words follow.
fn keep_logs(dir: &Path, run_id: &str, error: anyhow::Error) -> anyhow::Error {
    let logs = dir.join(TARGET_LOGS);
    let Some(failed) = error.downcast_ref::<Stop>() else {
        return error;
    };
    let (old, kept) = (logs.display().to_string(), std::env::temp_dir());
    let kept = kept.join(format!("kgauge-{run_id}-logs"));
    if !failed.words.contains(&old) || copy_files(&logs, &kept).is_err() {
        return error;
    }
    let words = failed.words.replace(&old, &kept.display().to_string());
    stop(failed.status, words)
}

fn copy_files(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type()?.is_dir() {
            true => copy_files(&from, &to)?,
            false => drop(std::fs::copy(from, to)?),
        }
    }
    Ok(())
}

/// Everything that a session is made of, before it is announced.
struct Ready {
    metrics: Vec<MetricsAddress>,
    drivers: Vec<(Driver, DriverProgram)>,
    target: Target,
    mirror: Option<Mirror>,
    clusters: Clusters,
    cluster: Cluster,
    topics: TopicGuard,
    plan: Plan,
    steps: Vec<RepeatStep>,
    target_processes: Vec<WatchedProcess>,
    data_dirs: Vec<PathBuf>,
    disk_guard: DiskGuard,
    /// How many brokers answered.
    nodes: usize,
}

fn ready(
    order: &RunRequest<'_>,
    opened: &OpenRun,
    stopping: &StopRequests,
) -> anyhow::Result<Ready> {
    let (arguments, question, folder) = (order.arguments, order.question, &opened.folder);
    let size = size(arguments);
    let drivers = drivers::programs(&question.trials(size), stopping)?;
    let Todo {
        steps,
        left_out,
        needs,
    } = todo(order, opened)?;
    let mut clusters = Clusters {
        target: order.target.clone(),
        run_id: opened.run_id.clone(),
        dir: folder.dir().to_owned(),
        keep: arguments.keep,
        seed: opened.number,
        attempt: folder.head().resumed_unix_ms.len(),
        needs: ClusterNeeds::default(),
        is_broken: false,
        started: 0,
    };
    let target = clusters.start(&needs, stopping)?;
    let mut cluster = target.connect(stopping.load.clone()).map_err(failed)?;
    let facts = target.facts(&mut cluster).map_err(failed)?;
    order.target.check_existing(&mut cluster, &needs)?;
    let mut plan = match &opened.before {
        Some((plan, _, was)) => same_cluster((plan, was), &facts, order.target)?,
        None => {
            let mut cluster = facts.for_plan();
            // The first cluster may have another number of brokers, because that is varied.
            cluster.brokers = order.target.spec.brokers().unwrap_or(cluster.brokers);
            question.plan(&opened.run_id, opened.seed, size, cluster)?
        }
    };
    let mut notes = drop_unsupported(&mut plan, &facts, &mut cluster)?;
    let to_run = to_run(&plan, &steps);
    let topic = arguments.allow_existing.as_deref();
    check_topics(topic, &to_run, (&target, &facts), &mut cluster)?;
    let target_processes = processes::of(&target, &facts);
    let data_dirs = data_dirs::of(&target, &facts, &target_processes);
    let is_watched = !data_dirs.is_empty();
    let seen = (&facts, is_watched);
    check_and_ask(arguments, (&target, &mut cluster), &to_run, folder, seen)?;
    if let Some(beside) = order.beside {
        beside(&mut cluster, target.config())?;
    }
    let topics = clusters::topics(&target, &opened.run_id)?;
    let mirror = clusters.mirror(&target, &needs, stopping)?;
    notes.extend(mirror::note(&plan));
    // A run that goes on has said all of it already.
    if opened.before.is_none() {
        let (disk, disk_note) = disk_baseline(order, folder.dir(), stopping)?;
        notes.extend(several_clusters(&plan));
        notes.extend(disk_note);
        let environment = environment(folder.dir(), &target, &facts, notes, disk);
        folder.write_environment(&environment).or_unwritable()?;
        write_down(question, folder, &plan, left_out)?;
    }
    Ok(Ready {
        disk_guard: DiskGuard::of(&data_dirs),
        data_dirs,
        metrics: metrics::known(order.target.metrics.clone(), &facts.brokers)?,
        drivers,
        target,
        mirror,
        clusters,
        cluster,
        topics,
        plan,
        steps,
        target_processes,
        nodes: facts.brokers.len(),
    })
}

/// Whether there is room for what the run writes, and whether the user of a cluster that is there agrees.
fn check_and_ask(
    arguments: &RunArgs,
    (target, cluster): (&Target, &mut Cluster),
    to_run: &Plan,
    folder: &RunFolder,
    (facts, is_watched): (&TargetFacts, bool),
) -> anyhow::Result<()> {
    let how = (arguments.keep, is_watched);
    let rooms = check_room(target, cluster, to_run, folder.dir(), how)?;
    if let Target::Existing(_) = target {
        let topic = arguments.allow_existing.as_deref();
        consent::ask(to_run, facts, &rooms, topic, arguments.yes)?;
    }
    Ok(())
}

/// What is left to do.
struct Todo {
    steps: Vec<RepeatStep>,
    /// Trials that the target cannot serve, and why.
    left_out: Vec<(u32, String)>,
    /// What the first of them wants of its cluster.
    needs: ClusterNeeds,
}

fn todo(order: &RunRequest<'_>, opened: &OpenRun) -> anyhow::Result<Todo> {
    let size = size(order.arguments);
    let (trials, all_steps) = order.question.order(opened.seed, size)?;
    let left_out = left_out(&trials, order.target, size);
    let mut steps = left_to_do(all_steps, opened);
    steps.retain(|step| !left_out.iter().any(|(trial, _)| *trial == step.trial));
    if opened.before.is_some() && steps.is_empty() {
        let words = "this run has nothing left to do that the target can serve";
        return Err(stop(ExitStatus::BadInput, words));
    }
    let first = steps.first();
    let first = first.and_then(|step| trials.get(step.trial as usize));
    Ok(Todo {
        needs: first.map(|trial| trial.cluster.clone()).unwrap_or_default(),
        steps,
        left_out,
    })
}

/// Keeps the plan, the scenarios, and what will not run.
fn write_down(
    question: &Question,
    folder: &RunFolder,
    plan: &Plan,
    left_out: Vec<(u32, String)>,
) -> anyhow::Result<()> {
    folder.write_plan(plan).or_unwritable()?;
    for (name, text) in question.texts() {
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
    order: &RunRequest<'_>,
    dir: &Path,
    stopping: &StopRequests,
) -> anyhow::Result<(Option<DiskBaseline>, Option<String>)> {
    if !order.question.wants_disk_baseline() {
        return Ok((None, None));
    }
    let why = match order.target.spec {
        TargetSpec::Existing(_) => {
            "the brokers' disks are not this machine's to measure".to_owned()
        }
        _ => {
            print::message("kgauge: measuring the disk alone with fio");
            match kgauge_observe::disk_baseline(dir, &|| stopping.is_wanted()) {
                Ok(found) => return Ok((Some(found), None)),
                Err(error) if stopping.is_wanted() => {
                    return Err(stop(ExitStatus::Interrupted, error));
                }
                Err(error) => error.to_string(),
            }
        }
    };
    Ok((
        None,
        Some(format!("There is no baseline of the disk: {why}.")),
    ))
}

/// What is told of the brokers is of the first cluster.
fn several_clusters(plan: &Plan) -> Option<String> {
    let (first, rest) = plan.trials.split_first()?;
    let differ = rest
        .iter()
        .any(|trial| !trial.cluster.shares_with(&first.cluster));
    differ.then(|| {
        "Trials with different broker settings ran on separate clusters; the broker details here \
         describe the first cluster."
            .to_owned()
    })
}

fn left_to_do(steps: Vec<RepeatStep>, opened: &OpenRun) -> Vec<RepeatStep> {
    let done = |step: &RepeatStep| {
        let key = RepeatKey {
            trial: step.trial,
            repeat: step.repeat,
        };
        let before = opened.before.as_ref();
        before.is_some_and(|(_, done, _)| done.contains(&key))
    };
    steps.into_iter().filter(|step| !done(step)).collect()
}

/// The plan without what will not run.
fn to_run(plan: &Plan, steps: &[RepeatStep]) -> Plan {
    let mut to_run = plan.clone();
    to_run
        .trials
        .retain(|trial| steps.iter().any(|step| step.trial == trial.index));
    to_run
}

/// Figures of two kinds of clusters would stand in one table.
fn same_cluster(
    (plan, was): (&Plan, &RunHead),
    facts: &TargetFacts,
    target: &NamedTarget,
) -> anyhow::Result<Plan> {
    let now = facts.for_plan();
    let of = |one: &ClusterFacts| {
        // kgauge's own get a new id with each start.
        let id = (one.kind == TargetKind::Existing).then(|| one.cluster_id.clone());
        (one.kind, one.version.clone(), id)
    };
    let is_started = now.kind != TargetKind::Existing;
    let is_other_text = is_started && was.target.as_ref().is_some_and(|was| *was != target.text);
    if of(&plan.cluster) == of(&now) && !is_other_text {
        return Ok(plan.clone());
    }
    if is_other_text && of(&plan.cluster) == of(&now) {
        let words = format!(
            "this run was made on {}, and the target is {}\n  use the same target, or start a new \
             run",
            was.target.as_deref().unwrap_or_default(),
            target.text
        );
        return Err(stop(ExitStatus::BadInput, words));
    }
    let words = |one: &ClusterFacts| {
        let version = one.version.as_deref().unwrap_or("of unknown version");
        match one.kind {
            TargetKind::Embedded => "the embedded cluster".to_owned(),
            TargetKind::Kafka => format!("Apache Kafka {version}"),
            TargetKind::Existing => format!("an existing cluster, {version}"),
        }
    };
    let words = format!(
        "this run was made on {}, and the target is {}\n  use the same target, or start a new run",
        words(&plan.cluster),
        words(&now)
    );
    Err(stop(ExitStatus::BadInput, words))
}

/// Fits a plan to what the brokers know: what was not asked for by name is left out where a release
/// has it not, and said; what was asked for and cannot be is refused before anything is made.
fn drop_unsupported(
    plan: &mut Plan,
    facts: &TargetFacts,
    cluster: &mut Cluster,
) -> anyhow::Result<Vec<String>> {
    let mut notes = Vec::new();
    let mut refused: Vec<String> = Vec::new();
    for broker in &facts.brokers {
        let versions = cluster.api_versions(broker.id).or_target_failed("")?;
        if versions.range(ApiKey::InitProducerId).is_none() {
            let flows = plan.without_idempotence();
            if !flows.is_empty() {
                notes.push(format!(
                    "This release has no idempotent producers (Kafka 0.11). {} ran without \
                     idempotence, so a retried batch may have been written twice.",
                    flows.join(", ")
                ));
            }
        }
        for trial in &plan.trials {
            for refusal in kgauge_load::refusals(trial, facts.kind, &versions) {
                let words = refusal.to_string();
                if !refused.contains(&words) {
                    refused.push(words);
                }
            }
        }
    }
    if refused.is_empty() {
        return Ok(notes);
    }
    let version = facts.version.as_deref().unwrap_or("of unknown version");
    let words = format!(
        "the cluster ({version}) cannot do this:\n  {}",
        refused.join("\n  ")
    );
    Err(stop(ExitStatus::BadInput, words))
}

/// The topic that the user allowed has to suit every trial; without one, the run has to be able to make its own.
fn check_topics(
    existing: Option<&str>,
    to_run: &Plan,
    (target, facts): (&Target, &TargetFacts),
    cluster: &mut Cluster,
) -> anyhow::Result<()> {
    let Some(name) = existing else {
        return check_topics_can_be_made(target, facts, cluster);
    };
    let mut trials = to_run.trials.iter();
    trials.try_for_each(|trial| check_existing_topic(cluster, name, trial))
}

/// Before 0.10.1 topics are made by the release's own tool, which kgauge has only for clusters that it
/// started.
fn check_topics_can_be_made(
    target: &Target,
    facts: &TargetFacts,
    cluster: &mut Cluster,
) -> anyhow::Result<()> {
    let (Target::Existing(_), Some(broker)) = (target, facts.brokers.first()) else {
        return Ok(());
    };
    let versions = cluster.api_versions(broker.id).or_target_failed("")?;
    if versions.range(ApiKey::CreateTopics).is_some() {
        return Ok(());
    }
    let words = format!(
        "this cluster ({}) does not let clients create topics: that needs Kafka 0.10.1\n  create \
         one with kafka-topics.sh --create, and name it: --allow-existing TOPIC",
        facts.version.as_deref().unwrap_or("of unknown version")
    );
    Err(stop(ExitStatus::BadInput, words))
}

/// The command line as typed, but for credentials in addresses of metrics: no other argument of kgauge is a secret.
fn command_line() -> Vec<String> {
    std::env::args_os()
        .map(|argument| metrics::without_secrets(&argument.to_string_lossy()))
        .collect()
}

pub(super) fn size(arguments: &RunArgs) -> Size {
    match (arguments.quick, arguments.full) {
        (true, _) => Size::Quick,
        (_, true) => Size::Full,
        _ => Size::Default,
    }
}
