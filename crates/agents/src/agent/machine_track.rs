//! What an agent's sampler sees of its machine, summed up for the lead. The lines themselves go to the run folder.

use std::collections::BTreeMap;

use kgauge_results::metrics::MetricId;
use kgauge_results::run::{AgentNetworkRecord, CpuLimitSample, Evidence, EvidenceKind};

/// Connections within the machine take no card.
const LOOPBACK: &str = "lo";

/// An interface that carries this share of its speed is full. The lead's are judged by the same share.
const FULL_PERCENT: u128 = 90;

/// Readings of a machine during a repeat.
#[derive(Debug, Default)]
pub(super) struct MachineTrack {
    /// The first and the last reading of a limit on this process's CPU time.
    cpu_limit: Option<(CpuLimitSample, CpuLimitSample)>,
    interfaces: BTreeMap<String, InterfaceTrack>,
}

/// Readings of a network interface.
#[derive(Debug, Default)]
struct InterfaceTrack {
    bits_per_s: Option<u64>,
    /// In the order of their times.
    readings: Vec<InterfaceReading>,
}

#[derive(Debug, Clone, Copy)]
struct InterfaceReading {
    at_ns: u64,
    received_bytes: u64,
    sent_bytes: u64,
}

impl MachineTrack {
    /// Takes a reading.
    pub(super) fn note(&mut self, seen: &Evidence) {
        match &seen.kind {
            EvidenceKind::CpuLimit(sample) if sample.level == 0 => match &mut self.cpu_limit {
                Some((_, last)) => *last = *sample,
                None => self.cpu_limit = Some((*sample, *sample)),
            },
            EvidenceKind::Network(sample) if sample.interface != LOOPBACK => {
                let Some(at_ns) = seen.at_ns else { return };
                let bytes = |metric| sample.values.get(&metric).copied().unwrap_or(0);
                let reading = InterfaceReading {
                    at_ns,
                    received_bytes: bytes(MetricId::ReceivedBytes),
                    sent_bytes: bytes(MetricId::SentBytes),
                };
                let interface = self.interfaces.entry(sample.interface.clone());
                interface.or_default().readings.push(reading);
            }
            EvidenceKind::NetworkSpeed(speed) if speed.bits_per_s > 0 => {
                let interface = self.interfaces.entry(speed.interface.clone());
                interface.or_default().bits_per_s = Some(speed.bits_per_s);
            }
            _ => {}
        }
    }

    /// Periods of the limit on CPU time during the repeat, and those in which it held the process back.
    pub(super) fn cpu_limit_periods(&self) -> Option<(u64, u64)> {
        let (first, last) = self.cpu_limit.as_ref()?;
        let grown = |first: u64, last: u64| last.saturating_sub(first);
        Some((
            grown(first.periods, last.periods),
            grown(first.held_periods, last.held_periods),
        ))
    }

    /// The interface that carried most in a span.
    pub(super) fn busiest_interface(
        &self,
        start_ns: u64,
        end_ns: u64,
    ) -> Option<AgentNetworkRecord> {
        let each = self.interfaces.iter();
        let each = each.filter_map(|(name, track)| track.between(name, start_ns, end_ns));
        each.max_by_key(|one| one.received_bytes.saturating_add(one.sent_bytes))
    }
}

impl InterfaceTrack {
    /// What it carried in a span; readings that the span cuts count with their part.
    fn between(&self, name: &str, start_ns: u64, end_ns: u64) -> Option<AgentNetworkRecord> {
        let mut sum = AgentNetworkRecord {
            interface: name.to_owned(),
            span_ns: 0,
            received_bytes: 0,
            sent_bytes: 0,
            bits_per_s: self.bits_per_s,
            full_ns: 0,
        };
        for pair in self.readings.windows(2) {
            let [earlier, later] = pair else { continue };
            let inside_ns = later.at_ns.min(end_ns);
            let inside_ns = inside_ns.saturating_sub(earlier.at_ns.max(start_ns));
            let length_ns = later.at_ns.saturating_sub(earlier.at_ns);
            if inside_ns == 0 || length_ns == 0 {
                continue;
            }
            let received = later.received_bytes.saturating_sub(earlier.received_bytes);
            let sent = later.sent_bytes.saturating_sub(earlier.sent_bytes);
            let part = |bytes: u64| {
                let part = u128::from(bytes) * u128::from(inside_ns) / u128::from(length_ns);
                // It is at most the bytes themselves.
                u64::try_from(part).unwrap_or(bytes)
            };
            sum.span_ns += inside_ns;
            sum.received_bytes += part(received);
            sum.sent_bytes += part(sent);
            if self.is_full(received.max(sent), length_ns) {
                sum.full_ns += inside_ns;
            }
        }
        (sum.span_ns > 0).then_some(sum)
    }

    fn is_full(&self, bytes: u64, length_ns: u64) -> bool {
        let Some(bits_per_s) = self.bits_per_s else {
            return false;
        };
        let bits = u128::from(bytes) * 8 * 1_000_000_000;
        bits * 100 >= u128::from(bits_per_s) * u128::from(length_ns) * FULL_PERCENT
    }
}

#[cfg(test)]
mod tests {
    use kgauge_results::run::{NetworkSample, NetworkSpeed, Subject};

    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn seen(at_ns: u64, kind: EvidenceKind) -> Evidence {
        Evidence {
            at_unix_ms: 0,
            repeat: None,
            at_ns: Some(at_ns),
            subject: Subject::Host,
            kind,
        }
    }

    fn network(interface: &str, second: u64, received: u64, sent: u64) -> Evidence {
        let values = [
            (MetricId::ReceivedBytes, received),
            (MetricId::SentBytes, sent),
        ];
        let sample = NetworkSample {
            interface: interface.to_owned(),
            values: values.into_iter().collect(),
        };
        seen(second * SECOND_NS, EvidenceKind::Network(sample))
    }

    #[test]
    fn the_busiest_card_is_known_within_the_hold() {
        let mut track = MachineTrack::default();
        // 8 kbit/s: 1,000 bytes per second.
        track.note(&seen(
            0,
            EvidenceKind::NetworkSpeed(NetworkSpeed {
                interface: "eth0".to_owned(),
                bits_per_s: 8_000,
                ..NetworkSpeed::default()
            }),
        ));
        for (second, sent) in [(0, 0), (1, 100), (2, 1_050), (3, 1_550), (4, 9_000)] {
            track.note(&network("eth0", second, 7, sent));
            track.note(&network("lo", second, sent * 100, sent * 100));
            track.note(&network("eth1", second, 0, sent / 2));
        }
        let found = track.busiest_interface(SECOND_NS, 3 * SECOND_NS);
        let expected = AgentNetworkRecord {
            interface: "eth0".to_owned(),
            span_ns: 2 * SECOND_NS,
            received_bytes: 0,
            sent_bytes: 1_450,
            bits_per_s: Some(8_000),
            full_ns: SECOND_NS,
        };
        assert_eq!(found, Some(expected));
        // Half of the second from 100 to 1,050.
        let half = track.busiest_interface(SECOND_NS, SECOND_NS * 3 / 2);
        assert_eq!(half.map(|one| one.sent_bytes), Some(475));
        assert_eq!(track.busiest_interface(9 * SECOND_NS, 10 * SECOND_NS), None);
    }

    #[test]
    fn only_the_innermost_limit_on_cpu_time_counts() {
        let mut track = MachineTrack::default();
        assert_eq!(track.cpu_limit_periods(), None);
        for (level, periods, held_periods) in [(0, 10, 1), (1, 500, 400), (0, 30, 6)] {
            track.note(&seen(
                0,
                EvidenceKind::CpuLimit(CpuLimitSample {
                    level,
                    periods,
                    held_periods,
                    ..CpuLimitSample::default()
                }),
            ));
        }
        assert_eq!(track.cpu_limit_periods(), Some((20, 5)));
    }
}
