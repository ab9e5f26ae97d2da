//! A trial: its topic, its preload, its repeats.

use std::time::Duration;

use kgauge_client::admin::AdminConfigResource;
use kgauge_load::PreloadError;
use kgauge_results::run::{EventKind, TopicFacts};
use kgauge_scenario::{Plan, RepeatKey, Stripe, TargetKind, Trial};
use kgauge_target::retention_ms;

use crate::error::{OrRunError, RunError};
use crate::fit::check_existing_topic;
use crate::from_disk;
use crate::load_errors::target_words;
use crate::load_run;
use crate::mirror_copy;
use crate::observer::Activity;
use crate::outages::preload_watched;
use crate::prepared_topic::PreparedTopic;
use crate::repeat::repeat;
use crate::repeat_end::RepeatEnd;
use crate::session::{ClusterHealth, Session};
use crate::warming;

/// Topic settings that decide what an ack guarantees, or how long data is kept.
const SETTINGS_KEPT: &[&str] = &[
    "min.insync.replicas",
    "flush.messages",
    "flush.ms",
    "retention.bytes",
    "retention.ms",
    "segment.bytes",
    "max.message.bytes",
    "message.timestamp.type",
    "compression.type",
    "cleanup.policy",
    "unclean.leader.election.enable",
];

/// How long creating a topic may take if brokers did not answer at the end of the previous load.
const DOUBTFUL_TIME_MAX: Duration = Duration::from_secs(15);

/// Runs one repeat of a trial. `prepared_topic` is the topic that the repeat before has left, and that this one leaves.
pub(crate) fn run_step(
    session: &mut Session<'_>,
    plan: &Plan,
    step: RepeatKey,
    prepared_topic: &mut Option<PreparedTopic>,
    is_last: bool,
) -> Result<RepeatEnd, RunError> {
    let Some(share) = plan.share(step.trial, step.repeat, Stripe::WHOLE) else {
        let words = format!("the plan has no trial {}", step.trial);
        return Err(RunError::input(words));
    };
    let trial = &share.trial;
    // Somebody's cluster that lost brokers may be gone by now.
    let limit = (session.health != ClusterHealth::Sound).then_some(DOUBTFUL_TIME_MAX);
    session.cluster.set_time_limit(limit);
    if load_run::is_on_this_machine(session) {
        session.report(&Activity::MeasuringCeiling);
        let interrupt = session.stopping.load.clone();
        session.ceilings.measure(&share, &interrupt);
    }
    if !warming::warm(session, &share)? {
        return Ok(RepeatEnd::Interrupted);
    }
    // Repeats that only read can share what they read; those that write start with an empty topic.
    let found = match prepared_topic.take() {
        Some(prepared_topic) => prepared_topic,
        None => match make_topic(session, trial, step.repeat)? {
            Some(prepared_topic) => prepared_topic,
            None => return Ok(RepeatEnd::Interrupted),
        },
    };
    if trial
        .topic
        .preload
        .as_ref()
        .is_some_and(|plan| !plan.cached)
    {
        from_disk::leave_cache(session, &found.facts.name)?;
    }
    let ended = repeat(session, trial, &share, &found);
    let goes_on = matches!(ended, Ok(RepeatEnd::Complete)) && trial.only_reads() && !is_last;
    if goes_on {
        *prepared_topic = Some(found);
    } else if session.health == ClusterHealth::Gone
        || (session.health == ClusterHealth::Doubtful && session.stopping.is_wanted())
    {
        // The end of the run tries, for a shorter time.
    } else if found.earliest.is_none() && !session.request.keeps_data && session.death().is_none() {
        delete_topic(session, &found.facts.name);
        if let Some(copy) = &found.copy {
            mirror_copy::delete(session, copy);
        }
    }
    ended
}

/// Creates the topic and writes its preload; `None` if the user stopped it.
fn make_topic(
    session: &mut Session<'_>,
    trial: &Trial,
    repeat: u32,
) -> Result<Option<PreparedTopic>, RunError> {
    let found = match session.request.existing_topic.clone() {
        Some(name) => adopted(session, trial, name),
        None => created(session, trial, repeat).map(|name| (name, None)),
    };
    let (name, earliest) = match found {
        Ok(found) => found,
        Err(_) if session.stopping.is_wanted() => return Ok(None),
        Err(error) => return Err(error),
    };
    if !fill(session, trial, &name)? {
        return Ok(None);
    }
    let copy = mirror_copy::await_copy(session, trial, &name)?;
    if copy.is_none() && session.stopping.is_wanted() {
        return Ok(None);
    }
    let facts = topic_facts(session, trial, name);
    Ok(Some(PreparedTopic {
        facts,
        earliest,
        copy,
    }))
}

/// Creates a topic for the run.
fn created(session: &mut Session<'_>, trial: &Trial, repeat: u32) -> Result<String, RunError> {
    let is_existing = session.kind == TargetKind::Existing;
    // If kgauge is killed, the cluster deletes the records by itself.
    let retention = retention_ms(trial).filter(|_| is_existing);
    let retention = retention.map(|ms| ("retention.ms", ms.to_string()));
    let label = format!("t{:02}-r{repeat:02}", trial.index);
    let name = session.create_topic(&label, trial, retention)?;
    session.event(
        None,
        EventKind::TopicCreated {
            topic: name.clone(),
        },
    );
    Ok(name)
}

/// The topic that the user allowed, with its current end offsets.
fn adopted(
    session: &mut Session<'_>,
    trial: &Trial,
    name: String,
) -> Result<(String, Option<Vec<i64>>), RunError> {
    check_existing_topic(&mut session.cluster, &name, trial)?;
    let ends = session.cluster.end_offsets(&name).or_target_failed("")?;
    Ok((name, Some(ends)))
}

/// Writes the preload before the first stage; false if the user stopped it.
fn fill(session: &mut Session<'_>, trial: &Trial, name: &str) -> Result<bool, RunError> {
    let Some(plan) = &trial.topic.preload else {
        return Ok(true);
    };
    let filled = preload_watched(session, trial, (name, plan), |session, seen| {
        session.report(&Activity::Preloading {
            acked: seen.flows.iter().map(|flow| flow.acked).sum(),
            records: plan.records,
        });
    });
    match filled {
        Ok(_) => Ok(true),
        Err(PreloadError::Interrupted { .. }) => Ok(false),
        Err(_) if session.stopping.is_wanted() => Ok(false),
        Err(error) => Err(RunError::cluster(target_words(session, &error))),
    }
}

fn topic_facts(session: &mut Session<'_>, trial: &Trial, name: String) -> TopicFacts {
    // What the cluster does not tell is not in the report; it says so where it matters.
    let topic = AdminConfigResource::Topic(&name);
    let described = session.cluster.describe_configs(topic);
    if trial.verify
        && let Err(error) = &described
    {
        let text = format!(
            "the settings of topic {name} are unknown; verification assumes that they permit losses \
             after an outage: {error}"
        );
        session.event(None, EventKind::Warning { text });
    }
    let settings = described
        .unwrap_or_default()
        .into_iter()
        .filter(|entry| SETTINGS_KEPT.contains(&entry.name.as_str()))
        .filter_map(|entry| Some((entry.name, entry.value?)))
        .collect();
    TopicFacts {
        name,
        partitions: trial.topic.partitions,
        replication_factor: trial.topic.replication,
        settings,
    }
}

/// Deletes a topic of the run, and records that.
pub(crate) fn delete_topic(session: &mut Session<'_>, name: &str) {
    match session.topics.delete(&mut session.cluster, name) {
        Ok(()) => session.event(
            None,
            EventKind::TopicDeleted {
                topic: name.to_owned(),
            },
        ),
        // The guard tries again when the run ends, and reports what it cannot delete.
        Err(error) => session.event(
            None,
            EventKind::Warning {
                text: error.to_string(),
            },
        ),
    }
}
