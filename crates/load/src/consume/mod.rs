//! Consumers: fetch requests out, record batches in, checked and counted.
//!
//! One [`Consumer`] reads its partitions as Kafka's consumer does: one Fetch request at a time to each
//! leader, for all the partitions that it leads. The next request goes out before the records of the
//! last are checked, so that the broker works meanwhile.

mod consumer;
mod request;
mod response;

pub(crate) use consumer::{Consumer, ConsumerSetup, Position, RESPONSE_BYTES_EXTRA};
pub(crate) use request::VERSIONS;
