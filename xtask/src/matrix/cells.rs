//! The causes, and how each is put where.

use std::num::NonZero;

use super::target_in_name;

/// One cause on one target.
pub(super) struct BottleneckCell {
    /// The verdict's word in `summary.json`.
    pub(super) cause: &'static str,
    pub(super) target: &'static str,
    /// The scenario's `topic` and `flows`.
    load: &'static str,
    pub(super) place: CellSetup,
}

/// Where it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellSetup {
    /// On the machine as it is.
    Machine,
    /// In a separate network with a slow loopback.
    SlowLoopback,
}

const fn cell(cause: &'static str, target: &'static str, load: &'static str) -> BottleneckCell {
    BottleneckCell {
        cause,
        target,
        load,
        place: CellSetup::Machine,
    }
}

const fn on_slow_loopback(
    cause: &'static str,
    target: &'static str,
    load: &'static str,
) -> BottleneckCell {
    BottleneckCell {
        place: CellSetup::SlowLoopback,
        ..cell(cause, target, load)
    }
}

/// Stands in loads for the number of processors.
const PROCESSORS: &str = "PROCESSORS";

const KAFKA: &str = "kafka:4.3.1,heap=512M";

/// A rate that any cluster keeps.
const RATE: &str = "\
topic: {partitions: 6}
flows:
  - {name: w, kind: produce, shape: {constant: 2k/s}, record: {size: 100 B}}
";

/// The same with a consumer at the tail.
const RATE_AND_READERS: &str = "\
topic: {partitions: 6}
flows:
  - {name: w, kind: produce, shape: {constant: 2k/s}, record: {size: 100 B}}
  - {name: r, kind: consume, from: latest}
";

/// Each record is a request.
const SINGLE: &str = "\
topic: {partitions: 1}
flows:
  - {name: w, kind: produce, shape: max, record: {size: 100 B}, settings: {batch.size: 0, linger.ms: 0}}
";

/// One thread that compresses as well as it can.
const COMPRESSING: &str = "\
topic: {partitions: 6}
flows:
  - {name: w, kind: produce, shape: max, record: {size: 1 kB, compressibility: 2}, settings: {compression.type: zstd,
     compression.zstd.level: 19, linger.ms: 5}}
";

/// Two batches are all that the buffer holds.
const TINY_BUFFER: &str = "\
topic: {partitions: 6}
flows:
  - {name: w, kind: produce, shape: max, record: {size: 1 kB}, settings: {buffer.memory: 32 KiB, batch.size: 16 KiB,
     linger.ms: 0}}
";

/// What the brokers' quota does not let through.
const FULL_SPEED: &str = "\
topic: {partitions: 6}
flows:
  - {name: w, kind: produce, shape: max, record: {size: 1 kB}, settings: {buffer.memory: 8 MiB, linger.ms: 5}}
";

/// Consumers that are answered twice a second, a little each time.
const SLOW_READERS: &str = "\
topic: {partitions: 1}
flows:
  - {name: w, kind: produce, shape: {constant: 1k/s}, record: {size: 1 kB}}
  - {name: r, kind: consume, from: latest, settings: {fetch.min.bytes: 50 kB, fetch.max.wait.ms: 500,
     max.partition.fetch.bytes: 10 kB, fetch.max.bytes: 50 kB}}
";

/// Brokers compress the records again.
const RECOMPRESSED: &str = "\
topic: {partitions: 6, config: {compression.type: gzip}}
flows:
  - {name: w, kind: produce, shape: max, record: {size: 1 kB, compressibility: 2}, settings: {buffer.memory: 8 MiB,
     batch.size: 64 KiB, linger.ms: 5}}
";

/// Every batch is flushed to the disk before its answer.
const FLUSHED: &str = "\
topic: {partitions: 6, config: {flush.messages: 1}}
flows:
  - {name: w, kind: produce, shape: max, record: {size: 1 kB}, settings: {buffer.memory: 8 MiB, batch.size: 16 KiB,
     linger.ms: 5}}
";

/// Followers that wait for company before they fetch.
const FOLLOWED: &str = "\
target: {brokers: 3}
topic: {partitions: 3, replication: 3}
flows:
  - {name: w, kind: produce, shape: max, record: {size: 1 kB}, settings: {acks: all, buffer.memory: 1 MiB,
     batch.size: 16 KiB, linger.ms: 0}}
";

/// All goes to one broker of three.
const ONE_PARTITION: &str = "\
topic: {partitions: 1}
flows:
  - {name: w, kind: produce, shape: max, record: {size: 1 kB}, settings: {buffer.memory: 8 MiB, linger.ms: 5}}
";

/// Two load threads for each processor, and brokers: none of them has one for itself, and all have work.
const CROWD: &str = "\
topic: {partitions: 6}
flows:
  - {name: w, kind: produce, producers: PROCESSORS, shape: max, record: {size: 1 kB, compressibility: 2},
     settings: {compression.type: zstd, buffer.memory: 8 MiB, batch.size: 64 KiB, linger.ms: 5}}
  - {name: v, kind: produce, producers: PROCESSORS, shape: max, record: {size: 1 kB, compressibility: 2},
     settings: {compression.type: gzip, buffer.memory: 8 MiB, batch.size: 64 KiB, linger.ms: 5}}
";

/// Consumers that read, encrypted, what the page cache has: one thread reads, encrypts and writes all of it, and a
/// request handler has next to nothing to do. No consumer gets to the end.
const ENCRYPTED_READERS: &str = "\
topic: {partitions: 6, preload: {records: 500k, record: {size: 1 kB}}}
flows:
  - {name: w, kind: consume, consumers: 16, partitions: all, from: earliest, settings: {check.crcs: false}}
";

/// More than 300 Mbit/s, in few requests.
const BULK: &str = "\
topic: {partitions: 6}
flows:
  - {name: w, kind: produce, shape: max, record: {size: 1 kB}, settings: {buffer.memory: 8 MiB, batch.size: 64 KiB,
     linger.ms: 5}}
";

pub(super) const CELLS: &[BottleneckCell] = &[
    cell("load", "embedded:1", RATE),
    cell("load", KAFKA, RATE),
    cell("load", "embedded:3", RATE_AND_READERS),
    cell("load", "kafka:4.3.1,heap=512M,brokers=3", RATE_AND_READERS),
    cell("batching", "embedded:1", SINGLE),
    cell("batching", KAFKA, SINGLE),
    cell("generator", "embedded:1", COMPRESSING),
    cell("generator", KAFKA, COMPRESSING),
    cell("buffer", "embedded:1", TINY_BUFFER),
    cell("buffer", KAFKA, TINY_BUFFER),
    cell(
        "quota",
        "kafka:2.8.2,heap=512M,quota.producer.default=2000000",
        FULL_SPEED,
    ),
    cell("consumer", "embedded:1", SLOW_READERS),
    cell("consumer", KAFKA, SLOW_READERS),
    cell(
        "request-handlers",
        "kafka:4.3.1,heap=512M,num.io.threads=1",
        RECOMPRESSED,
    ),
    cell("disk", KAFKA, FLUSHED),
    cell(
        "replication",
        "kafka:4.3.1,heap=512M,brokers=3,replica.fetch.min.bytes=50000000,replica.fetch.wait.max.ms=100",
        FOLLOWED,
    ),
    cell("cpu-limit", "kafka:4.3.1,heap=512M,cpu=0.3", FULL_SPEED),
    cell(
        "hot-broker",
        "kafka:4.3.1,heap=512M,brokers=3,cpu=0.3",
        ONE_PARTITION,
    ),
    // Nodes of the embedded cluster need so little that there the generator would be the limit.
    cell("processors", KAFKA, CROWD),
    cell(
        "network-threads",
        "kafka:4.3.1,heap=512M,num.network.threads=1,security=tls",
        ENCRYPTED_READERS,
    ),
    on_slow_loopback("network-card", "embedded:1", BULK),
    on_slow_loopback("network-card", KAFKA, BULK),
];

impl BottleneckCell {
    /// A name for files: `disk-kafka`.
    pub(super) fn name(&self) -> String {
        let target = target_in_name(self.target);
        let readers = if self.load.contains("kind: consume") {
            "-read"
        } else {
            ""
        };
        format!("{}-{target}{readers}", self.cause)
    }

    /// The same load in this number of trials.
    pub(super) fn scenario(&self, trials: usize) -> String {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let load = self.load.replace(PROCESSORS, &processors.to_string());
        let names: Vec<String> = (1..=trials).map(|n| format!("trial-{n}")).collect();
        format!(
            "kgauge: 1\nname: matrix\nquestion: What limits it?\n{load}stages: {{warm-up: 3 s, hold: 8 s, drain: 20 s}}\n\
             vary: {{w.settings.client.id: [{}]}}\nrepeats: 1\n",
            names.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_cell_has_a_name_of_its_own() {
        let names: BTreeSet<String> = CELLS.iter().map(BottleneckCell::name).collect();
        assert_eq!(names.len(), CELLS.len());
    }
}
