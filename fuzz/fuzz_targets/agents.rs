//! The agent protocol: frames out of a byte stream, greetings, messages and chunks of ledgers. No message is larger
//! than its frame, every one can be encoded again, what an agent reports can be added up, and ledgers of any bytes are
//! read to their end or refused.

#![no_main]

use kgauge_agents::AgentsSpec;
use kgauge_agents::clock::{ClockExchange, ClockTrack};
use kgauge_agents::protocol::{
    AgentFrame, AgentFrameError, AgentMessage, FrameBuffer, Greeting, LeadMessage, LedgerChunk,
    chunk_head, decode, encode,
};
use kgauge_results::PaceSeries;
use kgauge_verify::{
    ConsumerPolls, LedgerKind, LedgerReader, PartitionCheck, PartitionOutcomes, ReadExtent,
    STAMP_BYTES, Stamp, StampKey,
};
use libfuzzer_sys::fuzz_target;

const SIZE_MAX: usize = 1 << 16;

/// All frames of a stream of which `step` bytes arrive at a time, and how it ended.
fn frames(stream: &[u8], step: usize) -> (Vec<AgentFrame>, Option<AgentFrameError>) {
    let (mut buffer, mut frames) = (FrameBuffer::new(SIZE_MAX), Vec::new());
    for part in stream.chunks(step.max(1)) {
        buffer.push(part);
        loop {
            match buffer.take() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => return (frames, Some(error)),
            }
        }
    }
    (frames, None)
}

/// Clock readings that an agent may send.
fn clocks(bytes: &[u8]) {
    let mut track = ClockTrack::default();
    for readings in bytes.chunks_exact(32) {
        let reading = |at: usize| {
            let bytes = readings[at..at + 8].try_into();
            u64::from_le_bytes(bytes.unwrap_or_default())
        };
        track.add(&ClockExchange {
            sent_ns: reading(0),
            received_ns: reading(8),
            answered_ns: reading(16),
            returned_ns: reading(24),
        });
        if let Some(estimate) = track.at(reading(24)) {
            assert!(estimate.offset.low_ns <= estimate.offset.high_ns);
            let _ = estimate.to_agent_ns(reading(0));
        }
    }
}

/// What an agent may report of its records over time.
fn paces(message: &AgentMessage) {
    if let AgentMessage::Progress { paces, .. } = message {
        let mut sum = PaceSeries::default();
        for pace in paces {
            sum.add(pace);
        }
    }
}

/// The ledger of a producer or a consumer, as the lead reads what an agent has sent, beside a log of its records in an
/// order that the same bytes give.
fn ledger(bytes: &[u8]) {
    let key = StampKey::new(1);
    for kind in [LedgerKind::Plain, LedgerKind::Transactional, LedgerKind::Driven] {
        let (Ok(mut ledger), Ok(mut log)) = (LedgerReader::new(bytes), LedgerReader::new(bytes))
        else {
            return;
        };
        let mut outcomes = PartitionOutcomes::new(0);
        let polls = ConsumerPolls::read(&mut log, 0, Some(0));
        if let (Ok(()), Ok(polls)) = (outcomes.add(&mut ledger, kind), polls) {
            let mut polls = vec![polls];
            ConsumerPolls::note_unread(&mut polls);
            let mut check = PartitionCheck::new(key, outcomes, polls);
            for (offset, byte) in (0..).zip(bytes) {
                let mut value = [0; STAMP_BYTES];
                let stamp = Stamp {
                    producer: ledger.producer(),
                    partition: 0,
                    sequence: u64::from(*byte),
                    number: 0,
                };
                key.write(&stamp, &mut value);
                check.note_batch(offset, u32::from(*byte));
                check.note(offset, Some(&value), |_| *byte > 0);
            }
            let verdict = check.finish(ReadExtent {
                log_start: 3,
                read_end: bytes.len() as u64,
                is_complete: true,
            });
            assert!(verdict.confirmed <= verdict.read);
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let whole = frames(input, input.len());
    assert_eq!(frames(input, 3), whole);
    for frame in whole.0 {
        let _ = Greeting::decode(&frame);
        if let Ok(message) = decode::<LeadMessage>(&frame.content) {
            assert!(encode(&message).is_ok());
        }
        if let Ok(message) = decode::<AgentMessage>(&frame.content) {
            assert!(encode(&message).is_ok());
            paces(&message);
        }
        if let Ok(chunk) = LedgerChunk::decode(&frame.content) {
            let head = chunk_head(chunk.name);
            assert_eq!([&head[..], chunk.entries].concat(), frame.content);
            ledger(chunk.entries);
        }
    }
    clocks(input);
    if let Ok(text) = std::str::from_utf8(input)
        && let Ok(spec) = text.parse::<AgentsSpec>()
    {
        assert_eq!(spec.to_string().parse(), Ok(spec));
    }
});
