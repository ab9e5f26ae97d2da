//! The network cards of the machines that make the load as suspects: the lead's own, or those of its agents. Of cards
//! of other machines kgauge sees nothing.

use std::collections::BTreeSet;

use super::super::agents;
use super::facts::{Facts, HoldEvidence};
use super::{Findings, Weight};
use crate::series::{MetricPoint, NetworkSeries};
use crate::statistics::weighted_mean;
use crate::summary::{AgentSummary, Bottleneck, LimitFact, NetworkDirection};
use kgauge_results::metrics::MetricId;
use kgauge_results::run::{NetworkSpeed, SpeedSource};

/// An interface that carries this share of its speed is full. A packet of 1,500 bytes takes 1,538 on the wire: 14 of
/// head and 4 of checksum, 8 before it and 12 of gap behind it. The kernel counts 1,514 of them, 98 %. If the card cuts
/// up a large piece, the kernel may count one head for all, which leaves the 1,448 bytes of payload, 94 %. The rest is
/// for smaller packets.
const FULL_PART: f64 = 0.90;
/// Full in more of the hold than this is what is felt.
const FULL_TIME: f64 = 0.50;
/// Full for this share of the time, it has no capacity left: more processors would not help.
const FULL_TIME_ALWAYS: f64 = 0.90;
/// From here up it is a suspect.
const FULL_TIME_NEAR: f64 = 0.20;
/// So much on the mean makes it one too: what comes in bursts waits while the seconds still look free.
const USED_PART_NEAR: f64 = 0.70;
/// An interface that carried more than this has another speed than reported. Counters and seconds do not match to the
/// last packet.
const USED_PART_MAX: f64 = 1.05;
/// Less than this is not worth a word.
const USED_PART_SAID: f64 = 0.01;
/// From 100 Mbit/s up it matters how fast an interface is.
const BYTES_PER_S_SAID: f64 = 12.5e6;

/// What goes which way.
type TrafficDirection = (NetworkDirection, fn(&MetricPoint) -> Option<f64>);

const WAYS: [TrafficDirection; 2] = [
    (NetworkDirection::Received, |point| {
        point.get(MetricId::ReceivedBytes)
    }),
    (NetworkDirection::Sent, |point| {
        point.get(MetricId::SentBytes)
    }),
];
/// Where one direction waits for the other.
const BOTH: [TrafficDirection; 1] = [(NetworkDirection::Both, |point| {
    Some(point.get(MetricId::ReceivedBytes)? + point.get(MetricId::SentBytes)?)
})];

/// An interface in the direction in which it had less to spare.
struct Card {
    interface: String,
    way: NetworkDirection,
    bytes_per_s: f64,
    speed: NetworkSpeed,
    /// Of its speed, the mean.
    used: f64,
    /// The part of the time in which it was full.
    full: f64,
}

/// The interfaces of whom it is known how fast they are.
pub(super) fn cards(facts: &Facts<'_>, findings: &mut Findings) {
    let series = facts.holds.iter().flat_map(|hold| &hold.host.networks);
    let names: BTreeSet<&str> = series.map(|one| one.interface.as_str()).collect();
    let is_local = agents::are_local(facts.measured);
    let mut cards: Vec<Card> = match (is_local, &facts.trial.agents) {
        (false, Some(trial)) => trial.agents.iter().filter_map(Card::of_agent).collect(),
        _ => {
            let cards = names.iter().filter_map(|name| Card::of(facts, name));
            cards.collect()
        }
    };
    cards.sort_by(|one, other| other.used.total_cmp(&one.used));
    for (place, card) in cards.iter().enumerate() {
        let weight = card.weight();
        if weight != Weight::None || place == 0 && card.used >= USED_PART_SAID {
            findings.note(Bottleneck::NetworkCard, weight, card.fact());
        }
        if weight == Weight::Strong && card.full >= FULL_TIME_ALWAYS {
            let others = [
                Bottleneck::Processors,
                Bottleneck::OtherPrograms,
                Bottleneck::Hypervisor,
            ];
            findings.strong.retain(|word| !others.contains(word));
        }
    }
    if is_local && cards.iter().all(|card| card.used < USED_PART_SAID) {
        findings.evidence.extend(not_known(facts, &names));
    }
}

impl Card {
    fn of(facts: &Facts<'_>, interface: &str) -> Option<Card> {
        let mut speeds = facts
            .holds
            .iter()
            .rev()
            .filter_map(|hold| speed_of(hold, interface));
        let speed = speeds.next()?.clone();
        let ways: &[TrafficDirection] = match speed.is_half_duplex {
            true => &BOTH,
            false => &WAYS,
        };
        let of_way = |(name, bytes): &TrafficDirection| {
            // Of its own speed in each repeat: it may have been another one.
            let part = |hold: &HoldEvidence, point: &MetricPoint| {
                let speed = speed_of(hold, interface)?.bits_per_s as f64 / 8.0;
                Some(bytes(point)? / speed.max(1.0))
            };
            Some(Card {
                interface: interface.to_owned(),
                way: *name,
                bytes_per_s: mean(facts, interface, |_, point| bytes(point))?,
                speed: speed.clone(),
                used: mean(facts, interface, part)?,
                full: mean(facts, interface, |hold, point| {
                    Some(f64::from(u8::from(part(hold, point)? >= FULL_PART)))
                })?,
            })
        };
        let ways = ways.iter().filter_map(of_way);
        ways.max_by(|one, other| one.used.total_cmp(&other.used))
    }

    /// The busiest one of an agent's machine.
    fn of_agent(agent: &AgentSummary) -> Option<Card> {
        let network = agent.network.as_ref()?;
        let speed_bytes_per_s = network.speed_bytes_per_s?;
        let (received, sent) = (network.received_bytes_per_s, network.sent_bytes_per_s);
        Some(Card {
            interface: format!("{} of {}", network.interface, agent.name),
            way: match sent >= received {
                true => NetworkDirection::Sent,
                false => NetworkDirection::Received,
            },
            bytes_per_s: sent.max(received),
            speed: NetworkSpeed {
                interface: network.interface.clone(),
                bits_per_s: (speed_bytes_per_s * 8.0) as u64,
                told_by: SpeedSource::Kernel,
                ..NetworkSpeed::default()
            },
            used: network.used_part?,
            full: network.full_time_part,
        })
    }

    fn is_beyond(&self) -> bool {
        self.used > USED_PART_MAX
    }

    fn weight(&self) -> Weight {
        let is_near = self.full >= FULL_TIME_NEAR || self.used >= USED_PART_NEAR;
        match self.is_beyond() {
            true => Weight::None,
            false => Weight::of(self.full > FULL_TIME, is_near),
        }
    }

    fn fact(&self) -> LimitFact {
        let (interface, direction, bytes_per_s) =
            (self.interface.clone(), self.way, self.bytes_per_s);
        let speed_bytes_per_s = self.speed.bits_per_s as f64 / 8.0;
        let is_speed_set = self.speed.told_by == SpeedSource::User;
        match self.is_beyond() {
            true => LimitFact::WrongSpeed {
                interface,
                direction,
                bytes_per_s,
                speed_bytes_per_s,
                is_speed_set,
            },
            false => LimitFact::NetworkCard {
                interface,
                direction,
                bytes_per_s,
                speed_bytes_per_s,
                is_speed_set,
                used_part: self.used,
                full_time_part: self.full,
            },
        }
    }
}

/// Traffic of an interface whose speed is unknown, if the target is on another machine and the traffic matters.
fn not_known(facts: &Facts<'_>, names: &BTreeSet<&str>) -> Option<LimitFact> {
    let environment = facts.run.environment.as_ref()?;
    if environment.target.same_machine != Some(false) {
        return None;
    }
    let is_known = |name: &str| {
        let mut holds = facts.holds.iter();
        holds.any(|hold| speed_of(hold, name).is_some())
    };
    let unknown = names.iter().filter(|name| !is_known(name));
    let used = unknown.flat_map(|name| {
        WAYS.iter()
            .map(move |(way, bytes)| (name, way, mean(facts, name, |_, point| bytes(point))))
    });
    let used = used.filter_map(|(name, way, bytes_per_s)| Some((name, way, bytes_per_s?)));
    let (name, way, bytes_per_s) = used.max_by(|one, other| one.2.total_cmp(&other.2))?;
    (bytes_per_s >= BYTES_PER_S_SAID).then(|| LimitFact::UnknownSpeed {
        interface: (*name).to_owned(),
        direction: *way,
        bytes_per_s,
    })
}

fn series_of<'a>(hold: &'a HoldEvidence, interface: &str) -> Option<&'a NetworkSeries> {
    let mut networks = hold.host.networks.iter();
    networks.find(|one| one.interface == interface)
}

fn speed_of<'a>(hold: &'a HoldEvidence, interface: &str) -> Option<&'a NetworkSpeed> {
    series_of(hold, interface)?.speed.as_ref()
}

/// The mean of something over all holds; a span of which it is not known does not count.
fn mean(
    facts: &Facts<'_>,
    interface: &str,
    of: impl Fn(&HoldEvidence, &MetricPoint) -> Option<f64>,
) -> Option<f64> {
    weighted_mean(facts.holds.iter().flat_map(|hold| {
        let points = series_of(hold, interface).map_or(&[][..], |series| &series.points);
        let known = points.iter();
        hold.weighed(
            known.filter_map(|point| Some((point.start_ns, point.end_ns, of(hold, point)?))),
        )
    }))
}
