//! The end of a run: what was made is deleted, what was started ends, and the folder says how.

use std::time::Duration;

use kgauge_client::{ClientConfig, Cluster};
use kgauge_results::run::{EventKind, RunStatus};
use kgauge_target::{Target, TopicGuard};

use super::mirror::Mirror;
use super::repeat::Ended;
use super::session::Session;
use crate::exit::{OrStop, with_cure};
use crate::place::unix_ms;
use crate::progress::ProgressLine;

/// How long cleaning up on somebody's cluster may take.
const CLEANING_TIME_MAX: Duration = Duration::from_secs(10);

/// Deletes what was made, stops what was started, and says how it ended.
pub(super) fn close(session: Session, ended: &anyhow::Result<Ended>) -> anyhow::Result<()> {
    session.progress.end();
    if session.stopping.is_wanted() {
        session.event(None, EventKind::Interrupted);
    }
    let Session {
        target,
        mirror,
        cluster,
        mut folder,
        topics,
        progress,
        keep,
        ..
    } = session;
    drop(cluster);
    let mirror = mirror.map_or(Ok(()), Mirror::stop);
    let target = target.take();
    if keep {
        for topic in topics.keep() {
            progress.remark(&format!("kgauge: kept topic {topic}"));
        }
    } else if let Some(target @ Target::Existing(_)) = &target {
        delete_topics(topics, target, &progress);
    } else {
        // Its data goes as a whole, with every topic in it.
        topics.keep();
    }
    let (status, why) = match ended {
        Ok(Ended::Complete) => (RunStatus::Complete, None),
        Ok(Ended::Interrupted) => (
            RunStatus::Interrupted,
            Some("stopped by the user".to_owned()),
        ),
        Err(error) => (RunStatus::Failed, Some(error.to_string())),
    };
    let stopped = target.map_or(Ok(()), Target::stop);
    folder.end(status, why, unix_ms()).or_failed()?;
    stopped.or_target_failed("")?;
    mirror
}

/// Deletes what is left of the run's topics. It is tried whatever the user has pressed, for a bounded
/// time, on a connection of its own; a third signal ends the process.
fn delete_topics(topics: TopicGuard, target: &Target, progress: &ProgressLine) {
    if topics.topics().is_empty() {
        return;
    }
    let config = ClientConfig {
        api_timeout: CLEANING_TIME_MAX,
        ..target.config().clone()
    };
    match Cluster::bootstrap(config) {
        Ok(mut cluster) => {
            for left in topics.delete_all(&mut cluster) {
                progress.remark(&format!("kgauge: {}", with_cure(&left, left.cure())));
            }
        }
        Err(error) => {
            let names = topics.keep().join(", ");
            let words = format!("cannot delete topic {names}: {error}");
            progress.remark(&format!(
                "kgauge: {}",
                with_cure(&words, "delete it by hand")
            ));
        }
    }
}
