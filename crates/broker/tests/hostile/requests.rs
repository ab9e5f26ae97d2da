//! Requests with lying lengths in every place: what Kafka's own classes write, bytes exchanged for
//! negative and enormous numbers.

use std::fs;
use std::path::Path;

use kgauge_broker::handlers::served_versions;
use kgauge_wire::api::ApiKey;

use crate::{exchange, is_served, one_node};

/// The least and the largest numbers, and the beginning of a long one.
const LIES: [&[u8]; 3] = [&[0xff; 4], &[0x7f, 0xff, 0xff, 0xff], &[0x80]];

/// A frame around the bytes of a request.
fn framed(api: ApiKey, version: i16, body: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; 4];
    frame.extend(api.as_i16().to_be_bytes());
    frame.extend(version.to_be_bytes());
    frame.extend(7_i32.to_be_bytes());
    // No client id; from header version 2 on, no tagged fields.
    frame.extend((-1_i16).to_be_bytes());
    if api.request_header_version(version) >= 2 {
        frame.push(0);
    }
    frame.extend(body);
    let size = i32::try_from(frame.len() - 4).unwrap();
    frame[..4].copy_from_slice(&size.to_be_bytes());
    frame
}

fn unhex(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2);
    let byte = |pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    pairs.map(byte).collect()
}

/// Requests with content as Kafka writes them, oldest and newest served version of each API.
fn samples() -> Vec<(ApiKey, i16, Vec<u8>)> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wire/tests/golden");
    let mut samples = Vec::new();
    for entry in fs::read_dir(golden).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<&str> = line.split(' ').collect();
            let [name, version, "full", hex] = words[..] else {
                continue;
            };
            let Some(name) = name.strip_suffix("Request") else {
                continue;
            };
            let api = (0..100)
                .filter_map(ApiKey::from_i16)
                .find(|api| api.name() == name);
            let Some(api) = api else { continue };
            let Some(served) = served_versions(api) else {
                continue;
            };
            let version = version.parse().unwrap();
            if [*served.start(), *served.end()].contains(&version) {
                samples.push((api, version, unhex(hex)));
            }
        }
    }
    samples
}

#[test]
fn lying_lengths_anywhere_in_any_request_do_no_harm() {
    let (_running, address) = one_node();
    let samples = samples();
    let apis: std::collections::BTreeSet<i16> =
        samples.iter().map(|(api, ..)| api.as_i16()).collect();
    assert_eq!(apis.len(), kgauge_broker::handlers::SERVED.len());
    for (api, version, body) in &samples {
        // Fields are of 1, 2 and 4 bytes and of variable length; so every place is tried.
        // The newest version gets every lie, the oldest one of them in turn.
        let is_newest = served_versions(*api).is_some_and(|served| served.end() == version);
        let count = if is_newest { LIES.len() } else { 1 };
        for at in 0..body.len() {
            for lie in LIES.iter().cycle().skip(at % LIES.len()).take(count) {
                let mut body = body.clone();
                let end = (at + lie.len()).min(body.len());
                body[at..end].copy_from_slice(&lie[..end - at]);
                exchange(address, &framed(*api, *version, &body));
            }
        }
    }
    is_served(address);
}
