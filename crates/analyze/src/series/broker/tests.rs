//! Looks at brokers, and the means that follow from them.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use kgauge_results::run::ListenerSample;

const SECOND_NS: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;

fn at(second: u64, look: BrokerSample) -> Evidence {
    Evidence {
        at_unix_ms: 0,
        repeat: None,
        at_ns: Some(second * SECOND_NS),
        subject: Subject::Target { broker: Some(2) },
        kind: EvidenceKind::Broker(Box::new(look)),
    }
}

/// Produce requests with these sums, and some bytes.
fn look(count: u64, total_ms: u64, remote_ms: u64, bytes_in: u64) -> BrokerSample {
    BrokerSample {
        source: MetricsSource::Jolokia,
        started_unix_ms: Some(1_000_000),
        requests: BTreeMap::from([(
            RequestKind::Produce,
            BTreeMap::from([
                (MetricId::RequestCount, count),
                (MetricId::RequestTotal, total_ms * MS),
                (MetricId::RequestRemote, remote_ms * MS),
            ]),
        )]),
        values: BTreeMap::from([(MetricId::BytesIn, bytes_in)]),
        ..BrokerSample::default()
    }
}

fn series(lines: &[Evidence]) -> Vec<BrokerSeries> {
    series_of(&lines.iter().collect::<Vec<_>>())
}

#[test]
fn means_of_a_second_come_from_two_sums_and_two_counts() {
    // 100 requests of 5 ms each before; then 50 in one second that took 400 ms together, 150 of them waiting.
    let lines = [
        at(1, look(100, 500, 100, 7_000)),
        at(2, look(150, 900, 250, 9_000)),
    ];
    let found = series(&lines);
    assert_eq!((found[0].broker, found[0].points.len()), (Some(2), 1));
    let point = &found[0].points[0];
    let produce = |metric| point.of_requests(RequestKind::Produce, metric);
    assert_eq!(produce(MetricId::RequestCount), Some(50.0));
    assert_eq!(produce(MetricId::RequestTotal), Some(8e6));
    assert_eq!(produce(MetricId::RequestRemote), Some(3e6));
    assert_eq!(produce(MetricId::RequestLocal), None);
    assert_eq!(point.get(MetricId::BytesIn), Some(2_000.0));
    assert_eq!(point.get(MetricId::BytesOut), None);
}

#[test]
fn without_requests_there_is_no_mean_and_a_restart_makes_no_point() {
    let mut again = look(200, 1_000, 300, 10_000);
    again.started_unix_ms = Some(1_060_000);
    let lines = [
        at(1, look(100, 500, 100, 7_000)),
        at(2, look(100, 500, 100, 7_000)),
        // The process is another one although every counter is higher.
        at(3, again.clone()),
        at(4, look(40, 200, 0, 100)),
    ];
    let found = series(&lines);
    let points = &found[0].points;
    assert_eq!(points.len(), 1);
    let produce = |metric| points[0].of_requests(RequestKind::Produce, metric);
    assert_eq!(produce(MetricId::RequestCount), Some(0.0));
    assert_eq!(produce(MetricId::RequestTotal), None);
}

#[test]
fn a_sum_that_was_read_an_instant_too_late_does_not_go_back() {
    let lines = [at(1, look(100, 505, 100, 0)), at(2, look(101, 504, 100, 0))];
    let found = series(&lines);
    let total = found[0].points[0].of_requests(RequestKind::Produce, MetricId::RequestTotal);
    assert_eq!(total, Some(0.0));
}

#[test]
fn idle_time_is_a_share_and_other_pools_are_taken_off() {
    let threads = |handler_idle_ns, pools: Option<u64>| {
        let mut sample = BrokerSample::default();
        let idle = [
            (MetricId::HandlerIdle, handler_idle_ns),
            (MetricId::NetworkIdle, handler_idle_ns / 2),
        ];
        sample.values.extend(idle);
        sample
            .values
            .extend(pools.map(|pools| (MetricId::HandlerPools, pools)));
        sample
    };
    let share = |one, next, pools| {
        let found = series(&[at(1, threads(one, pools)), at(2, threads(next, pools))]);
        let point = found[0].points[0].clone();
        let idle = |metric| point.get(metric).unwrap();
        (idle(MetricId::HandlerIdle), idle(MetricId::NetworkIdle))
    };
    assert_eq!(share(0, 750 * MS, None), (0.75, 0.375));
    // Two pools: 1.25 s of idle time in a second are at least 0.25 of one's own.
    assert_eq!(share(0, 1_250 * MS, Some(2)), (0.25, 0.625));
    // A wait that began before the span is counted when it ends.
    assert_eq!(share(0, 1_100 * MS, None).0, 1.0);
}

/// Two listeners with three threads each have waited so long.
fn listening(tls_ms: u64, plain_ms: u64) -> BrokerSample {
    let listener = |name: &str, ms: u64| ListenerSample {
        listener: name.to_owned(),
        threads: 3,
        idle_ns: ms * MS,
    };
    BrokerSample {
        values: BTreeMap::from([(MetricId::NetworkIdle, (tls_ms + plain_ms) / 2 * MS)]),
        listeners: vec![listener("PLAINTEXT", plain_ms), listener("TLS", tls_ms)],
        ..BrokerSample::default()
    }
}

#[test]
fn a_listener_without_idle_time_does_not_hide_behind_one_that_rests() {
    // Of three seconds TLS has 0 %, 100 % and 20 % idle, the other one 90 %, 20 % and 90 %.
    let mut last = listening(1_200, 2_000);
    let lines = [
        at(1, listening(0, 0)),
        at(2, listening(0, 900)),
        at(3, listening(1_000, 1_100)),
        at(4, last.clone()),
    ];
    let found = series(&lines);
    let point = |index: usize| {
        let point = &found[0].points[index];
        (
            point.get(MetricId::NetworkIdle).unwrap(),
            point.busiest_listener(),
        )
    };
    assert_eq!(point(0), (0.0, Some("TLS")));
    assert_eq!(point(1), (0.2, Some("PLAINTEXT")));
    // 120 % of three seconds and 200 %: the least of means, not the mean of leasts.
    let mean = found[0].mean_over(SECOND_NS, 4 * SECOND_NS).unwrap();
    assert!(
        (mean.get(MetricId::NetworkIdle).unwrap() - 0.4).abs() < 1e-9,
        "{mean:?}"
    );
    assert_eq!(mean.busiest_listener(), Some("TLS"));
    // With more threads than before it is the mean of others: nothing is known of it.
    last.listeners[1].threads = 4;
    let found = series(&[at(3, listening(1_000, 1_100)), at(4, last.clone())]);
    let point = &found[0].points[0];
    assert_eq!(
        (point.get(MetricId::NetworkIdle), point.listeners.len()),
        (Some(0.9), 1)
    );
    // Who does not tell listeners apart has the mean of all threads.
    last.listeners.clear();
    let found = series(&[at(3, listening(1_000, 1_100)), at(4, last)]);
    let idle = found[0].points[0].get(MetricId::NetworkIdle).unwrap();
    assert!((idle - 0.55).abs() < 1e-9, "{idle}");
}

#[test]
fn the_mean_over_a_span_weighs_times_by_requests_and_rates_by_time() {
    let lines = [
        at(0, look(0, 0, 0, 0)),
        // A second of warm-up that does not count.
        at(1, look(10, 10_000, 0, 50_000)),
        // 10 requests of 1 ms, then in two seconds 30 of 5 ms.
        at(2, look(20, 10_010, 0, 51_000)),
        at(4, look(50, 10_160, 0, 57_000)),
    ];
    let found = series(&lines);
    let mean = found[0].mean_over(SECOND_NS, 4 * SECOND_NS).unwrap();
    assert_eq!((mean.start_ns, mean.end_ns), (SECOND_NS, 4 * SECOND_NS));
    let produce = |metric| mean.of_requests(RequestKind::Produce, metric).unwrap();
    // 160 ms by 40 requests, 40 requests by 3 s, 7000 bytes by 3 s.
    assert!((produce(MetricId::RequestTotal) - 4e6).abs() < 1e-3);
    assert!((produce(MetricId::RequestCount) - 40.0 / 3.0).abs() < 1e-9);
    assert!((mean.get(MetricId::BytesIn).unwrap() - 7_000.0 / 3.0).abs() < 1e-9);
    assert_eq!(mean.get(MetricId::HandlerIdle), None);
    assert_eq!(found[0].mean_over(SECOND_NS, 3 * SECOND_NS / 2), None);
}

#[test]
fn flushes_have_a_rate_and_a_mean_time() {
    let flushed = |flushes, flush_ms: u64| BrokerSample {
        values: BTreeMap::from([
            (MetricId::Flushes, flushes),
            (MetricId::FlushTime, flush_ms * MS),
        ]),
        ..BrokerSample::default()
    };
    let lines = [
        at(1, flushed(3, 30)),
        at(2, flushed(7, 46)),
        at(3, flushed(7, 46)),
    ];
    let found = series(&lines);
    let points = &found[0].points;
    let seen = |index: usize| {
        let get = |metric| points[index].get(metric);
        (get(MetricId::Flushes), get(MetricId::FlushTime))
    };
    assert_eq!(seen(0), (Some(4.0), Some(4e6)));
    assert_eq!(seen(1), (Some(0.0), None));
}

#[test]
fn a_line_says_what_it_was_made_from_and_nothing_that_is_not_there() {
    let line = at(1, look(100, 500, 100, 7_000));
    let text = serde_json::to_string(&line).unwrap();
    assert!(
        text.contains(r#""subject":"target","broker":2,"evidence":"broker","source":"jolokia""#)
    );
    assert!(
        !text.contains("bytes_out") && !text.contains("jvm"),
        "{text}"
    );
    assert_eq!(serde_json::from_str::<Evidence>(&text).unwrap(), line);
}
