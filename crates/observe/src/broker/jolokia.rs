//! Jolokia: Kafka's MBeans over HTTP, all that is wanted in one question.

use kgauge_results::run::RequestKind;
use serde_json::{Value, json};

use super::http::Http;
use super::jolokia_answer::{self, Beans};
use super::url::MetricsUrl;
use super::{BrokerSamples, BrokerSource};

/// A Jolokia agent in a broker.
#[derive(Debug)]
pub struct Jolokia {
    url: MetricsUrl,
    http: Http,
    broker: Option<i32>,
    whose: String,
    /// The same each time.
    question: String,
}

impl Jolokia {
    /// The agent at this address; `broker` is whose it is, if that is known.
    pub fn new(url: MetricsUrl, broker: Option<i32>) -> Jolokia {
        Jolokia {
            http: Http::new(),
            whose: match broker {
                Some(id) => format!("broker {id}"),
                None => url.to_string(),
            },
            url,
            broker,
            question: question(),
        }
    }

    /// Asks the broker for its id: Kafka has it in its MBeans since 1.0 at the latest.
    ///
    /// # Errors
    /// Why it cannot be asked.
    pub fn broker_id(&self) -> Result<Option<i32>, String> {
        let asked = json!([{ "type": "read", "mbean": "kafka.server:type=app-info,id=*" }]);
        let answer = self.http.post(&self.url, &asked.to_string())?;
        let beans = Beans::parse(&answer)?;
        Ok(beans.broker_id())
    }
}

impl BrokerSource for Jolokia {
    fn sample(&mut self) -> Result<BrokerSamples, String> {
        let answer = self.http.post(&self.url, &self.question)?;
        let look = jolokia_answer::sample(&Beans::parse(&answer)?);
        match look.is_empty() {
            true => Err("it has no Kafka metrics so far".to_owned()),
            false => Ok(vec![(self.broker, look)]),
        }
    }

    fn label(&self) -> String {
        self.whose.clone()
    }
}

/// Kafka's name for a kind of request.
pub(super) fn request_name(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::Produce => "Produce",
        RequestKind::FetchConsumer => "FetchConsumer",
        RequestKind::FetchFollower => "FetchFollower",
        RequestKind::Unknown => "",
    }
}

/// The kinds that are asked for.
pub(super) const KINDS: [RequestKind; 3] = [
    RequestKind::Produce,
    RequestKind::FetchConsumer,
    RequestKind::FetchFollower,
];

/// The parts of a request's time, as Kafka's histograms are named.
const TIMES: [&str; 7] = [
    "TotalTimeMs",
    "RequestQueueTimeMs",
    "LocalTimeMs",
    "RemoteTimeMs",
    "ThrottleTimeMs",
    "ResponseQueueTimeMs",
    "ResponseSendTimeMs",
];

/// Meters and counters: `Count`.
const COUNTS: [&str; 17] = [
    "kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent",
    "kafka.server:type=KafkaRequestHandlerPool,name=BrokerRequestHandlerAvgIdlePercent",
    "kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec",
    "kafka.server:type=BrokerTopicMetrics,name=BytesOutPerSec",
    "kafka.server:type=BrokerTopicMetrics,name=ReplicationBytesInPerSec",
    "kafka.server:type=BrokerTopicMetrics,name=ReplicationBytesOutPerSec",
    "kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec",
    "kafka.server:type=BrokerTopicMetrics,name=FailedProduceRequestsPerSec",
    "kafka.server:type=BrokerTopicMetrics,name=FailedFetchRequestsPerSec",
    "kafka.server:type=BrokerTopicMetrics,name=ProduceMessageConversionsPerSec",
    "kafka.server:type=BrokerTopicMetrics,name=FetchMessageConversionsPerSec",
    "kafka.server:type=ReplicaManager,name=IsrShrinksPerSec",
    "kafka.server:type=ReplicaManager,name=IsrExpandsPerSec",
    "kafka.controller:type=ControllerStats,name=UncleanLeaderElectionsPerSec",
    // A gauge since 0.9, a meter before.
    "kafka.network:type=SocketServer,name=NetworkProcessorAvgIdlePercent",
    "kafka.network:type=RequestMetrics,name=TemporaryMemoryBytes,request=Produce",
    "kafka.network:type=RequestMetrics,name=TemporaryMemoryBytes,request=Fetch",
];

/// Gauges: `Value`.
const VALUES: [&str; 14] = [
    "kafka.network:type=RequestChannel,name=RequestQueueSize",
    "kafka.network:type=RequestChannel,name=ResponseQueueSize",
    "kafka.server:type=DelayedOperationPurgatory,name=PurgatorySize,delayedOperation=Produce",
    "kafka.server:type=DelayedOperationPurgatory,name=PurgatorySize,delayedOperation=Fetch",
    // Before 0.9.
    "kafka.server:type=ProducerRequestPurgatory,name=PurgatorySize",
    "kafka.server:type=FetchRequestPurgatory,name=PurgatorySize",
    "kafka.server:type=ReplicaManager,name=LeaderCount",
    "kafka.server:type=ReplicaManager,name=PartitionCount",
    "kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions",
    "kafka.server:type=ReplicaManager,name=UnderMinIsrPartitionCount",
    "kafka.controller:type=KafkaController,name=OfflinePartitionsCount",
    "kafka.controller:type=KafkaController,name=ActiveControllerCount",
    "kafka.server:type=ReplicaFetcherManager,name=MaxLag,clientId=Replica",
    // Whoever has it is a controller beside being a broker (KRaft).
    "kafka.server:type=ControllerServer,name=ClusterId",
];

/// Everything that a look needs, as one bulk read. What a release does not have is answered by an error of its own.
fn question() -> String {
    let mut reads: Vec<Value> = Vec::new();
    let mut read = |mbean: String, attributes: &[&str]| {
        // One that does not exist, or has not this attribute, fails alone.
        let config = json!({ "ignoreErrors": true, "includeStackTrace": false });
        reads.push(json!({
            "type": "read", "mbean": mbean, "attribute": attributes, "config": config,
        }));
    };
    for kind in KINDS {
        let request = request_name(kind);
        for time in TIMES {
            let mbean = format!("kafka.network:type=RequestMetrics,name={time},request={request}");
            read(mbean, &["Mean", "Count"]);
        }
    }
    for mbean in COUNTS {
        // Both, since the one of memory is a histogram and the one of network threads may be a gauge.
        let attributes: &[&str] = match mbean {
            _ if mbean.contains("TemporaryMemoryBytes") => &["Mean", "Count"],
            _ if mbean.contains("NetworkProcessor") => &["Count", "Value"],
            _ => &["Count"],
        };
        read(mbean.to_owned(), attributes);
    }
    for mbean in VALUES {
        read(mbean.to_owned(), &["Value"]);
    }
    let flushes = "kafka.log:type=LogFlushStats,name=LogFlushRateAndTimeMs";
    read(flushes.to_owned(), &["Mean", "Count"]);
    // Those of clients' software have more keys, and are left alone.
    let network = "kafka.server:type=socket-server-metrics,listener=*,networkProcessor=*";
    let waits = ["io-wait-time-ns-total", "io-waittime-total"];
    read(network.to_owned(), &waits);
    read("java.lang:type=Memory".to_owned(), &["HeapMemoryUsage"]);
    read("java.lang:type=Runtime".to_owned(), &["StartTime"]);
    let collectors = "java.lang:type=GarbageCollector,name=*".to_owned();
    read(collectors, &["CollectionCount", "CollectionTime"]);
    Value::Array(reads).to_string()
}
