//! Small requests that want enormous answers, or endless work.

use std::io::Write;
use std::time::{Duration, Instant};

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::create_topics::{CreatableTopic, CreateTopicsRequest};
use kgauge_wire::messages::describe_configs::{DescribeConfigsRequest, DescribeConfigsResource};
use kgauge_wire::messages::describe_groups::DescribeGroupsRequest;
use kgauge_wire::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic,
};
use kgauge_wire::messages::metadata::{MetadataRequest, MetadataRequestTopic};

use crate::harness::Client;
use crate::memory::Memory;
use crate::{frame, is_served, one_node};

fn named(name: Str<'static>) -> MetadataRequestTopic<'static> {
    MetadataRequestTopic {
        name: Some(name),
        ..MetadataRequestTopic::default()
    }
}

#[test]
fn a_topic_named_a_hundred_thousand_times_is_described_once() {
    let (_running, address) = one_node();
    Client::connect(address).create_topic("wide", 100);
    let request = MetadataRequest {
        topics: Some(vec![named(Str::Borrowed("wide")); 100_000]),
        ..MetadataRequest::default()
    };
    let memory = Memory::begin();
    let mut client = Client::connect(address);
    // With every repetition it would be 400 MB on the wire, and more in memory.
    let answer = client.ask(12, &request);
    assert_eq!(answer.topics.len(), 1);
    assert_eq!(answer.topics[0].partitions.len(), 100);
    assert!(memory.grown_bytes() < 200 << 20);
    is_served(address);
}

#[test]
fn a_hundred_thousand_unknown_names_are_answered_soon_and_not_created() {
    let (running, address) = one_node();
    let names = (0..100_000).map(|number| named(Str::Owned(format!("unknown-{number}"))));
    let request = MetadataRequest {
        topics: Some(names.collect()),
        allow_auto_topic_creation: true,
        ..MetadataRequest::default()
    };
    let start = Instant::now();
    let mut client = Client::connect(address);
    let answer = client.ask(12, &request);
    assert_eq!(answer.topics.len(), 100_000);
    let unknown = ErrorCode::UnknownTopicOrPartition.as_i16();
    assert!(
        answer
            .topics
            .iter()
            .all(|topic| topic.error_code == unknown)
    );
    // Comparing every name with every other would take minutes.
    assert!(
        start.elapsed() < Duration::from_secs(15),
        "{:?}",
        start.elapsed()
    );
    assert_eq!(running.cluster.image().unwrap().topics.len(), 1);
    is_served(address);
}

#[test]
fn more_topics_than_a_request_may_create_are_refused_in_words() {
    let (_running, address) = one_node();
    let topic = |number: i32| CreatableTopic {
        name: Str::Owned(format!("new-{number}")),
        num_partitions: 1,
        replication_factor: 1,
        ..CreatableTopic::default()
    };
    let request = CreateTopicsRequest {
        topics: (0..10_001).map(topic).collect(),
        timeout_ms: 5_000,
        ..CreateTopicsRequest::default()
    };
    let answer = Client::connect(address).ask(7, &request);
    for topic in &answer.topics {
        assert_eq!(topic.error_code, ErrorCode::PolicyViolation.as_i16());
        assert!(
            topic
                .error_message
                .as_deref()
                .unwrap()
                .contains("large batch")
        );
    }
    is_served(address);
}

#[test]
fn configurations_and_groups_named_often_are_described_once() {
    let (_running, address) = one_node();
    let resource = DescribeConfigsResource {
        resource_type: 2,
        resource_name: Str::Borrowed("t"),
        ..DescribeConfigsResource::default()
    };
    let request = DescribeConfigsRequest {
        resources: vec![resource; 100_000],
        ..DescribeConfigsRequest::default()
    };
    let memory = Memory::begin();
    let mut client = Client::connect(address);
    // With every repetition it would be 200 MB on the wire, and more in memory.
    assert_eq!(client.ask(4, &request).results.len(), 1);
    let request = DescribeGroupsRequest {
        groups: vec![Str::Borrowed("g"); 100_000],
        ..DescribeGroupsRequest::default()
    };
    assert_eq!(client.ask(5, &request).groups.len(), 1);
    assert!(memory.grown_bytes() < 200 << 20);
    is_served(address);
}

#[test]
fn a_partition_whose_offset_is_requested_twice_is_refused() {
    let (_running, address) = one_node();
    let partition = |index, timestamp| ListOffsetsPartition {
        partition_index: index,
        timestamp,
        ..ListOffsetsPartition::default()
    };
    let topic = |partitions| ListOffsetsTopic {
        name: Str::Borrowed("t"),
        partitions,
    };
    let mut client = Client::connect(address);
    let request = ListOffsetsRequest {
        topics: vec![
            topic(vec![partition(0, 5); 50_000]),
            topic(vec![partition(7, -1)]),
        ],
        ..ListOffsetsRequest::default()
    };
    let answer = client.ask(7, &request);
    let invalid = ErrorCode::InvalidRequest.as_i16();
    let refused = answer.topics[0].partitions.iter();
    assert!(
        refused
            .clone()
            .all(|partition| partition.error_code == invalid)
    );
    assert_eq!(refused.count(), 50_000);
    // The other partition is none of its business.
    let unknown = ErrorCode::UnknownTopicOrPartition.as_i16();
    assert_eq!(answer.topics[1].partitions[0].error_code, unknown);
    is_served(address);
}

#[test]
fn a_large_request_of_nothing_but_small_things_costs_little() {
    let (_running, address) = one_node();
    // Empty names, each two bytes on the wire.
    let request = MetadataRequest {
        topics: Some(vec![named(Str::Borrowed("")); 1 << 18]),
        allow_auto_topic_creation: false,
        ..MetadataRequest::default()
    };
    let bytes = frame(4, &request);
    drop(request);
    let memory = Memory::begin();
    let mut client = Client::connect(address);
    client.stream.write_all(&bytes).unwrap();
    let answer = client.receive::<MetadataRequest<'static>>(4);
    assert_eq!(answer.topics.len(), 1);
    let grown = memory.grown_bytes();
    assert!(
        grown < 100 << 20,
        "{grown} bytes for a request of {}",
        bytes.len()
    );
    is_served(address);
}
