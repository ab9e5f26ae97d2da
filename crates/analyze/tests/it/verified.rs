//! What the check of every record means for the result of a run.

use kgauge_analyze::Summary;
use kgauge_analyze::summary::Status;
use kgauge_results::run::{
    Anomaly, AnomalyRecord, UncheckedCause, UncheckedRecords, VerificationRecord,
};

use crate::made::{topic, whole_closed_run};

/// The result of a run with 100,000 acked records, of which the brokers count all but `missing`.
fn status(missing: i64, finds: &[&str], verification: Option<VerificationRecord>) -> Status {
    let mut run = whole_closed_run().1;
    let mut counted = topic();
    counted.partitions[0].end_after = Some(10 + 69_000 - missing);
    let record = run.repeats[0].record.as_mut().unwrap();
    record.topics = vec![counted];
    record.verification = verification;
    let trial = &mut run.plan.as_mut().unwrap().trials[0];
    trial.finds = finds.iter().map(|&name| name.to_owned()).collect();
    Summary::of(&run).status
}

/// A check that found permitted losses, and could not check ten records for this reason.
fn check(lost: u64, unchecked: Option<UncheckedCause>) -> Option<VerificationRecord> {
    let lost = (lost > 0).then(|| AnomalyRecord {
        anomaly: Anomaly::LostWrite,
        flow: None,
        is_permitted: true,
        count: lost,
        examples: Vec::new(),
    });
    let unchecked = unchecked.map(|cause| UncheckedRecords {
        cause,
        records: 10,
        partitions: 1,
    });
    Some(VerificationRecord {
        acked: 100_000,
        anomalies: lost.into_iter().collect(),
        unchecked: unchecked.into_iter().collect(),
        ..VerificationRecord::default()
    })
}

#[test]
fn only_what_was_checked_explains_missing_records() {
    assert_eq!(status(0, &[], None), Status::Good);
    assert_eq!(status(10, &[], None), Status::SendsFailed);
    assert_eq!(status(10, &[], check(10, None)), Status::Good);
    for cause in [UncheckedCause::Compacted, UncheckedCause::Unreadable] {
        assert_eq!(status(10, &[], check(0, Some(cause))), Status::SendsFailed);
        assert_eq!(status(10, &[], check(4, Some(cause))), Status::SendsFailed);
        assert_eq!(status(10, &[], check(10, Some(cause))), Status::Good);
    }
    let polls = Some(UncheckedCause::PollsIncomplete);
    assert_eq!(status(10, &[], check(10, polls)), Status::Good);
}

#[test]
fn a_bug_that_was_not_looked_for_was_not_found() {
    let finds = ["lost-write"];
    assert_eq!(status(0, &finds, check(10, None)), Status::Good);
    assert_eq!(status(0, &finds, check(0, None)), Status::AnomalyFound);
    assert_eq!(status(0, &finds, None), Status::AnomalyFound);
}
