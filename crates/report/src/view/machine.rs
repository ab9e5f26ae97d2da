//! What the machine did while a repeat ran, and clients and replicas.

/// The machine during one repeat; or clients and replicas.
#[derive(Debug, Clone, Default)]
pub(crate) struct MachineTimeline {
    /// What is drawn, panel by panel.
    pub(crate) lines: Vec<MachineLine>,
    /// Seconds that one point stands for.
    pub(crate) seconds_per_point: u64,
    /// Which disks hold the target's data, and what could not be seen.
    pub(crate) notes: Vec<String>,
}

/// One figure of the machine over time.
#[derive(Debug, Clone)]
pub(crate) struct MachineLine {
    /// The chart that it belongs to.
    pub(crate) panel: Panel,
    /// Its name there.
    pub(crate) name: String,
    /// (seconds since the start of the repeat, value); without a value there is a gap.
    pub(crate) points: Vec<(f64, Option<f64>)>,
}

/// The charts of the machine, and those of clients and replicas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Panel {
    /// What the machine has free, and its page cache.
    Memory,
    /// What the processes hold.
    ProcessMemory,
    /// What no disk has yet.
    Unwritten,
    /// Bytes to and from disks.
    DiskBytes,
    /// How long disks had anything to do.
    DiskUse,
    /// How many reads and writes were under way.
    DiskQueue,
    /// How long reads, writes and flushes took.
    DiskTimes,
    /// Bytes in and out.
    Network,
    /// Of how fast interfaces are, where that is known.
    NetworkUse,
    /// Packets that were lost.
    Drops,
    /// How long tasks stood still.
    Waits,
    /// How much of `batch.size` batches had.
    BatchFill,
    /// Records a request.
    PerRequest,
    /// How much producers held of their buffers, and of the requests that they may have under way.
    Held,
    /// How long records waited for room in a buffer.
    BufferWaits,
    /// Pauses that brokers asked for.
    Throttle,
    /// Records that were sent once more, and those that failed.
    Retries,
    /// How far followers were behind.
    ReplicaLag,
    /// Partitions with too few replicas in sync.
    UnderReplicated,
    /// What the topic's logs grew by.
    LogGrowth,
    /// What consumer groups had not committed.
    GroupLag,
    /// Of brokers: the parts of the time of produce requests.
    ProduceParts,
    /// Of consumers' fetches.
    FetchParts,
    /// Of followers' fetches.
    FollowerParts,
    /// Of brokers: the time of produce requests, one by one.
    ProduceTime,
    /// Of consumers' fetches.
    FetchTime,
    /// Of followers' fetches.
    FollowerTime,
    /// Of brokers: threads with nothing to do.
    Idle,
    /// Of brokers: bytes in and out.
    BrokerBytes,
    /// Of brokers: what waits for threads.
    BrokerQueues,
    /// Of brokers: what waits for others.
    Purgatory,
    /// Of brokers: partitions that they lead.
    Leaders,
    /// Of brokers: partitions with replicas missing.
    OutOfSync,
    /// Of brokers: how many flushes.
    Flushes,
    /// Of brokers: how long flushes took.
    FlushTimes,
    /// Of brokers: requests that failed.
    Failed,
    /// Of brokers: batches converted.
    Conversions,
    /// Of brokers: garbage collection.
    Collections,
}

impl Panel {
    /// Those of clients and replicas, in the order of the page.
    pub(crate) const TRAFFIC: [Panel; 10] = [
        Panel::BatchFill,
        Panel::PerRequest,
        Panel::Held,
        Panel::BufferWaits,
        Panel::Throttle,
        Panel::Retries,
        Panel::ReplicaLag,
        Panel::UnderReplicated,
        Panel::LogGrowth,
        Panel::GroupLag,
    ];

    /// The machine's, in the order of the page.
    pub(crate) const MACHINE: [Panel; 11] = [
        Panel::DiskBytes,
        Panel::DiskUse,
        Panel::DiskTimes,
        Panel::DiskQueue,
        Panel::Unwritten,
        Panel::Memory,
        Panel::ProcessMemory,
        Panel::Network,
        Panel::NetworkUse,
        Panel::Drops,
        Panel::Waits,
    ];

    /// Those of brokers, in the order of the page.
    pub(crate) const OF_BROKERS: [Panel; 17] = [
        Panel::ProduceParts,
        Panel::ProduceTime,
        Panel::FetchParts,
        Panel::FetchTime,
        Panel::FollowerParts,
        Panel::FollowerTime,
        Panel::Idle,
        Panel::BrokerQueues,
        Panel::Purgatory,
        Panel::BrokerBytes,
        Panel::Leaders,
        Panel::OutOfSync,
        Panel::Failed,
        Panel::FlushTimes,
        Panel::Flushes,
        Panel::Conversions,
        Panel::Collections,
    ];

    /// Whether brokers told it.
    pub(crate) fn is_of_brokers(self) -> bool {
        Panel::OF_BROKERS.contains(&self)
    }
}
