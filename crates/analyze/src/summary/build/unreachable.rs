//! Brokers that clients could not reach in a repeat. Several reports can belong to one outage: a broker that lost its
//! connections and then leaves new requests unanswered is reported for each symptom, and answers again once.

use kgauge_results::folder::RunRead;
use kgauge_results::run::{Event, EventKind, OutageCause, RepeatKey};

/// One outage of one broker, from its first symptom on.
#[derive(Debug, Clone, Copy)]
pub(super) struct BrokerSilence<'a> {
    pub(super) broker: i32,
    pub(super) address: &'a str,
    /// Nanoseconds since the start of the repeat.
    pub(super) since_ns: u64,
    /// When it answered again; `None` if it did not while the load was watched.
    pub(super) end_ns: Option<u64>,
    /// The first symptom.
    pub(super) cause: OutageCause,
    /// Partitions had no leader that answered.
    pub(super) is_felt: bool,
}

/// All outages of a repeat in the order of their reports. Those of one broker do not overlap.
pub(super) fn broker_silences(run: &RunRead, repeat: RepeatKey) -> Vec<BrokerSilence<'_>> {
    let mut silences = Vec::<BrokerSilence<'_>>::new();
    let events = run.events.iter();
    for event in events.filter(|event| event.repeat == Some(repeat)) {
        note(&mut silences, event);
    }
    silences
}

fn note<'a>(silences: &mut Vec<BrokerSilence<'a>>, event: &'a Event) {
    match &event.kind {
        EventKind::BrokerUnreachable {
            broker,
            address,
            since_ns,
            cause,
            partitions_without_leader,
            ..
        } => {
            let is_felt = *partitions_without_leader != Some(0);
            let before = latest(silences, *broker, address);
            let before_ns = match before.map(|one| (one.end_ns, one)) {
                Some((None, open)) => {
                    open.since_ns = open.since_ns.min(*since_ns);
                    open.is_felt |= is_felt;
                    return;
                }
                Some((Some(end_ns), _)) => end_ns,
                None => 0,
            };
            silences.push(BrokerSilence {
                broker: *broker,
                address,
                since_ns: (*since_ns).max(before_ns),
                end_ns: None,
                cause: *cause,
                is_felt,
            });
        }
        EventKind::BrokerBack {
            broker, address, ..
        } => {
            let open = latest(silences, *broker, address);
            if let Some(open) = open.filter(|one| one.end_ns.is_none()) {
                open.end_ns = event.at_ns.map(|at_ns| at_ns.max(open.since_ns));
            }
        }
        _ => {}
    }
}

/// The latest outage of a broker. A mirror has brokers of two clusters, which share their ids.
fn latest<'s, 'a>(
    silences: &'s mut [BrokerSilence<'a>],
    broker: i32,
    address: &str,
) -> Option<&'s mut BrokerSilence<'a>> {
    let mut latest = silences.iter_mut().rev();
    latest.find(|one| (one.broker, one.address) == (broker, address))
}
