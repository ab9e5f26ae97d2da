//! Consumer groups from a member's side: Kafka's classic protocol, over blocking sockets.
//!
//! A [`GroupMember`] joins, hears what it is assigned, beats, commits and leaves; whoever owns it
//! decides when. It belongs on a thread that does nothing else: joining waits for all the others.
//!
//! The rebalance protocol is the eager one: a member gives up everything before it joins again.
//! Releases: JoinGroup came with Kafka 0.9, static members ([`GroupSettings::instance_id`]) with 2.3.

mod assignor;
mod coordinator;
mod error;
mod member;
pub(crate) mod offsets;
mod protocol;
mod settings;

pub use assignor::{Assignor, Partitions, Subscriber};
pub use error::GroupError;
pub use member::{Assignment, Beat, GroupMember};
pub use settings::GroupSettings;
