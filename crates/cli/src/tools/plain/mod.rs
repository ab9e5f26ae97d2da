//! A plain client for the tools that want to know of every record: one request at a time, each answer
//! with its offset. It is no load generator; that is the room `load`.

mod reader;
mod writer;

pub(crate) use reader::{ReadRecord, ReaderSetup, TopicReader};
pub(crate) use writer::{Outgoing, SendFailure, TopicWriter, WriterSetup};

/// The last version of Produce and of Fetch that names topics by name; later ones want their ids.
const BY_NAME_MAX: i16 = 12;
