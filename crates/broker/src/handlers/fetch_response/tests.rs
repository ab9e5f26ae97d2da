//! The handwritten answer against the generated codec, in every served version.

use std::path::Path;

use kgauge_wire::api::ApiKey;
use kgauge_wire::codec::{Bytes, Str};
use kgauge_wire::frame::put_response;
use kgauge_wire::messages::fetch::{FetchResponse, FetchableTopicResponse, PartitionData};

use super::*;
use crate::node::Ticket;
use crate::storage::{MemoryStorage, OpenMode, Storage};

fn slice(content: &[u8]) -> FileSlice {
    let storage = MemoryStorage::new();
    storage.create_dir_all(Path::new("/d")).unwrap();
    let file = storage
        .open(Path::new("/d/f"), OpenMode::CreateOrOpen)
        .unwrap();
    file.write_at(content, 0).unwrap();
    FileSlice {
        file,
        offset: 1,
        len: content.len() - 2,
    }
}

fn answer(index: i32, error: ErrorCode, records: Option<FileSlice>) -> FetchedPartition {
    FetchedPartition {
        index,
        error,
        high_watermark: 70 + i64::from(index),
        last_stable_offset: 60,
        log_start_offset: 5,
        preferred_read_replica: index - 1,
        records,
    }
}

fn generated(answer: &FetchedPartition, version: i16, records: &[u8]) -> PartitionData<'static> {
    PartitionData {
        partition_index: answer.index,
        error_code: answer.error.as_i16(),
        high_watermark: answer.high_watermark,
        last_stable_offset: answer.last_stable_offset,
        log_start_offset: if version >= 5 {
            answer.log_start_offset
        } else {
            -1
        },
        preferred_read_replica: if version >= 11 {
            answer.preferred_read_replica
        } else {
            -1
        },
        aborted_transactions: None,
        records: Some(Bytes::Owned(records.to_vec())),
        ..PartitionData::default()
    }
}

#[test]
fn every_version_has_the_bytes_of_the_generated_codec() {
    for version in super::super::served_versions(ApiKey::Fetch).unwrap() {
        let id = Uuid([7; 16]);
        let partitions = vec![
            answer(0, ErrorCode::None, Some(slice(b"<one batch>"))),
            answer(1, ErrorCode::OffsetOutOfRange, None),
            answer(2, ErrorCode::None, Some(slice(b"<two>"))),
        ];
        let expected = FetchResponse {
            responses: vec![FetchableTopicResponse {
                topic: if version >= 13 {
                    Str::Borrowed("")
                } else {
                    Str::Borrowed("t")
                },
                topic_id: if version >= 13 { id } else { Uuid::ZERO },
                partitions: vec![
                    generated(&partitions[0], version, b"one batch"),
                    generated(&partitions[1], version, b""),
                    generated(&partitions[2], version, b"two"),
                ],
            }],
            ..FetchResponse::default()
        };
        let mut bytes = Vec::new();
        put_response(&mut bytes, ApiKey::Fetch, version, 99, &expected).unwrap();
        let ticket = Ticket::for_tests();
        let reply = Reply {
            ticket,
            api: ApiKey::Fetch,
            version,
            correlation_id: 99,
            course: None,
        };
        let topics = [TopicAnswer {
            name: "t",
            id,
            partitions,
        }];
        let response = encode(reply, 0, ErrorCode::None, &topics).unwrap();
        assert_eq!(response.to_bytes().unwrap(), bytes, "version {version}");
    }
}
