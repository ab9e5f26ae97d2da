//! What limited a trial.

use kgauge_results::metrics::RequestKind;
use kgauge_results::run::OutageCause;
use schemars::JsonSchema;
use serde::Serialize;

use super::flow::FlowSummary;
use super::load::BrokerSkew;

/// Consumers whose lag was never more than they read in this time have kept up. More is a backlog.
const KEPT_UP_S: f64 = 1.0;

/// What kept a trial from more, as far as the evidence goes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LimitVerdict {
    /// The verdict.
    pub word: Bottleneck,
    /// The facts that it rests on.
    #[serde(rename = "facts")]
    pub evidence: Vec<LimitFact>,
    /// Where it is not decided: what it may be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Bottleneck>,
    /// Faults that the scenario injected during the hold.
    pub faults: u32,
    /// The brokers that did not respond, where that was felt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outage: Option<OutageFact>,
    /// A flow that did nothing during the hold, so the bottleneck is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_flow: Option<String>,
}

/// Whether consumers read as fast as others wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsumerPace {
    /// Their lag was always small.
    KeptUp,
    /// Their lag grew until the end.
    FellBehind,
}

impl LimitVerdict {
    /// The pace of a flow's consumers; `None` if their lag is unknown, or if they read a backlog.
    pub fn consumer_pace(&self, flow: &FlowSummary) -> Option<ConsumerPace> {
        let read_per_s = flow.throughput.as_ref()?.records_per_s.mean;
        let lag = self.evidence.iter().find_map(|fact| match fact {
            LimitFact::ConsumerLag {
                flow: name,
                records_max,
                grows,
                ..
            } if *name == flow.name => Some((*records_max, *grows)),
            _ => None,
        });
        let (records, grows) = lag?;
        match grows {
            true => Some(ConsumerPace::FellBehind),
            false => (records <= KEPT_UP_S * read_per_s).then_some(ConsumerPace::KeptUp),
        }
    }
}

/// Bottlenecks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bottleneck {
    /// None: the target kept up with the offered load.
    Load,
    /// The load generator's threads or processes.
    Generator,
    /// A broker that did not respond: it was dead, paused or unreachable.
    Broker,
    /// Other programs used the machine's CPU.
    OtherPrograms,
    /// The hypervisor took CPU from this virtual machine.
    Hypervisor,
    /// The target responded too slowly for the rate; the evidence does not show which part of it was slow.
    Target,
    /// A client quota: brokers throttled the clients.
    Quota,
    /// The CPUs that load generator and target share.
    Processors,
    /// A limit on the brokers' CPU time, such as a container's.
    CpuLimit,
    /// A disk with the target's data.
    Disk,
    /// A network interface of the load generator's machine.
    NetworkCard,
    /// One broker with much more load than the others.
    HotBroker,
    /// Waiting for followers.
    Replication,
    /// Requests so small that their number limits throughput.
    Batching,
    /// The producers' buffer or in-flight limit, while brokers had headroom.
    Buffer,
    /// A broker's request handlers, including what they wait for.
    RequestHandlers,
    /// A broker's network threads: copies, TLS.
    NetworkThreads,
    /// Consumers that read more slowly than producers wrote.
    Consumer,
    /// Undetermined.
    Undecided,
}

/// Something that bears on what limited a trial.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(missing_docs)] // The fields' names say it.
pub enum LimitFact {
    /// All flows kept their rate. With `is_late`, records of some were sent late, as the generator's evidence shows.
    AllDone { flows: Vec<KeptRate>, is_late: bool },
    /// Flows did not keep their rate, although the generator did all that it had room for.
    SlowAnswers { flows: Vec<MissedRate> },
    /// What the verdict on the generator rests on.
    Generator,
    /// Who used the processors of the machine that makes the load.
    Processors,
    /// How far consumers were behind.
    ConsumerLag {
        flow: String,
        records_mean: f64,
        records_max: f64,
        grows: bool,
    },
    /// Pauses that brokers asked for, and the part of the connections' time that they took.
    Pauses {
        flow: String,
        count: u64,
        time_part: f64,
    },
    /// How little was in a request.
    SmallRequests {
        flow: String,
        records_per_request: f64,
        requests_per_s: f64,
        bytes_per_request: f64,
    },
    /// How much of a producer's memory and of its requests in flight was in use.
    BufferUse {
        flow: String,
        buffer_part: f64,
        in_flight_part: f64,
    },
    /// A time that is mostly linger.
    Lingering {
        flow: String,
        service_ns_p50: u64,
        linger_ns: u64,
    },
    /// A broker that did not respond.
    Outage { outage: BrokerOutage },
    /// Records waited, and nothing was acked.
    NothingAcked { silent_ns: u64, hold_ns: u64 },
    /// Clients lacked a connection or a partition's leader.
    Unreachable { time_part: f64 },
    /// A repeat failed, with the target's own message if there is one.
    RepeatFailed { repeat: u32, why: String },
    /// A limit on CPU time, and the part of its periods in which it stopped the process.
    CpuLimit {
        process: LimitedProcess,
        cores: f64,
        held_part: f64,
    },
    /// How busy a disk with the target's data was.
    Disk {
        disk: String,
        busy_part: f64,
        queue_mean: f64,
    },
    /// How much of its speed a network interface carried.
    NetworkCard {
        interface: String,
        direction: NetworkDirection,
        bytes_per_s: f64,
        speed_bytes_per_s: f64,
        is_speed_set: bool,
        used_part: f64,
        full_time_part: f64,
    },
    /// A network interface carried more than the speed that is known of it.
    WrongSpeed {
        interface: String,
        direction: NetworkDirection,
        bytes_per_s: f64,
        speed_bytes_per_s: f64,
        is_speed_set: bool,
    },
    /// A network interface of unknown speed carried much.
    UnknownSpeed {
        interface: String,
        direction: NetworkDirection,
        bytes_per_s: f64,
    },
    /// How much time the threads of a broker had left, and where its requests spent theirs.
    Threads {
        broker: i32,
        threads: BrokerThreads,
        listener: Option<String>,
        idle_part: f64,
        request: Option<RequestTimes>,
    },
    /// How often a broker flushed, and the part of one thread's time that this takes.
    Flushes {
        broker: i32,
        per_s: f64,
        mean_ms: f64,
        time_part: f64,
    },
    /// Followers were behind at the end of a repeat, or fell behind until then.
    FollowersBehind { grew: bool },
    /// Acks wait for replicas; `time_part` of a produce request's time where that is known.
    AckWaits {
        flow: String,
        replicas: u16,
        time_part: Option<f64>,
    },
    /// A broker led much more than its part.
    HotBroker { skew: BrokerSkew },
    /// The scenario broke the target meanwhile.
    Faults,
}

/// A flow that kept its rate.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[allow(missing_docs)] // The names say it.
pub struct KeptRate {
    pub flow: String,
    pub acked: u64,
    pub scheduled: u64,
}

/// A flow that did not keep its rate.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[allow(missing_docs)] // The names say it.
pub struct MissedRate {
    pub flow: String,
    pub acked: u64,
    pub scheduled: u64,
    /// For which part of the time the client's buffer was full.
    pub waiting_part: f64,
    pub round_trip_ns_mean: Option<f64>,
}

/// Brokers that did not respond.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum OutageFact {
    /// Those that clients noticed.
    Brokers {
        /// A broker each.
        brokers: Vec<BrokerOutage>,
    },
    /// Nobody knows which: nothing was acked.
    Target {
        /// For how long.
        silent_ns: u64,
        /// Of how long.
        hold_ns: u64,
    },
    /// Nobody knows which: clients had no connection or no leader.
    Unreachable,
}

/// An outage of one broker, over all holds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[allow(missing_docs)] // The names say it.
pub struct BrokerOutage {
    pub broker: i32,
    pub address: String,
    pub length_ns: u64,
    pub hold_ns: u64,
    pub cause: OutageCause,
}

/// A process under a limit on CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)] // The names say it.
pub enum LimitedProcess {
    Broker(i32),
    Target,
    Generator,
}

/// Which way records went through a network interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkDirection {
    /// In.
    Received,
    /// Out.
    Sent,
    /// In and out, where one waits for the other.
    Both,
}

/// Threads of a broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BrokerThreads {
    /// Request handlers.
    RequestHandlers,
    /// Network threads.
    Network,
    /// The single thread of an embedded node.
    Single,
}

/// The mean time of each phase of a broker's requests of one kind, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[allow(missing_docs)] // The names are those of Kafka's metrics.
pub struct RequestTimes {
    pub kind: RequestKind,
    pub total_ms: f64,
    pub request_queue_ms: Option<f64>,
    pub local_ms: Option<f64>,
    pub remote_ms: Option<f64>,
    pub response_queue_ms: Option<f64>,
    pub response_send_ms: Option<f64>,
}
