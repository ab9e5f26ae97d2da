//! The rules that all messages follow, each with a known answer.

use kgauge_wire::codec::{DecodeError, EncodeError, Uuid};
use kgauge_wire::messages::{
    ApiVersionsResponse, CreateTopicsRequest, FetchRequest, HeartbeatRequest, HeartbeatResponse,
    JoinGroupRequest, ListOffsetsRequest, Message, MetadataRequest, MetadataRequestTopic,
    ProduceRequest, SaslAuthenticateRequest, TopicProduceData,
};

fn encoded<'a>(message: &impl Message<'a>, version: i16) -> Result<Vec<u8>, EncodeError> {
    let mut out = Vec::new();
    message.encode(&mut out, version).map(|()| out)
}

#[test]
fn a_field_that_the_version_lacks_must_have_its_default() {
    let mut request = ProduceRequest {
        transactional_id: Some("t".into()),
        ..Default::default()
    };
    let what = "ProduceRequest.TransactionalId";
    assert_eq!(
        encoded(&request, 2),
        Err(EncodeError::NotCarried { what, version: 2 })
    );
    assert!(encoded(&request, 3).is_ok());
    request.transactional_id = None;
    assert!(encoded(&request, 2).is_ok());
}

#[test]
fn a_field_that_may_be_ignored_is_left_out_silently() {
    let topic = TopicProduceData {
        topic_id: Uuid([7; 16]),
        ..Default::default()
    };
    let request = ProduceRequest {
        topic_data: vec![topic],
        ..Default::default()
    };
    let bytes = encoded(&request, 12).unwrap();
    let read = ProduceRequest::decode_exact(&bytes, 12).unwrap();
    assert_eq!(read.topic_data[0].topic_id, Uuid::ZERO);
}

#[test]
fn null_is_refused_where_the_version_does_not_allow_it() {
    let request = MetadataRequest {
        topics: None,
        ..Default::default()
    };
    let what = "MetadataRequest.Topics";
    assert_eq!(
        encoded(&request, 0),
        Err(EncodeError::Null { what, version: 0 })
    );
    assert_eq!(encoded(&request, 1), Ok(vec![0xff; 4]));
    assert_eq!(MetadataRequest::decode_exact(&[0xff; 4], 1), Ok(request));
    let refused = MetadataRequest::decode_exact(&[0xff; 4], 0);
    assert_eq!(refused, Err(DecodeError::Null { what }));
}

#[test]
fn an_unknown_version_is_refused_both_ways() {
    let message = "HeartbeatRequest";
    let request = HeartbeatRequest::default();
    assert_eq!(
        encoded(&request, 5),
        Err(EncodeError::Version {
            message,
            version: 5
        })
    );
    let read = HeartbeatRequest::decode_exact(&[], -1);
    assert_eq!(
        read,
        Err(DecodeError::Version {
            message,
            version: -1
        })
    );
}

#[test]
fn defaults_are_those_of_the_definitions() {
    let fetch = FetchRequest::default();
    assert_eq!(
        (fetch.max_bytes, fetch.session_epoch, fetch.replica_id),
        (i32::MAX, -1, -1)
    );
    assert_eq!(fetch.replica_state.replica_id, -1);
    assert_eq!(CreateTopicsRequest::default().timeout_ms, 60_000);
    assert_eq!(JoinGroupRequest::default().group_instance_id, None);
    assert_eq!(MetadataRequest::default().topics, Some(Vec::new()));
    assert!(MetadataRequest::default().allow_auto_topic_creation);
    assert_eq!(ApiVersionsResponse::default().finalized_features_epoch, -1);
    assert_eq!(ListOffsetsRequest::default().isolation_level, 0);
}

#[test]
fn a_field_that_was_not_on_the_wire_has_its_default() {
    let bytes = encoded(&FetchRequest::default(), 0).unwrap();
    let read = FetchRequest::decode_exact(&bytes, 0).unwrap();
    assert_eq!((read.max_bytes, read.session_epoch), (i32::MAX, -1));
}

#[test]
fn a_string_above_the_limit_is_refused_both_ways() {
    let name = "x".repeat(32_768);
    let topic = MetadataRequestTopic {
        name: Some(name.as_str().into()),
        ..Default::default()
    };
    let request = MetadataRequest {
        topics: Some(vec![topic]),
        ..Default::default()
    };
    for version in [1, 9] {
        let refused = encoded(&request, version);
        assert!(matches!(
            refused,
            Err(EncodeError::TooLong { length: 32_768, .. })
        ));
    }
    // One topic: a topic id of zeros, then a compact name of 32,768 bytes.
    let mut bytes = [&[2][..], &[0; 16], &[0x81, 0x80, 0x02], name.as_bytes()].concat();
    bytes.extend([0, 1, 0, 0]);
    let refused = MetadataRequest::decode_exact(&bytes, 12);
    assert!(
        matches!(refused, Err(DecodeError::Length { length: 32_768, .. })),
        "{refused:?}"
    );
}

#[test]
fn text_that_is_not_utf_8_is_refused() {
    let bytes = [0, 2, 0xc3, 0x28, 0, 0, 0, 1, 0, 0];
    let refused = HeartbeatRequest::decode_exact(&bytes, 0);
    assert_eq!(
        refused,
        Err(DecodeError::Utf8 {
            what: "HeartbeatRequest.GroupId"
        })
    );
}

#[test]
fn unknown_tagged_fields_are_skipped() {
    // Throttle time 1, error 27, then two tagged fields that nobody knows.
    let bytes = [0, 0, 0, 1, 0, 27, 2, 9, 1, 0xaa, 0x80, 0x01, 0];
    let read = HeartbeatResponse::decode_exact(&bytes, 4);
    assert_eq!(
        read,
        Ok(HeartbeatResponse {
            throttle_time_ms: 1,
            error_code: 27
        })
    );
}

#[test]
fn a_tagged_field_must_fill_its_size() {
    // ApiVersionsResponse 3: no error, no APIs, no throttle, one tag: the features' epoch.
    let head = [0, 0, 1, 0, 0, 0, 0, 1, 1];
    let good = [&head[..], &[8, 0, 0, 0, 0, 0, 0, 0, 5]].concat();
    let read = ApiVersionsResponse::decode_exact(&good, 3).unwrap();
    assert_eq!(read.finalized_features_epoch, 5);
    let long = [&head[..], &[9, 0, 0, 0, 0, 0, 0, 0, 5, 0]].concat();
    let what = "ApiVersionsResponse.FinalizedFeaturesEpoch";
    let refused = ApiVersionsResponse::decode_exact(&long, 3);
    assert_eq!(refused, Err(DecodeError::Trailing { what, remaining: 1 }));
    let short = [&head[..], &[7, 0, 0, 0, 0, 0, 0, 0, 5]].concat();
    let refused = ApiVersionsResponse::decode_exact(&short, 3);
    assert_eq!(
        refused,
        Err(DecodeError::Truncated {
            what,
            required: 8,
            remaining: 7
        })
    );
}

#[test]
fn errors_say_what_was_read_and_what_was_there() {
    let error = HeartbeatResponse::decode_exact(&[0, 0, 0, 1, 0], 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "HeartbeatResponse.ErrorCode: 2 bytes required, 1 remain"
    );
    let error = MetadataRequest::decode_exact(&[0x7f, 0, 0, 0, 0, 0], 1).unwrap_err();
    let text =
        "MetadataRequest.Topics: a length of 2130706432 cannot be true with 2 bytes remaining";
    assert_eq!(error.to_string(), text);
}

#[test]
fn decoded_bytes_are_borrowed() {
    let bytes = [0, 0, 0, 3, 7, 8, 9];
    let read = SaslAuthenticateRequest::decode_exact(&bytes, 0).unwrap();
    assert!(matches!(
        read.auth_bytes,
        std::borrow::Cow::Borrowed([7, 8, 9])
    ));
}
