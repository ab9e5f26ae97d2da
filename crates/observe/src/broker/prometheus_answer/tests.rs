//! Texts of exporters, worked out on paper.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;

use kgauge_results::metrics::{MetricId, RequestKind};
use kgauge_results::run::{BrokerSample, ListenerSample};

use super::*;
use crate::broker::bean::sample;

fn seen(text: &str) -> BrokerSample {
    sample(&Exposition::parse(text.as_bytes()).unwrap())
}

/// As jmx_exporter's rules for Kafka 2.0 and for KRaft name them: no sums of times, since there are no means.
#[test]
fn the_names_of_the_shipped_rules_are_understood() {
    let sample = seen(
        r#"# HELP kafka_server_brokertopicmetrics_bytesin_total x
# TYPE kafka_server_brokertopicmetrics_bytesin_total counter
kafka_server_brokertopicmetrics_bytesin_total 700.0
kafka_server_brokertopicmetrics_bytesin_total{topic="orders",} 300.0
kafka_server_brokertopicmetrics_messagesin_total{topic="orders",} 3.0
kafka_server_brokertopicmetrics_messagesin_total 7.0 1795338740000
kafka_network_requestmetrics_totaltimems_count{request="Produce",} 12.0
kafka_network_requestmetrics_totaltimems{request="Produce",quantile="0.99",} 5.0
# TYPE kafka_network_requestmetrics_totaltimems gauge
kafka_network_requestmetrics_requests_total{request="Produce",version="9",} 12.0
kafka_server_kafkarequesthandlerpool_requesthandleravgidlepercent_count 8.2516446199E10
# TYPE kafka_network_socketserver_networkprocessoravgidlepercent gauge
kafka_network_socketserver_networkprocessoravgidlepercent 0.75
kafka_network_requestchannel_responsequeuesize{processor="0",} 9.0
kafka_network_requestchannel_responsequeuesize 11.0
kafka_server_delayedoperationpurgatory_purgatorysize{delayedOperation="Produce",} 4.0
kafka_server_delayedoperationpurgatory_purgatorysize{delayedOperation="Fetch",} 2.0
kafka_server_replicamanager_leadercount 33.0
kafka_server_replicamanager_isrshrinks_total 1.0
kafka_server_replicafetchermanager_maxlag{clientId="Replica",} 5.0
kafka_log_logflushstats_logflushrateandtimems_count_total 6.0
jvm_gc_collection_seconds_count{gc="G1 Young Generation"} 8.0
jvm_gc_collection_seconds_sum{gc="G1 Young Generation"} 0.25
jvm_gc_collection_seconds_count{gc="G1 Old Generation"} 1
jvm_gc_collection_seconds_sum{gc="G1 Old Generation"} 0.5
jvm_memory_used_bytes{area="heap"} 1.5E8
jvm_memory_used_bytes{area="nonheap"} 9.0E8
process_start_time_seconds 1.795338660519E9
"#,
    );
    assert_eq!(sample.source, MetricsSource::Prometheus);
    assert_eq!(sample.requests.len(), 1);
    let produce = |metric| sample.of_requests(RequestKind::Produce, metric);
    assert_eq!(produce(MetricId::RequestCount), Some(12));
    assert_eq!(produce(MetricId::RequestTotal), None);
    let expected = [
        (MetricId::BytesIn, 700),
        (MetricId::MessagesIn, 7),
        (MetricId::HandlerIdle, 82_516_446_199),
        (MetricId::NetworkIdleShare, 750_000),
        (MetricId::ResponseQueue, 11),
        (MetricId::ProducePurgatory, 4),
        (MetricId::FetchPurgatory, 2),
        (MetricId::Leaders, 33),
        (MetricId::IsrShrinks, 1),
        (MetricId::MaxLag, 5),
        (MetricId::Flushes, 6),
        (MetricId::Heap, 150_000_000),
        (MetricId::Collections, 9),
        (MetricId::CollectionTime, 750_000_000),
    ];
    assert_eq!(sample.values, BTreeMap::from(expected));
    assert_eq!(sample.started_unix_ms, Some(1_795_338_660_519));
}

#[test]
fn means_make_sums_under_names_with_rules_and_without() {
    let with = seen(
        r#"kafka_network_requestmetrics_totaltimems_count{request="FetchConsumer"} 4
kafka_network_requestmetrics_totaltimems_mean{request="FetchConsumer"} 2.5
kafka_network_requestmetrics_remotetimems_count{request="FetchConsumer"} 4
kafka_network_requestmetrics_remotetimems_mean{request="FetchConsumer"} 1.75"#,
    );
    // 10 ms and 7 ms.
    let fetch = |metric| with.of_requests(RequestKind::FetchConsumer, metric);
    assert_eq!(fetch(MetricId::RequestTotal), Some(10_000_000));
    assert_eq!(fetch(MetricId::RequestRemote), Some(7_000_000));
    assert_eq!(fetch(MetricId::RequestLocal), None);
    let without = seen(
        r#"kafka_network_RequestMetrics_Count{name="TotalTimeMs",request="Produce",} 4.0
kafka_network_RequestMetrics_Mean{name="TotalTimeMs",request="Produce",} 2.5
kafka_network_RequestMetrics_Count{name="LocalTimeMs",request="Produce",} 4.0
kafka_network_RequestMetrics_Mean{name="LocalTimeMs",request="Produce",} 0.25
kafka_server_BrokerTopicMetrics_Count{name="BytesOutPerSec",} 70.0
kafka_server_BrokerTopicMetrics_Count{name="BytesOutPerSec",topic="t",} 60.0
kafka_server_ReplicaManager_Value{name="UnderReplicatedPartitions",} 2.0
kafka_server_app_info_StartTimeMs{id="7",} 1.0"#,
    );
    let produce = |metric| without.of_requests(RequestKind::Produce, metric);
    assert_eq!(produce(MetricId::RequestTotal), Some(10_000_000));
    assert_eq!(produce(MetricId::RequestLocal), Some(1_000_000));
    assert_eq!(without.get(MetricId::BytesOut), Some(70));
    assert_eq!(without.get(MetricId::UnderReplicated), Some(2));
}

/// The rules for 0.8.2 name a count without saying so.
#[test]
fn a_count_without_a_suffix_is_taken_unless_it_is_a_gauge() {
    let name = "kafka_network_requestmetrics_totaltimems";
    let line = format!("{name}{{request=\"Produce\",}} 9.0\n");
    let untyped = seen(&format!("# TYPE {name} untyped\n{line}"));
    let count = untyped.of_requests(RequestKind::Produce, MetricId::RequestCount);
    assert_eq!(count, Some(9));
    assert!(
        seen(&format!("# TYPE {name} gauge\n{line}"))
            .requests
            .is_empty()
    );
}

#[test]
fn network_threads_are_found_in_labels_and_in_names() {
    let listener = |name: &str, threads, idle_ns| ListenerSample {
        listener: name.to_owned(),
        threads,
        idle_ns,
    };
    let base = "kafka_server_socket_server_metrics";
    let label = |listener: &str, processor: u8, value: &str| {
        format!("{{listener=\"{listener}\",networkProcessor=\"{processor}\"}} {value}\n")
    };
    let lines = [
        label("PLAINTEXT", 0, "4e9"),
        label("PLAINTEXT", 1, "2e9"),
        label("TLS", 2, "3e8"),
        label("CONTROLLER", 0, "9e9"),
    ];
    let modern = lines
        .each_ref()
        .map(|line| format!("{base}_io_wait_time_ns_total{line}"))
        .concat();
    let old = lines
        .each_ref()
        .map(|line| format!("{base}_io_waittime_total{line}"))
        .concat();
    // Releases that have both names have each thread twice.
    for text in [modern.clone(), old.clone(), format!("{modern}{old}")] {
        let labels = seen(&text);
        assert_eq!(
            labels.listeners,
            [
                listener("PLAINTEXT", 2, 3_000_000_000),
                listener("TLS", 1, 300_000_000)
            ]
        );
        // 6.3 s of three threads.
        assert_eq!(labels.get(MetricId::NetworkIdle), Some(2_100_000_000));
    }
    let names = seen(&format!(
        "{base}_listener_CLIENT_TLS_networkProcessor_0_io_wait_time_ns_total 8e9\n\
         {base}_listener_CLIENT_TLS_networkProcessor_1_io_wait_time_ns_total 6e9\n\
         {base}_listener_CONTROLLER_networkProcessor_0_io_wait_time_ns_total 1e9\n"
    ));
    assert_eq!(names.listeners, [listener("CLIENT_TLS", 2, 7_000_000_000)]);
    assert_eq!(names.get(MetricId::NetworkIdle), Some(7_000_000_000));
    // Without any name of a listener there is the mean alone.
    let bare = seen(&format!("{base}_io_wait_time_ns_total 5e9\n"));
    assert_eq!(bare.listeners, []);
    assert_eq!(bare.get(MetricId::NetworkIdle), Some(5_000_000_000));
}

#[test]
fn labels_may_have_anything_in_quotes() {
    let text =
        "kafka_x{a=\"}\\\" 7 \\\\\",  topic=\"t, {=}\" } 3 5\nkafka_server_app_info{id=\"4\"} 1";
    let metrics = Exposition::parse(text.as_bytes()).unwrap();
    let sample = metrics.all("kafka_x").next().unwrap();
    assert_eq!(
        (sample.labels["a"].as_str(), sample.value),
        ("}\" 7 \\", 3.0)
    );
    assert_eq!(sample.labels["topic"], "t, {=}");
    assert_eq!(broker_id(&metrics), Some(4));
}

#[test]
fn junk_is_reported_and_strange_numbers_are_left_out() {
    let error = |text: &str| Exposition::parse(text.as_bytes()).unwrap_err();
    for text in [
        "",
        "# nothing",
        "<html>",
        "kafka_x",
        "kafka_x{a=\"b} 1",
        "kafka_x{a} 1",
        "kafka_x 1 2\n{} 3",
    ] {
        assert!(
            error(text).starts_with("its response is neither Prometheus"),
            "{text}"
        );
    }
    assert!(Exposition::parse(&[0xff, 0xfe]).is_err());
    let name = "kafka_server_brokertopicmetrics_bytesin_total";
    for value in ["NaN", "+Inf", "-Inf", "-4", "1e300"] {
        assert_eq!(
            seen(&format!("{name} {value}")).get(MetricId::BytesIn),
            None,
            "{value}"
        );
    }
}
