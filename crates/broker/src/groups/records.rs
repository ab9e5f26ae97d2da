//! Records of the offsets topic, byte for byte as Kafka writes them: committed offsets and groups.
//!
//! | key | value |
//! |---|---|
//! | `OffsetCommitKey` version 1: group, topic, partition | `OffsetCommitValue`, written as version 3 |
//! | `GroupMetadataKey` version 2: group | `GroupMetadataValue`, written as version 3 |
//!
//! Each begins with its version in two bytes; a null value takes the key's value back. The
//! definitions are those of Kafka's group coordinator. Values of versions 0 to 3 are read.

use kgauge_wire::codec::{
    DecodeError, EncodeError, Lengths, Reader, put_array_length, put_bytes, put_i16, put_i32,
    put_i64, put_null_string, put_string,
};

const OFFSET_KEY: i16 = 1;
const GROUP_KEY: i16 = 2;
const VALUE_VERSION: i16 = 3;
const FIXED: Lengths = Lengths::Fixed;

/// The content of a record's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum GroupRecordKey {
    Offset {
        group: String,
        topic: String,
        partition: i32,
    },
    Group(String),
}

/// A committed offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommittedOffset {
    pub(crate) offset: i64,
    pub(crate) leader_epoch: i32,
    pub(crate) metadata: String,
    /// When, ms since 1970.
    pub(crate) commit_ms: i64,
}

/// A group as it is written down.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct GroupValue {
    pub(super) protocol_type: String,
    pub(super) generation: i32,
    pub(super) protocol: Option<String>,
    pub(super) leader: Option<String>,
    pub(super) state_since_ms: i64,
    pub(super) members: Vec<MemberValue>,
}

/// A member as it is written down.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct MemberValue {
    pub(super) id: String,
    pub(super) instance_id: Option<String>,
    pub(super) client_id: String,
    pub(super) client_host: String,
    pub(super) rebalance_timeout_ms: i32,
    pub(super) session_timeout_ms: i32,
    pub(super) subscription: Vec<u8>,
    pub(super) assignment: Vec<u8>,
}

impl GroupRecordKey {
    pub(super) fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        let mut out = Vec::new();
        match self {
            Self::Offset {
                group,
                topic,
                partition,
            } => {
                put_i16(&mut out, OFFSET_KEY);
                put_string(&mut out, FIXED, group, "OffsetCommitKey.group")?;
                put_string(&mut out, FIXED, topic, "OffsetCommitKey.topic")?;
                put_i32(&mut out, *partition);
            }
            Self::Group(group) => {
                put_i16(&mut out, GROUP_KEY);
                put_string(&mut out, FIXED, group, "GroupMetadataKey.group")?;
            }
        }
        Ok(out)
    }

    /// Reads a key; `None` for a kind that is not kept here.
    pub(super) fn decode(bytes: &[u8]) -> Result<Option<Self>, DecodeError> {
        let mut reader = Reader::new(bytes);
        reader.at("offsets topic key");
        match reader.read_i16()? {
            // Version 0 of an offset's key is the same but for its number.
            0 | OFFSET_KEY => {
                let group = reader.read_string(FIXED)?.into_owned();
                let topic = reader.read_string(FIXED)?.into_owned();
                let partition = reader.read_i32()?;
                Ok(Some(Self::Offset {
                    group,
                    topic,
                    partition,
                }))
            }
            GROUP_KEY => Ok(Some(Self::Group(reader.read_string(FIXED)?.into_owned()))),
            _ => Ok(None),
        }
    }
}

impl CommittedOffset {
    pub(super) fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        let mut out = Vec::new();
        put_i16(&mut out, VALUE_VERSION);
        put_i64(&mut out, self.offset);
        put_i32(&mut out, self.leader_epoch);
        put_string(
            &mut out,
            FIXED,
            &self.metadata,
            "OffsetCommitValue.metadata",
        )?;
        put_i64(&mut out, self.commit_ms);
        Ok(out)
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        reader.at("OffsetCommitValue");
        let version = reader.read_i16()?;
        check_version("OffsetCommitValue", version)?;
        let offset = reader.read_i64()?;
        let leader_epoch = if version >= 3 { reader.read_i32()? } else { -1 };
        let metadata = reader.read_string(FIXED)?.into_owned();
        let commit_ms = reader.read_i64()?;
        Ok(Self {
            offset,
            leader_epoch,
            metadata,
            commit_ms,
        })
    }
}

fn check_version(message: &'static str, version: i16) -> Result<(), DecodeError> {
    if (0..=VALUE_VERSION).contains(&version) {
        return Ok(());
    }
    Err(DecodeError::Version { message, version })
}

fn put_nullable(out: &mut Vec<u8>, value: Option<&str>) -> Result<(), EncodeError> {
    match value {
        Some(value) => put_string(out, FIXED, value, "GroupMetadataValue"),
        None => {
            put_null_string(out, FIXED);
            Ok(())
        }
    }
}

impl GroupValue {
    pub(super) fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        let mut out = Vec::new();
        put_i16(&mut out, VALUE_VERSION);
        put_string(
            &mut out,
            FIXED,
            &self.protocol_type,
            "GroupMetadataValue.protocolType",
        )?;
        put_i32(&mut out, self.generation);
        put_nullable(&mut out, self.protocol.as_deref())?;
        put_nullable(&mut out, self.leader.as_deref())?;
        put_i64(&mut out, self.state_since_ms);
        put_array_length(
            &mut out,
            FIXED,
            self.members.len(),
            "GroupMetadataValue.members",
        )?;
        for member in &self.members {
            put_string(&mut out, FIXED, &member.id, "MemberMetadata.memberId")?;
            put_nullable(&mut out, member.instance_id.as_deref())?;
            put_string(
                &mut out,
                FIXED,
                &member.client_id,
                "MemberMetadata.clientId",
            )?;
            put_string(
                &mut out,
                FIXED,
                &member.client_host,
                "MemberMetadata.clientHost",
            )?;
            put_i32(&mut out, member.rebalance_timeout_ms);
            put_i32(&mut out, member.session_timeout_ms);
            put_bytes(
                &mut out,
                FIXED,
                &member.subscription,
                "MemberMetadata.subscription",
            )?;
            put_bytes(
                &mut out,
                FIXED,
                &member.assignment,
                "MemberMetadata.assignment",
            )?;
        }
        Ok(out)
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        reader.at("GroupMetadataValue");
        let version = reader.read_i16()?;
        check_version("GroupMetadataValue", version)?;
        let mut value = Self {
            protocol_type: reader.read_string(FIXED)?.into_owned(),
            generation: reader.read_i32()?,
            protocol: read_nullable(&mut reader)?,
            leader: read_nullable(&mut reader)?,
            state_since_ms: if version >= 2 { reader.read_i64()? } else { -1 },
            members: Vec::new(),
        };
        let count = reader.read_i32()?;
        for _ in 0..count {
            let mut member = MemberValue {
                id: reader.read_string(FIXED)?.into_owned(),
                ..Default::default()
            };
            if version >= 3 {
                member.instance_id = read_nullable(&mut reader)?;
            }
            member.client_id = reader.read_string(FIXED)?.into_owned();
            member.client_host = reader.read_string(FIXED)?.into_owned();
            member.rebalance_timeout_ms = if version >= 1 { reader.read_i32()? } else { -1 };
            member.session_timeout_ms = reader.read_i32()?;
            if version == 0 {
                member.rebalance_timeout_ms = member.session_timeout_ms;
            }
            member.subscription = reader.read_bytes(FIXED)?.into_owned();
            member.assignment = reader.read_bytes(FIXED)?.into_owned();
            value.members.push(member);
        }
        Ok(value)
    }
}

fn read_nullable(reader: &mut Reader<'_>) -> Result<Option<String>, DecodeError> {
    Ok(reader
        .read_nullable_string(FIXED)?
        .map(std::borrow::Cow::into_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_has_kafkas_bytes() {
        let key = GroupRecordKey::Offset {
            group: "g".into(),
            topic: "t".into(),
            partition: 3,
        };
        assert_eq!(key.encode().unwrap(), b"\0\x01\0\x01g\0\x01t\0\0\0\x03");
        assert_eq!(
            GroupRecordKey::decode(&key.encode().unwrap()),
            Ok(Some(key))
        );
        let value = CommittedOffset {
            offset: 258,
            leader_epoch: 1,
            metadata: "m".into(),
            commit_ms: 5,
        };
        let bytes = b"\0\x03\0\0\0\0\0\0\x01\x02\0\0\0\x01\0\x01m\0\0\0\0\0\0\0\x05";
        assert_eq!(value.encode().unwrap(), bytes);
        assert_eq!(CommittedOffset::decode(bytes), Ok(value));
    }

    #[test]
    fn a_group_is_read_as_it_was_written() {
        let key = GroupRecordKey::Group("g".into());
        assert_eq!(key.encode().unwrap(), b"\0\x02\0\x01g");
        let member = MemberValue {
            id: "m-1".into(),
            instance_id: Some("lasting".into()),
            client_id: "c".into(),
            client_host: "/127.0.0.1".into(),
            rebalance_timeout_ms: 300_000,
            session_timeout_ms: 45_000,
            subscription: vec![1, 2],
            assignment: vec![3],
        };
        let value = GroupValue {
            protocol_type: "consumer".into(),
            generation: 7,
            protocol: Some("range".into()),
            leader: None,
            state_since_ms: 99,
            members: vec![
                member.clone(),
                MemberValue {
                    instance_id: None,
                    ..member
                },
            ],
        };
        assert_eq!(GroupValue::decode(&value.encode().unwrap()), Ok(value));
    }

    #[test]
    fn older_values_and_unknown_keys_are_understood() {
        let old = b"\0\x01\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0\x06";
        let read = CommittedOffset::decode(old).unwrap();
        assert_eq!((read.offset, read.leader_epoch, read.commit_ms), (9, -1, 5));
        assert_eq!(GroupRecordKey::decode(b"\0\x09whatever"), Ok(None));
        assert!(CommittedOffset::decode(b"\0\x09").is_err());
    }
}
