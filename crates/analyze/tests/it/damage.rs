//! Damaged and hostile folders: the damage is reported, nothing is guessed, and nothing panics.

use std::fs;
use std::path::Path;

use kgauge_analyze::{Series, Summary};
use kgauge_results::{FolderError, RunRead};
use proptest::prelude::*;

use crate::made::{CLOSED, Made, closed, files, reader};

fn small_run() -> Made {
    let mut made = Made::begin(CLOSED);
    made.repeat(0, |flow, recorder| match flow {
        0 => {
            closed(recorder);
            recorder.failed(1, 2, 3, 7);
        }
        _ => reader(recorder),
    });
    made.end();
    made
}

/// Reads a folder in every way that there is.
fn read_all(dir: &Path) -> Result<Summary, FolderError> {
    let run = RunRead::open(dir)?;
    for trial in 0..2 {
        Series::of(&run, trial);
    }
    Ok(Summary::of(&run))
}

#[test]
fn a_file_of_slices_cut_anywhere_gives_a_prefix_of_its_slices() {
    let made = small_run();
    let path = made.dir().join("repeats/0000-00/slices.jsonl");
    let whole = fs::read(&path).unwrap();
    let mut acked_before = 0;
    for length in (0..whole.len()).step_by(97) {
        fs::write(&path, &whole[..length]).unwrap();
        let run = RunRead::open(&made.dir()).unwrap();
        let torn = length > 0 && whole[length - 1] != b'\n';
        assert_eq!(run.defects.len(), usize::from(torn), "{:?}", run.defects);
        let flow = run.repeats[0].flows.get(&0);
        let acked = flow.map_or(0, |flow| {
            let stages = flow.stages.values();
            stages.map(|slice| slice.counts.records_acked).sum::<u64>()
        });
        assert!(acked >= acked_before, "{length}: {acked} < {acked_before}");
        acked_before = acked;
    }
    assert!(acked_before > 0);
}

#[test]
fn any_file_may_be_missing_but_the_first() {
    let made = small_run();
    for path in files(&made.dir()) {
        let content = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let read = read_all(&made.dir());
        match path.file_name().unwrap().to_str().unwrap() {
            "run.json" => assert!(matches!(read, Err(FolderError::NotARun { .. }))),
            "latency.hlog" | "test.yaml" => assert!(read.unwrap().defects.is_empty()),
            name => {
                let defects = read.unwrap().defects;
                let found = defects.iter().any(|defect| defect.file.ends_with(name));
                assert!(found, "{name}: {defects:?}");
            }
        }
        fs::write(&path, content).unwrap();
    }
}

#[test]
fn lines_that_no_run_writes_are_listed_and_skipped() {
    let made = small_run();
    let path = made.dir().join("repeats/0000-00/slices.jsonl");
    let before = read_all(&made.dir()).unwrap();
    let mut text = fs::read_to_string(&path).unwrap();
    let good_lines = text.lines().count();
    text.push_str("junk\n");
    text.push_str("{\"flow\":60000,\"stage\":\"hold\",\"second\":0}\n");
    text.push_str("{\"flow\":0,\"stage\":\"hold\",\"second\":4294967295}\n");
    text.push_str("{\"flow\":0,\"stage\":\"hold\",\"second\":3,\"counts\":{\"bribes\":1}}\n");
    text.push_str(&format!("{}\n", "x".repeat(9 << 20)));
    text.push_str(
        "{\"flow\":0,\"stage\":\"hold\",\"second\":3,\"counts\":{\"records_acked\":1}}\n",
    );
    fs::write(&path, text).unwrap();
    let after = read_all(&made.dir()).unwrap();
    let lines = after
        .defects
        .iter()
        .map(|defect| defect.line.unwrap() as usize - good_lines);
    assert_eq!(lines.collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    let acked = |summary: &Summary| {
        let flow = &summary.trials[0].flows[0];
        let rate = &flow.throughput.as_ref().unwrap().records_per_s;
        (rate.mean * 10.0).round() as u64
    };
    assert_eq!(acked(&after), acked(&before) + 1);
}

#[test]
fn numbers_at_the_edge_of_their_type_do_not_overflow() {
    let made = small_run();
    let path = made.dir().join("repeats/0000-00/slices.jsonl");
    let huge = u64::MAX;
    let line = format!(
        "{{\"flow\":0,\"stage\":\"hold\",\"second\":3,\"counts\":{{\"records_scheduled\":{huge},\
         \"records_skipped\":{huge},\"records_acked\":{huge},\"records_consumed\":{huge},\
         \"logical_bytes_acked\":{huge},\"logical_bytes_consumed\":{huge},\
         \"wire_bytes_sent\":{huge},\"wire_bytes_consumed\":{huge},\"records_retried\":{huge},\
         \"in_flight_record_ns\":{huge},\"records_indeterminate\":{huge}}},\
         \"errors\":[{{\"outcome\":\"failed\",\"code\":1,\"records\":{huge}}}]}}\n"
    );
    fs::write(&path, line.repeat(3)).unwrap();
    read_all(&made.dir()).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn flipped_bytes_are_never_a_panic(
        hits in prop::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()),
            1..30,
        ),
    ) {
        let made = small_run();
        let files = files(&made.dir());
        for (file, at, byte) in hits {
            let path = file.get(&files);
            let mut content = fs::read(path).unwrap();
            let position = at.index(content.len());
            content[position] = byte;
            fs::write(path, content).unwrap();
        }
        // An error or a summary with defects: both are fine.
        let _ = read_all(&made.dir());
    }
}
