//! Consumers: send fetch requests, check and count the record batches in the responses.
//!
//! A [`Consumer`] reads its partitions as Kafka's consumer does: one Fetch request at a time to each leader, for all
//! partitions that it leads. The next request is sent before the records of the last response are checked, so that the
//! broker works meanwhile.

mod committed;
mod consumer;
mod echoes;
mod group;
mod group_handle;
mod links;
mod member;
mod polls;
mod progress;
mod reconcile;
mod request;
mod response;
mod verified;

pub(crate) use consumer::{Consumer, ConsumerSetup, Position};
pub(crate) use group::{GroupSubscription, MemberEvent, MemberSetup, MemberThread, end_all};
pub(crate) use member::start;
pub(crate) use polls::PollLog;
pub(crate) use progress::GroupShared;
pub(crate) use request::VERSIONS;
pub(crate) use response::response_bytes_max;
