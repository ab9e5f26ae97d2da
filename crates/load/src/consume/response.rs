//! Decodes Fetch responses without building them.

use kgauge_scenario::ConsumerSettings;
use kgauge_wire::codec::{DecodeError, Lengths, Reader};

use super::request::FLEXIBLE_FROM;
use crate::hand_codec::{read_count, skip_tags};

/// One partition of a Fetch response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PartitionData<'a> {
    /// The partition.
    pub(crate) partition: i32,
    /// Kafka's error code, 0 for none.
    pub(crate) error: i16,
    /// The first offset that consumers cannot read yet.
    pub(crate) high_watermark: i64,
    /// Every transaction before it has ended; -1 if the version lacks it.
    pub(crate) last_stable_offset: i64,
    /// With `read_committed`: the aborted transactions.
    pub(crate) aborted: Vec<AbortedRange>,
    /// Record batches as stored in the log; the last one may be cut off.
    pub(crate) records: &'a [u8],
}

/// An aborted transaction, whose records are skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AbortedRange {
    pub(crate) producer_id: i64,
    pub(crate) first_offset: i64,
}

/// The response-level fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FetchOutcome {
    pub(crate) throttle_ms: u32,
    pub(crate) error: i16,
}

/// Size limit of a response, for a consumer of up to this many partitions.
///
/// It may exceed `fetch.max.bytes` by its first batch and by its framing. Before Fetch 3 (KIP-74) there is no such
/// limit, only one per partition.
pub(crate) fn response_bytes_max(settings: &ConsumerSettings, partitions: u32) -> usize {
    const EXTRA: usize = 64 << 20;
    let each = settings.partition_fetch_bytes_max as usize;
    let all = each.saturating_mul(partitions as usize);
    all.max(settings.fetch_bytes_max as usize)
        .saturating_add(EXTRA)
}

/// Decodes the body of a response (after its correlation id) and calls `each` for every partition, with its topic.
pub(crate) fn read<'a>(
    body: &'a [u8],
    version: i16,
    mut each: impl FnMut(&str, PartitionData<'a>),
) -> Result<FetchOutcome, DecodeError> {
    let lengths = Lengths::of(version, FLEXIBLE_FROM);
    let mut reader = Reader::new(body);
    skip_tags(&mut reader, lengths)?;
    let throttle_ms = match version {
        0 => 0,
        _ => u32::try_from(reader.read_i32()?).unwrap_or(0),
    };
    let mut error = 0;
    if version >= 7 {
        error = reader.read_i16()?;
        reader.read_i32()?; // The session id; none was requested.
    }
    for _ in 0..read_count(&mut reader, lengths)? {
        let topic = reader.read_nullable_string(lengths)?.unwrap_or_default();
        for _ in 0..read_count(&mut reader, lengths)? {
            each(&topic, partition(&mut reader, version, lengths)?);
        }
        skip_tags(&mut reader, lengths)?;
    }
    skip_tags(&mut reader, lengths)?;
    Ok(FetchOutcome { throttle_ms, error })
}

fn partition<'a>(
    reader: &mut Reader<'a>,
    version: i16,
    lengths: Lengths,
) -> Result<PartitionData<'a>, DecodeError> {
    let partition = reader.read_i32()?;
    let error = reader.read_i16()?;
    let high_watermark = reader.read_i64()?;
    let last_stable_offset = match version {
        ..=3 => -1,
        _ => reader.read_i64()?,
    };
    if version >= 5 {
        reader.read_i64()?; // Log start offset.
    }
    let count = match version {
        ..=3 => 0,
        _ => read_count(reader, lengths)?,
    };
    let mut aborted = Vec::new();
    for _ in 0..count {
        aborted.push(AbortedRange {
            producer_id: reader.read_i64()?,
            first_offset: reader.read_i64()?,
        });
        skip_tags(reader, lengths)?;
    }
    if version >= 11 {
        reader.read_i32()?; // The preferred read replica.
    }
    let bytes = read_count(reader, lengths)?;
    let records = reader.read_slice(bytes)?;
    skip_tags(reader, lengths)?;
    Ok(PartitionData {
        partition,
        error,
        high_watermark,
        last_stable_offset,
        aborted,
        records,
    })
}

#[cfg(test)]
mod tests {
    use kgauge_wire::messages::Message;
    use kgauge_wire::messages::fetch::{
        AbortedTransaction, FetchResponse, FetchableTopicResponse, PartitionData as Wire,
    };

    use super::super::request::VERSIONS;
    use super::*;

    fn response(version: i16) -> Vec<u8> {
        let full = Wire {
            partition_index: 2,
            high_watermark: 70,
            last_stable_offset: if version >= 4 { 60 } else { -1 },
            aborted_transactions: (version >= 4).then(|| {
                vec![AbortedTransaction {
                    producer_id: 1,
                    first_offset: 5,
                }]
            }),
            records: Some(b"batches".as_slice().into()),
            ..Default::default()
        };
        let refused = Wire {
            partition_index: 4,
            error_code: 6,
            ..Default::default()
        };
        let message = FetchResponse {
            throttle_time_ms: if version >= 1 { 9 } else { 0 },
            responses: vec![FetchableTopicResponse {
                topic: "orders".into(),
                partitions: vec![full, refused],
                ..Default::default()
            }],
            ..Default::default()
        };
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
            let mut parts = Vec::new();
            let outcome = read(&bytes, version, |topic, part| {
                assert_eq!(topic, "orders");
                parts.push(part);
            })
            .unwrap();
            assert_eq!(
                outcome,
                FetchOutcome {
                    throttle_ms: if version >= 1 { 9 } else { 0 },
                    error: 0
                },
                "version {version}"
            );
            let summary: Vec<_> = parts
                .iter()
                .map(|part| {
                    (
                        part.partition,
                        part.error,
                        part.high_watermark,
                        part.records,
                    )
                })
                .collect();
            assert_eq!(summary[0], (2, 0, 70, b"batches".as_slice()));
            let (stable, aborted) = (parts[0].last_stable_offset, &parts[0].aborted);
            let expected = AbortedRange {
                producer_id: 1,
                first_offset: 5,
            };
            match version {
                ..=3 => assert_eq!((stable, aborted.len()), (-1, 0)),
                _ => assert_eq!((stable, aborted.as_slice()), (60, [expected].as_slice())),
            }
            assert_eq!(
                (summary[1].0, summary[1].1, summary[1].3),
                (4, 6, b"".as_slice())
            );
        }
    }

    #[test]
    fn a_response_cut_anywhere_is_an_error_and_no_panic() {
        for version in VERSIONS {
            let bytes = response(version);
            for end in 0..bytes.len() {
                assert!(
                    read(&bytes[..end], version, |_, _| ()).is_err(),
                    "{version}: {end}"
                );
            }
        }
    }

    #[test]
    fn the_answer_of_an_old_broker_may_hold_every_partitions_share() {
        let settings = |fetch, partition| ConsumerSettings {
            fetch_bytes_min: 1,
            fetch_wait_ns_max: 0,
            fetch_bytes_max: fetch,
            partition_fetch_bytes_max: partition,
            check_crcs: true,
            read_committed: false,
            request_timeout_ns: 1,
            receive_buffer_bytes: None,
            send_buffer_bytes: None,
            client_id: String::new(),
        };
        let extra = 64 << 20;
        assert_eq!(response_bytes_max(&settings(1000, 10), 5), 1000 + extra);
        assert_eq!(
            response_bytes_max(&settings(50 << 20, 1 << 20), 200),
            (200 << 20) + extra
        );
    }
}
