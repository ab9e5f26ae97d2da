//! Configurations of topics, compared with those of Apache Kafka 4.3.1.

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::create_topics::{
    CreatableTopic, CreatableTopicConfig, CreateTopicsRequest,
};
use kgauge_wire::messages::describe_configs::{DescribeConfigsRequest, DescribeConfigsResource};
use kgauge_wire::messages::incremental_alter_configs::{
    AlterConfigsResource, AlterableConfig, IncrementalAlterConfigsRequest,
};

use super::Bench;

const TOPIC: i8 = 2;
const SET: i8 = 0;
const DELETE: i8 = 1;
const APPEND: i8 = 2;
const SUBTRACT: i8 = 3;

/// What `kafka-configs --describe --all` of Apache Kafka 4.3.1 prints of a topic, with the numbers of
/// the types.
const KAFKA: &[(&str, &str, i8)] = &[
    ("cleanup.policy", "delete", 7),
    ("compression.gzip.level", "-1", 3),
    ("compression.lz4.level", "9", 3),
    ("compression.type", "producer", 2),
    ("compression.zstd.level", "3", 3),
    ("delete.retention.ms", "86400000", 5),
    ("file.delete.delay.ms", "60000", 5),
    ("flush.messages", "9223372036854775807", 5),
    ("flush.ms", "9223372036854775807", 5),
    ("follower.replication.throttled.replicas", "", 7),
    ("index.interval.bytes", "4096", 3),
    ("leader.replication.throttled.replicas", "", 7),
    ("local.retention.bytes", "-2", 5),
    ("local.retention.ms", "-2", 5),
    ("max.compaction.lag.ms", "9223372036854775807", 5),
    ("max.message.bytes", "1048588", 3),
    ("message.timestamp.after.max.ms", "3600000", 5),
    ("message.timestamp.before.max.ms", "9223372036854775807", 5),
    ("message.timestamp.type", "CreateTime", 2),
    ("min.cleanable.dirty.ratio", "0.5", 6),
    ("min.compaction.lag.ms", "0", 5),
    ("min.insync.replicas", "1", 3),
    ("preallocate", "false", 1),
    ("remote.log.copy.disable", "false", 1),
    ("remote.log.delete.on.disable", "false", 1),
    ("remote.storage.enable", "false", 1),
    ("retention.bytes", "-1", 5),
    ("retention.ms", "604800000", 5),
    ("segment.bytes", "1073741824", 3),
    ("segment.index.bytes", "10485760", 3),
    ("segment.jitter.ms", "0", 5),
    ("segment.ms", "604800000", 5),
    ("unclean.leader.election.enable", "false", 1),
];

/// Name, value, type and whether the topic itself has it.
type Described = (String, Option<String>, i8, bool);

fn describe(bench: &mut Bench, topic: &'static str) -> Vec<Described> {
    let resource = DescribeConfigsResource {
        resource_type: TOPIC,
        resource_name: Str::Borrowed(topic),
        configuration_keys: None,
    };
    let request = DescribeConfigsRequest {
        resources: vec![resource],
        ..DescribeConfigsRequest::default()
    };
    let answer = bench.ask(&request);
    let entries = answer.results[0].configs.iter().map(|entry| {
        let value = entry.value.as_ref().map(ToString::to_string);
        let is_own = entry.config_source == 1;
        (entry.name.to_string(), value, entry.config_type, is_own)
    });
    entries.collect()
}

#[test]
fn everything_that_kafka_describes_of_a_topic_can_be_created() {
    let mut bench = Bench::new();
    bench.create("plain", &[]);
    let configs: Vec<(&str, &str)> = KAFKA
        .iter()
        .map(|(name, value, _)| (*name, *value))
        .collect();
    bench.create("full", &configs);
    let expected = |is_own: bool| -> Vec<Described> {
        let entry = |(name, value, kind): &(&str, &str, i8)| {
            ((*name).to_owned(), Some((*value).to_owned()), *kind, is_own)
        };
        KAFKA.iter().map(entry).collect()
    };
    assert_eq!(describe(&mut bench, "plain"), expected(false));
    assert_eq!(describe(&mut bench, "full"), expected(true));
}

#[test]
fn a_value_that_would_promise_more_is_refused() {
    let mut bench = Bench::new();
    for (name, value) in [
        ("min.cleanable.dirty.ratio", "0.01"),
        ("max.compaction.lag.ms", "60000"),
        ("remote.storage.enable", "true"),
        ("compression.lz4.level", "12"),
    ] {
        let config = CreatableTopicConfig {
            name: Str::Borrowed(name),
            value: Some(Str::Borrowed(value)),
        };
        let topic = CreatableTopic {
            name: Str::Borrowed("t"),
            num_partitions: 1,
            replication_factor: 1,
            configs: vec![config],
            ..CreatableTopic::default()
        };
        let request = CreateTopicsRequest {
            topics: vec![topic],
            ..CreateTopicsRequest::default()
        };
        let answer = bench.ask(&request);
        let code = ErrorCode::from_i16(answer.topics[0].error_code);
        assert_eq!(code, ErrorCode::InvalidConfig, "{name}");
    }
}

/// Changes one configuration of the topic `t`; gives the value that it then has of its own, or the
/// refusal.
fn alter(
    bench: &mut Bench,
    (name, operation): (&'static str, i8),
    value: Option<&'static str>,
) -> Result<Option<String>, (ErrorCode, String)> {
    let config = AlterableConfig {
        name: Str::Borrowed(name),
        config_operation: operation,
        value: value.map(Str::Borrowed),
    };
    let resource = AlterConfigsResource {
        resource_type: TOPIC,
        resource_name: Str::Borrowed("t"),
        configs: vec![config],
    };
    let request = IncrementalAlterConfigsRequest {
        resources: vec![resource],
        ..IncrementalAlterConfigsRequest::default()
    };
    let answer = &bench.ask(&request).responses[0];
    if answer.error_code != 0 {
        let words = answer.error_message.as_ref().map(ToString::to_string);
        return Err((
            ErrorCode::from_i16(answer.error_code),
            words.unwrap_or_default(),
        ));
    }
    let entries = describe(bench, "t").into_iter();
    let mut own = entries.filter(|(entry, _, _, is_own)| entry == name && *is_own);
    Ok(own.next().and_then(|entry| entry.1))
}

/// The same operations on Apache Kafka 4.3.1 give the same values and errors.
#[test]
fn entries_of_lists_are_appended_and_subtracted() {
    const POLICY: &str = "cleanup.policy";
    const THROTTLED: &str = "leader.replication.throttled.replicas";
    let mut bench = Bench::new();
    bench.create("t", &[]);
    for (name, operation, value, expected) in [
        (POLICY, APPEND, "compact", "delete,compact"),
        (POLICY, APPEND, "compact", "delete,compact"),
        (POLICY, SUBTRACT, "delete", "compact"),
        (POLICY, SUBTRACT, "delete", "compact"),
        (POLICY, SUBTRACT, "compact", ""),
        (POLICY, APPEND, "delete", "delete"),
        (POLICY, SUBTRACT, "other", "delete"),
        (THROTTLED, APPEND, "0:1", "0:1"),
        (THROTTLED, APPEND, "0:2,0:1", "0:1,0:2"),
        (THROTTLED, SUBTRACT, "0:1", "0:2"),
    ] {
        let value = alter(&mut bench, (name, operation), Some(value));
        assert_eq!(value, Ok(Some(expected.to_owned())), "{name} {operation}");
    }
    assert_eq!(alter(&mut bench, (POLICY, DELETE), None), Ok(None));
    let mut refused =
        |name, operation, value| alter(&mut bench, (name, operation), value).unwrap_err();
    let (invalid, request) = (ErrorCode::InvalidConfig, ErrorCode::InvalidRequest);
    let words = "Can't APPEND to key retention.ms because its type is not LIST.";
    let not_a_list = refused("retention.ms", APPEND, Some("1"));
    assert_eq!(not_a_list, (invalid, words.to_owned()));
    assert_eq!(refused("no.such.config", SUBTRACT, Some("1")).0, invalid);
    assert_eq!(refused(POLICY, APPEND, Some("other")).0, invalid);
    assert_eq!(refused(POLICY, APPEND, Some("")).0, invalid);
    assert_eq!(refused(POLICY, APPEND, None).0, request);
    assert_eq!(refused(POLICY, SET, None).0, request);
    assert_eq!(refused(POLICY, 9, Some("delete")).0, request);
}
