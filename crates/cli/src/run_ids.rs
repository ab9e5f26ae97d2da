//! Names of runs.

pub(crate) use kgauge_runner::{fresh_number, unix_ms};
