//! `evidence.jsonl`: what hosts and processes showed, about once a second.
//!
//! Counters are cumulative, as the kernel gives them: a lost line costs resolution, not truth.

use serde::{Deserialize, Serialize};

use super::repeat::RepeatKey;

/// One line of `evidence.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// When, on the wall clock: milliseconds since 1970-01-01 UTC.
    pub at_unix_ms: u64,
    /// The repeat during which it was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<RepeatKey>,
    /// When, in nanoseconds since the start of that repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ns: Option<u64>,
    /// Of what.
    #[serde(flatten)]
    pub subject: Subject,
    /// What was seen.
    #[serde(flatten)]
    pub kind: EvidenceKind,
}

/// Whose evidence it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "subject", rename_all = "kebab-case")]
pub enum Subject {
    /// The process that makes the load, all its threads.
    Generator,
    /// One thread that makes load.
    GeneratorThread {
        /// Its number.
        thread: u32,
    },
    /// The process of a target on this machine.
    Target {
        /// The broker's id, where a process is one broker.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        broker: Option<i32>,
    },
    /// The whole machine that makes the load.
    Host,
}

/// What was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "evidence", rename_all = "kebab-case")]
pub enum EvidenceKind {
    /// CPU time used since the start of the process or thread (for a host: since boot, all
    /// processors together).
    Cpu {
        /// In user mode.
        user_ns: u64,
        /// In the kernel.
        system_ns: u64,
    },
    /// Memory held now.
    Memory {
        /// Resident.
        resident_bytes: u64,
    },
    /// Evidence of a newer kgauge.
    #[serde(other)]
    Unknown,
}
