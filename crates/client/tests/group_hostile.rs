//! A member of a group whose coordinator lies, stalls or moves: an error in words or another try, and
//! never a panic or a wait without end.

#![allow(clippy::unwrap_used, reason = "tests")]

mod fake;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use fake::{Asked, broker, config};
use kgauge_client::group::{Beat, GroupError, GroupMember, GroupSettings};
use kgauge_client::{Address, Cluster};
use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::find_coordinator::Coordinator;
use kgauge_wire::messages::join_group::JoinGroupResponseMember;
use kgauge_wire::messages::metadata::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use kgauge_wire::messages::{
    FindCoordinatorResponse, HeartbeatResponse, JoinGroupRequest, JoinGroupResponse,
    LeaveGroupResponse, MetadataResponse, OffsetCommitResponse, OffsetFetchResponse,
    SyncGroupResponse,
};

/// Version 1; one topic "t"; no user data, nothing owned.
const WISH: &[u8] = b"\x00\x01\x00\x00\x00\x01\x00\x01t\xff\xff\xff\xff\x00\x00\x00\x00";
/// Version 0; "t" with partition 0.
const ASSIGNED: &[u8] =
    b"\x00\x00\x00\x00\x00\x01\x00\x01t\x00\x00\x00\x01\x00\x00\x00\x00\xff\xff\xff\xff";

fn picture(address: &Address) -> MetadataResponse<'static> {
    MetadataResponse {
        brokers: vec![MetadataResponseBroker {
            node_id: 1,
            host: address.host.clone().into(),
            port: i32::from(address.port),
            rack: None,
        }],
        controller_id: 1,
        topics: vec![MetadataResponseTopic {
            name: Some("t".into()),
            partitions: vec![MetadataResponsePartition {
                leader_id: 1,
                ..MetadataResponsePartition::default()
            }],
            ..MetadataResponseTopic::default()
        }],
        ..MetadataResponse::default()
    }
}

/// What an honest coordinator says to the only member.
fn joined() -> JoinGroupResponse<'static> {
    JoinGroupResponse {
        generation_id: 1,
        protocol_type: Some("consumer".into()),
        protocol_name: Some("range".into()),
        leader: "me".into(),
        member_id: "me".into(),
        members: vec![JoinGroupResponseMember {
            member_id: "me".into(),
            group_instance_id: None,
            metadata: WISH.into(),
        }],
        ..JoinGroupResponse::default()
    }
}

fn refused(code: ErrorCode) -> JoinGroupResponse<'static> {
    JoinGroupResponse {
        error_code: code.as_i16(),
        ..joined()
    }
}

fn synced(assignment: &'static [u8]) -> SyncGroupResponse<'static> {
    SyncGroupResponse {
        assignment: assignment.into(),
        ..SyncGroupResponse::default()
    }
}

/// A member of group `g`; `answer` gets what it asks of its coordinator, and how much that was before;
/// what it leaves open is answered honestly.
fn member(mut answer: impl FnMut(&Asked, u32) -> Option<Vec<u8>> + Send + 'static) -> GroupMember {
    let known: Arc<OnceLock<Address>> = Arc::default();
    let itself = known.clone();
    let mut count = 0;
    let address = broker(move |asked| {
        let address = itself.get().unwrap();
        let coordinator = Coordinator {
            node_id: 1,
            host: address.host.clone().into(),
            port: i32::from(address.port),
            ..Coordinator::default()
        };
        match asked.api {
            ApiKey::Metadata => return Some(asked.answer(&picture(address))),
            ApiKey::FindCoordinator => {
                return Some(asked.answer(&FindCoordinatorResponse {
                    coordinators: vec![coordinator],
                    ..FindCoordinatorResponse::default()
                }));
            }
            _ => {}
        }
        count += 1;
        answer(asked, count - 1).or_else(|| match asked.api {
            ApiKey::JoinGroup => Some(asked.answer(&joined())),
            ApiKey::SyncGroup => Some(asked.answer(&synced(ASSIGNED))),
            ApiKey::Heartbeat => Some(asked.answer(&HeartbeatResponse::default())),
            ApiKey::LeaveGroup => Some(asked.answer(&LeaveGroupResponse::default())),
            _ => None,
        })
    });
    known.set(address.clone()).unwrap();
    let mut config = config(&[&address]);
    config.api_timeout = Duration::from_millis(300);
    let mut settings = GroupSettings::new("g", "t");
    settings.rebalance_timeout = Duration::from_millis(100);
    GroupMember::new(Cluster::bootstrap(config).unwrap(), settings)
}

/// The error of a member that gets this answer to its first JoinGroup.
fn join_error(answer: JoinGroupResponse<'static>) -> String {
    let mut member =
        member(move |asked, _| (asked.api == ApiKey::JoinGroup).then(|| asked.answer(&answer)));
    member.join().unwrap_err().to_string()
}

#[test]
fn invalid_answers_are_reported() {
    let strange = JoinGroupResponse {
        protocol_name: Some("sticky".into()),
        ..joined()
    };
    assert!(join_error(strange).contains("did not offer"));
    let nameless = JoinGroupResponse {
        member_id: "".into(),
        ..joined()
    };
    assert!(join_error(nameless).contains("without id or generation"));
    let unwilling = JoinGroupResponse {
        member_id: "".into(),
        ..refused(ErrorCode::MemberIdRequired)
    };
    assert!(join_error(unwilling).contains("requires a member id but gives none"));
    let garbled = JoinGroupResponse {
        members: vec![JoinGroupResponseMember {
            member_id: "other".into(),
            group_instance_id: None,
            metadata: b"\x00\x01\x7f\xff\xff\xff"[..].into(),
        }],
        ..joined()
    };
    assert!(join_error(garbled).contains("the subscription of member other"));
}

#[test]
fn an_invalid_assignment_is_refused() {
    for (lie, words) in [
        (
            &b"\x00\x00\x00\x00\x00\x01\x00\x01x\x00\x00\x00\x00\xff\xff\xff\xff"[..],
            "topic x",
        ),
        (&b"\x00\x00\x7f\xff\xff\xff"[..], "response is invalid"),
        (&b"\x00"[..], "response is invalid"),
    ] {
        let mut member = member(move |asked, _| {
            (asked.api == ApiKey::SyncGroup).then(|| asked.answer(&synced(lie)))
        });
        let error = member.join().unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_group_that_never_settles_is_given_up() {
    let mut member = member(|asked, _| {
        (asked.api == ApiKey::JoinGroup)
            .then(|| asked.answer(&refused(ErrorCode::RebalanceInProgress)))
    });
    let error = member.join().unwrap_err();
    assert!(matches!(error, GroupError::NotSettled { .. }), "{error}");
    assert!(
        error.to_string().contains("REBALANCE_IN_PROGRESS"),
        "{error}"
    );
}

#[test]
fn what_never_passes_is_an_error_at_once_with_a_cure() {
    for (code, fix) in [
        (
            ErrorCode::InvalidSessionTimeout,
            "group.max.session.timeout.ms",
        ),
        (ErrorCode::GroupAuthorizationFailed, "allow this client"),
        (ErrorCode::GroupMaxSizeReached, "group.max.size"),
        (ErrorCode::FencedInstanceId, "group.instance.id"),
    ] {
        let mut member = member(move |asked, count| {
            assert_eq!(count, 0, "asked once");
            Some(asked.answer(&refused(code)))
        });
        let error = member.join().unwrap_err();
        assert!(error.to_string().contains(&code.to_string()), "{error}");
        assert!(error.fix().contains(fix), "{}", error.fix());
    }
}

#[test]
fn a_required_member_id_is_used_and_a_coordinator_that_moves_is_followed() {
    let mut member = member(|asked, count| match count {
        0 => Some(asked.answer(&JoinGroupResponse {
            member_id: "given".into(),
            ..refused(ErrorCode::MemberIdRequired)
        })),
        1 => {
            assert_eq!(asked.message::<JoinGroupRequest<'_>>().member_id, "given");
            Some(asked.answer(&refused(ErrorCode::NotCoordinator)))
        }
        2 => Some(asked.answer(&refused(ErrorCode::UnknownMemberId))),
        3 => {
            assert_eq!(asked.message::<JoinGroupRequest<'_>>().member_id, "");
            None
        }
        _ => None,
    });
    let assignment = member.join().unwrap();
    assert_eq!(assignment.partitions["t"], [0]);
    assert_eq!((assignment.generation, member.member_id()), (1, "me"));
}

#[test]
fn every_answer_to_a_heartbeat_has_its_meaning() {
    let meanings = [
        (ErrorCode::None, Beat::Stable),
        (ErrorCode::CoordinatorNotAvailable, Beat::Unsure),
        (ErrorCode::NotCoordinator, Beat::Unsure),
        (ErrorCode::RebalanceInProgress, Beat::Rebalance),
        (
            ErrorCode::IllegalGeneration,
            Beat::Lost(ErrorCode::IllegalGeneration),
        ),
        (
            ErrorCode::UnknownMemberId,
            Beat::Lost(ErrorCode::UnknownMemberId),
        ),
    ];
    for (code, meaning) in meanings {
        let mut member = member(move |asked, _| {
            let answer = HeartbeatResponse {
                error_code: code.as_i16(),
                ..HeartbeatResponse::default()
            };
            (asked.api == ApiKey::Heartbeat).then(|| asked.answer(&answer))
        });
        member.join().unwrap();
        assert_eq!(member.heartbeat().unwrap(), meaning);
        let commit = member.commit("t", &[(0, 1)]).unwrap_err();
        let is_lost = matches!(meaning, Beat::Lost(_));
        let is_outdated = matches!(commit, GroupError::Outdated { .. });
        assert_eq!(
            is_outdated, is_lost,
            "who is lost does not even ask: {commit}"
        );
    }
}

#[test]
fn partitions_that_are_not_answered_are_missed() {
    let mut member = member(|asked, _| match asked.api {
        ApiKey::OffsetCommit => Some(asked.answer(&OffsetCommitResponse::default())),
        ApiKey::OffsetFetch => Some(asked.answer(&OffsetFetchResponse::default())),
        _ => None,
    });
    member.join().unwrap();
    let error = member.commit("t", &[(0, 1)]).unwrap_err().to_string();
    assert!(
        error.contains("does not mention the commit of t-0"),
        "{error}"
    );
    let error = member.committed("t", &[0]).unwrap_err().to_string();
    assert!(
        error.contains("does not mention the offset of t-0"),
        "{error}"
    );
}
