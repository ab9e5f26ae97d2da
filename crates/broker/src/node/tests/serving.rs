//! What is served at all: versions, malformed requests, limits, metadata.

use kgauge_wire::api::ApiKey;
use kgauge_wire::codec::{Str, Uuid};
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::api_versions::ApiVersionsRequest;
use kgauge_wire::messages::consumer_group_heartbeat::ConsumerGroupHeartbeatRequest;
use kgauge_wire::messages::create_acls::{AclCreation, CreateAclsRequest};
use kgauge_wire::messages::delete_acls::{DeleteAclsFilter, DeleteAclsRequest};
use kgauge_wire::messages::delete_topics::{DeleteTopicState, DeleteTopicsRequest};
use kgauge_wire::messages::describe_acls::DescribeAclsRequest;
use kgauge_wire::messages::describe_topic_partitions::{
    DescribeTopicPartitionsRequest, DescribeTopicPartitionsRequestCursor,
};
use kgauge_wire::messages::find_coordinator::FindCoordinatorRequest;
use kgauge_wire::messages::init_producer_id::InitProducerIdRequest;
use kgauge_wire::messages::metadata::{MetadataRequest, MetadataRequestTopic};

use super::Bench;
use super::bench::is_served;
use crate::node::CloseReason;

#[test]
fn api_versions_lists_the_served_table() {
    let mut bench = Bench::new();
    let answer = bench.ask(&ApiVersionsRequest::default());
    assert_eq!(answer.error_code, 0);
    for entry in &answer.api_keys {
        let api = ApiKey::from_i16(entry.api_key).unwrap();
        let versions = crate::handlers::served_versions(api).unwrap();
        assert_eq!(entry.max_version, *versions.end(), "{api}");
        // Produce is announced from 0, for librdkafka's sake.
        let min = if api == ApiKey::Produce {
            0
        } else {
            *versions.start()
        };
        assert_eq!(entry.min_version, min, "{api}");
    }
    assert_eq!(answer.api_keys.len(), crate::handlers::SERVED.len());
    assert!(!is_served(ApiKey::EndTxn));
}

#[test]
fn api_versions_of_an_unknown_version_is_answered_in_version_zero() {
    let mut bench = Bench::new();
    let connection = bench.connect();
    // Key 18, version 99, correlation id 7, no client id, no tagged fields, and whatever follows.
    bench.send_bytes(
        connection,
        &mut [0, 18, 0, 99, 0, 0, 0, 7, 0xff, 0xff, 0, 1, 2, 3],
    );
    let answer = bench
        .answer_version::<ApiVersionsRequest<'static>>(connection, 0)
        .unwrap();
    assert_eq!(
        ErrorCode::from_i16(answer.error_code),
        ErrorCode::UnsupportedVersion
    );
    assert_eq!(answer.api_keys[0].api_key, 18);
    assert!(bench.closed.is_empty());
}

#[test]
fn what_is_not_served_or_malformed_closes_its_connection_only() {
    let mut bench = Bench::new();
    let other = bench.connect();
    let frames: [&[u8]; 4] = [
        &[0x7f, 0, 0, 0, 0, 0, 0, 7, 0xff, 0xff],    // no such API
        &[0, 0, 0, 2, 0, 0, 0, 7, 0xff, 0xff],       // Produce version 2
        &[0, 3, 0, 1, 0, 0, 0, 7, 0xff, 0xff, 0, 0], // Metadata that ends early
        &[0, 3],
    ];
    for frame in frames {
        let connection = bench.connect();
        bench.send_bytes(connection, &mut frame.to_vec());
        assert_eq!(
            bench.closed.last().map(|(closed, _)| *closed),
            Some(connection)
        );
    }
    assert_eq!(bench.closed[0].1, CloseReason::UnknownApi { key: 0x7f00 });
    let old = CloseReason::UnsupportedVersion {
        name: "Produce",
        version: 2,
    };
    assert_eq!(bench.closed[1].1, old);
    bench.send(other, &ApiVersionsRequest::default());
    assert!(bench.answer::<ApiVersionsRequest<'static>>(other).is_some());
}

#[test]
fn connections_beyond_the_limit_are_closed() {
    let mut bench = Bench::with(&[("max.connections", "2")]);
    let (first, _second, third) = (bench.connect(), bench.connect(), bench.connect());
    assert_eq!(bench.closed, [(third, CloseReason::TooMany)]);
    bench.node.closed(first);
    bench.connect();
    assert_eq!(bench.closed.len(), 1);
}

fn metadata(names: &[&'static str], create: bool) -> MetadataRequest<'static> {
    let topic = |name: &&'static str| MetadataRequestTopic {
        name: Some(Str::Borrowed(name)),
        ..MetadataRequestTopic::default()
    };
    MetadataRequest {
        topics: Some(names.iter().map(topic).collect()),
        allow_auto_topic_creation: create,
        ..MetadataRequest::default()
    }
}

#[test]
fn a_mentioned_topic_is_created_when_client_and_cluster_allow_it() {
    let mut bench = Bench::with(&[("num.partitions", "3")]);
    let code = |answer: &kgauge_wire::messages::metadata::MetadataResponse<'_>, index: usize| {
        ErrorCode::from_i16(answer.topics[index].error_code)
    };
    let answer = bench.ask(&metadata(&["t"], false));
    assert_eq!(code(&answer, 0), ErrorCode::UnknownTopicOrPartition);
    let answer = bench.ask(&metadata(&["t", "a b"], true));
    assert_eq!(code(&answer, 0), ErrorCode::None);
    assert_eq!(answer.topics[0].partitions.len(), 3);
    assert_eq!(answer.topics[0].partitions[0].leader_id, 1);
    assert_eq!(code(&answer, 1), ErrorCode::InvalidTopicException);
    let id = answer.topics[0].topic_id;
    let by_id = |topic_id| MetadataRequest {
        topics: Some(vec![MetadataRequestTopic {
            topic_id,
            name: None,
        }]),
        ..MetadataRequest::default()
    };
    assert_eq!(bench.ask(&by_id(id)).topics[0].name.as_deref(), Some("t"));
    assert_eq!(
        code(&bench.ask(&by_id(Uuid([9; 16]))), 0),
        ErrorCode::UnknownTopicId
    );
    // Java's client sends an empty name with the id.
    let nameless = |topic_id| {
        let mut request = by_id(topic_id);
        request.topics.iter_mut().flatten().for_each(|topic| {
            topic.name = Some(Str::Borrowed(""));
        });
        request
    };
    let answer = bench.ask(&nameless(id));
    assert_eq!(answer.topics[0].name.as_deref(), Some("t"));
    assert_eq!(answer.topics[0].topic_id, id);
    let answer = bench.ask(&nameless(Uuid([9; 16])));
    assert_eq!(code(&answer, 0), ErrorCode::UnknownTopicId);
    assert_eq!(answer.topics[0].name, None);
    let mut closed = Bench::with(&[("auto.create.topics.enable", "false")]);
    let answer = closed.ask(&metadata(&["t"], true));
    assert_eq!(code(&answer, 0), ErrorCode::UnknownTopicOrPartition);
}

/// Apache Kafka 4.3.1 answers so: unknown at first, and there from the next question on.
#[test]
fn a_deleted_topic_is_recreated_by_the_second_request_and_not_by_the_first() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    let topic = DeleteTopicState {
        name: Some(Str::Borrowed("t")),
        ..DeleteTopicState::default()
    };
    let delete = DeleteTopicsRequest {
        topics: vec![topic],
        ..DeleteTopicsRequest::default()
    };
    assert_eq!(bench.ask(&delete).responses[0].error_code, 0);
    let mut look = |create: bool| {
        let answer = bench.ask(&metadata(&["t"], create));
        ErrorCode::from_i16(answer.topics[0].error_code)
    };
    for _ in 0..2 {
        assert_eq!(look(false), ErrorCode::UnknownTopicOrPartition);
    }
    assert_eq!(look(true), ErrorCode::UnknownTopicOrPartition);
    // A producer that still runs finds it with its next question, as on Kafka.
    assert_eq!(look(true), ErrorCode::None);
}

/// Sends `ApiVersions` under a client's name and finds the coordinator of a transaction.
fn transaction_coordinator(bench: &mut Bench, software: &'static str) -> (ErrorCode, ErrorCode) {
    let connection = bench.connect();
    let hello = ApiVersionsRequest {
        client_software_name: Str::Borrowed(software),
        client_software_version: Str::Borrowed("1"),
    };
    bench.send_version(connection, 3, &hello);
    bench.take_bytes(connection);
    let find = FindCoordinatorRequest {
        key_type: 1,
        coordinator_keys: vec![Str::Borrowed("x")],
        ..FindCoordinatorRequest::default()
    };
    bench.send(connection, &find);
    let found = bench
        .answer::<FindCoordinatorRequest<'static>>(connection)
        .unwrap();
    let found = &found.coordinators[0];
    if found.error_code != 0 {
        let words = found.error_message.as_deref().unwrap_or_default();
        assert!(words.contains("does not support transactions"));
    }
    let init = InitProducerIdRequest {
        transactional_id: Some(Str::Borrowed("x")),
        ..InitProducerIdRequest::default()
    };
    bench.send(connection, &init);
    let init = bench
        .answer::<InitProducerIdRequest<'static>>(connection)
        .unwrap();
    (
        ErrorCode::from_i16(found.error_code),
        ErrorCode::from_i16(init.error_code),
    )
}

#[test]
fn transactions_are_refused_with_the_code_that_ends_each_librarys_attempt() {
    let mut bench = Bench::new();
    let (unsupported, unauthorized) = (
        ErrorCode::UnsupportedVersion,
        ErrorCode::TransactionalIdAuthorizationFailed,
    );
    for (software, expected) in [
        ("apache-kafka-java", (unsupported, unsupported)),
        ("librdkafka", (unauthorized, unauthorized)),
        ("confluent-kafka-python", (unauthorized, unauthorized)),
        ("sarama", (ErrorCode::None, unauthorized)),
    ] {
        assert_eq!(
            transaction_coordinator(&mut bench, software),
            expected,
            "{software}"
        );
    }
}

#[test]
fn consumers_of_the_new_group_protocol_are_refused_at_once() {
    let mut bench = Bench::new();
    let answer = bench.ask(&ConsumerGroupHeartbeatRequest::default());
    assert_eq!(
        ErrorCode::from_i16(answer.error_code),
        ErrorCode::UnsupportedVersion
    );
    assert!(
        answer
            .error_message
            .unwrap()
            .contains("group.protocol=classic")
    );
}

#[test]
fn access_rights_are_answered_as_without_an_authorizer() {
    let mut bench = Bench::new();
    let disabled = ErrorCode::SecurityDisabled.as_i16();
    let described = bench.ask(&DescribeAclsRequest::default());
    assert_eq!(described.error_code, disabled);
    let created = bench.ask(&CreateAclsRequest {
        creations: vec![AclCreation::default(), AclCreation::default()],
    });
    let codes: Vec<i16> = created
        .results
        .iter()
        .map(|result| result.error_code)
        .collect();
    assert_eq!(codes, [disabled; 2]);
    let deleted = bench.ask(&DeleteAclsRequest {
        filters: vec![DeleteAclsFilter::default()],
    });
    assert_eq!(deleted.filter_results[0].error_code, disabled);
}

#[test]
fn metadata_without_names_lists_all_topics_or_none() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    let all = MetadataRequest {
        topics: None,
        ..MetadataRequest::default()
    };
    let none = MetadataRequest {
        topics: Some(Vec::new()),
        ..MetadataRequest::default()
    };
    let answer = bench.ask(&all);
    assert_eq!(answer.topics.len(), 1);
    assert_eq!(
        (&*answer.brokers[0].host, answer.brokers[0].port),
        ("here", 9092)
    );
    assert!(answer.cluster_id.is_some());
    assert_eq!(bench.ask(&none).topics.len(), 0);
    let connection = bench.connect();
    bench.send_version(connection, 0, &none);
    let answer = bench
        .answer_version::<MetadataRequest<'static>>(connection, 0)
        .unwrap();
    assert_eq!(
        answer.topics.len(),
        1,
        "in version 0 an empty list asks for all"
    );
}

#[test]
fn topics_are_described_page_by_page() {
    let mut bench = Bench::with(&[("num.partitions", "3")]);
    bench.ask(&metadata(&["a", "b"], true));
    let mut cursor = None;
    let mut seen = Vec::new();
    for _ in 0..10 {
        let request = DescribeTopicPartitionsRequest {
            response_partition_limit: 2,
            cursor: cursor.take(),
            ..Default::default()
        };
        let answer = bench.ask(&request);
        for topic in &answer.topics {
            let name = topic.name.clone().unwrap().into_owned();
            seen.extend(
                topic
                    .partitions
                    .iter()
                    .map(|p| (name.clone(), p.partition_index)),
            );
        }
        let Some(next) = answer.next_cursor else {
            break;
        };
        cursor = Some(DescribeTopicPartitionsRequestCursor {
            topic_name: next.topic_name,
            partition_index: next.partition_index,
        });
    }
    let named = |name: &str, index| (name.to_owned(), index);
    let all = [("a", 0), ("a", 1), ("a", 2), ("b", 0), ("b", 1), ("b", 2)];
    assert_eq!(seen, all.map(|(name, index)| named(name, index)));
}
