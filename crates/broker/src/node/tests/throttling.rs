//! Client quotas: set, described, enforced and removed.

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::alter_client_quotas::{
    AlterClientQuotasRequest, AlterClientQuotasRequestEntityData,
    AlterClientQuotasRequestEntryData, OpData,
};
use kgauge_wire::messages::describe_client_quotas::{ComponentData, DescribeClientQuotasRequest};
use kgauge_wire::messages::fetch::{FetchPartition, FetchRequest, FetchTopic};
use kgauge_wire::messages::produce::ProduceRequest;
use kgauge_wire::record_batch::ProducerState;

use super::Bench;
use super::bench::{batch, produce_request};

/// Sets (`None`: takes back) a quota of the bench's client id; gives the error.
fn set(bench: &mut Bench, kind: &'static str, key: &'static str, rate: Option<f64>) -> ErrorCode {
    let request = AlterClientQuotasRequest {
        entries: vec![AlterClientQuotasRequestEntryData {
            entity: vec![AlterClientQuotasRequestEntityData {
                entity_type: Str::Borrowed(kind),
                entity_name: Some(Str::Borrowed("bench")),
            }],
            ops: vec![OpData {
                key: Str::Borrowed(key),
                value: rate.unwrap_or(0.0),
                remove: rate.is_none(),
            }],
        }],
        validate_only: false,
    };
    let answer = bench.ask(&request);
    ErrorCode::from_i16(answer.entries[0].error_code)
}

fn describe(bench: &mut Bench) -> Vec<(String, f64)> {
    let request = DescribeClientQuotasRequest {
        components: vec![ComponentData {
            entity_type: Str::Borrowed("client-id"),
            match_type: 0,
            r#match: Some(Str::Borrowed("bench")),
        }],
        strict: true,
    };
    let answer = bench.ask(&request);
    let entries = answer.entries.unwrap();
    let values = entries.iter().flat_map(|entry| &entry.values);
    values
        .map(|value| (value.key.to_string(), value.value))
        .collect()
}

#[test]
fn a_producer_beyond_its_quota_gets_a_throttle_time_and_waits() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    let ok = ErrorCode::None;
    assert_eq!(
        set(&mut bench, "client-id", "producer_byte_rate", Some(500.0)),
        ok
    );
    assert_eq!(
        describe(&mut bench),
        [("producer_byte_rate".to_owned(), 500.0)]
    );
    let records = batch(1_700_000_000_000, 10, &ProducerState::NONE);
    let client = bench.connect();
    let mut sent = 0;
    let throttle_ms = loop {
        bench.send_version(client, 12, &produce_request("t", -1, &records));
        let answer = bench
            .answer_version::<ProduceRequest<'static>>(client, 12)
            .unwrap();
        sent += 1;
        assert_eq!(answer.responses[0].partition_responses[0].error_code, 0);
        if answer.throttle_time_ms > 0 {
            break u64::try_from(answer.throttle_time_ms).unwrap();
        }
        assert!(sent < 1_000, "never throttled");
    };
    // Ten seconds at 500 B/s are 5,000 B.
    assert!(
        sent * records.len() > 4_000 && sent * records.len() < 6_000,
        "{sent}"
    );
    assert!(bench.node.is_full(client), "nothing more is read");
    bench.pass_ms(throttle_ms + 1);
    assert!(!bench.node.is_full(client));
    assert_eq!(set(&mut bench, "client-id", "producer_byte_rate", None), ok);
    assert_eq!(describe(&mut bench), []);
    bench.send_version(client, 12, &produce_request("t", -1, &records));
    let answer = bench
        .answer_version::<ProduceRequest<'static>>(client, 12)
        .unwrap();
    assert_eq!(answer.throttle_time_ms, 0);
}

#[test]
fn a_consumer_beyond_its_quota_gets_nothing_for_a_while() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    bench.fill("t", 100);
    let ok = ErrorCode::None;
    assert_eq!(
        set(&mut bench, "client-id", "consumer_byte_rate", Some(10.0)),
        ok
    );
    let client = bench.connect();
    let request = FetchRequest {
        topics: vec![FetchTopic {
            topic: Str::Borrowed("t"),
            partitions: vec![FetchPartition {
                partition_max_bytes: 1 << 20,
                current_leader_epoch: -1,
                ..FetchPartition::default()
            }],
            ..FetchTopic::default()
        }],
        ..FetchRequest::default()
    };
    bench.send_version(client, 12, &request);
    let answer = bench.answer_version::<FetchRequest<'static>>(client, 12);
    let answer = answer.unwrap();
    assert!(answer.throttle_time_ms > 1_000);
    assert!(answer.responses.is_empty());
    assert!(bench.node.is_full(client));
    bench.forget(client);
    bench.pass_ms(20_000);
}

#[test]
fn what_is_no_quota_is_refused_in_words() {
    let mut bench = Bench::new();
    let refused = ErrorCode::InvalidRequest;
    assert_eq!(
        set(&mut bench, "client-id", "request_percentage", Some(5.0)),
        refused
    );
    assert_eq!(
        set(&mut bench, "ip", "producer_byte_rate", Some(5.0)),
        refused
    );
    assert_eq!(
        set(&mut bench, "user", "producer_byte_rate", Some(-1.0)),
        refused
    );
    assert_eq!(
        set(&mut bench, "user", "producer_byte_rate", Some(f64::NAN)),
        refused
    );
}
