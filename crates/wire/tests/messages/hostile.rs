//! Bytes that lie: whatever arrives, the answer is a value or an error, never a panic, and never
//! memory out of proportion to the bytes.

use std::collections::BTreeSet;

use allocation_counter::measure;

use crate::cases::Case;
use crate::golden::{Golden, messages};
use crate::samples::cases;

/// A decoder may hold this many bytes of memory for each byte of its input: a null string of two
/// bytes becomes 24, a struct of such strings more, and a growing array is twice its content. ...
const MEMORY_PER_BYTE: u64 = 64;
/// ... and this many for any input: the first allocation of an array at each depth.
const MEMORY_FREE: u64 = 16 * 1024;

/// Each message's golden bytes of variant `full`; equal bytes of several versions once.
fn for_each_distinct(mut test: impl FnMut(&Case, &Golden)) {
    let mut seen = BTreeSet::new();
    for_each_full(|case, golden| {
        if seen.insert((case.name, golden.bytes.clone())) {
            test(case, golden);
        }
    });
}

/// The same for the oldest and the newest version only: one of each form of lengths.
fn for_each_end(mut test: impl FnMut(&Case, &Golden)) {
    for_each_full(|case, golden| {
        if golden.version == *case.versions.start() || golden.version == *case.versions.end() {
            test(case, golden);
        }
    });
}

fn for_each_full(mut test: impl FnMut(&Case, &Golden)) {
    let golden = messages();
    for case in cases() {
        let of_case = |line: &&Golden| line.message == case.name && line.variant == "full";
        let lines: Vec<_> = golden.iter().filter(of_case).collect();
        assert!(!lines.is_empty(), "no bytes for {}", case.name);
        lines.into_iter().for_each(|line| test(&case, line));
    }
}

/// Decodes bytes that may be anything. If they are a message, it must be one that can be written,
/// and what is written must be read as the same.
fn decode_anything(case: &Case, bytes: &[u8], version: i16) {
    let Ok(written) = (case.decode)(bytes, version) else {
        return;
    };
    assert_eq!(
        (case.decode)(&written, version).as_ref(),
        Ok(&written),
        "{}",
        case.name
    );
}

#[test]
fn a_message_that_is_cut_anywhere_is_an_error() {
    for_each_distinct(|case, golden| {
        for length in 0..golden.bytes.len() {
            let result = (case.decode)(&golden.bytes[..length], golden.version);
            assert!(
                result.is_err(),
                "{} {} at {length}",
                case.name,
                golden.version
            );
        }
    });
}

#[test]
fn bytes_after_a_message_are_an_error() {
    for_each_distinct(|case, golden| {
        let longer = [golden.bytes.as_slice(), &[0]].concat();
        let result = (case.decode)(&longer, golden.version);
        assert!(result.is_err(), "{} {}", case.name, golden.version);
    });
}

#[test]
fn a_lying_length_anywhere_is_survived() {
    const LIES: &[&[u8]] = &[
        &[0x7e],
        &[0x7f, 0xff],
        &[0xff, 0xff],
        &[0x7f, 0xff, 0xff, 0xff],
        &[0xff, 0xff, 0xff, 0xff],
        &[0xff, 0xff, 0xff, 0xff, 0x0f],
    ];
    for_each_end(|case, golden| {
        let mut bytes = golden.bytes.clone();
        for lie in LIES {
            for offset in 0..(golden.bytes.len() + 1).saturating_sub(lie.len()) {
                let span = offset..offset + lie.len();
                bytes[span.clone()].copy_from_slice(lie);
                decode_anything(case, &bytes, golden.version);
                bytes[span.clone()].copy_from_slice(&golden.bytes[span]);
            }
        }
    });
}

#[test]
fn random_damage_is_survived() {
    let mut state = 1u64;
    let mut draw = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    for_each_distinct(|case, golden| {
        for _ in 0..200 {
            let mut bytes = golden.bytes.clone();
            if bytes.is_empty() {
                return;
            }
            for _ in 0..=draw() % 4 {
                let offset = draw() % bytes.len();
                bytes[offset] ^= 1 << (draw() % 8);
            }
            decode_anything(case, &bytes, golden.version);
        }
    });
}

/// Puts a large count at every offset, with bytes behind it of which elements can be made: arrays
/// that are really there, made of as little as possible, are what costs the most memory.
#[test]
fn memory_stays_in_proportion_to_the_bytes() {
    const FILL: usize = 1000;
    let measured = |case: &Case, version: i16, bytes: &[u8]| {
        let memory = measure(|| {
            (case.decode_only)(bytes, version);
        });
        let limit = MEMORY_FREE + MEMORY_PER_BYTE * bytes.len() as u64;
        assert!(
            memory.bytes_max <= limit,
            "{} {version}: {memory:?}",
            case.name
        );
        memory.bytes_max
    };
    let mut memory_bytes_max = 0;
    for_each_end(|case, golden| {
        let version = golden.version;
        for offset in 0..=golden.bytes.len() {
            // 500 and 150 elements, compact and fixed; elements of zeros (empty, or absent in the
            // compact form) and of ones (empty in the compact form).
            for count in [
                &[0xf5, 0x03][..],
                &[0x97, 0x01],
                &[0, 0, 1, 0xf4],
                &[0, 0, 0, 0x96],
            ] {
                for fill in [0, 1] {
                    let mut bytes = [&golden.bytes[..offset], count].concat();
                    bytes.resize(bytes.len() + FILL, fill);
                    memory_bytes_max = memory_bytes_max.max(measured(case, version, &bytes));
                }
            }
        }
    });
    // The test is worth nothing if its arrays are all refused: some must have been made.
    assert!(memory_bytes_max > 20_000, "{memory_bytes_max}");
}
