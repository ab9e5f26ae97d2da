//! Runs that go on after an early end.

use std::fs;
use std::io::Write;

use kgauge_analyze::Summary;
use kgauge_analyze::summary::Status;
use kgauge_results::folder::ResumeError;
use kgauge_results::run::{
    Anomaly, AnomalyRecord, CutShortChecks, CutShortRecord, LedgerStart, RepeatKey, RepeatOutcome,
    RunStatus, VerificationRecord,
};
use kgauge_results::{RunFolder, RunRead};

use crate::made::{Made, PACED, topic, whole_closed_run};

/// A run whose second repeat was interrupted.
fn interrupted() -> Made {
    let mut made = Made::begin(PACED);
    made.repeat(0, |_, _| {});
    made.repeat_with(
        1,
        |_, _| {},
        |record| record.outcome = RepeatOutcome::Interrupted,
    );
    made.folder
        .end(RunStatus::Interrupted, None, 2_000)
        .unwrap();
    made
}

#[test]
fn what_is_whole_stays_and_the_rest_goes() {
    let made = interrupted();
    let events = made.dir().join("events.jsonl");
    let mut file = fs::File::options().append(true).open(&events).unwrap();
    file.write_all(b"{\"at_unix_ms\":1,\"ev").unwrap();
    let resumed = RunFolder::resume(&made.dir(), 3_000).unwrap();
    let first = RepeatKey {
        trial: 0,
        repeat: 0,
    };
    assert_eq!(resumed.done, [first].into());
    assert_eq!(resumed.plan.run_id, "r1");
    assert_eq!(resumed.folder.head().resumed_unix_ms, [3_000]);
    let read = made.read();
    assert_eq!(read.status, RunStatus::Running);
    let keys: Vec<RepeatKey> = read.repeats.iter().map(|repeat| repeat.key).collect();
    assert_eq!(keys, [first]);
    let of_first = |key: Option<RepeatKey>| key == Some(first);
    assert!(read.events.iter().all(|event| of_first(event.repeat)));
    assert_eq!((read.events.len(), read.evidence.len()), (1, 3));
    assert!(read.defects.is_empty(), "{:?}", read.defects);
    // The repeat that was cut off can be made again, and lines go behind the others.
    let key = RepeatKey {
        trial: 0,
        repeat: 1,
    };
    drop(resumed.folder.begin_repeat(key).unwrap());
}

#[test]
fn what_runs_or_is_complete_is_left_alone() {
    let made = Made::begin(PACED);
    let running = RunFolder::resume(&made.dir(), 3_000).unwrap_err();
    assert!(matches!(running, ResumeError::Running), "{running}");

    let mut made = Made::begin(PACED);
    for repeat in 0..3 {
        made.repeat(repeat, |_, _| {});
    }
    made.end();
    let complete = RunFolder::resume(&made.dir(), 3_000).unwrap_err();
    assert!(matches!(complete, ResumeError::Complete), "{complete}");
    assert_eq!(
        RunRead::open(&made.dir()).unwrap().status,
        RunStatus::Complete
    );
}

#[test]
fn without_a_plan_nothing_can_go_on() {
    let made = interrupted();
    fs::remove_file(made.dir().join("plan.json")).unwrap();
    let error = RunFolder::resume(&made.dir(), 3_000).unwrap_err();
    assert!(matches!(error, ResumeError::NoPlan), "{error}");
}

const KILLED: RepeatKey = RepeatKey {
    trial: 0,
    repeat: 1,
};

fn start() -> LedgerStart {
    LedgerStart {
        started_unix_ms: 1_500,
        topic: topic().facts,
        is_shared: false,
        ends_before: vec![10, 0],
    }
}

/// A run that was killed in its second repeat, which had ledgers.
fn killed() -> Made {
    let mut made = Made::begin(PACED);
    made.repeat(0, |_, _| {});
    let repeat = made.folder.begin_repeat(KILLED).unwrap();
    repeat.ledgers(&start()).unwrap();
    drop(repeat);
    made.folder.end(RunStatus::Failed, None, 2_000).unwrap();
    made
}

#[test]
fn the_ledgers_of_a_killed_repeat_stay_until_they_are_checked() {
    let made = killed();
    let resumed = RunFolder::resume(&made.dir(), 3_000).unwrap();
    let [repeat] = resumed.killed.as_slice() else {
        panic!("{:?}", resumed.killed);
    };
    assert_eq!((repeat.key, &repeat.start), (KILLED, &Some(start())));
    assert!(repeat.ledgers.is_dir());
    resumed.folder.remove_repeat(KILLED).unwrap();
    assert!(!repeat.ledgers.exists());
    drop(resumed.folder.begin_repeat(KILLED).unwrap());
}

#[test]
fn a_damaged_start_of_ledgers_is_reported_and_none_is_no_verified_repeat() {
    let made = killed();
    let file = made.dir().join("repeats/0000-01/ledgers/start.json");
    fs::write(&file, "{").unwrap();
    let resumed = RunFolder::resume(&made.dir(), 3_000).unwrap();
    assert_eq!(resumed.killed.len(), 1);
    assert_eq!(resumed.killed[0].start, None);
    drop(resumed);
    fs::remove_file(&file).unwrap();
    let resumed = RunFolder::resume(&made.dir(), 4_000).unwrap();
    assert!(resumed.killed.is_empty());
    assert!(!file.parent().unwrap().exists());
}

/// The check of the killed repeat.
fn check(acked: u64, confirmed: u64) -> CutShortRecord {
    let lost = AnomalyRecord {
        anomaly: Anomaly::LostWrite,
        flow: None,
        is_permitted: false,
        count: acked - confirmed,
        examples: Vec::new(),
    };
    CutShortRecord {
        key: KILLED,
        started_unix_ms: Some(1_500),
        verification: VerificationRecord {
            acked,
            confirmed,
            unknown_present: 7,
            anomalies: (acked > confirmed).then_some(lost).into_iter().collect(),
            ..VerificationRecord::default()
        },
    }
}

#[test]
fn what_a_killed_repeat_lost_fails_the_run_that_repeats_it() {
    let mut run = whole_closed_run().1;
    for (confirmed, status) in [(100, Status::Good), (98, Status::AnomalyFound)] {
        run.cut_short = CutShortChecks::default();
        // The same repeat, checked twice.
        run.cut_short.add(check(100, 0));
        run.cut_short.add(check(100, confirmed));
        let summary = Summary::of(&run);
        let verification = summary.verification().unwrap();
        let sum = verification.cut_short.unwrap();
        assert_eq!((sum.repeats, sum.acked, sum.checked), (1, 100, 100));
        assert_eq!((sum.confirmed, sum.unknown_present), (confirmed, 7));
        assert_eq!((verification.repeats, verification.acked), (0, 0));
        assert_eq!(summary.status, status);
    }
}

#[test]
fn checks_of_killed_repeats_are_kept_in_the_folder() {
    let made = killed();
    let resumed = RunFolder::resume(&made.dir(), 3_000).unwrap();
    let mut checks = resumed.cut_short.clone();
    assert!(checks.repeats.is_empty());
    checks.add(check(100, 98));
    resumed.folder.write_cut_short(&checks).unwrap();
    drop(resumed);
    assert_eq!(made.read().cut_short, checks);
    let again = RunFolder::resume(&made.dir(), 4_000).unwrap();
    assert_eq!(again.cut_short, checks);
}
