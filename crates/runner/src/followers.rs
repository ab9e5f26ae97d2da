//! The wait after a load until followers have what their leaders have: until every partition's high watermark is the
//! end of its leader's log. The next load shares the brokers with no rest of this one then, and the run knows what its
//! acks were worth.

use std::time::Duration;

use kgauge_load::{Clock, LoadOutcome};
use kgauge_results::run::Replication;
use kgauge_scenario::Trial;

use crate::prepared_topic::PreparedTopic;
use crate::recovery_wait::RecoveryWait;
use crate::session::{ClusterHealth, Session};

/// The longest wait. Followers that need longer are reported as behind.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// How often the brokers are asked.
const PAUSE: Duration = Duration::from_millis(50);

/// What users see during the wait.
pub(crate) const FOLLOWERS_BEHIND: &str = "followers that have not caught up yet";

/// Waits until the followers of a repeat's topic have caught up. `None` if that cannot be known: brokers were away,
/// faults hit them, others may write to the topic, or the user stops the run.
pub(crate) fn await_followers(
    session: &mut Session<'_>,
    trial: &Trial,
    topic: &PreparedTopic,
    (clock, load): (Clock, &LoadOutcome),
) -> Option<Replication> {
    if topic.facts.replication_factor == 1 {
        return Some(Replication::NoFollowers);
    }
    let is_sound = session.health == ClusterHealth::Sound && load.outages.is_empty();
    if !is_sound || !trial.faults.is_empty() || topic.earliest.is_some() {
        return None;
    }
    let mut wait = RecoveryWait::begin();
    while !session.stopping.is_wanted() {
        let missing = records_missing_max(session, &topic.facts.name)?;
        let since_ns = clock.now_ns().saturating_sub(load.end_ns);
        if missing == 0 {
            return Some(Replication::CaughtUp { after_ns: since_ns });
        }
        if wait.elapsed() >= WAIT_MAX {
            return Some(Replication::Behind {
                waited_ns: since_ns,
                records_missing_max: missing,
            });
        }
        wait.report(session, FOLLOWERS_BEHIND);
        std::thread::sleep(PAUSE);
    }
    None
}

/// Of all partitions the most records between the high watermark and the end of the leader's log; `None` if a broker
/// cannot tell.
fn records_missing_max(session: &mut Session<'_>, topic: &str) -> Option<u64> {
    let readable = session.cluster.end_offsets(topic).ok()?;
    let of_logs = session.cluster.log_end_offsets(topic).ok()?;
    let missing = of_logs.iter().zip(&readable).map(|(end, readable)| {
        // A watermark that has moved on since the first question is not ahead of the log.
        u64::try_from(end.saturating_sub(*readable)).unwrap_or(0)
    });
    missing.max()
}
