//! Answers of Jolokia, worked out on paper.

#![allow(clippy::unwrap_used, reason = "tests")]

use kgauge_results::run::ListenerSample;

use super::*;

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
    let look = seen(&[
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
    let [requests] = look.requests.as_slice() else {
        panic!("{look:?}")
    };
    assert_eq!((requests.kind, requests.count), (RequestKind::Produce, 3));
    assert_eq!(requests.total_ns, Some(7_000_000));
    assert_eq!(requests.local_ns, Some(1_000_000));
    assert_eq!(requests.remote_ns, Some(6_000_000));
    assert_eq!(requests.throttle_ns, None);
    assert_eq!(requests.temporary_memory_bytes, Some(1_536));
    assert_eq!(
        (look.log.flushes, look.log.flush_ns),
        (Some(4), Some(5_000_000))
    );
}

#[test]
fn before_any_request_the_mean_is_no_number_and_the_sum_is_0() {
    let name = "kafka.network:name=TotalTimeMs,request=FetchFollower,type=RequestMetrics";
    let look = seen(&[read(name, r#"{"Mean":"NaN","Count":0}"#)]);
    assert_eq!(look.requests[0].kind, RequestKind::FetchFollower);
    assert_eq!(
        (look.requests[0].count, look.requests[0].total_ns),
        (0, Some(0))
    );
}

#[test]
fn network_threads_are_told_by_listener_without_those_of_a_controller() {
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
    let look = seen(&[
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
        look.listeners,
        [
            listener("CLIENTS", 1, 6_000_000),
            listener("PLAINTEXT", 2, 3_000_000_000)
        ]
    );
    // 6.006 s of three threads.
    assert_eq!(look.threads.network_idle_ns, Some(2_002_000_000));
    assert_eq!(look.threads.network_idle_ppm, None);
}

#[test]
fn each_generation_of_releases_tells_idle_threads_in_its_way() {
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
    assert_eq!(old.threads.handler_idle_ns, Some(700));
    assert_eq!(
        (old.threads.network_idle_ns, old.threads.network_idle_ppm),
        (Some(900), None)
    );
    // 0.9 to 0.11: a gauge alone.
    let gauge = seen(&[read(network, r#"{"Value":0.25}"#)]);
    assert_eq!(
        (
            gauge.threads.network_idle_ns,
            gauge.threads.network_idle_ppm
        ),
        (None, Some(250_000))
    );
    // 3.3 to 4.2, broker and controller in one: the sum of two pools.
    let controller = read(
        "kafka.server:name=ClusterId,type=ControllerServer",
        r#"{"Value":"x"}"#,
    );
    let both = seen(&[
        pool("RequestHandlerAvgIdlePercent", 700),
        controller.clone(),
    ]);
    assert_eq!(
        (both.threads.handler_idle_ns, both.threads.handler_pools),
        (Some(700), Some(2))
    );
    // Since 4.3 the broker's own pool has a name.
    let own = seen(&[
        pool("RequestHandlerAvgIdlePercent", 700),
        pool("BrokerRequestHandlerAvgIdlePercent", 500),
        controller,
    ]);
    assert_eq!(
        (own.threads.handler_idle_ns, own.threads.handler_pools),
        (Some(500), None)
    );
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
    assert_eq!(
        seen(&[offline.clone(), active(1)])
            .replicas
            .offline_partitions,
        Some(2)
    );
    assert_eq!(
        seen(&[offline, active(0)]).replicas.offline_partitions,
        None
    );
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
    let look = seen(&answers);
    let jvm = look.jvm.unwrap();
    assert_eq!((jvm.heap_bytes, jvm.collections), (Some(64), Some(23)));
    assert_eq!(jvm.collection_ns, Some(590_000_000));
    assert_eq!(look.started_unix_ms, Some(1_795_338_660_519));
    // Java alone tells nothing of a broker.
    assert!(look.is_empty());
    let text = format!("[{}]", answers.join(","));
    assert_eq!(Beans::parse(text.as_bytes()).unwrap().broker_id(), Some(7));
}

#[test]
fn junk_is_told_in_words() {
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
        let look = seen(&[read(name, &format!(r#"{{"Count":{count}}}"#))]);
        assert_eq!(look.traffic.bytes_in, None, "{count}");
    }
}
