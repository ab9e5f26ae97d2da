//! The panels of the report, in the order of the page: each shows metrics of one kind over time.

use super::PanelUnit::{Bytes, MegabytesPerSecond, Nanoseconds, Percent, Plain, RecordsPerSecond};
use super::RequestKind;

/// The texts of a panel.
#[derive(Debug, Clone, Copy)]
pub struct PanelRow {
    /// The part of the page that it belongs to.
    pub section: PanelSection,
    /// Its name in the page.
    pub id: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What is shown.
    pub subtitle: &'static str,
    /// The name of its vertical axis.
    pub axis: &'static str,
    /// The unit of that axis.
    pub unit: PanelUnit,
}

/// The part of the page that a panel belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PanelSection {
    /// kgauge's own clients, and the replicas of its topic.
    Traffic,
    /// Brokers' own metrics.
    Brokers,
    /// The machine.
    Machine,
}

/// The unit of a panel's vertical axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PanelUnit {
    /// Bytes.
    Bytes,
    /// Megabytes (10⁶) per second.
    MegabytesPerSecond,
    /// Nanoseconds, on a logarithmic axis.
    Nanoseconds,
    /// Percent.
    Percent,
    /// Records per second.
    RecordsPerSecond,
    /// A number.
    Plain,
}

/// Lists the panels once: the names and the rows.
macro_rules! panels {
    ($($id:ident: $section:ident, $name:literal, $title:literal, $subtitle:expr, $axis:literal, $unit:ident;)*) => {
        /// A panel.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Panel {
            $(#[doc = $title] $id,)*
        }

        impl Panel {
            const ALL: &'static [Panel] = &[$(Panel::$id,)*];
        }

        static ROWS: &[PanelRow] = &[$(PanelRow {
            section: PanelSection::$section,
            id: $name,
            title: $title,
            subtitle: $subtitle,
            axis: $axis,
            unit: $unit,
        },)*];
    };
}

/// The subtitle of each panel of request times by phase.
const BY_PHASE: &str = "mean request time by phase, all brokers";

/// The subtitle of each panel of request times by broker.
const BY_BROKER: &str = "mean request time in the broker";

panels! {
    BatchFill: Traffic, "batch-fill", "Batch fill",
        "mean batch size on the wire as a share of batch.size", "% of batch.size", Percent;
    PerRequest: Traffic, "per-request", "Records per request",
        "mean over answered produce and fetch requests", "records", Plain;
    Held: Traffic, "held", "Producer buffer and requests",
        "share of buffer.memory in use, and of the allowed in-flight requests", "% of the limit", Percent;
    BufferWaits: Traffic, "buffer-waits", "Buffer memory waits",
        "mean wait of records that found the buffer full", "mean wait", Nanoseconds;
    Throttle: Traffic, "throttle", "Throttling by brokers",
        "share of client time", "% of the time", Percent;
    Retries: Traffic, "retries", "Records retried and failed",
        "records per second", "records/s", RecordsPerSecond;
    ReplicaLag: Traffic, "replica-lag", "Replica lag",
        "records on the leaders that a broker's followers have not fetched", "records", Plain;
    UnderReplicated: Traffic, "under-replicated", "Under-replicated partitions",
        "under-replicated and leaderless partitions", "partitions", Plain;
    LogGrowth: Traffic, "log-growth", "Log growth",
        "megabytes per second by broker, replicas included", "MB/s", MegabytesPerSecond;
    GroupLag: Traffic, "group-lag", "Consumer group lag",
        "records between committed and end offsets", "records", Plain;

    ProduceParts: Brokers, "produce-parts", "Produce request time by phase", BY_PHASE, "mean time", Nanoseconds;
    ProduceTime: Brokers, "produce-time", "Produce request time by broker", BY_BROKER, "mean time", Nanoseconds;
    FetchParts: Brokers, "fetch-parts", "Consumer fetch time by phase", BY_PHASE, "mean time", Nanoseconds;
    FetchTime: Brokers, "fetch-time", "Consumer fetch time by broker", BY_BROKER, "mean time", Nanoseconds;
    FollowerParts: Brokers, "follower-parts", "Follower fetch time by phase", BY_PHASE, "mean time", Nanoseconds;
    FollowerTime: Brokers, "follower-time", "Follower fetch time by broker", BY_BROKER, "mean time", Nanoseconds;
    Idle: Brokers, "idle", "Broker idle threads",
        "share of time in which request handlers and network threads were idle", "% of the time", Percent;
    BrokerQueues: Brokers, "broker-queues", "Broker queues",
        "requests waiting for a handler, responses waiting for a network thread", "waiting", Plain;
    Purgatory: Brokers, "purgatory", "Purgatory",
        "produce requests waiting for followers, fetches waiting for records", "waiting", Plain;
    BrokerBytes: Brokers, "broker-bytes", "Broker traffic",
        "megabytes per second of batches from producers, to consumers and to followers", "MB/s", MegabytesPerSecond;
    Leaders: Brokers, "leaders", "Leaders", "partitions led by each broker", "partitions", Plain;
    OutOfSync: Brokers, "out-of-sync", "Under-replicated partitions by broker",
        "partitions with replicas missing, as reported by each broker", "partitions", Plain;
    Failed: Brokers, "failed", "Failed requests",
        "per second, each partition counted separately", "per second", Plain;
    FlushTimes: Brokers, "flush-times", "Flush latency",
        "mean time of a flush (fsync)", "mean time", Nanoseconds;
    Flushes: Brokers, "flushes", "Flushes", "flushes (fsync) per second", "per second", Plain;
    Conversions: Brokers, "conversions", "Conversions",
        "batches per second converted to another message format", "per second", Plain;
    Collections: Brokers, "collections", "Garbage collection",
        "share of time spent in garbage collection", "% of the time", Percent;

    DiskBytes: Machine, "disk-bytes", "Disks",
        "megabytes per second to and from disks, and from processes to the page cache", "MB/s", MegabytesPerSecond;
    DiskUse: Machine, "disk-use", "Disk utilisation",
        "share of time with any I/O in flight", "% of the time", Percent;
    DiskTimes: Machine, "disk-times", "Disk latency",
        "mean time of reads, writes and flushes, including queueing", "mean time", Nanoseconds;
    DiskQueue: Machine, "disk-queue", "Disk queues",
        "mean number of reads and writes in flight", "in flight", Plain;
    Unwritten: Machine, "unwritten", "Dirty pages", "written pages not yet on disk", "bytes", Bytes;
    Memory: Machine, "memory", "Machine memory", "available memory and page cache", "bytes", Bytes;
    ProcessMemory: Machine, "resident", "Process memory", "resident", "bytes", Bytes;
    Network: Machine, "network", "Network",
        "megabytes per second by interface; for lo, one direction", "MB/s", MegabytesPerSecond;
    NetworkUse: Machine, "network-use", "Network utilisation",
        "share of each interface's speed, by direction, where the speed is known", "% of link speed", Percent;
    Drops: Machine, "drops", "Packets dropped",
        "packets per second by interface and direction", "packets/s", Plain;
    Waits: Machine, "waits", "Pressure stall (PSI)",
        "share of time in which tasks stalled on a resource", "% of the time", Percent;
}

impl Panel {
    /// What the table knows of it.
    pub fn row(self) -> &'static PanelRow {
        &ROWS[self as usize]
    }

    /// Those of a section, in the order of the page.
    pub fn of(section: PanelSection) -> impl Iterator<Item = Panel> {
        let all = Panel::ALL.iter().copied();
        all.filter(move |panel| panel.row().section == section)
    }

    /// Those of one kind of request: its time by phase, and by broker.
    pub fn of_requests(kind: RequestKind) -> Option<(Panel, Panel)> {
        match kind {
            RequestKind::Produce => Some((Panel::ProduceParts, Panel::ProduceTime)),
            RequestKind::FetchConsumer => Some((Panel::FetchParts, Panel::FetchTime)),
            RequestKind::FetchFollower => Some((Panel::FollowerParts, Panel::FollowerTime)),
            RequestKind::Unknown => None,
        }
    }
}
