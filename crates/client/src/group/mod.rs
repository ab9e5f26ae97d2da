//! Members of consumer groups over blocking sockets, with Kafka's classic protocol and with that of KIP-848
//! ([`ConsumerMember`]).
//!
//! A [`GroupMember`] joins, gets an assignment, sends heartbeats, commits and leaves when its owner says so. It needs a
//! thread of its own, because joining waits for all other members.
//!
//! A member gives up everything before it rejoins (the eager protocol), unless it offers only cooperative assignors:
//! then it keeps its partitions, and afterwards gives up those that are no longer assigned to it (KIP-429).
//!
//! Releases: JoinGroup came with Kafka 0.9, static members ([`GroupSettings::instance_id`]) with 2.3.

mod assignor;
mod consumer_member;
mod coordinator;
mod error;
mod member;
pub(crate) mod offsets;
mod protocol;
mod settings;
mod sticky;
mod subscriber;

pub use assignor::Assignor;
pub use consumer_member::{ConsumerMember, HeartbeatAnswer};
pub use error::GroupError;
pub use member::{Assignment, Beat, GroupMember};
pub use settings::GroupSettings;
pub use subscriber::{Partitions, Subscriber};
