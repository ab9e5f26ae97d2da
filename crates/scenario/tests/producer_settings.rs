//! Producer settings: Kafka's units, names and rules between settings.

#![allow(clippy::unwrap_used, reason = "tests")]

use kgauge_scenario::{
    Acks, Compression, CompressionCodec, FlowPlan, Partitioner, ProducerSettings, Scenario, Size,
};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;

/// The settings of one produce flow.
fn settings(written: &str) -> ProducerSettings {
    let text = format!(
        "kgauge: 1\nname: small\nquestion: Why?\ntopic: {{partitions: 6}}\nflows:\n  \
         - {{name: w, kind: produce, shape: max, record: {{size: 100 B}}, settings: {{{written}}}}}\n"
    );
    let scenario = Scenario::parse("small.yaml", &text).unwrap();
    match scenario.trials(Size::Default).remove(0).flows.remove(0) {
        FlowPlan::Produce(flow) => flow.settings,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_not_written_is_kafkas_default() {
    let expected = ProducerSettings {
        acks: Acks::All,
        batch_bytes: 16_384,
        linger_ns: 5 * MS,
        buffer_bytes: 32 * 1024 * 1024,
        block_ns_max: 60 * SECOND,
        in_flight_max: 5,
        request_bytes_max: 1_048_576,
        compression: Compression {
            codec: CompressionCodec::None,
            level: None,
        },
        idempotence: true,
        idempotence_asked: false,
        retries: 2_147_483_647,
        retry_backoff_ns: 100 * MS,
        retry_backoff_ns_max: SECOND,
        delivery_timeout_ns: 120 * SECOND,
        request_timeout_ns: 30 * SECOND,
        partitioner: Partitioner::Sticky,
        partitioner_ignores_keys: false,
        partitioner_adaptive: true,
        partitioner_availability_ns: 0,
        transactional_id: None,
        transaction_timeout_ns: 60_000_000_000,
        send_buffer_bytes: Some(131_072),
        receive_buffer_bytes: Some(32_768),
        client_id: "kgauge-w".to_owned(),
        metadata_age_ns_max: 300 * SECOND,
    };
    assert_eq!(settings(""), expected);
}

#[test]
fn idempotence_follows_kafkas_exceptions() {
    // As kafka-clients 4.3.1 answered when asked with the same settings.
    assert!(settings("").idempotence);
    assert!(!settings("acks: 1").idempotence);
    assert!(!settings("acks: 0").idempotence);
    assert!(!settings("retries: 0").idempotence);
    assert!(settings("acks: -1").idempotence);
    let without = settings("enable.idempotence: false, max.in.flight.requests.per.connection: 6");
    assert!(!without.idempotence && without.in_flight_max == 6);
}

#[test]
fn settings_depend_on_each_other_as_in_kafka() {
    assert_eq!(
        settings("request.timeout.ms: 200000").delivery_timeout_ns,
        200_005 * MS
    );
    assert_eq!(
        settings("linger.ms: 500000").delivery_timeout_ns,
        530_000 * MS
    );
    let capped = settings("retry.backoff.ms: 5000");
    assert_eq!(
        (capped.retry_backoff_ns, capped.retry_backoff_ns_max),
        (SECOND, SECOND)
    );
    let compression = |written: &str| settings(written).compression;
    let level = |codec, level| Compression { codec, level };
    assert_eq!(
        compression("compression.type: gzip"),
        level(CompressionCodec::Gzip, Some(-1))
    );
    assert_eq!(
        compression("compression.type: snappy"),
        level(CompressionCodec::Snappy, None)
    );
    assert_eq!(
        compression("compression.type: lz4"),
        level(CompressionCodec::Lz4, Some(9))
    );
    let zstd = compression("compression.type: zstd, compression.zstd.level: -5");
    assert_eq!(zstd, level(CompressionCodec::Zstd, Some(-5)));
    assert_eq!(settings("send.buffer.bytes: -1").send_buffer_bytes, None);
}

#[test]
fn kafkas_units_and_written_units_mean_the_same() {
    let plain = settings("batch.size: 65536, linger.ms: 5, buffer.memory: 67108864");
    let with_units = settings("batch.size: 64 KiB, linger.ms: 5 ms, buffer.memory: 64 MiB");
    assert_eq!(plain, with_units);
}

#[test]
fn kafkas_names_of_partitioners_are_known() {
    let class = |name: &str| settings(&format!("partitioner.class: {name}"));
    let prefix = "org.apache.kafka.clients.producer";
    let round_robin = class(&format!("{prefix}.RoundRobinPartitioner"));
    assert_eq!(round_robin.partitioner, Partitioner::RoundRobin);
    let sticky = class(&format!("{prefix}.UniformStickyPartitioner"));
    assert_eq!(
        (sticky.partitioner, sticky.partitioner_ignores_keys),
        (Partitioner::Sticky, true)
    );
    let default = class(&format!("{prefix}.internals.DefaultPartitioner"));
    assert_eq!(
        (default.partitioner, default.partitioner_ignores_keys),
        (Partitioner::Sticky, false)
    );
}
