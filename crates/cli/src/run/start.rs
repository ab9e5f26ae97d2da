//! Everything before the first trial: the target, the plan, the disk check, the run folder.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kgauge_client::{ClientConfig, Cluster};
use kgauge_load::DriverProgram;
use kgauge_results::RunFolder;
use kgauge_results::run::RunHead;
use kgauge_scenario::{Driver, Plan, Size};
use kgauge_target::{Target, TargetFacts, TopicGuard};
use kgauge_wire::api::ApiKey;

use super::ceilings::Ceilings;
use super::consent;
use super::drivers;
use super::environment::environment;
use super::question::Question;
use super::room::check_room;
use super::session::Session;
use super::shared::SharedTarget;
use super::targets::NamedTarget;
use crate::args::Run;
use crate::exit::{ExitStatus, OrStop, Stop, stop};
use crate::interrupt::Stopping;
use crate::place::{fresh_number, run_dir, run_id, unix_ms};
use crate::progress::{ProgressLine, seconds};
use crate::targets::{self, Surroundings, TARGET_LOGS, failed};

/// A run that is wanted.
pub(super) struct Order<'a> {
    pub(super) arguments: &'a Run,
    pub(super) question: &'a Question,
    pub(super) target: &'a NamedTarget,
    /// The run folder; by default one named after the question.
    pub(super) dir: Option<PathBuf>,
    /// Where all randomness comes from; by default a new one is drawn.
    pub(super) seed: Option<u64>,
    /// Called when the target serves.
    pub(super) beside: Option<&'a Beside<'a>>,
}

/// What somebody does with a run's target beside the run.
pub(crate) type Beside<'a> = dyn Fn(&mut Cluster, &ClientConfig) -> anyhow::Result<()> + 'a;

/// Starts the target and opens the run folder. After an error neither of them is left.
pub(super) fn start(order: &Order<'_>, stopping: Stopping) -> anyhow::Result<(Session, Plan)> {
    let (started_unix_ms, number) = (unix_ms(), fresh_number());
    let run_id = run_id(started_unix_ms, number);
    let dir = run_dir(order.dir.as_deref(), order.question.name(), &run_id);
    let head = RunHead::starting(run_id.clone(), command_line(), started_unix_ms);
    let folder = RunFolder::create(&dir, head).or_bad_input()?;

    // A folder without a plan helps nobody: what fails before there is one takes it away again.
    let ready = match ready(order, &folder, &run_id, number, &stopping) {
        Ok(ready) => ready,
        Err(error) => {
            drop(folder);
            let error = if stopping.is_wanted() {
                stop(ExitStatus::Interrupted, "stopped before the run began")
            } else {
                keep_logs(&dir, &run_id, error)
            };
            let _ = std::fs::remove_dir_all(&dir);
            return Err(error);
        }
    };
    let Ready {
        drivers,
        target,
        cluster,
        topics,
        plan,
        target_pids,
        nodes,
    } = ready;
    let planned = planned_time(&plan);
    let progress = ProgressLine::start(planned);
    progress.remark(&announcement(&plan, &dir.display().to_string(), planned));
    for fault in faults(&plan) {
        progress.remark(&format!("kgauge: fault {fault}"));
    }
    let session = Session {
        kind: target.kind(),
        client: target.config().clone(),
        target: SharedTarget::new(target),
        nodes,
        cluster,
        folder,
        topics,
        stopping,
        progress,
        keep: order.arguments.keep,
        target_pids,
        drivers,
        ceilings: Ceilings::default(),
        existing_topic: order.arguments.allow_existing.clone(),
    };
    Ok((session, plan))
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
        std::fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Everything that a session is made of, before it is announced.
struct Ready {
    drivers: Vec<(Driver, DriverProgram)>,
    target: Target,
    cluster: Cluster,
    topics: TopicGuard,
    plan: Plan,
    target_pids: Vec<u32>,
    /// How many brokers answered.
    nodes: usize,
}

fn ready(
    order: &Order<'_>,
    folder: &RunFolder,
    run_id: &str,
    number: u64,
    stopping: &Stopping,
) -> anyhow::Result<Ready> {
    let (arguments, question, dir) = (order.arguments, order.question, folder.dir());
    let drivers = drivers::programs(&question.trials(size(arguments)), stopping)?;
    let target = start_target(order, dir, run_id, number, stopping)?;
    let mut cluster = target.connect(stopping.load.clone()).map_err(failed)?;
    let facts = target.facts(&mut cluster).map_err(failed)?;
    order.target.check_existing(&mut cluster)?;
    let mut plan = question.plan(run_id, order.seed, size(arguments), facts.for_plan())?;
    let notes = suit_release(&mut plan, &facts, &mut cluster)?;
    if arguments.allow_existing.is_none() {
        check_topics_can_be_made(&target, &facts, &mut cluster)?;
    }
    let rooms = check_room(&target, &mut cluster, &plan, dir, arguments.keep)?;
    if let Target::Existing(_) = &target {
        let topic = arguments.allow_existing.as_deref();
        consent::ask(&plan, &facts, &rooms, topic, arguments.yes)?;
    }
    if let Some(beside) = order.beside {
        beside(&mut cluster, target.config())?;
    }
    let topics = TopicGuard::new(target.config().clone(), run_id).or_bad_input()?;
    let topics = match &target {
        Target::Kafka(kafka) => topics.with_tool(kafka.topic_tool()),
        _ => topics,
    };
    folder
        .write_environment(&environment(dir, &target, &facts, notes))
        .or_failed()?;
    folder.write_plan(&plan).or_failed()?;
    for (name, text) in question.texts() {
        folder.write_scenario(name, text).or_failed()?;
    }
    let target_pids = target_pids(&target, &facts);
    Ok(Ready {
        drivers,
        target,
        cluster,
        topics,
        plan,
        target_pids,
        nodes: facts.brokers.len(),
    })
}

/// Fits a plan to what the brokers know: what was not asked for by name is left out where a release
/// has it not, and said; what was asked for and cannot be is refused before anything is made.
fn suit_release(
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
                    "This release has no idempotent producers (Kafka 0.11): {} went without, and a \
                     retried batch may have been written twice.",
                    flows.join(", ")
                ));
            }
        }
        for trial in &plan.trials {
            for refusal in kgauge_load::refusals(trial, &versions) {
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
        "this cluster ({}) lets no client make topics: that came with Kafka 0.10.1\n  make one with \
         kafka-topics.sh --create, and name it: --allow-existing TOPIC",
        facts.version.as_deref().unwrap_or("of unknown version")
    );
    Err(stop(ExitStatus::BadInput, words))
}

/// The target's processes, as far as they run on this machine and can be seen.
fn target_pids(target: &Target, facts: &TargetFacts) -> Vec<u32> {
    let own = target.pids();
    if !own.is_empty() || facts.same_machine != Some(true) {
        return own;
    }
    let ports = facts.brokers.iter().filter_map(|broker| {
        let (_, port) = broker.address.rsplit_once(':')?;
        port.parse().ok()
    });
    let mut pids: Vec<u32> = ports
        .filter_map(|port| kgauge_observe::listener_pid(port).ok().flatten())
        .collect();
    pids.sort_unstable();
    pids.dedup();
    pids
}

fn start_target(
    order: &Order<'_>,
    dir: &Path,
    run_id: &str,
    seed: u64,
    stopping: &Stopping,
) -> anyhow::Result<Target> {
    let setup = targets::setup(&Surroundings {
        name: run_id,
        data_dir: &dir.join("target-data"),
        keep_data: order.arguments.keep,
        log_dir: dir,
        first_port: None,
        seed,
    })?;
    Target::start(&order.target.spec, &setup, &stopping.load).map_err(failed)
}

/// The command line as typed: no argument of kgauge is a secret.
fn command_line() -> Vec<String> {
    std::env::args_os()
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect()
}

pub(super) fn size(arguments: &Run) -> Size {
    match (arguments.quick, arguments.full) {
        (true, _) => Size::Quick,
        (_, true) => Size::Full,
        _ => Size::Default,
    }
}

/// What the stages take together; a flow that ends by count is taken to need its whole hold.
fn planned_time(plan: &Plan) -> Duration {
    /// Creating and deleting a topic, connecting, the last answers.
    const BETWEEN_NS: u64 = 300_000_000;
    let of_trial = |trial: &kgauge_scenario::Trial| {
        let preload_ns = trial
            .topic
            .preload
            .as_ref()
            .map_or(0, |preload| preload.records * 400);
        let hold_ns = match &trial.topic.preload {
            Some(preload) => (preload.records * 300).min(trial.stages.hold_ns.unwrap_or(u64::MAX)),
            None => trial.stages.hold_ns.unwrap_or(60_000_000_000),
        };
        preload_ns + u64::from(trial.repeats) * (trial.stages.warm_up_ns + hold_ns + BETWEEN_NS)
    };
    Duration::from_nanos(plan.trials.iter().map(of_trial).sum())
}

/// What is done to the target, each once.
fn faults(plan: &Plan) -> Vec<String> {
    let mut faults = Vec::new();
    for fault in plan.trials.iter().flat_map(|trial| &trial.faults) {
        let words = fault.to_string();
        if !faults.contains(&words) {
            faults.push(words);
        }
    }
    faults
}

fn announcement(plan: &Plan, dir: &str, planned: Duration) -> String {
    let what = match &plan.study {
        Some(study) => format!("study {}", study.name),
        None => plan
            .trials
            .first()
            .map_or_else(String::new, |trial| trial.scenario.clone()),
    };
    let repeats: u32 = plan.trials.iter().map(|trial| trial.repeats).sum();
    format!(
        "kgauge: {what}, {} trials, {repeats} repeats in all, about {}; seed {}; results in {dir}",
        plan.trials.len(),
        seconds(planned),
        plan.seed
    )
}
