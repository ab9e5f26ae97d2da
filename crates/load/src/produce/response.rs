//! Decodes Produce responses without building them.

use kgauge_wire::codec::{DecodeError, Lengths, Reader, Str};

use super::request::FLEXIBLE_FROM;
use crate::hand_codec::{read_count, skip_tags};

/// One batch of a Produce response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BatchAnswer<'a> {
    /// The partition.
    pub(crate) partition: i32,
    /// Kafka's error code, 0 for none.
    pub(crate) error: i16,
    /// The offset of the batch's first record; negative if there is none.
    pub(crate) base_offset: i64,
    /// The broker's message, if any.
    pub(crate) message: Option<Str<'a>>,
}

/// Decodes the body of a response (after its correlation id), calls `each` for every partition, and returns the
/// throttle time in ms.
pub(crate) fn read<'a>(
    body: &'a [u8],
    version: i16,
    mut each: impl FnMut(BatchAnswer<'a>),
) -> Result<u32, DecodeError> {
    let lengths = Lengths::of(version, FLEXIBLE_FROM);
    let mut reader = Reader::new(body);
    skip_tags(&mut reader, lengths)?;
    for _ in 0..read_count(&mut reader, lengths)? {
        reader.read_nullable_string(lengths)?;
        for _ in 0..read_count(&mut reader, lengths)? {
            each(partition(&mut reader, version, lengths)?);
        }
        skip_tags(&mut reader, lengths)?;
    }
    let throttle_ms = match version {
        0 => 0,
        _ => reader.read_i32()?,
    };
    skip_tags(&mut reader, lengths)?;
    Ok(u32::try_from(throttle_ms).unwrap_or(0))
}

fn partition<'a>(
    reader: &mut Reader<'a>,
    version: i16,
    lengths: Lengths,
) -> Result<BatchAnswer<'a>, DecodeError> {
    let partition = reader.read_i32()?;
    let error = reader.read_i16()?;
    let base_offset = reader.read_i64()?;
    // The log append time since version 2, the log start offset since version 5.
    reader.read_slice(match version {
        ..=1 => 0,
        2..=4 => 8,
        _ => 16,
    })?;
    let mut message = None;
    if version >= 8 {
        for _ in 0..read_count(reader, lengths)? {
            reader.read_i32()?;
            reader.read_nullable_string(lengths)?;
            skip_tags(reader, lengths)?;
        }
        message = reader.read_nullable_string(lengths)?;
    }
    skip_tags(reader, lengths)?;
    Ok(BatchAnswer {
        partition,
        error,
        base_offset,
        message,
    })
}

#[cfg(test)]
mod tests {
    use kgauge_wire::messages::Message;
    use kgauge_wire::messages::produce::{
        BatchIndexAndErrorMessage, PartitionProduceResponse, ProduceResponse, TopicProduceResponse,
    };

    use super::super::request::VERSIONS;
    use super::*;

    fn response(version: i16) -> Vec<u8> {
        let refused = PartitionProduceResponse {
            index: 3,
            error_code: 87,
            error_message: (version >= 8).then(|| "broken".into()),
            record_errors: if version >= 8 {
                vec![BatchIndexAndErrorMessage {
                    batch_index: 1,
                    batch_index_error_message: Some("why".into()),
                }]
            } else {
                Vec::new()
            },
            ..Default::default()
        };
        let good = PartitionProduceResponse {
            index: 1,
            base_offset: 55,
            ..Default::default()
        };
        let message = ProduceResponse {
            responses: vec![TopicProduceResponse {
                name: "orders".into(),
                partition_responses: vec![good, refused],
                ..Default::default()
            }],
            throttle_time_ms: if version >= 1 { 250 } else { 0 },
            ..Default::default()
        };
        // The response header's tags come first, if the version has them.
        let mut bytes = if version >= FLEXIBLE_FROM {
            vec![0]
        } else {
            Vec::new()
        };
        message.encode(&mut bytes, version).unwrap();
        bytes
    }

    #[test]
    fn every_version_is_read_as_the_generated_message_writes_it() {
        for version in VERSIONS {
            let bytes = response(version);
            let mut answers = Vec::new();
            let throttle_ms = read(&bytes, version, |answer| answers.push(answer)).unwrap();
            let expected = if version >= 1 { 250 } else { 0 };
            assert_eq!(throttle_ms, expected, "version {version}");
            let message = (version >= 8).then_some("broken".into());
            assert_eq!(
                answers,
                [
                    BatchAnswer {
                        partition: 1,
                        error: 0,
                        base_offset: 55,
                        message: None
                    },
                    BatchAnswer {
                        partition: 3,
                        error: 87,
                        base_offset: 0,
                        message
                    },
                ]
            );
        }
    }

    #[test]
    fn a_response_cut_anywhere_is_an_error_and_no_panic() {
        for version in VERSIONS {
            let bytes = response(version);
            for end in 0..bytes.len() {
                assert!(
                    read(&bytes[..end], version, |_| ()).is_err(),
                    "{version}: {end}"
                );
            }
        }
    }

    #[test]
    fn a_lying_count_ends_with_the_bytes() {
        let mut lying = vec![0];
        lying.extend_from_slice(&[0xff, 0xff, 0xff, 0xff, 0x0f]);
        assert!(read(&lying, 12, |_| ()).is_err());
    }
}
