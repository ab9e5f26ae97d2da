//! A short segment is cut at every byte and flipped in every byte: recovery gives the longest valid
//! prefix.

use kgauge_broker::log::{LogConfig, PartitionLog};

use crate::support::{Lab, NOW_MS, append, bases, batch, headers, produced_by, read_from};

const SEGMENT: &str = "00000000000000000000.log";

/// A log of five batches, left as a killed process leaves it, and the bytes of its only segment.
fn killed_log(lab: &Lab) -> Vec<u8> {
    let mut log = lab.open();
    append(&mut log, batch(2));
    append(&mut log, produced_by(7, 0, 0, 3));
    let mut third = batch(1);
    log.append_as_leader(&mut third, 4, NOW_MS).unwrap();
    let mut fourth = produced_by(7, 0, 3, 2);
    log.append_as_leader(&mut fourth, 4, NOW_MS).unwrap();
    let mut fifth = batch(4);
    log.append_as_leader(&mut fifth, 4, NOW_MS).unwrap();
    drop(log);
    lab.file(SEGMENT).unwrap()
}

/// Start of each batch, and the end.
fn borders(bytes: &[u8]) -> Vec<usize> {
    let mut borders = vec![0];
    for header in headers(bytes) {
        borders.push(borders.last().unwrap() + header.batch_bytes());
    }
    borders
}

/// Opens the log over damaged bytes, and checks that it is exactly the prefix of `len` bytes, works
/// on, and stays so.
fn check_recovers_to(lab: &Lab, whole: &[u8], damaged: &[u8], len: usize, what: &str) {
    lab.storage.remove_dir_all(&lab.dir).unwrap();
    lab.storage.create_dir_all(&lab.dir).unwrap();
    lab.put(SEGMENT, damaged);
    let mut log = lab.open();
    let prefix = &damaged[..len];
    assert_eq!(lab.file(SEGMENT).unwrap(), prefix, "{what}: the file");
    check_is(&mut log, &whole[..len], prefix, what);
    let end_offset = log.log_end_offset();
    assert_eq!(
        append_in_epoch(&mut log, i32::MAX),
        end_offset,
        "{what}: the next offset"
    );
    log.close().unwrap();
    let mut log = lab.open();
    assert_eq!(
        log.log_end_offset(),
        end_offset + 1,
        "{what}: after a restart"
    );
    assert_eq!(
        read_from(&mut log, 0)[..len],
        *prefix,
        "{what}: after a restart"
    );
}

fn append_in_epoch(log: &mut PartitionLog, leader_epoch: i32) -> i64 {
    log.append_as_leader(&mut batch(1), leader_epoch, NOW_MS)
        .unwrap()
        .base_offset
}

fn check_is(log: &mut PartitionLog, whole: &[u8], prefix: &[u8], what: &str) {
    let expected = headers(whole);
    assert_eq!(read_from(log, 0), prefix, "{what}: the bytes");
    let end_offset = expected.last().map_or(0, |header| header.next_offset());
    assert_eq!(log.log_end_offset(), end_offset, "{what}: the end");
    assert_eq!(log.size_bytes(), prefix.len() as u64, "{what}: the size");
    let batches_of_7 = expected
        .iter()
        .filter(|header| header.producer_id == 7)
        .count();
    let known: usize = log
        .producers()
        .iter()
        .map(|(_, entry)| entry.batches().len())
        .sum();
    assert_eq!(known, batches_of_7, "{what}: what is known of producer 7");
}

fn cut_at_every_byte(lab: &Lab) {
    let whole = killed_log(lab);
    let borders = borders(&whole);
    for cut in 0..=whole.len() {
        let len = *borders.iter().rfind(|border| **border <= cut).unwrap();
        check_recovers_to(lab, &whole, &whole[..cut], len, &format!("cut at {cut}"));
    }
}

#[test]
fn a_segment_cut_at_any_byte_recovers_to_its_longest_valid_prefix() {
    cut_at_every_byte(&Lab::in_memory());
}

#[test]
fn the_same_on_a_real_disk() {
    cut_at_every_byte(&Lab::on_real_disk());
}

/// How many batches of the log are whole after byte `position` was changed.
///
/// The CRC covers all but the first 21 bytes of a batch, and offset, length, magic and CRC have one
/// right value. Only a leader epoch has several: any that does not fall from batch to batch is as
/// good as what was written.
fn batches_whole(whole: &[u8], damaged: &[u8], position: usize) -> usize {
    let borders = borders(whole);
    let hit = borders
        .iter()
        .rposition(|border| *border <= position)
        .unwrap();
    let epoch_field = 12..16;
    if !epoch_field.contains(&(position - borders[hit])) {
        return hit;
    }
    let mut latest = None;
    for (count, border) in borders[..borders.len() - 1].iter().enumerate() {
        let epoch = i32::from_be_bytes(*damaged[border + 12..].first_chunk::<4>().unwrap());
        if latest.is_some_and(|latest| epoch < latest) {
            return count;
        }
        // An epoch below zero is none.
        latest = latest.max(Some(epoch).filter(|epoch| *epoch >= 0));
    }
    borders.len() - 1
}

fn flip_every_byte(lab: &Lab, masks: &[u8]) {
    let whole = killed_log(lab);
    let borders = borders(&whole);
    for position in 0..whole.len() {
        for mask in masks {
            let mut damaged = whole.clone();
            damaged[position] ^= mask;
            let count = batches_whole(&whole, &damaged, position);
            let what = format!("byte {position} flipped by {mask:#04x}");
            check_recovers_to(lab, &whole, &damaged, borders[count], &what);
        }
    }
}

#[test]
fn a_segment_flipped_in_any_byte_recovers_to_its_longest_valid_prefix() {
    flip_every_byte(&Lab::in_memory(), &[0x01, 0x80, 0xff]);
}

#[test]
fn the_same_flips_on_a_real_disk() {
    flip_every_byte(&Lab::on_real_disk(), &[0xff]);
}

#[test]
fn a_loss_in_one_segment_takes_all_segments_after_it() {
    for lab in Lab::both() {
        let config = LogConfig {
            segment_bytes: 200,
            ..LogConfig::default()
        };
        let mut log = lab.open_with(config.clone());
        for _ in 0..12 {
            append(&mut log, batch(1));
        }
        assert_eq!(
            bases(&log),
            [0, 2, 4, 6, 8, 10],
            "two batches of 69 bytes fit into 200"
        );
        drop(log);
        let third = "00000000000000000004.log";
        let bytes = lab.file(third).unwrap();
        lab.put(third, &bytes[..bytes.len() - 1]);
        let mut log = lab.open_with(config);
        assert_eq!(log.log_end_offset(), 5);
        assert_eq!(bases(&log), [0, 2, 4]);
        let recovery = log.recovery().unwrap();
        assert_eq!(
            (recovery.bytes_kept, recovery.bytes_cut),
            (5 * 69, 68 + 6 * 69)
        );
        let damage = recovery.damage.as_ref().unwrap();
        assert_eq!((&damage.file, damage.position), (&lab.path(third), 69));
        assert_eq!(
            damage.reason,
            "the batch says it has 69 bytes but only 68 are there"
        );
        assert!(
            !lab.names()
                .iter()
                .any(|name| name.starts_with("00000000000000000006"))
        );
        assert_eq!(append(&mut log, batch(1)).base_offset, 5);
        assert_eq!(headers(&read_from(&mut log, 0)).len(), 6);
    }
}

#[test]
fn a_segment_that_lost_whole_batches_takes_the_segments_after_it() {
    let lab = Lab::in_memory();
    let config = LogConfig {
        segment_bytes: 200,
        ..LogConfig::default()
    };
    let mut log = lab.open_with(config.clone());
    for _ in 0..6 {
        append(&mut log, batch(1));
    }
    drop(log);
    let second = "00000000000000000002.log";
    let bytes = lab.file(second).unwrap();
    lab.put(second, &bytes[..bytes.len() / 2]);
    let log = lab.open_with(config);
    assert_eq!(
        log.log_end_offset(),
        3,
        "the third segment does not follow any more"
    );
}
