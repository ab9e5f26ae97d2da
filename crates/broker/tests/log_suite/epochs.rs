//! Leader epochs through restarts, crashes and cuts.

use kgauge_broker::log::{EpochEnd, PartitionLog};

use crate::support::{Lab, NOW_MS, batch};

fn append_in(log: &mut PartitionLog, epoch: i32, records: usize) {
    log.append_as_leader(&mut batch(records), epoch, NOW_MS)
        .unwrap();
}

fn starts(log: &PartitionLog) -> Vec<(i32, i64)> {
    log.leader_epochs()
        .iter()
        .map(|entry| (entry.epoch, entry.start_offset))
        .collect()
}

fn three_epochs(lab: &Lab) -> PartitionLog {
    let mut log = lab.open();
    append_in(&mut log, 1, 10);
    append_in(&mut log, 1, 10);
    append_in(&mut log, 3, 5);
    append_in(&mut log, 6, 5);
    log
}

#[test]
fn epochs_are_the_same_after_a_close_and_after_a_crash() {
    for lab in Lab::both() {
        let log = three_epochs(&lab);
        assert_eq!(starts(&log), [(1, 0), (3, 20), (6, 25)]);
        drop(log);
        let log = lab.open();
        assert_eq!(starts(&log), [(1, 0), (3, 20), (6, 25)], "from the batches");
        log.close().unwrap();
        let log = lab.open();
        assert_eq!(starts(&log), [(1, 0), (3, 20), (6, 25)], "from the file");
        assert_eq!(
            log.end_offset_for_epoch(1),
            Some(EpochEnd {
                epoch: 1,
                end_offset: 20
            })
        );
        assert_eq!(
            log.end_offset_for_epoch(4),
            Some(EpochEnd {
                epoch: 3,
                end_offset: 25
            })
        );
        assert_eq!(
            log.end_offset_for_epoch(6),
            Some(EpochEnd {
                epoch: 6,
                end_offset: 30
            })
        );
        assert_eq!(log.end_offset_for_epoch(7), None);
    }
}

#[test]
fn a_cut_takes_the_epochs_that_began_after_it() {
    let lab = Lab::in_memory();
    let mut log = three_epochs(&lab);
    assert_eq!(log.truncate_to(25, NOW_MS).unwrap(), 25);
    assert_eq!(starts(&log), [(1, 0), (3, 20)]);
    append_in(&mut log, 4, 1);
    assert_eq!(starts(&log), [(1, 0), (3, 20), (4, 25)]);
    log.set_high_watermark(26);
    log.delete_records_before(22).unwrap();
    assert_eq!(starts(&log), [(3, 22), (4, 25)]);
    drop(log);
    assert_eq!(starts(&lab.open()), [(3, 22), (4, 25)]);
}

#[test]
fn a_leader_that_appended_nothing_leaves_no_epoch_behind() {
    let lab = Lab::in_memory();
    let mut log = three_epochs(&lab);
    log.assign_leader_epoch(9);
    assert_eq!(starts(&log), [(1, 0), (3, 20), (6, 25), (9, 30)]);
    assert_eq!(
        log.end_offset_for_epoch(6),
        Some(EpochEnd {
            epoch: 6,
            end_offset: 30
        })
    );
    log.truncate_to(30, NOW_MS).unwrap();
    assert_eq!(starts(&log), [(1, 0), (3, 20), (6, 25)]);
    append_in(&mut log, 8, 1);
}
