//! The rows of the table, in the order of a line of evidence.

use super::MetricGroup::{
    Disk, HostMemory, Idle, Jvm, Log, Network, Pressure, Process, Replicas, Requests, Threads,
    Traffic,
};
use super::MetricKind::{BusyTime, Cores, Counter, Gauge, Millionths, TimeSum};
use super::{JavaSource, MetricGroup, MetricOrigin, MetricRow, Panel};

const NS_PER_MS: f64 = 1e6;
const NS_PER_S: f64 = 1e9;
const MS_NS: u64 = 1_000_000;
/// Of every disk, in the kernel's "I/O statistics fields" (admin-guide/iostats).
const SECTOR_BYTES: u64 = 512;

/// Lists the metrics once: the names and the rows.
macro_rules! table {
    ($($(#[$doc:meta])* $id:ident = $row:expr;)*) => {
        /// A metric of a broker or of a host. Counters count since the start of the broker or the host, gauges are
        /// values of the moment.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum MetricId {
            $($(#[$doc])* $id,)*
        }

        impl MetricId {
            /// All metrics, in the order of the table.
            pub const ALL: &'static [MetricId] = &[$(MetricId::$id,)*];
        }

        static ROWS: &[MetricRow] = &[$($row,)*];
    };
}

const fn row(group: MetricGroup, name: &'static str, kind: super::MetricKind) -> MetricRow {
    MetricRow::new(group, name, kind)
}

/// A part of the time of one kind of request. Kafka adds milliseconds.
const fn request_time(name: &'static str, mbean: &'static str) -> MetricRow {
    row(Requests, name, TimeSum("count"))
        .from(MetricOrigin::Sum(mbean, NS_PER_MS))
        .embedded(name)
}

impl MetricId {
    /// What the table knows of it.
    pub fn row(self) -> &'static MetricRow {
        &ROWS[self as usize]
    }

    /// Of a sum of times, the counter of what took them.
    pub fn events(self) -> Option<MetricId> {
        let row = self.row();
        match row.kind {
            TimeSum(events) => MetricId::of(row.group).find(|metric| metric.row().name == events),
            Gauge | Millionths | Counter | BusyTime | Cores => None,
        }
    }

    /// Those of a group, in the order of the table.
    pub fn of(group: MetricGroup) -> impl Iterator<Item = MetricId> {
        let all = MetricId::ALL.iter().copied();
        all.filter(move |metric| metric.row().group == group)
    }
}

table! {
    /// Requests of one kind that were answered.
    RequestCount = row(Requests, "count", Counter)
        .count(&["kafka.network:type=RequestMetrics,name=TotalTimeMs,request={request}"])
        .embedded("count")
        .evidence("it divides the sums of times, and weighs their means");
    /// From the request's last byte to the response's.
    RequestTotal = request_time("total_ns",
        "kafka.network:type=RequestMetrics,name=TotalTimeMs,request={request}")
        .request_time();
    /// Waiting for a request handler.
    RequestQueueTime = request_time("request_queue_ns",
        "kafka.network:type=RequestMetrics,name=RequestQueueTimeMs,request={request}")
        .phase("waiting for a handler", "waiting for the thread");
    /// In the hands of a request handler: the log is written and read here.
    RequestLocal = request_time("local_ns",
        "kafka.network:type=RequestMetrics,name=LocalTimeMs,request={request}")
        .phase("local (handler)", "handling");
    /// Waiting for others: followers for a produce with acks=all, new records for a fetch.
    RequestRemote = request_time("remote_ns",
        "kafka.network:type=RequestMetrics,name=RemoteTimeMs,request={request}")
        .phase("waiting for other brokers or data", "waiting for other brokers or data");
    /// Throttled by a quota.
    RequestThrottle = request_time("throttle_ns",
        "kafka.network:type=RequestMetrics,name=ThrottleTimeMs,request={request}")
        .phase("throttled by a quota", "throttled by a quota");
    /// Waiting for a network thread.
    ResponseQueueTime = request_time("response_queue_ns",
        "kafka.network:type=RequestMetrics,name=ResponseQueueTimeMs,request={request}")
        .phase("waiting for a network thread", "response waiting for the thread");
    /// The response being sent.
    ResponseSend = request_time("response_send_ns",
        "kafka.network:type=RequestMetrics,name=ResponseSendTimeMs,request={request}")
        .phase("sending", "sending");
    /// Memory that was taken to convert or decompress records. Kafka counts all fetches together.
    TemporaryMemory = row(Requests, "temporary_memory_bytes", Counter)
        .from(MetricOrigin::Sum(
            "kafka.network:type=RequestMetrics,name=TemporaryMemoryBytes,request={converting}", 1.0))
        .evidence("it explains conversions, which have a panel");

    /// Time in which request handlers had nothing to do, the mean of all. A wait counts when it ends, after 0.3 s at
    /// the latest. Of a node of the embedded cluster its one thread, to the moment. Since 4.3 the broker's own pool
    /// has a separate metric (KIP-1207).
    HandlerIdle = row(Threads, "handler_idle_ns", BusyTime)
        .count(&[
            "kafka.server:type=KafkaRequestHandlerPool,name=BrokerRequestHandlerAvgIdlePercent",
            "kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent",
        ])
        .embedded("idle_ns")
        .lines(Panel::Idle, " handlers", " thread");
    /// How many pools of handlers that time is the sum of, if more than one: from 3.3 to 4.2 a broker that is also a
    /// controller adds the idle time of the controller's handlers to that of its own.
    HandlerPools = row(Threads, "handler_pools", Gauge)
        .evidence("it corrects the handlers' idle time");
    /// Time in which network threads waited for something to do, the mean of all of them, whatever their listener.
    NetworkIdle = row(Threads, "network_idle_ns", BusyTime).line(Panel::Idle, " network");
    /// The same as a share, as the broker reports it of about the last half minute; only where there is no sum. It was
    /// a meter before 0.9.
    NetworkIdleShare = row(Threads, "network_idle_ppm", Millionths)
        .from(MetricOrigin::Value(
            &["kafka.network:type=SocketServer,name=NetworkProcessorAvgIdlePercent"], 1e6))
        .evidence("it replaces the network threads' idle time where there is no sum");
    /// Requests that wait for a handler.
    RequestQueue = row(Threads, "request_queue", Gauge)
        .value(&["kafka.network:type=RequestChannel,name=RequestQueueSize"])
        .line(Panel::BrokerQueues, " requests");
    /// Responses that wait for a network thread.
    ResponseQueue = row(Threads, "response_queue", Gauge)
        .value(&["kafka.network:type=RequestChannel,name=ResponseQueueSize"])
        .line(Panel::BrokerQueues, " responses");
    /// Produce requests that wait for followers. The second name is that of releases before 0.9.
    ProducePurgatory = row(Threads, "produce_purgatory", Gauge)
        .value(&[
            "kafka.server:type=DelayedOperationPurgatory,name=PurgatorySize,delayedOperation=Produce",
            "kafka.server:type=ProducerRequestPurgatory,name=PurgatorySize",
        ])
        .embedded("produce_purgatory")
        .line(Panel::Purgatory, " produce");
    /// Fetches that wait for records.
    FetchPurgatory = row(Threads, "fetch_purgatory", Gauge)
        .value(&[
            "kafka.server:type=DelayedOperationPurgatory,name=PurgatorySize,delayedOperation=Fetch",
            "kafka.server:type=FetchRequestPurgatory,name=PurgatorySize",
        ])
        .embedded("fetch_purgatory")
        .line(Panel::Purgatory, " fetch");

    /// Bytes of batches from producers, as they came.
    BytesIn = row(Traffic, "bytes_in", Counter)
        .count(&["kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec"])
        .embedded("bytes_in")
        .line(Panel::BrokerBytes, " in");
    /// Bytes of batches to consumers (before 0.11: to followers too).
    BytesOut = row(Traffic, "bytes_out", Counter)
        .count(&["kafka.server:type=BrokerTopicMetrics,name=BytesOutPerSec"])
        .embedded("bytes_out")
        .line(Panel::BrokerBytes, " out");
    /// Bytes that it fetched as a follower.
    ReplicationBytesIn = row(Traffic, "replication_bytes_in", Counter)
        .count(&["kafka.server:type=BrokerTopicMetrics,name=ReplicationBytesInPerSec"])
        .embedded("replication_bytes_in")
        .evidence("other brokers' bytes to followers show the same traffic");
    /// Bytes to followers.
    ReplicationBytesOut = row(Traffic, "replication_bytes_out", Counter)
        .count(&["kafka.server:type=BrokerTopicMetrics,name=ReplicationBytesOutPerSec"])
        .embedded("replication_bytes_out")
        .line(Panel::BrokerBytes, " to followers");
    /// Records from producers.
    MessagesIn = row(Traffic, "messages_in", Counter)
        .count(&["kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec"])
        .embedded("messages_in")
        .evidence("kgauge counts its own records exactly");
    /// Produce requests that failed, each partition by itself.
    FailedProduce = row(Traffic, "failed_produce", Counter)
        .count(&["kafka.server:type=BrokerTopicMetrics,name=FailedProduceRequestsPerSec"])
        .line(Panel::Failed, " produce");
    /// Fetches that failed, each partition by itself.
    FailedFetch = row(Traffic, "failed_fetch", Counter)
        .count(&["kafka.server:type=BrokerTopicMetrics,name=FailedFetchRequestsPerSec"])
        .line(Panel::Failed, " fetch");
    /// Batches that were converted to another message format when they were written.
    ProduceConversions = row(Traffic, "produce_conversions", Counter)
        .count(&["kafka.server:type=BrokerTopicMetrics,name=ProduceMessageConversionsPerSec"])
        .line(Panel::Conversions, " produce");
    /// The same when they were fetched.
    FetchConversions = row(Traffic, "fetch_conversions", Counter)
        .count(&["kafka.server:type=BrokerTopicMetrics,name=FetchMessageConversionsPerSec"])
        .line(Panel::Conversions, " fetch");

    /// Partitions that it leads.
    Leaders = row(Replicas, "leaders", Gauge)
        .value(&["kafka.server:type=ReplicaManager,name=LeaderCount"])
        .embedded("leaders")
        .line(Panel::Leaders, " leads");
    /// Partitions of which it has a replica.
    Partitions = row(Replicas, "partitions", Gauge)
        .value(&["kafka.server:type=ReplicaManager,name=PartitionCount"])
        .embedded("partitions")
        .evidence("the topic's replicas have panels of their own");
    /// Of those that it leads, how many have fewer replicas in sync than they should.
    UnderReplicated = row(Replicas, "under_replicated", Gauge)
        .value(&["kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions"])
        .embedded("under_replicated")
        .line(Panel::OutOfSync, " under-replicated");
    /// Of those that it leads, how many have fewer in sync than min.insync.replicas.
    UnderMinIsr = row(Replicas, "under_min_isr", Gauge)
        .value(&["kafka.server:type=ReplicaManager,name=UnderMinIsrPartitionCount"])
        .embedded("under_min_isr")
        .line(Panel::OutOfSync, " under min.insync.replicas");
    /// Partitions of the cluster without a leader.
    OfflinePartitions = row(Replicas, "offline_partitions", Gauge)
        .value(&["kafka.controller:type=KafkaController,name=OfflinePartitionsCount"])
        .of_controller()
        .line(Panel::OutOfSync, " leaderless");
    /// How often a replica fell out of sync.
    IsrShrinks = row(Replicas, "isr_shrinks", Counter)
        .count(&["kafka.server:type=ReplicaManager,name=IsrShrinksPerSec"])
        .embedded("isr_shrinks")
        .evidence("kgauge lists the changes of its own partitions");
    /// How often one came back.
    IsrExpands = row(Replicas, "isr_expands", Counter)
        .count(&["kafka.server:type=ReplicaManager,name=IsrExpandsPerSec"])
        .embedded("isr_expands")
        .evidence("kgauge lists the changes of its own partitions");
    /// Leaders that were elected although they were not in sync.
    UncleanElections = row(Replicas, "unclean_elections", Counter)
        .count(&["kafka.controller:type=ControllerStats,name=UncleanLeaderElectionsPerSec"])
        .of_controller()
        .evidence("kgauge lists the changes of its own partitions");
    /// The most records by which one of its own followers is behind.
    MaxLag = row(Replicas, "max_lag", Gauge)
        .value(&["kafka.server:type=ReplicaFetcherManager,name=MaxLag,clientId=Replica"])
        .evidence("the topic's own replica lag has a panel");

    /// Flushes (fsync).
    Flushes = row(Log, "flushes", Counter)
        .count(&["kafka.log:type=LogFlushStats,name=LogFlushRateAndTimeMs"])
        .embedded("flushes")
        .line(Panel::Flushes, "");
    /// The sum of their times.
    FlushTime = row(Log, "flush_ns", TimeSum("flushes"))
        .from(MetricOrigin::Sum("kafka.log:type=LogFlushStats,name=LogFlushRateAndTimeMs", NS_PER_MS))
        .embedded("flush_ns")
        .line(Panel::FlushTimes, "");

    /// Heap in use, including what is not collected yet.
    Heap = row(Jvm, "heap_bytes", Gauge)
        .from(MetricOrigin::Java(JavaSource {
            mbean: "java.lang:type=Memory",
            attribute: "HeapMemoryUsage",
            factor: 1.0,
            lines: &["jvm_memory_used_bytes", "jvm_memory_bytes_used"],
            label: Some(("area", "heap")),
            line_factor: 1.0,
        }))
        .evidence("it rises until the next collection; collections have a panel");
    /// Collections, of all collectors.
    Collections = row(Jvm, "collections", Counter)
        .from(MetricOrigin::Java(JavaSource {
            mbean: "java.lang:type=GarbageCollector,name=*",
            attribute: "CollectionCount",
            factor: 1.0,
            lines: &["jvm_gc_collection_seconds_count"],
            label: None,
            line_factor: 1.0,
        }))
        .evidence("their share of the time has a panel");
    /// The time that they took; not all of it is a pause of a collector that works beside the program.
    CollectionTime = row(Jvm, "collection_ns", BusyTime)
        .from(MetricOrigin::Java(JavaSource {
            mbean: "java.lang:type=GarbageCollector,name=*",
            attribute: "CollectionTime",
            factor: NS_PER_MS,
            lines: &["jvm_gc_collection_seconds_sum"],
            label: None,
            line_factor: NS_PER_S,
        }))
        .line(Panel::Collections, "");

    /// Time with nothing to do, all processors together.
    CpuIdle = row(Idle, "idle_ns", Cores).evidence("the chart of processors shows what is busy");
    /// With nothing to do but wait for a disk. The kernel calls this a rough figure, and it may go back (proc(5)).
    CpuIowait = row(Idle, "iowait_ns", Cores).evidence("the chart of processors has it");
    /// Given by the hypervisor to somebody else.
    CpuStolen = row(Idle, "stolen_ns", Cores).evidence("the chart of processors has it");

    /// What new processes could have without swapping.
    MemoryAvailable = row(HostMemory, "available_bytes", Gauge)
        .from(MetricOrigin::Line("MemAvailable", 1_024))
        .line(Panel::Memory, "available");
    /// The page cache.
    MemoryCached = row(HostMemory, "cached_bytes", Gauge)
        .from(MetricOrigin::Line("Cached", 1_024))
        .line(Panel::Memory, "page cache");
    /// What was written to files and is not on its way to a disk yet.
    MemoryDirty = row(HostMemory, "dirty_bytes", Gauge)
        .from(MetricOrigin::Line("Dirty", 1_024))
        .line(Panel::Unwritten, "dirty");
    /// What is on its way to a disk.
    MemoryWriteback = row(HostMemory, "writeback_bytes", Gauge)
        .from(MetricOrigin::Line("Writeback", 1_024))
        .line(Panel::Unwritten, "being written");

    /// Threads of the process.
    ProcessThreads = row(Process, "threads", Gauge).evidence("it rarely changes");
    /// Its open files and sockets.
    ProcessOpenFiles = row(Process, "open_files", Gauge).evidence("it rarely changes");
    /// Pages that had to be read from a disk.
    ProcessMajorFaults = row(Process, "major_faults", Counter)
        .evidence("the disks' reads show them");
    /// Bytes that were read from storage for it, without those from the page cache.
    ProcessReadBytes = row(Process, "read_bytes", Counter)
        .from(MetricOrigin::Line("read_bytes", 1))
        .evidence("the disks' reads show them");
    /// Bytes that it gave to the page cache to be written to storage.
    ProcessWrittenBytes = row(Process, "written_bytes", Counter)
        .from(MetricOrigin::Line("write_bytes", 1))
        .line(Panel::DiskBytes, " to page cache");

    /// Reads that a disk completed. The fields are those after the name.
    DiskReads = row(Disk, "reads", Counter)
        .from(MetricOrigin::Field(0, 1))
        .evidence("it divides the time of reads");
    /// Bytes of them.
    DiskReadBytes = row(Disk, "read_bytes", Counter)
        .from(MetricOrigin::Field(2, SECTOR_BYTES))
        .line(Panel::DiskBytes, " read");
    /// The sum of their times, from the queue to the end.
    DiskReadTime = row(Disk, "read_ns", TimeSum("reads"))
        .from(MetricOrigin::Field(3, MS_NS))
        .line(Panel::DiskTimes, " read");
    /// Writes that it completed.
    DiskWrites = row(Disk, "writes", Counter)
        .from(MetricOrigin::Field(4, 1))
        .evidence("it divides the time of writes");
    /// Bytes of them.
    DiskWrittenBytes = row(Disk, "written_bytes", Counter)
        .from(MetricOrigin::Field(6, SECTOR_BYTES))
        .line(Panel::DiskBytes, " written");
    /// The sum of their times.
    DiskWriteTime = row(Disk, "write_ns", TimeSum("writes"))
        .from(MetricOrigin::Field(7, MS_NS))
        .line(Panel::DiskTimes, " write");
    /// Time with anything in flight. The kernel counts it in steps: a busy second may show a little more than a second.
    DiskBusy = row(Disk, "busy_ns", BusyTime)
        .from(MetricOrigin::Field(9, MS_NS))
        .line(Panel::DiskUse, "");
    /// The sum over time of how many were in flight.
    DiskQueued = row(Disk, "queued_ns", Cores)
        .from(MetricOrigin::Field(10, MS_NS))
        .line(Panel::DiskQueue, "");
    /// Flushes of the disk's own cache that were completed, since Linux 5.5.
    DiskFlushes = row(Disk, "flushes", Counter)
        .from(MetricOrigin::Field(15, 1))
        .evidence("it divides the time of flushes");
    /// The sum of their times.
    DiskFlushTime = row(Disk, "flush_ns", TimeSum("flushes"))
        .from(MetricOrigin::Field(16, MS_NS))
        .line(Panel::DiskTimes, " flush");

    /// Bytes into an interface.
    ReceivedBytes = row(Network, "received_bytes", Counter)
        .from(MetricOrigin::Field(0, 1))
        .line(Panel::Network, " in");
    /// Packets into it.
    ReceivedPackets = row(Network, "received_packets", Counter)
        .from(MetricOrigin::Field(1, 1))
        .evidence("bytes have a panel");
    /// Packets that came in and were dropped.
    ReceivedDrops = row(Network, "received_drops", Counter)
        .from(MetricOrigin::Field(3, 1))
        .line(Panel::Drops, " in");
    /// Bytes out of it.
    SentBytes = row(Network, "sent_bytes", Counter)
        .from(MetricOrigin::Field(8, 1))
        .line(Panel::Network, " out");
    /// Packets out of it.
    SentPackets = row(Network, "sent_packets", Counter)
        .from(MetricOrigin::Field(9, 1))
        .evidence("bytes have a panel");
    /// Packets that were to go out and were dropped.
    SentDrops = row(Network, "sent_drops", Counter)
        .from(MetricOrigin::Field(11, 1))
        .line(Panel::Drops, " out");

    /// Time in which at least one task waited for a resource.
    PressureSome = row(Pressure, "some_ns", BusyTime).line(Panel::Waits, ", some tasks");
    /// Time in which all tasks waited that had anything to do.
    PressureFull = row(Pressure, "full_ns", BusyTime).line(Panel::Waits, ", all tasks");
}
