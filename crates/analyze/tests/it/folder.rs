//! Run folders: made, refused, read while they grow, exported.

use std::fs;
use std::io::Cursor;

use base64::Engine;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use kgauge_analyze::Summary;
use kgauge_analyze::summary::{Status, WarningKind};
use kgauge_results::folder::{layout, write_report, write_summary};
use kgauge_results::run::{Event, EventKind, RepeatKey, RunHead, RunStatus};
use kgauge_results::{FolderError, Recorder, RunFolder, RunRead, StageBorders};

use crate::made::{Made, PACED, SECOND_NS, files, stalled, whole_paced_run};

fn head() -> RunHead {
    RunHead::starting("r1".to_owned(), vec!["kgauge".to_owned()], 5)
}

#[test]
fn a_folder_with_anything_in_it_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("thesis.tex"), "years of work").unwrap();
    let error = RunFolder::create(dir.path(), head()).unwrap_err();
    assert!(matches!(error, FolderError::NotEmpty { .. }));
    assert_eq!(files(dir.path()).len(), 1);
}

#[test]
fn an_empty_folder_is_taken() {
    let dir = tempfile::tempdir().unwrap();
    RunFolder::create(dir.path(), head()).unwrap();
    assert!(dir.path().join(layout::RUN).is_file());
}

#[test]
fn a_folder_without_a_run_is_said_to_be_one() {
    let dir = tempfile::tempdir().unwrap();
    let error = RunRead::open(dir.path()).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("holds no run: it contains no run.json")
    );
}

#[test]
fn a_newer_format_is_refused_in_words() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join(layout::RUN),
        r#"{"format": 7, "soul": true}"#,
    )
    .unwrap();
    let error = RunRead::open(dir.path()).unwrap_err();
    assert!(matches!(error, FolderError::TooNew { format: 7, .. }));
    assert!(
        error
            .to_string()
            .contains("has format 7, but this kgauge reads formats up to 1")
    );
}

#[test]
fn a_scenario_cannot_be_written_outside_the_folder() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(dir.path(), head()).unwrap();
    for name in ["../plan", "a/b", "", ".hidden", "nul\0"] {
        let error = folder.write_scenario(name, "text").unwrap_err();
        assert!(matches!(error, FolderError::Name { .. }), "{name}");
    }
}

#[test]
fn a_run_is_running_while_its_process_has_it_and_cut_short_after() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(dir.path(), head()).unwrap();
    assert_eq!(
        RunRead::open(dir.path()).unwrap().status,
        RunStatus::Running
    );
    // A process that is killed writes nothing more.
    let left = fs::read(dir.path().join(layout::RUN)).unwrap();
    drop(folder);
    fs::write(dir.path().join(layout::RUN), left).unwrap();
    let read = RunRead::open(dir.path()).unwrap();
    assert_eq!(read.head.status, RunStatus::Running);
    assert_eq!(read.status, RunStatus::CutShort);
}

#[test]
fn a_folder_whose_writer_is_dropped_early_is_closed_as_failed() {
    let dir = tempfile::tempdir().unwrap();
    drop(RunFolder::create(dir.path(), head()).unwrap());
    let read = RunRead::open(dir.path()).unwrap();
    assert_eq!(read.head.status, RunStatus::Failed);
    assert!(read.head.ended_unix_ms.is_some());
}

#[test]
fn a_pipe_in_place_of_a_file_keeps_nobody_waiting() {
    let (made, _) = whole_paced_run();
    for file in [layout::EVIDENCE, layout::PLAN] {
        fs::remove_file(made.dir().join(file)).unwrap();
        make_pipe(&made.dir().join(file));
    }
    make_pipe(&made.dir().join("summary.json.part"));
    let read = made.read();
    let refused: Vec<String> = read.defects.iter().map(ToString::to_string).collect();
    for file in [layout::EVIDENCE, layout::PLAN] {
        let words = format!("{file}: not a regular file");
        assert!(refused.contains(&words), "{refused:?}");
    }
    write_summary(&made.dir(), &Summary::of(&read)).unwrap();
    fs::remove_file(made.dir().join(layout::RUN)).unwrap();
    make_pipe(&made.dir().join(layout::RUN));
    let error = RunRead::open(&made.dir()).unwrap_err();
    assert!(error.to_string().ends_with("not a regular file"), "{error}");
}

fn make_pipe(path: &std::path::Path) {
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).unwrap();
}

#[test]
fn what_was_ticked_can_be_read_while_the_run_goes_on() {
    let made = Made::begin(PACED);
    let key = RepeatKey {
        trial: 0,
        repeat: 0,
    };
    let repeat = made.folder.begin_repeat(key).unwrap();
    let mut recorder = Recorder::new(0, StageBorders::open(0), repeat.sink());
    recorder.acked(5, 6, 7, 1, 100);
    recorder.tick();
    // The writer's only duty left is to write: give it its time, but not for ever.
    let path = made.dir().join("repeats/0000-00/slices.jsonl");
    let begin = std::time::Instant::now();
    while fs::metadata(&path).unwrap().len() == 0 {
        assert!(begin.elapsed().as_secs() < 10, "nothing was written");
        std::thread::yield_now();
    }
    let read = made.read();
    assert_eq!(read.status, RunStatus::Running);
    assert_eq!(
        read.repeats[0].flows[&0]
            .hold()
            .unwrap()
            .counts
            .records_acked,
        1
    );
}

#[test]
fn a_killed_run_gives_its_figures_marked_as_cut_short() {
    let mut made = Made::begin(PACED);
    made.repeat(0, |_, recorder| stalled(recorder));
    let dir = made.dir();
    // What a kill leaves: no record of the repeat, a torn line, no last word.
    fs::remove_file(dir.join("repeats/0000-00/repeat.json")).unwrap();
    let slices = dir.join("repeats/0000-00/slices.jsonl");
    let mut text = fs::read(&slices).unwrap();
    text.truncate(text.len() - 40);
    fs::write(&slices, text).unwrap();
    made.folder.end(RunStatus::Running, None, 9).unwrap();

    let summary = Summary::of(&made.read());
    assert_eq!((summary.status, summary.exit_status), (Status::CutShort, 3));
    assert_eq!(summary.warnings[0].kind(), WarningKind::NotFinished);
    let trial = &summary.trials[0];
    assert_eq!(trial.warnings[0].kind(), WarningKind::NotFinished);
    let rate = &trial.flows[0].throughput.as_ref().unwrap().records_per_s;
    assert!((rate.mean - 1_000.0).abs() < 20.0, "{rate:?}");
    let defects = summary.defects.iter();
    let defects = defects.map(|defect| (defect.file.as_str(), defect.what.as_str()));
    assert_eq!(
        defects.collect::<Vec<_>>(),
        [
            ("repeats/0000-00/repeat.json", "missing"),
            (
                "repeats/0000-00/slices.jsonl",
                "cut short: its writer was stopped here"
            ),
        ]
    );
}

#[test]
fn events_of_a_newer_kgauge_are_kept_as_unknown() {
    let made = Made::begin(PACED);
    let line = r#"{"at_unix_ms":5,"event":"meteor","size":3}"#;
    let path = made.dir().join(layout::EVENTS);
    fs::write(path, format!("{line}\n")).unwrap();
    let read = made.read();
    assert!(read.defects.is_empty(), "{:?}", read.defects);
    assert_eq!(read.events[0].kind, EventKind::Unknown);
}

#[test]
fn events_are_read_as_they_were_written() {
    let made = Made::begin(PACED);
    let event = Event {
        at_unix_ms: 5,
        repeat: Some(RepeatKey {
            trial: 1,
            repeat: 2,
        }),
        at_ns: Some(3),
        kind: EventKind::Error {
            text: "topic <script>, partition 0".to_owned(),
            code: Some(6),
        },
    };
    made.folder.events().write(&event).unwrap();
    assert_eq!(made.read().events, [event]);
}

#[test]
fn a_broker_outage_is_written_under_plain_names() {
    let line = r#"{"at_unix_ms":5,"repeat":{"trial":0,"repeat":1},"at_ns":9000000000,"event":"broker-unreachable","broker":2,"address":"127.0.0.1:9092","since_ns":7000000000,"cause":"silent","partitions":6,"partitions_without_leader":3}"#;
    let event: Event = serde_json::from_str(line).unwrap();
    assert_eq!(serde_json::to_string(&event).unwrap(), line);
    let back = r#"{"at_unix_ms":5,"event":"broker-back","broker":2,"address":"127.0.0.1:9092","since_ns":7000000000}"#;
    let event: Event = serde_json::from_str(back).unwrap();
    assert_eq!(serde_json::to_string(&event).unwrap(), back);
}

#[test]
fn histogram_logs_are_read_by_hdr_histogram_and_hold_every_sample() {
    let (made, _run) = whole_paced_run();
    let log = fs::read(made.dir().join("repeats/0000-00/latency.hlog")).unwrap();
    let mut responses = Histogram::<u64>::new(3).unwrap();
    let mut intervals = 0;
    for entry in IntervalLogIterator::new(&log) {
        let LogEntry::Interval(interval) = entry.unwrap() else {
            continue;
        };
        if interval.tag().unwrap().as_str() == "writers.response" {
            let bytes = base64::engine::general_purpose::STANDARD
                .decode(interval.encoded_histogram())
                .unwrap();
            let mut deserializer = Deserializer::new();
            let second: Histogram<u64> = deserializer.deserialize(&mut Cursor::new(bytes)).unwrap();
            responses += second;
            intervals += 1;
        }
    }
    assert_eq!(intervals, 60);
    assert_eq!(responses.len(), 60_000);
    let p99_ms = responses.value_at_quantile(0.99) as f64 / 1e6;
    assert!((p99_ms - 400.0).abs() < 4.0, "{p99_ms}");
}

#[test]
fn summary_and_report_replace_their_older_selves_whole() {
    let (made, run) = whole_paced_run();
    let summary = Summary::of(&run);
    write_summary(&made.dir(), &summary).unwrap();
    write_summary(&made.dir(), &summary).unwrap();
    write_report(&made.dir(), "<!doctype html>").unwrap();
    let text = fs::read_to_string(made.dir().join(layout::SUMMARY)).unwrap();
    let read: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(read["run"]["run_id"], summary.run.run_id);
    let left = files(&made.dir());
    assert!(
        left.iter()
            .all(|path| path.extension() != Some("part".as_ref())),
        "{left:?}"
    );
}

#[test]
fn agents_add_to_the_same_second() {
    let mut made = Made::begin(PACED);
    made.repeat(0, |_, recorder| {
        recorder.acked(3 * SECOND_NS, 3 * SECOND_NS, 4 * SECOND_NS, 2, 2)
    });
    let dir = made.dir().join("repeats/0000-00");
    fs::copy(dir.join("slices.jsonl"), dir.join("slices-agent-2.jsonl")).unwrap();
    let run = made.end();
    let hold = run.repeats[0].flows[&0].hold().unwrap();
    assert_eq!(hold.times(kgauge_results::TimeKind::Response).count(), 4);
    assert_eq!(run.repeats[0].flows[&0].seconds.len(), 2);
}
