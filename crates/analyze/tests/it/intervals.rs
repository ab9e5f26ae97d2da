//! Interval logs for HdrHistogram's tools, read by a library that is not ours.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use base64::Engine;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use kgauge_analyze::Summary;
use kgauge_results::folder::write_interval_logs;
use kgauge_results::{RunRead, TimeKind};

use crate::made::whole_paced_run;

/// What a log adds up to, and when its intervals begin.
fn read(path: &Path) -> (Histogram<u64>, Vec<f64>) {
    let log = fs::read(path).unwrap();
    let mut sum = Histogram::<u64>::new(3).unwrap();
    let mut starts = Vec::new();
    for entry in IntervalLogIterator::new(&log) {
        let LogEntry::Interval(interval) = entry.unwrap() else {
            continue;
        };
        assert!(interval.tag().is_none(), "tools read what has no tag");
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(interval.encoded_histogram())
            .unwrap();
        let mut deserializer = Deserializer::new();
        let second: Histogram<u64> = deserializer.deserialize(&mut Cursor::new(bytes)).unwrap();
        sum += second;
        starts.push(interval.start_timestamp().as_secs_f64());
    }
    (sum, starts)
}

#[test]
fn a_log_adds_up_to_the_percentiles_of_the_summary() {
    let (_made, run) = whole_paced_run();
    let summary = Summary::of(&run);
    let keep = tempfile::tempdir().unwrap();
    let out = keep.path().join("new folder/logs");
    let logs = write_interval_logs(&run, &summary.logged_trials(), &out).unwrap();
    let response = out.join("trial-1.writers.response.hlog");
    let written = logs.iter().find(|log| log.path == response).unwrap();
    let flow = &summary.trials[0].flows[0];
    let ours = flow.latencies.get(TimeKind::Response).unwrap();
    assert_eq!(written.count, ours.count);
    let (theirs, starts) = read(&response);
    assert_eq!(
        (theirs.len(), starts.len() as u64),
        (ours.count, written.intervals)
    );
    for percentile in &ours.percentiles {
        let quantile = f64::from(percentile.millionths) / 1e6;
        let value_ns = theirs.value_at_quantile(quantile);
        // Ours never says more than the exact largest time.
        assert_eq!(
            value_ns.min(ours.max_ns),
            percentile.value_ns,
            "{}",
            percentile.name
        );
    }
    assert!(theirs.max() as f64 <= ours.max_ns as f64 * 1.001);
}

#[test]
fn the_repeats_of_a_log_follow_each_other_in_the_order_of_time() {
    let (_made, mut run) = whole_paced_run();
    let repeats = run.repeats.len() as u64;
    assert!(repeats > 1);
    for (index, repeat) in run.repeats.iter_mut().enumerate() {
        // The last began first.
        let record = repeat.record.as_mut().unwrap();
        record.started_unix_ms = 1_000_000 * (repeats - index as u64);
    }
    let starts = starts(&run);
    assert!(starts.is_sorted_by(|one, next| one < next), "{starts:?}");
    assert!(
        (starts[60] - starts[0] - 1_000.0).abs() < 1e-6,
        "{starts:?}"
    );
}

#[test]
fn a_clock_that_was_set_back_turns_no_log_back() {
    // All repeats of the made-up run began in the same moment.
    let (_made, run) = whole_paced_run();
    let starts = starts(&run);
    assert!(starts.is_sorted_by(|one, next| one < next), "{starts:?}");
}

/// When the intervals of the responses begin.
fn starts(run: &RunRead) -> Vec<f64> {
    let keep = tempfile::tempdir().unwrap();
    write_interval_logs(run, &Summary::of(run).logged_trials(), keep.path()).unwrap();
    read(&keep.path().join("trial-1.writers.response.hlog")).1
}

#[test]
fn writing_logs_again_changes_no_byte() {
    let (_made, run) = whole_paced_run();
    let summary = Summary::of(&run);
    let keep = tempfile::tempdir().unwrap();
    let write = || {
        let logs = write_interval_logs(&run, &summary.logged_trials(), keep.path()).unwrap();
        let bytes = logs.iter().map(|log| fs::read(&log.path).unwrap());
        bytes.collect::<Vec<_>>()
    };
    assert_eq!(write(), write());
}

#[test]
fn a_hostile_flow_name_stays_inside_the_folder() {
    let (_made, run) = whole_paced_run();
    let mut summary = Summary::of(&run);
    summary.trials[0].flows[0].name = "../../x\n#[StartTime: 0]".to_owned();
    let keep = tempfile::tempdir().unwrap();
    for log in write_interval_logs(&run, &summary.logged_trials(), keep.path()).unwrap() {
        assert_eq!(log.path.parent(), Some(keep.path()));
        let name = log.path.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with("trial-1.______x__"), "{name}");
        let text = fs::read_to_string(&log.path).unwrap();
        assert_eq!(text.matches("#[StartTime").count(), 1);
    }
}
