//! Answers of Jolokia, worked out on paper.

#![allow(clippy::unwrap_used, reason = "tests")]

use kgauge_results::metrics::{MetricId, RequestKind};
use kgauge_results::run::{BrokerSample, ListenerSample};

use super::*;
use crate::broker::bean::sample;

fn read(mbean: &str, value: &str) -> String {
    format!(
        r#"{{"request":{{"mbean":"{mbean}","type":"read"}},"value":{value},"timestamp":1,"status":200}}"#
    )
}

fn failed(mbean: &str, status: u16) -> String {
    format!(r#"{{"request":{{"mbean":"{mbean}","type":"read"}},"error":"x","status":{status}}}"#)
}

fn seen(answers: &[String]) -> BrokerSample {
    sample(&Beans::parse(format!("[{}]", answers.join(",")).as_bytes()).unwrap())
}

#[test]
fn sums_are_means_times_counts_in_whole_milliseconds() {
    // 7 ms over three requests: the mean is not exact, their product is.
    let produce = |name: &str, value: &str| {
        read(
            &format!("kafka.network:name={name},request=Produce,type=RequestMetrics"),
            value,
        )
    };
    let sample = seen(&[
        produce("TotalTimeMs", r#"{"Mean":2.3333333333333335,"Count":3}"#),
        produce("LocalTimeMs", r#"{"Mean":0.3333333333333333,"Count":3}"#),
        produce("RemoteTimeMs", r#"{"Mean":2.0,"Count":3}"#),
        failed(
            "kafka.network:name=ThrottleTimeMs,request=Produce,type=RequestMetrics",
            404,
        ),
        produce("TemporaryMemoryBytes", r#"{"Mean":512.0,"Count":3}"#),
        read(
            "kafka.log:name=LogFlushRateAndTimeMs,type=LogFlushStats",
            r#"{"Mean":1.25,"Count":4}"#,
        ),
    ]);
    assert_eq!(sample.requests.len(), 1);
    let produce = |metric| sample.of_requests(RequestKind::Produce, metric);
    assert_eq!(produce(MetricId::RequestCount), Some(3));
    assert_eq!(produce(MetricId::RequestTotal), Some(7_000_000));
    assert_eq!(produce(MetricId::RequestLocal), Some(1_000_000));
    assert_eq!(produce(MetricId::RequestRemote), Some(6_000_000));
    assert_eq!(produce(MetricId::RequestThrottle), None);
    assert_eq!(produce(MetricId::TemporaryMemory), Some(1_536));
    assert_eq!(sample.get(MetricId::Flushes), Some(4));
    assert_eq!(sample.get(MetricId::FlushTime), Some(5_000_000));
}

#[test]
fn before_any_request_the_mean_is_no_number_and_the_sum_is_0() {
    let name = "kafka.network:name=TotalTimeMs,request=FetchFollower,type=RequestMetrics";
    let sample = seen(&[read(name, r#"{"Mean":"NaN","Count":0}"#)]);
    let follower = |metric| sample.of_requests(RequestKind::FetchFollower, metric);
    assert_eq!(follower(MetricId::RequestCount), Some(0));
    assert_eq!(follower(MetricId::RequestTotal), Some(0));
}

#[test]
fn network_threads_are_listed_by_listener_without_those_of_a_controller() {
    let pattern = "kafka.server:listener=*,networkProcessor=*,type=socket-server-metrics";
    let thread = |listener: &str, processor: u8, waits: &str| {
        format!(
            r#""kafka.server:type=socket-server-metrics,listener={listener},networkProcessor={processor}":{{{waits}}}"#
        )
    };
    let threads = [
        thread("PLAINTEXT", 0, r#""io-wait-time-ns-total":4.0E9"#),
        thread("PLAINTEXT", 1, r#""io-wait-time-ns-total":2.0E9"#),
        // A release that has both names counts once.
        thread(
            "CLIENTS",
            2,
            r#""io-wait-time-ns-total":6.0E6,"io-waittime-total":6.0E6"#,
        ),
        thread("CONTROLLER", 0, r#""io-wait-time-ns-total":9.0E9"#),
    ];
    let sample = seen(&[
        read(pattern, &format!("{{{}}}", threads.join(","))),
        read(
            "kafka.network:name=NetworkProcessorAvgIdlePercent,type=SocketServer",
            r#"{"Value":0.5}"#,
        ),
    ]);
    let listener = |name: &str, threads, idle_ns| ListenerSample {
        listener: name.to_owned(),
        threads,
        idle_ns,
    };
    assert_eq!(
        sample.listeners,
        [
            listener("CLIENTS", 1, 6_000_000),
            listener("PLAINTEXT", 2, 3_000_000_000)
        ]
    );
    // 6.006 s of three threads.
    assert_eq!(sample.get(MetricId::NetworkIdle), Some(2_002_000_000));
    assert_eq!(sample.get(MetricId::NetworkIdleShare), None);
}

#[test]
fn idle_threads_are_found_in_every_generation_of_releases() {
    let pool = |name: &str, count: u64| {
        read(
            &format!("kafka.server:name={name},type=KafkaRequestHandlerPool"),
            &format!(r#"{{"Count":{count}}}"#),
        )
    };
    let network = "kafka.network:name=NetworkProcessorAvgIdlePercent,type=SocketServer";
    // 0.8: meters of nanoseconds.
    let old = seen(&[
        pool("RequestHandlerAvgIdlePercent", 700),
        read(network, r#"{"Count":900}"#),
        failed(
            "kafka.server:listener=*,networkProcessor=*,type=socket-server-metrics",
            404,
        ),
    ]);
    let handlers = |sample: &BrokerSample| {
        let pools = sample.get(MetricId::HandlerPools);
        (sample.get(MetricId::HandlerIdle), pools)
    };
    let threads = |sample: &BrokerSample| {
        let share = sample.get(MetricId::NetworkIdleShare);
        (sample.get(MetricId::NetworkIdle), share)
    };
    assert_eq!(handlers(&old), (Some(700), None));
    assert_eq!(threads(&old), (Some(900), None));
    // 0.9 to 0.11: a gauge alone.
    let gauge = seen(&[read(network, r#"{"Value":0.25}"#)]);
    assert_eq!(threads(&gauge), (None, Some(250_000)));
    // 3.3 to 4.2, broker and controller in one: the sum of two pools.
    let controller = read(
        "kafka.server:name=ClusterId,type=ControllerServer",
        r#"{"Value":"x"}"#,
    );
    let both = seen(&[
        pool("RequestHandlerAvgIdlePercent", 700),
        controller.clone(),
    ]);
    assert_eq!(handlers(&both), (Some(700), Some(2)));
    // Since 4.3 the broker's own pool has a name.
    let own = seen(&[
        pool("RequestHandlerAvgIdlePercent", 700),
        pool("BrokerRequestHandlerAvgIdlePercent", 500),
        controller,
    ]);
    assert_eq!(handlers(&own), (Some(500), None));
}

#[test]
fn only_the_active_controller_is_believed_about_the_cluster() {
    let offline = read(
        "kafka.controller:name=OfflinePartitionsCount,type=KafkaController",
        r#"{"Value":2}"#,
    );
    let active = |is: u8| {
        read(
            "kafka.controller:name=ActiveControllerCount,type=KafkaController",
            &format!(r#"{{"Value":{is}}}"#),
        )
    };
    let offline = |is: u8| {
        let sample = seen(&[offline.clone(), active(is)]);
        sample.get(MetricId::OfflinePartitions)
    };
    assert_eq!((offline(1), offline(0)), (Some(2), None));
}

#[test]
fn collectors_are_added_and_the_broker_is_known_by_its_id() {
    let answers = [
        read(
            "java.lang:name=*,type=GarbageCollector",
            r#"{"java.lang:name=G1 Young Generation,type=GarbageCollector":{"CollectionTime":587,"CollectionCount":22},
                "java.lang:name=G1 Old Generation,type=GarbageCollector":{"CollectionTime":3,"CollectionCount":1}}"#,
        ),
        read(
            "java.lang:type=Memory",
            r#"{"HeapMemoryUsage":{"init":1,"used":64,"max":99}}"#,
        ),
        read("java.lang:type=Runtime", r#"{"StartTime":1795338660519}"#),
        read(
            "kafka.server:id=*,type=app-info",
            r#"{"kafka.server:type=app-info,id=7":{"Version":"4.3.1"}}"#,
        ),
    ];
    let sample = seen(&answers);
    assert_eq!(sample.get(MetricId::Heap), Some(64));
    assert_eq!(sample.get(MetricId::Collections), Some(23));
    assert_eq!(sample.get(MetricId::CollectionTime), Some(590_000_000));
    assert_eq!(sample.started_unix_ms, Some(1_795_338_660_519));
    // Java alone tells nothing of a broker.
    assert!(sample.is_empty());
    let text = format!("[{}]", answers.join(","));
    assert_eq!(Beans::parse(text.as_bytes()).unwrap().broker_id(), Some(7));
}

#[test]
fn junk_is_reported() {
    let error = |text: &str| Beans::parse(text.as_bytes()).unwrap_err();
    assert_eq!(
        error("<html>\u{7}no"),
        "its response is not Jolokia's: <html> no"
    );
    for text in ["", "{}", "[1]", "[{}]", r#"[{"status":200}]"#, "[[[[["] {
        assert!(
            error(text).starts_with("its response is not Jolokia's"),
            "{text}"
        );
    }
    let deep = "[".repeat(100_000);
    assert!(error(&deep).starts_with("its response is not Jolokia's"));
    let forbidden = format!("[{}]", failed("a:b=c", 403));
    assert_eq!(
        error(&forbidden),
        "Jolokia's policy forbids reading Kafka's MBeans"
    );
    // Numbers that no counter has are not taken.
    let name = "kafka.server:name=BytesInPerSec,type=BrokerTopicMetrics";
    for count in ["-5", "1e300", "\"7\"", "null"] {
        let sample = seen(&[read(name, &format!(r#"{{"Count":{count}}}"#))]);
        assert_eq!(sample.get(MetricId::BytesIn), None, "{count}");
    }
}
