//! The troubles, who is to blame for each, and the load that shows it.

use super::party::BlamedParty;

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
    cell(
        "none",
        EMBEDDED,
        BlamedParty::Nobody,
        Disturbance::Quiet,
        RATE,
    ),
    cell("none", KAFKA, BlamedParty::Nobody, Disturbance::Quiet, RATE),
    cell(
        "dead",
        EMBEDDED,
        BlamedParty::Target,
        Disturbance::Dead,
        RATE,
    ),
    cell("dead", KAFKA, BlamedParty::Target, Disturbance::Dead, RATE),
    cell(
        "killed",
        EMBEDDED,
        BlamedParty::Target,
        Disturbance::Quiet,
        KILLED,
    ),
    cell(
        "killed",
        KAFKA,
        BlamedParty::Target,
        Disturbance::Quiet,
        KILLED,
    ),
    cell(
        "paused",
        EMBEDDED,
        BlamedParty::Target,
        Disturbance::Paused,
        RATE,
    ),
    cell(
        "paused",
        KAFKA,
        BlamedParty::Target,
        Disturbance::Paused,
        RATE,
    ),
    cell(
        "slow",
        EMBEDDED,
        BlamedParty::Target,
        Disturbance::Slow,
        RATE,
    ),
    cell("slow", KAFKA, BlamedParty::Target, Disturbance::Slow, RATE),
    cell(
        "throttled",
        EMBEDDED,
        BlamedParty::Target,
        Disturbance::Quiet,
        CAPPED,
    ),
    cell(
        "throttled",
        QUOTA,
        BlamedParty::Target,
        Disturbance::Quiet,
        RATE,
    ),
    cell(
        "unreachable",
        EMBEDDED,
        BlamedParty::Target,
        Disturbance::CutOff,
        RATE,
    ),
    cell(
        "unreachable",
        KAFKA,
        BlamedParty::Target,
        Disturbance::CutOff,
        RATE,
    ),
    cell(
        "nice",
        EMBEDDED,
        BlamedParty::Others,
        Disturbance::Nice,
        RATE,
    ),
    cell("nice", KAFKA, BlamedParty::Others, Disturbance::Nice, RATE),
    cell(
        "pinned",
        EMBEDDED,
        BlamedParty::Others,
        Disturbance::Pinned,
        RATE,
    ),
    cell(
        "pinned",
        KAFKA,
        BlamedParty::Others,
        Disturbance::Pinned,
        RATE,
    ),
    cell(
        "cpu-limit",
        EMBEDDED,
        BlamedParty::Generator,
        Disturbance::Group,
        RATE,
    ),
    cell(
        "cpu-limit",
        KAFKA,
        BlamedParty::Generator,
        Disturbance::Group,
        RATE,
    ),
    cell(
        "neighbours",
        EMBEDDED,
        BlamedParty::Others,
        Disturbance::Neighbours,
        FULL_SPEED,
    ),
    cell(
        "neighbours",
        KAFKA,
        BlamedParty::Others,
        Disturbance::Neighbours,
        FULL_SPEED,
    ),
];

impl BlameCell {
    /// A name for files: `blame-dead-kafka`.
    pub(super) fn name(&self) -> String {
        let end = self.target.find(',').unwrap_or(self.target.len());
        let target = self.target[..end].replace(':', "-");
        format!("blame-{}-{target}", self.trouble)
    }

    /// Whether the cluster is there before the run, so that its trouble is not the run's own doing.
    pub(super) fn is_existing(&self) -> bool {
        matches!(
            self.place,
            Disturbance::Dead
                | Disturbance::Paused
                | Disturbance::Slow
                | Disturbance::Pinned
                | Disturbance::Group
        )
    }

    pub(super) fn scenario(&self) -> String {
        // A JVM that has just started compiles on both processors, so that a quiet run would have a trouble after all.
        let is_warm_jvm = self.party == BlamedParty::Nobody && self.target != EMBEDDED;
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
