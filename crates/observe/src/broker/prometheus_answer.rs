//! From Prometheus's text to a look.

use kgauge_results::run::{
    BrokerSample, JvmSample, LogSample, MetricsSource, ReplicaSample, RequestKind, RequestSample,
    ThreadPoolSample, TrafficSample,
};

use super::jolokia::{KINDS, request_name};
use super::jolokia_answer::whole;
use super::listeners::ListenerWaits;
use super::prometheus::{Bean, Exposition};

/// What the lines say of a broker.
pub(super) fn sample(metrics: &Exposition) -> BrokerSample {
    let started = metrics.plain("process_start_time_seconds", None);
    let requests = KINDS.into_iter().filter_map(|kind| requests(metrics, kind));
    let jvm = jvm(metrics);
    let waits = waits(metrics);
    BrokerSample {
        source: MetricsSource::Prometheus,
        started_unix_ms: started.and_then(|seconds| whole(seconds * 1e3)),
        requests: requests.collect(),
        threads: threads(metrics, &waits),
        listeners: waits.listeners(),
        traffic: traffic(metrics),
        replicas: replicas(metrics),
        log: log(metrics),
        jvm: (jvm != JvmSample::default()).then_some(jvm),
    }
}

/// The `id` of Kafka's `app-info`, where the exporter's rules leave it in.
pub(super) fn broker_id(metrics: &Exposition) -> Option<i32> {
    let mut lines = metrics.beginning("kafka_server_app_info");
    lines.find_map(|(_, sample)| sample.labels.get("id")?.parse().ok())
}

fn bean<'a>(base: &'a str, name: &'a str) -> Bean<'a> {
    Bean {
        base,
        name,
        key: None,
    }
}

/// The sum of everything that a histogram has seen, if the exporter tells its mean.
fn sum(metrics: &Exposition, bean: Bean<'_>) -> Option<f64> {
    match metrics.count(bean)? {
        0.0 => Some(0.0),
        count => Some(metrics.mean(bean)? * count),
    }
}

fn requests(metrics: &Exposition, kind: RequestKind) -> Option<RequestSample> {
    let of = |name: &'static str| Bean {
        base: "kafka_network_requestmetrics",
        name,
        key: Some(("request", request_name(kind))),
    };
    let has_means = metrics.mean(of("totaltimems")).is_some();
    let ns = |name: &'static str| {
        // Before the first request a sum of 0 would be known, and none after it.
        let ms = sum(metrics, of(name)).filter(|_| has_means)?;
        whole(ms)?.checked_mul(1_000_000)
    };
    let memory = Bean {
        key: Some((
            "request",
            if kind == RequestKind::FetchConsumer {
                "Fetch"
            } else {
                request_name(kind)
            },
        )),
        ..of("temporarymemorybytes")
    };
    let memory =
        (kind != RequestKind::FetchFollower && metrics.mean(memory).is_some()).then_some(memory);
    Some(RequestSample {
        kind,
        count: whole(metrics.count(of("totaltimems"))?)?,
        total_ns: ns("totaltimems"),
        request_queue_ns: ns("requestqueuetimems"),
        local_ns: ns("localtimems"),
        remote_ns: ns("remotetimems"),
        throttle_ns: ns("throttletimems"),
        response_queue_ns: ns("responsequeuetimems"),
        response_send_ns: ns("responsesendtimems"),
        temporary_memory_bytes: memory.and_then(|memory| whole(sum(metrics, memory)?)),
    })
}

fn threads(metrics: &Exposition, waits: &ListenerWaits) -> ThreadPoolSample {
    let pool = |name| {
        let count = metrics.count(bean("kafka_server_kafkarequesthandlerpool", name));
        count.and_then(whole)
    };
    let own = pool("brokerrequesthandleravgidlepercent");
    let is_controller = metrics
        .beginning("kafka_server_controllerserver")
        .next()
        .is_some();
    let waited = waits.mean_ns();
    let network = bean(
        "kafka_network_socketserver",
        "networkprocessoravgidlepercent",
    );
    let share = metrics.value(network).filter(|_| waited.is_none());
    let gauge = |base, name| metrics.value(bean(base, name)).and_then(whole);
    let purgatory = |operation| {
        let bean = Bean {
            base: "kafka_server_delayedoperationpurgatory",
            name: "purgatorysize",
            key: Some(("delayedoperation", operation)),
        };
        metrics.value(bean).and_then(whole)
    };
    ThreadPoolSample {
        handler_idle_ns: own.or_else(|| pool("requesthandleravgidlepercent")),
        handler_pools: (own.is_none() && is_controller).then_some(2),
        network_idle_ns: waited,
        network_idle_ppm: share
            .filter(|share| (0.0..=1.5).contains(share))
            .and_then(|share| u32::try_from(whole(share * 1e6)?).ok()),
        request_queue: gauge("kafka_network_requestchannel", "requestqueuesize"),
        response_queue: gauge("kafka_network_requestchannel", "responsequeuesize"),
        produce_purgatory: purgatory("Produce"),
        fetch_purgatory: purgatory("Fetch"),
    }
}

/// How long the network threads have waited; a rule may have made listener and thread a part of the name.
fn waits(metrics: &Exposition) -> ListenerWaits {
    const BASE: &str = "kafka_server_socket_server_metrics";
    let mut waits = ListenerWaits::default();
    // The first name is that of releases before 4.0; some have both.
    for end in ["io_waittime_total", "io_wait_time_ns_total"] {
        for (name, sample) in metrics.beginning(BASE) {
            let Some(middle) = name.strip_suffix(end).filter(|_| sample.value.is_finite()) else {
                continue;
            };
            let middle = middle.strip_prefix(BASE).unwrap_or_default();
            let of_name = middle.strip_prefix("_listener_").map(|rest| {
                let (listener, thread) =
                    rest.split_once("_networkprocessor_").unwrap_or((rest, ""));
                // Names here are in lower case; Kafka has those of listeners in upper case.
                (listener.to_ascii_uppercase(), thread.to_owned())
            });
            let label = |name: &str| sample.labels.get(name).cloned();
            let thread = label("networkprocessor").or_else(|| label("network_processor"));
            let (listener, thread) = match of_name {
                Some((listener, thread)) => (Some(listener), thread),
                None => (label("listener"), thread.unwrap_or_default()),
            };
            waits.add(listener.as_deref(), &thread, sample.value);
        }
    }
    waits
}

fn traffic(metrics: &Exposition) -> TrafficSample {
    let count = |name| {
        metrics
            .count(bean("kafka_server_brokertopicmetrics", name))
            .and_then(whole)
    };
    TrafficSample {
        bytes_in: count("bytesinpersec"),
        bytes_out: count("bytesoutpersec"),
        replication_bytes_in: count("replicationbytesinpersec"),
        replication_bytes_out: count("replicationbytesoutpersec"),
        messages_in: count("messagesinpersec"),
        failed_produce: count("failedproducerequestspersec"),
        failed_fetch: count("failedfetchrequestspersec"),
        produce_conversions: count("producemessageconversionspersec"),
        fetch_conversions: count("fetchmessageconversionspersec"),
    }
}

fn replicas(metrics: &Exposition) -> ReplicaSample {
    let value = |base, name| metrics.value(bean(base, name)).and_then(whole);
    let count = |base, name| metrics.count(bean(base, name)).and_then(whole);
    let (manager, controller) = (
        "kafka_server_replicamanager",
        "kafka_controller_kafkacontroller",
    );
    let leads = value(controller, "activecontrollercount") == Some(1);
    let lag = Bean {
        key: Some(("clientid", "Replica")),
        ..bean("kafka_server_replicafetchermanager", "maxlag")
    };
    let unclean = count(
        "kafka_controller_controllerstats",
        "uncleanleaderelectionspersec",
    );
    ReplicaSample {
        leaders: value(manager, "leadercount"),
        partitions: value(manager, "partitioncount"),
        under_replicated: value(manager, "underreplicatedpartitions"),
        under_min_isr: value(manager, "underminisrpartitioncount"),
        offline_partitions: value(controller, "offlinepartitionscount").filter(|_| leads),
        isr_shrinks: count(manager, "isrshrinkspersec"),
        isr_expands: count(manager, "isrexpandspersec"),
        unclean_elections: unclean.filter(|_| leads),
        max_lag: metrics.value(lag).and_then(whole),
    }
}

fn log(metrics: &Exposition) -> LogSample {
    let flushes = bean("kafka_log_logflushstats", "logflushrateandtimems");
    let has_mean = metrics.mean(flushes).is_some();
    LogSample {
        flushes: metrics.count(flushes).and_then(whole),
        flush_ns: sum(metrics, flushes)
            .filter(|_| has_mean)
            .and_then(|ms| whole(ms * 1e6)),
    }
}

/// What the exporter tells of its own process; of a broker when it is an agent in it.
fn jvm(metrics: &Exposition) -> JvmSample {
    let heap = || Some(("area", "heap"));
    let used = metrics.plain("jvm_memory_used_bytes", heap());
    let used = used.or_else(|| metrics.plain("jvm_memory_bytes_used", heap()));
    let all = |name: &str| {
        let values = metrics.all(name).map(|sample| sample.value);
        values.reduce(|one, next| one + next)
    };
    JvmSample {
        heap_bytes: used.and_then(whole),
        collections: all("jvm_gc_collection_seconds_count").and_then(whole),
        collection_ns: all("jvm_gc_collection_seconds_sum").and_then(|s| whole(s * 1e9)),
    }
}

#[cfg(test)]
mod tests;
