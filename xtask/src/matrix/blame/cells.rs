//! The troubles, who is to blame for each, and the load that shows it.

use Disturbance::{CutOff, Dead, Group, Neighbours, Nice, Paused, Pinned, Quiet, Slow};

use super::super::target_in_name;
use super::party::BlamedParty::{self, Generator, Nobody, Others, Target};

/// One trouble on one target.
pub(super) struct BlameCell {
    pub(super) trouble: &'static str,
    pub(super) target: &'static str,
    /// Whose doing it is.
    pub(super) party: BlamedParty,
    pub(super) place: Disturbance,
    /// The scenario's flows, and faults where the scenario makes the trouble itself.
    load: &'static str,
}

/// What is done, and to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Disturbance {
    /// Nothing: the scenario's own faults, or a quota.
    Quiet,
    /// The brokers' processes are killed.
    Dead,
    /// They are stopped for some seconds.
    Paused,
    /// They are stopped most of the time, a fifth of a second each time.
    Slow,
    /// The network between load and brokers is down for some seconds.
    CutOff,
    /// Load and target have the lowest priority, and other programs use all processors.
    Nice,
    /// kgauge may use one processor, and another program uses that too.
    Pinned,
    /// A control group gives kgauge next to no time.
    Group,
    /// Other programs use all processors, several each.
    Neighbours,
}

/// 5 MB/s into a buffer of 2 MiB: without answers it is full after less than half a second.
const RATE: &str = "\
flows:
  - {name: w, kind: produce, shape: {constant: 5k/s}, record: {size: 1 kB}, settings: {buffer.memory: 2 MiB, linger.ms: 5}}
";

const FULL_SPEED: &str = "\
flows:
  - {name: w, kind: produce, shape: max, record: {size: 1 kB}, settings: {buffer.memory: 8 MiB, linger.ms: 5}}
";

/// The node dies after a second, and comes back.
const KILLED: &str = "\
flows:
  - {name: w, kind: produce, shape: {constant: 5k/s}, record: {size: 1 kB}, settings: {buffer.memory: 2 MiB, linger.ms: 5}}
faults:
  - {at: 1 s, node: 1, kill: true, restart-after: 2 s}
";

/// It takes a fifth of what is offered.
const CAPPED: &str = "\
flows:
  - {name: w, kind: produce, shape: {constant: 5k/s}, record: {size: 1 kB}, settings: {buffer.memory: 2 MiB, linger.ms: 5}}
faults:
  - {at: start, node: all, api: produce, capacity: 1 MB/s}
";

const EMBEDDED: &str = "embedded:1";
const KAFKA: &str = "kafka:4.3.1,heap=512M";
const QUOTA: &str = "kafka:2.8.2,heap=512M,quota.producer.default=1000000";

const fn cell(
    trouble: &'static str,
    target: &'static str,
    party: BlamedParty,
    place: Disturbance,
    load: &'static str,
) -> BlameCell {
    BlameCell {
        trouble,
        target,
        party,
        place,
        load,
    }
}

pub(super) const CELLS: &[BlameCell] = &[
    cell("none", EMBEDDED, Nobody, Quiet, RATE),
    cell("none", KAFKA, Nobody, Quiet, RATE),
    cell("dead", EMBEDDED, Target, Dead, RATE),
    cell("dead", KAFKA, Target, Dead, RATE),
    cell("killed", EMBEDDED, Target, Quiet, KILLED),
    cell("killed", KAFKA, Target, Quiet, KILLED),
    cell("paused", EMBEDDED, Target, Paused, RATE),
    cell("paused", KAFKA, Target, Paused, RATE),
    cell("slow", EMBEDDED, Target, Slow, RATE),
    cell("slow", KAFKA, Target, Slow, RATE),
    cell("throttled", EMBEDDED, Target, Quiet, CAPPED),
    cell("throttled", QUOTA, Target, Quiet, RATE),
    cell("unreachable", EMBEDDED, Target, CutOff, RATE),
    cell("unreachable", KAFKA, Target, CutOff, RATE),
    cell("nice", EMBEDDED, Others, Nice, RATE),
    cell("nice", KAFKA, Others, Nice, RATE),
    cell("pinned", EMBEDDED, Others, Pinned, RATE),
    cell("pinned", KAFKA, Others, Pinned, RATE),
    cell("cpu-limit", EMBEDDED, Generator, Group, RATE),
    cell("cpu-limit", KAFKA, Generator, Group, RATE),
    cell("neighbours", EMBEDDED, Others, Neighbours, FULL_SPEED),
    cell("neighbours", KAFKA, Others, Neighbours, FULL_SPEED),
];

impl BlameCell {
    /// A name for files: `blame-dead-kafka`.
    pub(super) fn name(&self) -> String {
        format!("blame-{}-{}", self.trouble, target_in_name(self.target))
    }

    /// Whether the cluster exists before the run, so that kgauge did not start it.
    pub(super) fn is_existing(&self) -> bool {
        matches!(self.place, Dead | Paused | Slow | Pinned | Group)
    }

    pub(super) fn scenario(&self) -> String {
        // A JVM that has just started compiles on both processors, so that a quiet run would have a trouble after all.
        let is_warm_jvm = self.party == Nobody && self.target != EMBEDDED;
        let warm_up = if is_warm_jvm { "40 s" } else { "1 s" };
        format!(
            "kgauge: 1\nname: blame\nquestion: Whose doing is it?\ntopic: {{partitions: 6}}\n{}stages: {{warm-up: {warm_up}, \
             warm-up-limit: {warm_up}, hold: 6 s, drain: 3 s}}\nrepeats: 1\n",
            self.load
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_cell_has_a_name_of_its_own() {
        let names: BTreeSet<String> = CELLS.iter().map(BlameCell::name).collect();
        assert_eq!(names.len(), CELLS.len());
    }
}
