//! What several clients send to a node of the embedded cluster. Whatever it is, the node goes on, its
//! answers are whole frames, and a good client is served afterwards.

#![no_main]

use kgauge_broker::ids::ConnectionId;
use kgauge_fuzz::steps::{Step, TOPIC, batch, frame_of, produce, steps};
use kgauge_simulation::SingleNodeHarness;
use kgauge_wire::codec::Str;
use kgauge_wire::messages::create_topics::{CreatableTopic, CreateTopicsRequest};
use kgauge_wire::messages::{ApiVersionsRequest, MetadataRequest};
use kgauge_wire::record_batch::ProducerState;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let mut node = SingleNodeHarness::new().expect("a disk in memory works");
    asked(&mut node, &frame_of(7, &create(TOPIC, 2)));
    let mut clients: [ConnectionId; 4] = std::array::from_fn(|_| node.connect());
    for (client, step) in steps(input) {
        let id = &mut clients[client];
        if !node.is_open(*id) {
            *id = node.connect();
        }
        let done = match step {
            Step::Frame(bytes) => node.receive(*id, &framed(bytes)),
            Step::Pieces(size, bytes) => framed(bytes)
                .chunks(usize::from(size) + 1)
                .try_for_each(|piece| node.receive(*id, piece)),
            Step::Raw(bytes) => node.receive(*id, bytes),
            Step::Pass(ms) => node.pass_ms(u32::from(ms)),
            Step::Leave => node.disconnect(*id),
        };
        done.expect("no request stops a node");
        are_whole(&node.take_answers(*id));
    }
    // Quotas may mute a connection, so each request has its own.
    asked(&mut node, &frame_of(4, &ApiVersionsRequest::default()));
    let all = MetadataRequest {
        topics: None,
        ..Default::default()
    };
    asked(&mut node, &frame_of(12, &all));
    asked(&mut node, &frame_of(7, &create("good", 1)));
    let records = batch(&ProducerState::NONE);
    asked(&mut node, &frame_of(12, &produce("good", 1, records)));
});

fn framed(bytes: &[u8]) -> Vec<u8> {
    let size = bytes.len() as u32;
    [&size.to_be_bytes()[..], bytes].concat()
}

fn create(name: &'static str, partitions: i32) -> CreateTopicsRequest<'static> {
    CreateTopicsRequest {
        topics: vec![CreatableTopic {
            name: Str::Borrowed(name),
            num_partitions: partitions,
            replication_factor: 1,
            ..Default::default()
        }],
        timeout_ms: 1_000,
        ..Default::default()
    }
}

/// A good client asks, and has its answer at once.
fn asked(node: &mut SingleNodeHarness, frame: &[u8]) {
    let id = node.connect();
    node.receive(id, frame).expect("no request stops a node");
    let answer = node.take_answers(id);
    assert!(!answer.is_empty(), "a good client has no answer");
    are_whole(&answer);
    node.disconnect(id).expect("nobody is kept by leaving");
}

fn are_whole(mut answers: &[u8]) {
    while !answers.is_empty() {
        let (size, rest) = answers.split_first_chunk().expect("a size");
        let size = u32::from_be_bytes(*size) as usize;
        // At least the correlation id.
        assert!((4..=rest.len()).contains(&size), "{size} of {}", rest.len());
        answers = &rest[size..];
    }
}
