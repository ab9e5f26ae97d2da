//! Copies on another cluster over the repeats of a run.

use kgauge_analyze::summary::{Status, Summary, WarningKind};
use kgauge_results::run::MirrorRecord;

use crate::made::whole_paced_run;
use kgauge_report::text;

/// The summary of three repeats, of which the last two had a copy like this.
fn summed(mirrors: [MirrorRecord; 2]) -> Summary {
    let (_made, mut run) = whole_paced_run();
    for (repeat, mirror) in run.repeats[1..].iter_mut().zip(mirrors) {
        repeat.record.as_mut().unwrap().flows[0].mirror = Some(mirror);
    }
    Summary::of(&run)
}

fn whole() -> MirrorRecord {
    MirrorRecord {
        replicator: "MirrorMaker 2 (4.3.1)".to_owned(),
        topic: "source.t".to_owned(),
        acked: 1_000,
        counted: Some(1_000),
        behind_records_max: 40,
        caught_up_ns: Some(20_000_000),
        ..MirrorRecord::default()
    }
}

fn has(summary: &Summary, kind: WarningKind) -> bool {
    let mut warnings = summary.trials[0].warnings.iter();
    warnings.any(|warning| warning.kind() == kind)
}

#[test]
fn whole_copies_are_added_up_and_nothing_is_wrong() {
    let later = MirrorRecord {
        behind_records_max: 60,
        caught_up_ns: Some(120_000_000),
        ..whole()
    };
    let summary = summed([whole(), later]);
    let mirror = summary.trials[0].flows[0].mirror.as_ref().unwrap();
    assert_eq!((mirror.acked, mirror.counted), (2_000, Some(2_000)));
    assert_eq!(mirror.behind_records_max.max, 60.0);
    assert_eq!(mirror.replicator_cores, None);
    assert_eq!(
        text::flow::mirror(&summary.trials[0].flows[0]).unwrap(),
        "MirrorMaker 2 (4.3.1) copied all of 2,000 records; no duplicates; at most 60 records \
         behind during the hold; caught up 120 ms after the hold."
    );
    assert!(!has(&summary, WarningKind::CopyIncomplete));
    assert_ne!(summary.status, Status::SendsFailed);
}

#[test]
fn a_copy_that_lacks_records_or_holds_some_twice_is_named() {
    let bad = MirrorRecord {
        missing: 7,
        doubled: 2,
        caught_up_ns: None,
        counted: None,
        ..whole()
    };
    let summary = summed([whole(), bad]);
    let mirror = summary.trials[0].flows[0].mirror.as_ref().unwrap();
    assert_eq!((mirror.counted, &mirror.caught_up_s), (None, &None));
    assert_eq!(
        text::flow::mirror(&summary.trials[0].flows[0]).unwrap(),
        "MirrorMaker 2 (4.3.1) did not copy 7 of 2,000 records; 2 duplicated; at most 40 records \
         behind during the hold; not caught up when the drain ended."
    );
    assert!(has(&summary, WarningKind::CopyIncomplete));
    assert!(has(&summary, WarningKind::CopyDoubled));
    assert_eq!(summary.status, Status::SendsFailed, "exit status 1");
}
