//! From Jolokia's answer to a look.

use std::collections::BTreeMap;

use kgauge_results::run::{
    BrokerSample, JvmSample, LogSample, MetricsSource, ReplicaSample, RequestKind, RequestSample,
    ThreadPoolSample, TrafficSample,
};
use serde_json::{Map, Value};

use super::http::text;
use super::jolokia::{KINDS, request_name};
use super::listeners::ListenerWaits;

const NS_PER_MS: f64 = 1e6;

/// MBeans by their names, each name with its keys in order; the attributes of each.
#[derive(Debug, Default)]
pub(super) struct Beans {
    of: BTreeMap<String, Map<String, Value>>,
}

impl Beans {
    /// Reads the answer to a bulk read. What failed is not in it.
    ///
    /// # Errors
    /// It is no such answer.
    pub(super) fn parse(body: &[u8]) -> Result<Beans, String> {
        let strange = || format!("its response is not Jolokia's{}", text(body));
        let answer: Value = serde_json::from_slice(body).map_err(|_| strange())?;
        let Value::Array(answers) = answer else {
            return Err(strange());
        };
        let mut beans = Beans::default();
        let mut refusal = None;
        for answer in answers {
            let Value::Object(mut answer) = answer else {
                return Err(strange());
            };
            match answer.get("status").and_then(Value::as_u64) {
                Some(200) => {}
                Some(403) => {
                    refusal.get_or_insert("Jolokia's policy forbids reading Kafka's MBeans");
                    continue;
                }
                Some(_) => continue,
                None => return Err(strange()),
            }
            let request = answer.get("request");
            let asked = request.and_then(|request| request.get("mbean")?.as_str());
            let Some(asked) = asked.map(canonical) else {
                return Err(strange());
            };
            let Some(Value::Object(value)) = answer.remove("value") else {
                continue;
            };
            match asked.contains('*') {
                true => beans.add_all(value),
                false => drop(beans.of.insert(asked, value)),
            }
        }
        match refusal {
            Some(words) if beans.of.is_empty() => Err(words.to_owned()),
            _ => Ok(beans),
        }
    }

    /// The answer to a pattern: MBeans by their names.
    fn add_all(&mut self, value: Map<String, Value>) {
        for (name, attributes) in value {
            if let Value::Object(attributes) = attributes {
                self.of.insert(canonical(&name), attributes);
            }
        }
    }

    fn number(&self, mbean: &str, attribute: &str) -> Option<f64> {
        let number = self.of.get(&canonical(mbean))?.get(attribute)?.as_f64()?;
        number.is_finite().then_some(number)
    }

    fn count(&self, mbean: &str) -> Option<u64> {
        whole(self.number(mbean, "Count")?)
    }

    fn value(&self, mbean: &str) -> Option<u64> {
        whole(self.number(mbean, "Value")?)
    }

    /// The sum of everything that a histogram has seen: the mean over its life times the count. Of whole numbers it is
    /// one.
    fn sum(&self, mbean: &str) -> Option<f64> {
        let count = self.number(mbean, "Count")?;
        match count {
            0.0 => Some(0.0),
            _ => Some(self.number(mbean, "Mean")? * count),
        }
    }

    /// The MBeans of a type, by their names.
    fn of_type<'a>(&'a self, domain: &'a str, kind: &'a str) -> impl Iterator<Item = &'a str> {
        let names = self.of.keys().map(String::as_str);
        names.filter(move |name| {
            let keys = name
                .strip_prefix(domain)
                .and_then(|rest| rest.strip_prefix(':'));
            keys.is_some_and(|keys| keys.split(',').any(|pair| pair == kind))
        })
    }

    /// The `id` of Kafka's `app-info`.
    pub(super) fn broker_id(&self) -> Option<i32> {
        let mut names = self.of_type("kafka.server", "type=app-info");
        names.find_map(|name| key(name, "id")?.parse().ok())
    }
}

/// A name with its keys in alphabetical order, as some answers have them and others do not.
fn canonical(name: &str) -> String {
    let Some((domain, keys)) = name.split_once(':') else {
        return name.to_owned();
    };
    let mut pairs: Vec<&str> = keys.split(',').collect();
    pairs.sort_unstable();
    format!("{domain}:{}", pairs.join(","))
}

/// A count: not below zero, and not beyond what 64 bits hold.
pub(super) fn whole(number: f64) -> Option<u64> {
    (number > -0.5 && number < u64::MAX as f64).then(|| number.round().max(0.0) as u64)
}

/// What the beans say of a broker.
pub(super) fn sample(beans: &Beans) -> BrokerSample {
    let requests = KINDS.into_iter().filter_map(|kind| requests(beans, kind));
    let jvm = jvm(beans);
    let waits = waits(beans);
    BrokerSample {
        source: MetricsSource::Jolokia,
        started_unix_ms: beans
            .number("java.lang:type=Runtime", "StartTime")
            .and_then(whole),
        requests: requests.collect(),
        threads: threads(beans, &waits),
        listeners: waits.listeners(),
        traffic: traffic(beans),
        replicas: replicas(beans),
        log: log(beans),
        jvm: (jvm != JvmSample::default()).then_some(jvm),
    }
}

fn requests(beans: &Beans, kind: RequestKind) -> Option<RequestSample> {
    let request = request_name(kind);
    let name =
        |part: &str| format!("kafka.network:type=RequestMetrics,name={part},request={request}");
    // Kafka adds whole milliseconds, so the sum is whole too.
    let ns = |part: &str| {
        let ms = whole(beans.sum(&name(part))?)?;
        ms.checked_mul(1_000_000)
    };
    // Kafka counts it for all fetches together; consumers are those whose records may have to be converted.
    let memory = match kind {
        RequestKind::Produce => "Produce",
        RequestKind::FetchConsumer => "Fetch",
        RequestKind::FetchFollower | RequestKind::Unknown => "",
    };
    let memory =
        format!("kafka.network:type=RequestMetrics,name=TemporaryMemoryBytes,request={memory}");
    Some(RequestSample {
        kind,
        count: beans.count(&name("TotalTimeMs"))?,
        total_ns: ns("TotalTimeMs"),
        request_queue_ns: ns("RequestQueueTimeMs"),
        local_ns: ns("LocalTimeMs"),
        remote_ns: ns("RemoteTimeMs"),
        throttle_ns: ns("ThrottleTimeMs"),
        response_queue_ns: ns("ResponseQueueTimeMs"),
        response_send_ns: ns("ResponseSendTimeMs"),
        temporary_memory_bytes: beans.sum(&memory).and_then(whole),
    })
}

fn threads(beans: &Beans, waits: &ListenerWaits) -> ThreadPoolSample {
    let handlers = |name: &str| {
        beans.count(&format!(
            "kafka.server:type=KafkaRequestHandlerPool,name={name}"
        ))
    };
    // Since 4.3 a pool of its own has a name of its own (KIP-1207).
    let own = handlers("BrokerRequestHandlerAvgIdlePercent");
    let is_controller = beans
        .of
        .contains_key("kafka.server:name=ClusterId,type=ControllerServer");
    let network = "kafka.network:type=SocketServer,name=NetworkProcessorAvgIdlePercent";
    let waited = waits.mean_ns().or_else(|| beans.count(network));
    let ppm = beans.number(network, "Value").filter(|_| waited.is_none());
    let purgatory = |operation: &str, before: &str| {
        let name = format!(
            "kafka.server:type=DelayedOperationPurgatory,name=PurgatorySize,delayedOperation={operation}"
        );
        let old = format!("kafka.server:type={before},name=PurgatorySize");
        beans.value(&name).or_else(|| beans.value(&old))
    };
    ThreadPoolSample {
        handler_idle_ns: own.or_else(|| handlers("RequestHandlerAvgIdlePercent")),
        handler_pools: (own.is_none() && is_controller).then_some(2),
        network_idle_ns: waited,
        network_idle_ppm: ppm.and_then(|share| u32::try_from(whole(share * 1e6)?).ok()),
        request_queue: beans.value("kafka.network:type=RequestChannel,name=RequestQueueSize"),
        response_queue: beans.value("kafka.network:type=RequestChannel,name=ResponseQueueSize"),
        produce_purgatory: purgatory("Produce", "ProducerRequestPurgatory"),
        fetch_purgatory: purgatory("Fetch", "FetchRequestPurgatory"),
    }
}

/// How long the network threads have waited.
fn waits(beans: &Beans) -> ListenerWaits {
    let mut waits = ListenerWaits::default();
    for name in beans.of_type("kafka.server", "type=socket-server-metrics") {
        // The second name is that of releases before 4.0.
        let modern = beans.number(name, "io-wait-time-ns-total");
        if let Some(wait_ns) = modern.or_else(|| beans.number(name, "io-waittime-total")) {
            waits.add(key(name, "listener"), name, wait_ns);
        }
    }
    waits
}

/// The value of a key in an MBean's name.
fn key<'a>(name: &'a str, key: &str) -> Option<&'a str> {
    let (_, keys) = name.split_once(':')?;
    let mut pairs = keys.split(',').filter_map(|pair| pair.split_once('='));
    pairs.find_map(|(is, value)| (is == key).then_some(value))
}

fn traffic(beans: &Beans) -> TrafficSample {
    let count =
        |name: &str| beans.count(&format!("kafka.server:type=BrokerTopicMetrics,name={name}"));
    TrafficSample {
        bytes_in: count("BytesInPerSec"),
        bytes_out: count("BytesOutPerSec"),
        replication_bytes_in: count("ReplicationBytesInPerSec"),
        replication_bytes_out: count("ReplicationBytesOutPerSec"),
        messages_in: count("MessagesInPerSec"),
        failed_produce: count("FailedProduceRequestsPerSec"),
        failed_fetch: count("FailedFetchRequestsPerSec"),
        produce_conversions: count("ProduceMessageConversionsPerSec"),
        fetch_conversions: count("FetchMessageConversionsPerSec"),
    }
}

fn replicas(beans: &Beans) -> ReplicaSample {
    let manager = |name: &str| format!("kafka.server:type=ReplicaManager,name={name}");
    let controller = |name: &str| format!("kafka.controller:type=KafkaController,name={name}");
    // Others have the gauge too, and always say 0.
    let leads = beans.value(&controller("ActiveControllerCount")) == Some(1);
    let unclean = "kafka.controller:type=ControllerStats,name=UncleanLeaderElectionsPerSec";
    let lag = "kafka.server:type=ReplicaFetcherManager,name=MaxLag,clientId=Replica";
    ReplicaSample {
        leaders: beans.value(&manager("LeaderCount")),
        partitions: beans.value(&manager("PartitionCount")),
        under_replicated: beans.value(&manager("UnderReplicatedPartitions")),
        under_min_isr: beans.value(&manager("UnderMinIsrPartitionCount")),
        offline_partitions: beans
            .value(&controller("OfflinePartitionsCount"))
            .filter(|_| leads),
        isr_shrinks: beans.count(&manager("IsrShrinksPerSec")),
        isr_expands: beans.count(&manager("IsrExpandsPerSec")),
        unclean_elections: beans.count(unclean).filter(|_| leads),
        max_lag: beans.value(lag),
    }
}

fn log(beans: &Beans) -> LogSample {
    let flushes = "kafka.log:type=LogFlushStats,name=LogFlushRateAndTimeMs";
    LogSample {
        flushes: beans.count(flushes),
        flush_ns: beans.sum(flushes).and_then(|ms| whole(ms * NS_PER_MS)),
    }
}

fn jvm(beans: &Beans) -> JvmSample {
    let heap = beans.of.get("java.lang:type=Memory");
    let heap = heap.and_then(|memory| memory.get("HeapMemoryUsage")?.get("used")?.as_u64());
    let all = |attribute: &str| {
        let names = beans.of_type("java.lang", "type=GarbageCollector");
        let each = names.filter_map(|name| whole(beans.number(name, attribute)?));
        each.reduce(u64::saturating_add)
    };
    JvmSample {
        heap_bytes: heap,
        collections: all("CollectionCount"),
        collection_ns: all("CollectionTime").and_then(|ms| ms.checked_mul(1_000_000)),
    }
}

#[cfg(test)]
mod tests;
