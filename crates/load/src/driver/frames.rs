//! The protocol of a driver's two pipes: frames of length (4 bytes), type (1 byte) and body. All numbers are
//! big-endian, all times CLOCK_MONOTONIC.
//!
//! The other side is in `drivers/java/KgaugeDriver.java` and `drivers/librdkafka/kgauge_driver.c`.

use kgauge_client::Secret;
use kgauge_scenario::HeadersPlan;

use super::identity::DrivenIdentity;
use crate::payload::{HeaderBytes, Payload, RecordDraft};

const TO_SETTINGS: u8 = 1;
const TO_START: u8 = 2;
const TO_RECORD: u8 = 3;
const TO_END: u8 = 4;

const FROM_READY: u8 = 1;
const FROM_REFUSED: u8 = 2;
const FROM_OUTCOMES: u8 = 3;
const FROM_STATUS: u8 = 4;
const FROM_BLOCKED: u8 = 5;
const FROM_STOPPED_TAKING: u8 = 6;
const FROM_WORDS: u8 = 7;
const FROM_ENDED: u8 = 8;
const FROM_FAILED: u8 = 9;
const FROM_PLACED_OUTCOMES: u8 = 10;

/// Length and type.
pub(super) const HEAD_BYTES: usize = 5;
/// The largest accepted frame: 24,576 outcomes with places and some overhead.
pub(super) const FRAME_BYTES_MAX: usize = 1 << 20;
const OUTCOME_BYTES: usize = 27;
/// The same with partition and offset.
const PLACED_OUTCOME_BYTES: usize = OUTCOME_BYTES + 4 + 8;

/// Replaces an intended time: as soon as the client takes it.
const AT_WILL: i64 = -1;
const NULL: i32 = -1;

/// A setting of the client, under the client's own name.
pub(super) struct Property {
    pub(super) key: String,
    pub(super) value: Secret,
    /// The value is Kafka's default: a client without such a key omits it.
    pub(super) is_default: bool,
}

/// The stages' times, and other limits of a producer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DriverStart {
    pub(super) hold_start_ns: i64,
    pub(super) hold_end_ns: i64,
    pub(super) skip_after_ns: i64,
    /// Number of records that a closed loop takes within the hold.
    pub(super) records_max: Option<u64>,
    /// Outcomes name partition and offset.
    pub(super) has_places: bool,
}

/// The frame with the topic and the client's settings.
pub(super) fn settings(topic: &str, properties: &[Property]) -> Vec<u8> {
    let mut frame = begin(TO_SETTINGS);
    put_short(&mut frame, topic);
    frame.extend_from_slice(&(properties.len() as u32).to_be_bytes());
    for property in properties {
        put_short(&mut frame, &property.key);
        let value = property.value.expose();
        frame.extend_from_slice(&(value.len() as u32).to_be_bytes());
        frame.extend_from_slice(value.as_bytes());
        frame.push(property.is_default.into());
    }
    finish(&mut frame, 0);
    frame
}

/// The frame that starts the run.
pub(super) fn start(start: &DriverStart) -> Vec<u8> {
    let mut frame = begin(TO_START);
    let records_max = start.records_max.map_or(-1, |records| records as i64);
    for number in [
        start.hold_start_ns,
        start.hold_end_ns,
        start.skip_after_ns,
        records_max,
        start.has_places.into(),
    ] {
        frame.extend_from_slice(&number.to_be_bytes());
    }
    finish(&mut frame, 0);
    frame
}

/// The frame after the last record.
pub(super) fn end() -> Vec<u8> {
    let mut frame = begin(TO_END);
    finish(&mut frame, 0);
    frame
}

/// The partition and time of a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct DueRecord {
    /// On CLOCK_MONOTONIC; `None` in a closed loop.
    pub(super) intended_ns: Option<i64>,
    /// `None` leaves the choice to the client.
    pub(super) partition: Option<u32>,
}

/// Encodes records of a flow, one after another.
pub(super) struct RecordMaker<'a> {
    payload: &'a Payload,
    /// Of verified records.
    identity: Option<DrivenIdentity>,
    draft: RecordDraft,
}

impl<'a> RecordMaker<'a> {
    pub(super) fn new(payload: &'a Payload, identity: Option<DrivenIdentity>) -> Self {
        Self {
            payload,
            identity,
            draft: RecordDraft::default(),
        }
    }

    /// Appends the frame of record `number` of the flow, the producer's `n`-th; returns the bytes of its key, value and
    /// headers.
    pub(super) fn push(&mut self, to: &mut Vec<u8>, due: DueRecord, number: u64, n: u64) -> u32 {
        let at = to.len();
        to.extend_from_slice(&[0, 0, 0, 0, TO_RECORD]);
        to.extend_from_slice(&due.intended_ns.unwrap_or(AT_WILL).to_be_bytes());
        let partition = due.partition.map_or(-1, |partition| partition as i32);
        to.extend_from_slice(&partition.to_be_bytes());
        let bytes = if self.payload.is_plain() {
            let value_bytes = self.payload.value_bytes();
            to.extend_from_slice(&NULL.to_be_bytes());
            to.extend_from_slice(&(value_bytes as u32).to_be_bytes());
            to.extend_from_slice(&0_u16.to_be_bytes());
            let value_at = to.len();
            to.resize(value_at + value_bytes, 0);
            self.payload.fill(number, n, &mut to[value_at..]);
            if let Some(identity) = self.identity {
                identity.stamp(number, n, &mut to[value_at..]);
            }
            value_bytes
        } else {
            self.payload.make(number, n, &mut self.draft);
            if let Some(identity) = self.identity {
                identity.stamp(number, n, self.draft.value_mut());
            }
            let mut list;
            let headers: &[HeaderBytes<'_>] = if self.payload.has_headers() {
                list = [("", None); HeadersPlan::COUNT_MAX as usize];
                self.payload.headers(&self.draft, &mut list)
            } else {
                &[]
            };
            put_whole(to, &self.draft, headers)
        };
        finish(to, at);
        bytes as u32
    }
}

/// Lengths of key and value and the number of headers; then their contents. Returns their bytes.
fn put_whole(to: &mut Vec<u8>, draft: &RecordDraft, headers: &[HeaderBytes<'_>]) -> usize {
    let length = |part: Option<&[u8]>| part.map_or(NULL, |part| part.len() as i32);
    let (key, value) = (draft.key(), draft.value());
    to.extend_from_slice(&length(key).to_be_bytes());
    to.extend_from_slice(&length(value).to_be_bytes());
    to.extend_from_slice(&(headers.len() as u16).to_be_bytes());
    let mut bytes = 0;
    for part in [key, value].into_iter().flatten() {
        to.extend_from_slice(part);
        bytes += part.len();
    }
    for (name, content) in headers {
        put_short(to, name);
        to.extend_from_slice(&length(*content).to_be_bytes());
        let content = content.unwrap_or_default();
        to.extend_from_slice(content);
        bytes += name.len() + content.len();
    }
    bytes
}

fn begin(kind: u8) -> Vec<u8> {
    vec![0, 0, 0, 0, kind]
}

/// Writes the length of the frame that begins at `at` and ends with the buffer.
fn finish(frame: &mut [u8], at: usize) {
    let bytes = (frame.len() - at - HEAD_BYTES) as u32;
    frame[at..at + 4].copy_from_slice(&bytes.to_be_bytes());
}

/// Names of topics, settings and headers are far below 32 KiB.
fn put_short(to: &mut Vec<u8>, text: &str) {
    to.extend_from_slice(&(text.len() as u16).to_be_bytes());
    to.extend_from_slice(text.as_bytes());
}

/// A frame from the child.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DriverFrame<'a> {
    /// The producer is ready; with the child's clock reading.
    Ready {
        now_ns: i64,
        client: String,
    },
    Refused(String),
    Failed(String),
    Outcomes(Outcomes<'a>),
    /// A heartbeat, with the number of records that have been handled.
    Status {
        handled: u64,
    },
    /// A send waited this long for buffer space.
    Blocked {
        at_ns: i64,
        ns: u64,
    },
    /// The last record has been taken.
    StoppedTaking,
    /// The message of an error code.
    Words {
        code: i16,
        words: String,
    },
    /// Every record has its outcome.
    Ended {
        starved_ns: u64,
    },
}

/// The frame at the start of `bytes` with its length; `None` if it is incomplete.
pub(super) fn read(bytes: &[u8]) -> Result<Option<(DriverFrame<'_>, usize)>, String> {
    let Some((head, rest)) = bytes.split_at_checked(HEAD_BYTES) else {
        return Ok(None);
    };
    let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
    if length > FRAME_BYTES_MAX {
        return Err(format!("it announced a frame of {length} bytes"));
    }
    let Some(body) = rest.get(..length) else {
        return Ok(None);
    };
    let kind = head[4];
    let frame = parse(kind, body)
        .ok_or_else(|| format!("a frame of type {kind} with {length} bytes is invalid"))?;
    Ok(Some((frame, HEAD_BYTES + length)))
}

fn parse(kind: u8, body: &[u8]) -> Option<DriverFrame<'_>> {
    let number = |at: usize| -> Option<i64> {
        let bytes = body.get(at..)?.first_chunk::<8>()?;
        Some(i64::from_be_bytes(*bytes))
    };
    let count = |at: usize| u64::try_from(number(at)?).ok();
    let text = |at: usize| Some(clean(body.get(at..)?));
    Some(match kind {
        FROM_READY => DriverFrame::Ready {
            now_ns: number(0)?,
            client: text(8)?,
        },
        FROM_REFUSED => DriverFrame::Refused(text(0)?),
        FROM_FAILED => DriverFrame::Failed(text(0)?),
        FROM_OUTCOMES => DriverFrame::Outcomes(Outcomes::of(body, OUTCOME_BYTES)?),
        FROM_PLACED_OUTCOMES => DriverFrame::Outcomes(Outcomes::of(body, PLACED_OUTCOME_BYTES)?),
        FROM_STATUS => DriverFrame::Status { handled: count(8)? },
        FROM_BLOCKED => DriverFrame::Blocked {
            at_ns: number(0)?,
            ns: count(8)?,
        },
        FROM_STOPPED_TAKING => DriverFrame::StoppedTaking,
        FROM_WORDS => DriverFrame::Words {
            code: i16::from_be_bytes(*body.first_chunk::<2>()?),
            words: text(2)?,
        },
        FROM_ENDED => DriverFrame::Ended {
            starved_ns: count(0)?,
        },
        _ => return None,
    })
}

/// Text from outside for messages: bounded, without control characters.
pub(super) fn clean(bytes: &[u8]) -> String {
    /// Enough to recognise it.
    const CHARS_MAX: usize = 1_000;
    let text = String::from_utf8_lossy(bytes);
    let kept = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    kept.take(CHARS_MAX).collect()
}

/// The outcomes of some records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outcomes<'a> {
    body: &'a [u8],
    entry_bytes: usize,
}

/// The outcome of one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordOutcome {
    /// The index of the fed record, from 0.
    pub(super) index: u64,
    /// When the client accepted it.
    pub(super) sent_ns: i64,
    /// When the client reported its outcome.
    pub(super) end_ns: i64,
    pub(super) fate: Fate,
    /// Kafka's error code, or one of kgauge's own.
    pub(super) code: i16,
    /// The client's choice, if it is reported and known.
    pub(super) partition: Option<u32>,
    /// The offset in the ack, if it is reported and known.
    pub(super) offset: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Acked,
    Failed,
    Indeterminate,
    /// Too late to be sent.
    Skipped,
    /// A closed loop had ended.
    Untaken,
}

impl<'a> Outcomes<'a> {
    /// `None` if the entries are of another size.
    fn of(body: &'a [u8], entry_bytes: usize) -> Option<Self> {
        let outcomes = Self { body, entry_bytes };
        body.len().is_multiple_of(entry_bytes).then_some(outcomes)
    }

    /// Each of them; `None` for an invalid one.
    pub(super) fn iter(&self) -> impl Iterator<Item = Option<RecordOutcome>> + '_ {
        self.body
            .chunks_exact(self.entry_bytes)
            .map(RecordOutcome::parse)
    }
}

impl RecordOutcome {
    fn parse(entry: &[u8]) -> Option<Self> {
        let (head, place) = entry.split_first_chunk::<OUTCOME_BYTES>()?;
        let number = |at: usize| {
            let bytes = head[at..].first_chunk::<8>()?;
            Some(i64::from_be_bytes(*bytes))
        };
        // Both are negative if the client does not know them.
        let partition = place.first_chunk::<4>();
        let partition = partition.map(|bytes| i32::from_be_bytes(*bytes));
        let offset = place.last_chunk::<8>();
        let offset = offset.map(|bytes| i64::from_be_bytes(*bytes));
        Some(Self {
            index: u64::try_from(number(0)?).ok()?,
            sent_ns: number(8)?,
            end_ns: number(16)?,
            fate: match head[24] {
                0 => Fate::Acked,
                1 => Fate::Failed,
                2 => Fate::Indeterminate,
                3 => Fate::Skipped,
                4 => Fate::Untaken,
                _ => return None,
            },
            code: i16::from_be_bytes([head[25], head[26]]),
            partition: partition.and_then(|partition| u32::try_from(partition).ok()),
            offset: offset.and_then(|offset| u64::try_from(offset).ok()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, body: &[u8]) -> Vec<u8> {
        let mut frame = begin(kind);
        frame.extend_from_slice(body);
        finish(&mut frame, 0);
        frame
    }

    #[test]
    fn a_frame_is_read_when_all_of_it_is_there() {
        let ready = frame(FROM_READY, b"\0\0\0\0\0\0\x01\0librdkafka 2.0");
        for end in 0..ready.len() {
            assert_eq!(read(&ready[..end]), Ok(None), "{end} bytes");
        }
        let expected = DriverFrame::Ready {
            now_ns: 256,
            client: "librdkafka 2.0".to_owned(),
        };
        assert_eq!(read(&ready), Ok(Some((expected, ready.len()))));
    }

    #[test]
    fn outcomes_are_parsed_by_fate() {
        let mut body = Vec::new();
        for (index, kind) in [(7_i64, 0_u8), (8, 1), (9, 5), (-1, 0)] {
            body.extend_from_slice(&index.to_be_bytes());
            body.extend_from_slice(&100_i64.to_be_bytes());
            body.extend_from_slice(&300_i64.to_be_bytes());
            body.push(kind);
            body.extend_from_slice(&(-103_i16).to_be_bytes());
        }
        let frame = frame(FROM_OUTCOMES, &body);
        let Ok(Some((DriverFrame::Outcomes(outcomes), _))) = read(&frame) else {
            panic!("outcomes are outcomes");
        };
        let found: Vec<_> = outcomes.iter().collect();
        let one = |index, fate| {
            Some(RecordOutcome {
                index,
                sent_ns: 100,
                end_ns: 300,
                fate,
                code: -103,
                partition: None,
                offset: None,
            })
        };
        assert_eq!(
            found,
            [one(7, Fate::Acked), one(8, Fate::Failed), None, None]
        );
    }

    #[test]
    fn outcomes_may_name_a_place() {
        let mut body = Vec::new();
        for (partition, offset) in [(3_i32, 1_i64 << 40), (-1, -1_001)] {
            body.extend_from_slice(&[0; OUTCOME_BYTES]);
            body.extend_from_slice(&partition.to_be_bytes());
            body.extend_from_slice(&offset.to_be_bytes());
        }
        let frame = frame(FROM_PLACED_OUTCOMES, &body);
        let Ok(Some((DriverFrame::Outcomes(outcomes), _))) = read(&frame) else {
            panic!("outcomes are outcomes");
        };
        let places = outcomes.iter().flatten();
        let places: Vec<_> = places.map(|one| (one.partition, one.offset)).collect();
        assert_eq!(places, [(Some(3), Some(1 << 40)), (None, None)]);
    }

    #[test]
    fn lying_frames_are_errors() {
        assert!(read(&[0xff, 0xff, 0xff, 0xff, FROM_STATUS]).is_err());
        for (kind, body) in [
            (FROM_READY, &b"short"[..]),
            (FROM_OUTCOMES, b"no multiple of 27 bytes"),
            (FROM_PLACED_OUTCOMES, &[0; OUTCOME_BYTES]),
            (FROM_WORDS, b"x"),
            (FROM_BLOCKED, &[0xff; 16]),
            (77, b""),
        ] {
            assert!(read(&frame(kind, body)).is_err(), "type {kind}");
        }
        let words = frame(FROM_WORDS, b"\0\x07a\nb\x1b[31m");
        let Ok(Some((DriverFrame::Words { code, words }, _))) = read(&words) else {
            panic!("words are words");
        };
        assert_eq!((code, words.as_str()), (7, "a b [31m"));
    }

    #[test]
    fn settings_stand_in_the_frame_as_they_are() {
        let property = Property {
            key: "acks".to_owned(),
            value: Secret::new("all"),
            is_default: true,
        };
        let frame = settings("t", &[property]);
        assert_eq!(
            frame,
            b"\0\0\0\x15\x01\0\x01t\0\0\0\x01\0\x04acks\0\0\0\x03all\x01"
        );
        assert_eq!(end(), [0, 0, 0, 0, 4]);
    }
}
