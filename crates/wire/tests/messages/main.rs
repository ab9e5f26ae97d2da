//! Every message in every version: round trips, the bytes of Kafka's own classes, hostile bytes.

#![allow(clippy::unwrap_used, reason = "tests")]

mod cases;
mod golden;
mod hostile;
mod round_trip;
mod rules;
mod sampler;
mod samples;
