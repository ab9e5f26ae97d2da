//! Listeners with TLS and SASL over real sockets: our own client, and peers that break the rules.
#![allow(clippy::unwrap_used, reason = "tests may fail anywhere")]

#[path = "../harness/mod.rs"]
mod harness;

mod certificates;
mod data;
mod hostile;
mod letting_in;
mod secured;
mod tls_client;
