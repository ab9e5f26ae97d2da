//! What a lead and an agent say to each other: bounded frames, a handshake, messages.
//!
//! ```text
//! frame: length of the rest (4 bytes, big-endian), kind (1 byte), content
//! ```
//!
//! Frames travel over TLS 1.3. Certificates are made for one process and prove nothing; both sides prove instead that
//! they know the token, over a value that only this TLS session has.

mod frame;
mod handshake;
mod ledger_chunk;
mod message;

pub(crate) use frame::GREETING_BYTES_MAX;
pub use frame::{
    AgentFrame, AgentFrameError, FRAME_BYTES_MAX, FrameBuffer, FrameKind, encode_frame,
};
pub use handshake::{Greeting, HandshakeError, ProofSide, check, proof};
pub(crate) use handshake::{PROOF_BYTES, PROTOCOL_VERSION, SESSION_KEY_LABEL};
pub use ledger_chunk::{CHUNK_HEAD_BYTES, LedgerChunk, LedgerChunkError, chunk_head};
pub use message::{
    AgentMessage, AgentMessageError, AgentOutcome, ClientSettings, LeadMessage, PrepareOrder,
    PreparedFacts, decode, encode,
};
