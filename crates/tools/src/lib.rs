//! kgauge under the names of Kafka's own command-line tools, with kgauge's figures in their output.
//!
//! Goals: scripts that call the tools of any release since 0.8 need no change. Each tool accepts the options of every
//! release and prints exactly what its release prints on stdout; kgauge's own notes go to stderr.
//!
//! Non-goals: measuring. The performance tools run the load engine; the others read and write single records
//! (`record_reader.rs`, `record_writer.rs`), because they report each of them. This crate writes to no stream, handles
//! no signal and reads no environment except the time zone: the caller passes the rest in a [`ToolContext`].
//!
//! [`translate_command`] makes a scenario of a command line.
//!
//! Start with [`ToolCall::find`], which chooses the tool, and [`ToolCall::run`]. Each tool has a file. They share
//! `options.rs` and `properties.rs` (the user's input), `load.rs` (the load engine) and `java.rs` (how Java prints).

mod call;
mod consumer;
mod consumer_args;
mod consumer_rows;
mod consumer_watch;
mod context;
mod dispatch;
mod end_to_end;
mod failure;
mod java;
mod load;
mod metric_table;
mod names;
mod old_producer;
mod option_tables;
mod options;
mod payloads;
mod positional;
mod producer;
mod producer_job;
mod producer_lines;
mod producer_run;
mod producer_watch;
mod properties;
mod record_reader;
mod record_writer;
mod release;
mod topic_pattern;
mod topics;
mod translate;
mod verifiable_consumer;
mod verifiable_consumer_args;
mod verifiable_events;
mod verifiable_member;
mod verifiable_producer;

pub use call::ToolCall;
pub use context::{ToolContext, ToolOutput, ToolStop};
pub use failure::ToolStatus;
pub use translate::translate_command;
