//! Runs that go on after an early end.

use std::fs;
use std::io::Write;

use kgauge_results::folder::ResumeError;
use kgauge_results::run::{RepeatKey, RepeatOutcome, RunStatus};
use kgauge_results::{RunFolder, RunRead};

use crate::made::{Made, PACED};

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
