//! Evidence from the brokers' responses during a repeat, and from the buffers of kgauge's own clients.

use std::collections::BTreeMap;

use crate::error::RunError;
use kgauge_load::{Clock, LoadProgress};
use kgauge_observe::{TopicObservation, WireWatch, WireWatcher};
use kgauge_results::run::{ClientSample, Evidence, EvidenceKind, RepeatKey, Subject, TopicFacts};
use kgauge_results::{RunFolder, SECOND_NS};

use crate::ids::unix_ms;
use crate::session::Session;

/// Starts the polling thread, unless the user has turned it off.
pub(crate) fn start(
    session: &Session<'_>,
    topic: &TopicFacts,
    groups: &BTreeMap<String, String>,
    (key, clock): (RepeatKey, Clock),
) -> Result<Option<WireWatcher>, RunError> {
    if !session.request.polls_brokers {
        return Ok(None);
    }
    let watch = WireWatch {
        repeat: key,
        client: session.client.clone(),
        topic: topic.name.clone(),
        replication_factor: topic.replication_factor,
        groups: groups.values().cloned().collect(),
    };
    let (evidence, events) = (session.folder.evidence(), session.folder.events());
    let write = move |observation: TopicObservation<'_>| {
        let written = match observation {
            TopicObservation::Evidence(seen) => evidence.write(seen),
            TopicObservation::Event(event) => events.write(event),
        };
        written.map_err(|error| error.to_string())
    };
    let watcher = WireWatcher::start(watch, move || clock.now_ns(), write);
    let watcher = watcher.map_err(|error| {
        RunError::system("cannot start the thread that asks the brokers", &error)
    })?;
    Ok(Some(watcher))
}

/// Records the buffer use of producers at each second of the run's clock.
#[derive(Default)]
pub(crate) struct Held {
    next_ns: u64,
    written: BTreeMap<usize, ClientSample>,
}

impl Held {
    /// Samples a running load. If the folder cannot be written any more, its slices end the run.
    pub(crate) fn sample(&mut self, folder: &RunFolder, key: RepeatKey, progress: &LoadProgress) {
        if progress.elapsed_ns < self.next_ns {
            return;
        }
        self.next_ns = (progress.elapsed_ns / SECOND_NS + 1) * SECOND_NS;
        for (flow, look) in progress.held.iter().enumerate() {
            let before = self.written.insert(flow, *look);
            // Flows of other clients, and consumers, hold nothing that is seen from here.
            if look.looks == 0 || before == Some(*look) {
                continue;
            }
            let evidence = Evidence {
                at_unix_ms: unix_ms(),
                repeat: Some(key),
                at_ns: Some(progress.elapsed_ns),
                subject: Subject::Flow {
                    flow: u16::try_from(flow).unwrap_or(u16::MAX),
                },
                kind: EvidenceKind::Client(*look),
            };
            let _ = folder.evidence().write(&evidence);
        }
    }
}
