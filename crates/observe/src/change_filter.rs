//! Keeps the counters of many devices, and emits only those that changed.
//!
//! A machine may have dozens of idle disks and hundreds of idle interfaces. Each is emitted when it is first seen, and
//! then whenever it changes. Before such a change, its previous reading is emitted again, so that no rate is averaged
//! over idle time.

use kgauge_results::run::EvidenceKind;

use crate::observation::{Observation, SampleTime, of_host};

/// Limits memory if names change all the time.
const ENTRIES_MAX: usize = 4096;

/// Devices by name.
#[derive(Debug, Default)]
pub(crate) struct ChangeFilter {
    entries: Vec<Entry>,
    /// Index of the next device, if they come in the same order as last time.
    next: usize,
}

#[derive(Debug)]
struct Entry {
    last: EvidenceKind,
    /// The latest sample that equals the one before.
    quiet_at: Option<SampleTime>,
}

impl ChangeFilter {
    /// Starts again with the first device.
    pub(crate) fn begin(&mut self) {
        self.next = 0;
    }

    /// Takes the current counters of one device.
    pub(crate) fn take(
        &mut self,
        kind: EvidenceKind,
        now: SampleTime,
        seen: &mut Vec<Observation>,
    ) {
        let is_it = |entry: &Entry| name_of(&entry.last) == name_of(&kind);
        let expected = self.entries.get(self.next).is_some_and(is_it);
        let found = if expected {
            Some(self.next)
        } else {
            self.entries.iter().position(is_it)
        };
        let Some(index) = found else {
            if self.entries.len() < ENTRIES_MAX {
                self.entries.push(Entry {
                    last: kind.clone(),
                    quiet_at: None,
                });
                self.next = self.entries.len();
                seen.push(of_host(now, kind));
            }
            return;
        };
        self.next = index + 1;
        let Some(entry) = self.entries.get_mut(index) else {
            return;
        };
        if entry.last == kind {
            entry.quiet_at = Some(now);
            return;
        }
        let last = std::mem::replace(&mut entry.last, kind.clone());
        if let Some(quiet_at) = entry.quiet_at.take() {
            seen.push(of_host(quiet_at, last));
        }
        seen.push(of_host(now, kind));
    }

    /// Emits the latest readings of devices that were idle at the end.
    pub(crate) fn end(&mut self, seen: &mut Vec<Observation>) {
        for entry in &mut self.entries {
            if let Some(quiet_at) = entry.quiet_at.take() {
                seen.push(of_host(quiet_at, entry.last.clone()));
            }
        }
    }
}

fn name_of(kind: &EvidenceKind) -> &str {
    match kind {
        EvidenceKind::Disk(look) => &look.disk,
        EvidenceKind::Network(look) => &look.interface,
        _ => "",
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use kgauge_results::metrics::{MetricId, Readings};
    use kgauge_results::run::NetworkSample;

    fn kind(name: &str, bytes: u64) -> EvidenceKind {
        EvidenceKind::Network(NetworkSample {
            interface: name.to_owned(),
            values: Readings::from([(MetricId::SentBytes, bytes)]),
        })
    }

    /// The readings emitted for samples at `a` and `b` each second: name, second, bytes.
    fn written(values: &[(u64, u64)]) -> Vec<(String, u64, u64)> {
        let mut quiet = ChangeFilter::default();
        let mut seen = Vec::new();
        for (second, (a, b)) in values.iter().enumerate() {
            let now = SampleTime {
                at_ns: second as u64,
                at_unix_ms: 0,
            };
            quiet.begin();
            quiet.take(kind("a", *a), now, &mut seen);
            quiet.take(kind("b", *b), now, &mut seen);
        }
        quiet.end(&mut seen);
        let reading = |seen: Observation| match seen.kind {
            EvidenceKind::Network(look) => {
                let bytes = look.values[&MetricId::SentBytes];
                (look.interface, seen.at.at_ns, bytes)
            }
            other => panic!("{other:?}"),
        };
        seen.into_iter().map(reading).collect()
    }

    #[test]
    fn changing_values_are_always_written_and_constant_ones_first_and_last() {
        let values = [(0, 5), (1, 5), (2, 5), (3, 9), (4, 9), (5, 9)];
        let readings = written(&values);
        let of = |name: &str| -> Vec<(u64, u64)> {
            let own = readings.iter().filter(|(of, ..)| of == name);
            own.map(|(_, at, bytes)| (*at, *bytes)).collect()
        };
        assert_eq!(of("a"), [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]);
        assert_eq!(of("b"), [(0, 5), (2, 5), (3, 9), (5, 9)]);
    }
}
