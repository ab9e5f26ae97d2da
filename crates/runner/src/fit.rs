//! Fits a plan to a target: what the target cannot do is dropped with a note, or refused before any topic exists.

use kgauge_client::Cluster;
use kgauge_results::run::TargetNote;
use kgauge_scenario::{ClusterFacts, Plan, TargetKind, Trial};
use kgauge_target::{AdoptError, Layout, Target, TargetFacts, adopt};
use kgauge_wire::api::ApiKey;

use crate::error::{OrRunError, RunError, with_fix};
use crate::open_run::EarlierAttempt;
use crate::run_target::RunTarget;

/// Refuses to resume a run on another kind of cluster: one table would mix their figures.
pub(crate) fn same_cluster(
    earlier: &EarlierAttempt,
    facts: &TargetFacts,
    target: &RunTarget,
) -> Result<Plan, RunError> {
    let EarlierAttempt {
        plan, head: was, ..
    } = earlier;
    let now = facts.for_plan();
    // The first of the remaining trials may name another release than the first of all.
    let names_release = plan.trials.iter().any(|one| one.cluster.release.is_some());
    let of = |one: &ClusterFacts| {
        // kgauge's own get a new id with each start.
        let id = (one.kind == TargetKind::Existing).then(|| one.cluster_id.clone());
        let version = one.version.clone().filter(|_| !names_release);
        (one.kind, version, id)
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
        return Err(RunError::input(words));
    }
    let words = |one: &ClusterFacts| one.kind.name(one.version.as_deref());
    let words = format!(
        "this run was made on {}, and the target is {}\n  use the same target, or start a new run",
        words(&plan.cluster),
        words(&now)
    );
    Err(RunError::input(words))
}

/// Fits a plan to the features of the brokers. A default that a release does not support is dropped, with a note. A
/// feature that the scenario names but the release lacks is an error, before anything is created.
pub(crate) fn drop_unsupported(
    plan: &mut Plan,
    facts: &TargetFacts,
    cluster: &mut Cluster,
) -> Result<Vec<TargetNote>, RunError> {
    let mut notes = Vec::new();
    let mut refused: Vec<String> = Vec::new();
    for broker in &facts.brokers {
        let versions = cluster.api_versions(broker.id).or_target_failed("")?;
        if versions.range(ApiKey::InitProducerId).is_none() {
            let flows = plan.without_idempotence();
            if !flows.is_empty() {
                notes.push(TargetNote::NoIdempotence { flows });
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
        "the cluster ({version}) does not support this:\n  {}",
        refused.join("\n  ")
    );
    Err(RunError::input(words))
}

/// The topic that the user allowed must fit every trial. Without one, the run must be able to create topics.
pub(crate) fn check_topics(
    existing: Option<&str>,
    to_run: &Plan,
    (target, facts): (&Target, &TargetFacts),
    cluster: &mut Cluster,
) -> Result<(), RunError> {
    let Some(name) = existing else {
        return check_topics_can_be_made(target, facts, cluster);
    };
    let mut trials = to_run.trials.iter();
    trials.try_for_each(|trial| check_existing_topic(cluster, name, trial))
}

/// Before 0.10.1, only the release's own tool creates topics. kgauge only has it for clusters that it started.
fn check_topics_can_be_made(
    target: &Target,
    facts: &TargetFacts,
    cluster: &mut Cluster,
) -> Result<(), RunError> {
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
    Err(RunError::input(words))
}

/// Checks that the topic that the user allowed exists and fits a trial.
pub(crate) fn check_existing_topic(
    cluster: &mut Cluster,
    name: &str,
    trial: &Trial,
) -> Result<(), RunError> {
    let layout = Layout {
        partitions: trial.topic.partitions as usize,
        replicas: usize::from(trial.topic.replication),
    };
    adopt(cluster, name, layout).map_err(|error| {
        let message = with_fix(&error, error.fix());
        match &error {
            AdoptError::Cluster { .. } => RunError::Cluster(message),
            AdoptError::Missing { .. }
            | AdoptError::Internal { .. }
            | AdoptError::Refused { .. }
            | AdoptError::Layout { .. } => RunError::Input(message),
        }
    })
}
