//! Requests as a broken or hostile client sends them: the node answers, waits or closes the
//! connection, and goes on.

use kgauge_wire::api::ApiKey;
use kgauge_wire::frame::put_request;
use kgauge_wire::messages::Request;
use kgauge_wire::messages::*;
use kgauge_wire::record_batch::ProducerState;

use super::Bench;
use super::bench::{batch, produce_request};
use crate::random::SmallRandom;

/// Mangled forms of each request.
const ROUNDS: u64 = 150;

fn frames<'a, R: Request<'a>>(frames: &mut Vec<Vec<u8>>, request: &R) {
    for version in crate::handlers::served_versions(R::KEY).unwrap() {
        let mut frame = Vec::new();
        // Defaults that a version cannot carry are left out.
        if put_request(&mut frame, version, 7, Some("client"), request).is_ok() {
            frames.push(frame.split_off(4));
        }
    }
}

/// Every served API with its defaults, in every version, and some with content.
fn samples() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    macro_rules! defaults {
        ($($request:ident),*) => { $(frames(&mut all, &$request::default());)* };
    }
    defaults!(
        ProduceRequest,
        FetchRequest,
        ListOffsetsRequest,
        MetadataRequest,
        OffsetCommitRequest,
        OffsetFetchRequest,
        FindCoordinatorRequest,
        JoinGroupRequest,
        HeartbeatRequest,
        LeaveGroupRequest,
        SyncGroupRequest,
        DescribeGroupsRequest,
        ListGroupsRequest,
        SaslHandshakeRequest,
        SaslAuthenticateRequest,
        ApiVersionsRequest,
        CreateTopicsRequest,
        DeleteTopicsRequest,
        DeleteRecordsRequest,
        InitProducerIdRequest,
        OffsetForLeaderEpochRequest,
        DescribeConfigsRequest,
        AlterConfigsRequest,
        DescribeLogDirsRequest,
        CreatePartitionsRequest,
        DeleteGroupsRequest,
        IncrementalAlterConfigsRequest,
        OffsetDeleteRequest,
        DescribeUserScramCredentialsRequest,
        AlterUserScramCredentialsRequest,
        DescribeClusterRequest,
        DescribeProducersRequest,
        DescribeTopicPartitionsRequest,
        DescribeAclsRequest,
        CreateAclsRequest,
        DeleteAclsRequest,
        ConsumerGroupHeartbeatRequest,
        ElectLeadersRequest,
        DescribeClientQuotasRequest,
        AlterClientQuotasRequest,
        AlterPartitionReassignmentsRequest,
        ListPartitionReassignmentsRequest
    );
    let content = batch(1_700_000_000_000, 5, &ProducerState::NONE);
    let mut frame = Vec::new();
    put_request(&mut frame, 12, 7, None, &produce_request("t", 1, &content)).unwrap();
    for _ in 0..10 {
        all.push(frame[4..].to_vec());
    }
    all
}

fn mangle(random: &mut SmallRandom, frame: &mut Vec<u8>) {
    let place = |random: &mut SmallRandom, frame: &[u8]| {
        usize::try_from(random.below(frame.len() as u64)).unwrap()
    };
    for _ in 0..=random.below(3) {
        let at = place(random, frame);
        match random.below(5) {
            0 => frame[at] ^= 1 << random.below(8),
            1 => frame[at] = [0, 1, 0x7f, 0x80, 0xff][usize::try_from(random.below(5)).unwrap()],
            2 => frame.truncate(at.max(1)),
            3 => frame.insert(at, random.next_u64() as u8),
            _ => {
                let end = (at + 4).min(frame.len());
                frame[at..end].fill(0xff);
            }
        }
    }
}

#[test]
fn no_request_brings_a_node_down() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    let mut random = SmallRandom::new(11);
    let samples = samples();
    assert!(samples.len() > 100, "{} samples", samples.len());
    for sample in &samples {
        for round in 0..ROUNDS {
            let connection = bench.connect();
            let mut frame = sample.clone();
            if round > 0 {
                mangle(&mut random, &mut frame);
            }
            bench.send_bytes(connection, &mut frame);
            bench.forget(connection);
        }
        bench.pass_ms(10);
    }
    bench.fill("t", 1);
    let answer = bench.ask(&ApiVersionsRequest::default());
    assert_eq!(answer.error_code, 0);
}

#[test]
fn every_served_api_is_among_the_samples() {
    let keys: std::collections::BTreeSet<i16> = samples()
        .iter()
        .map(|frame| i16::from_be_bytes([frame[0], frame[1]]))
        .collect();
    let missing: Vec<ApiKey> = crate::handlers::SERVED
        .iter()
        .map(|(api, _)| *api)
        .filter(|api| !keys.contains(&api.as_i16()))
        .collect();
    assert_eq!(missing, []);
}
