//! What users of a partition log rely on, with known answers, on the in-memory disk and on a real
//! one.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod appending;
mod crash_bytes;
mod cuts;
mod disk;
mod disk_faults;
mod epochs;
mod files;
mod model;
mod producers;
mod retention;
mod rolling;
mod support;
mod timestamps;
