//! The end of a run: deletes its topics, stops what it started, and records in the folder how it ended.

use std::time::{Duration, Instant};

use kgauge_client::security::SecurityProtocol;
use kgauge_client::{ClientConfig, Cluster};
use kgauge_results::run::{EventKind, RunStatus};
use kgauge_target::{Leftover, Target, TopicGuard};

use crate::error::{OrRunError, RunError, in_one_line};
use crate::ids::unix_ms;
use crate::mirror::Mirror;
use crate::observer::RunEvent;
use crate::repeat_end::RepeatEnd;
use crate::session::{ClusterHealth, Session};

/// How long cleaning up on an existing cluster may take.
const CLEANING_TIME_MAX: Duration = Duration::from_secs(10);

/// The same after Ctrl-C, or where brokers did not answer.
const DOUBTFUL_CLEANING_TIME_MAX: Duration = Duration::from_secs(3);

/// The same after Ctrl-C where brokers did not answer.
const HURRIED_CLEANING_TIME_MAX: Duration = Duration::from_millis(500);

/// Deletes the run's topics, stops what it started, and records how it ended.
pub(crate) fn close(
    session: Session<'_>,
    ended: &Result<RepeatEnd, RunError>,
) -> Result<(), RunError> {
    let is_stopped = session.stopping.is_wanted();
    if is_stopped {
        session.event(None, EventKind::Interrupted);
    }
    let Session {
        target,
        mirror,
        cluster,
        folder,
        topics,
        observer,
        request,
        health,
        ..
    } = session;
    drop(cluster);
    let mirror = mirror.map_or(Ok(()), Mirror::stop);
    let target = target.take();
    if request.keeps_data {
        for topic in topics.keep() {
            observer.observe(&RunEvent::Remark(&format!("kept topic {topic}")));
        }
    } else if let Some(target @ Target::Existing(_)) = &target {
        let limit = match (is_stopped, health) {
            (true, ClusterHealth::Doubtful | ClusterHealth::Gone) => HURRIED_CLEANING_TIME_MAX,
            (true, ClusterHealth::Sound)
            | (false, ClusterHealth::Doubtful | ClusterHealth::Gone) => DOUBTFUL_CLEANING_TIME_MAX,
            (false, ClusterHealth::Sound) => CLEANING_TIME_MAX,
        };
        for message in delete_topics(topics, target, limit) {
            observer.observe(&RunEvent::Remark(&message));
        }
    } else {
        // Its data goes as a whole, with every topic in it.
        topics.keep();
    }
    let (status, why) = match ended {
        Ok(RepeatEnd::Complete) => (RunStatus::Complete, None),
        Ok(RepeatEnd::Interrupted) => (
            RunStatus::Interrupted,
            Some("stopped by the user".to_owned()),
        ),
        Err(error) => (RunStatus::Failed, Some(in_one_line(&error.to_string()))),
    };
    let stopped = target.map_or(Ok(()), Target::stop);
    folder.end(status, why, unix_ms()).or_unwritable()?;
    stopped.or_target_failed("")?;
    mirror
}

/// Deletes what is left of the run's topics; returns what could not be deleted, and what to do about it. It is tried
/// whatever the user has pressed, for a bounded time, on a separate connection; a third signal ends the process.
fn delete_topics(topics: TopicGuard, target: &Target, limit: Duration) -> Vec<String> {
    if topics.topics().is_empty() {
        return Vec::new();
    }
    let deadline = Instant::now() + limit;
    let config = ClientConfig {
        api_timeout: limit,
        ..target.config().clone()
    };
    let (mut messages, left) = match Cluster::bootstrap(config) {
        Ok(mut cluster) => {
            let rest = deadline.saturating_duration_since(Instant::now());
            let left = topics.delete_all(&mut cluster, rest);
            let messages: Vec<String> = left.iter().map(ToString::to_string).collect();
            let names = left.iter().filter_map(Leftover::topic);
            (messages, names.map(str::to_owned).collect::<Vec<_>>())
        }
        Err(error) => {
            let names = topics.keep();
            let which = match names.as_slice() {
                [one] => format!("topic {one} was not deleted"),
                several => format!("{} topics were not deleted", several.len()),
            };
            (vec![format!("{which}: {error}")], names)
        }
    };
    if let (Some(last), false) = (messages.last_mut(), left.is_empty()) {
        let names: Vec<&str> = left.iter().map(String::as_str).collect();
        last.push_str(&format!(
            "\n  {}",
            deleting_command(target.config(), &names)
        ));
    }
    messages
}

/// The command that deletes the topics once the cluster answers again.
fn deleting_command(config: &ClientConfig, names: &[&str]) -> String {
    let settings = match config.security.protocol {
        SecurityProtocol::Plaintext => "",
        SecurityProtocol::Ssl | SecurityProtocol::SaslPlaintext | SecurityProtocol::SaslSsl => {
            " --command-config client.properties"
        }
    };
    format!(
        "when the cluster answers again: kgauge kafka-topics --bootstrap-server {}{settings} --delete --topic '{}'",
        config.servers(),
        names.join("|")
    )
}
