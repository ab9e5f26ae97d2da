//! Waits until every broker's metadata of a topic is as expected: the controller's decision reaches the brokers one
//! after another.

use std::time::{Duration, Instant};

use kgauge_wire::error_code::ErrorCode;

use crate::backoff::Backoff;
use crate::cluster::{Cluster, ClusterError, Topic};

/// A new topic is usually known everywhere within milliseconds, so the first check comes soon.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

/// Why the wait failed.
pub(super) enum WaitError {
    /// Time is over, or the user interrupted; with the broker that still differs.
    Over { broker_id: i32, what: String },
    /// A broker did not answer.
    Cluster(ClusterError),
}

/// How to treat a broker that does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SilentBroker {
    /// Ask it again.
    Wait,
    /// Rely on the others: it catches up when it returns.
    Skip,
}

/// The time limit for a broker that is skipped afterwards.
const SILENCE_MAX: Duration = Duration::from_secs(2);

impl Cluster {
    /// Polls every broker until `judge` accepts its metadata, or the operation's time is over. `None` means that the
    /// broker does not know the topic.
    pub(super) fn await_everywhere(
        &mut self,
        topic: &str,
        silent: SilentBroker,
        judge: impl Fn(Option<&Topic>) -> Result<(), String>,
    ) -> Result<(), WaitError> {
        let deadline = self.deadline();
        let names = [topic.to_owned()];
        let mut backoff = Backoff::new(FIRST_PAUSE, LONGEST_PAUSE);
        let broker_ids: Vec<i32> = self
            .metadata()
            .brokers
            .iter()
            .map(|broker| broker.id)
            .collect();
        for broker_id in broker_ids {
            loop {
                let until = match silent {
                    SilentBroker::Wait => deadline,
                    SilentBroker::Skip => deadline.min(Instant::now() + SILENCE_MAX),
                };
                let verdict = match self.metadata_of(broker_id, &names, until) {
                    Ok(metadata) => judge(known(metadata.topic(topic))),
                    Err(error) if error.may_pass() && silent == SilentBroker::Skip => break,
                    Err(error) if error.may_pass() => Err(error.to_string()),
                    Err(error) => return Err(WaitError::Cluster(error)),
                };
                let Err(what) = verdict else { break };
                if Instant::now() >= deadline || self.is_interrupted() {
                    return Err(WaitError::Over { broker_id, what });
                }
                self.sleep(backoff.pause(), deadline);
            }
        }
        Ok(())
    }
}

/// Brokers list an unknown topic with its error.
fn known(topic: Option<&Topic>) -> Option<&Topic> {
    topic.filter(|topic| topic.error != ErrorCode::UnknownTopicOrPartition)
}
