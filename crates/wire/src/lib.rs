//! Kafka's protocol as bytes: messages, headers, frames, error codes, record batches.
//!
//! # Goals
//!
//! * Every message that kgauge sends or serves, in every version that Kafka 3.9 and 4.3 define, byte
//!   for byte as Kafka's own Java classes write it (`tests/golden` holds their bytes).
//! * Decoding borrows from the received bytes where it can. Every length is checked against the
//!   bytes that remain before anything is allocated: hostile bytes give an error, never a panic and
//!   never an allocation beyond a small multiple of their own size.
//! * A field that is set but that the version does not carry is an error, not a silent loss.
//!
//! # Non-goals
//!
//! * Sockets, clocks, threads, retries: callers own them, and pass bytes and buffers.
//! * Meaning: which version to use, what a response implies, when to retry. That is up to `client`, `broker` and
//!   `load`.
//! * APIs that only brokers use among each other (votes, fetch of snapshots, registration).
//!
//! # Where to start
//!
//! [`messages::Message`] is what every message can do; [`messages`] holds one module for each API,
//! written by `cargo xtask codegen`. [`frame`] puts a request or response into a frame and finds
//! frames in a buffer; [`header`] reads what comes before a message. [`codec`] has the primitive
//! types, [`api`] the table of keys and versions, [`error_code`] that of the errors.
//! [`record_batch`] writes and reads what Produce and Fetch carry, [`message_set`] what they carried
//! before Kafka 0.11, [`compress`] the codecs of both. [`scram`] is the arithmetic of a login, [`security`] the names
//! of protocols and mechanisms.

pub mod api;
pub mod codec;
pub mod compress;
pub mod error_code;
pub mod frame;
pub mod header;
pub mod message_set;
pub mod messages;
pub mod record_batch;
pub mod scram;
mod secret;
pub mod security;

pub use secret::Secret;
