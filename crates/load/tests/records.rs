//! Records of every kind and rates that change, through the embedded cluster: what was written is
//! what is read, to the byte.

#![allow(clippy::unwrap_used, reason = "a test may end by a panic")]

mod bench;

use bench::{Bench, TOPIC};
use kgauge_results::{Slice, Stage};
use kgauge_scenario::{FileRead, Files};

#[test]
fn every_byte_of_every_kind_of_record_is_acked_and_read() {
    let bench = Bench::new();
    let record = "{size: {lognormal: {median: 200 B, p99: 4 kB}}, \
                  key: {zipf: {keys: 1k}}, headers: {count: 3}, null-values: 10 %, \
                  compressibility: 2}";
    let mut written = 0;
    for codec in ["none", "gzip", "snappy", "lz4", "zstd"] {
        let bytes = bench.write(3_000, record, &format!("{{compression.type: {codec}}}"));
        // Keys of 16 B and three headers of 24 B in each record, values beside.
        assert!(bytes > 3_000 * (16 + 72), "{codec}: {bytes}");
        written += bytes;
    }
    assert_eq!(
        bench.read("settings: {check.crcs: true}"),
        (15_000, written)
    );
    let committed = "settings: {isolation.level: read_committed}";
    assert_eq!(bench.read(committed), (15_000, written));
}

#[test]
fn equal_keys_go_to_one_partition_unless_they_are_ignored() {
    let mut bench = Bench::new();
    let record = "{size: 100 B, key: {uniform: {keys: 1, size: 2 B}}}";
    bench.write(1_000, record, "{}");
    let ends = bench.ends();
    // The murmur2 of "00" without its sign, modulo 4.
    assert_eq!(
        ends.iter().filter(|&&end| end == 1_000).count(),
        1,
        "{ends:?}"
    );
    bench.write(
        4_000,
        record,
        "{partitioner.ignore.keys: true, batch.size: 1000}",
    );
    assert!(
        bench.ends().iter().all(|&end| end > 300),
        "{:?}",
        bench.ends()
    );
    let many = "{size: 100 B, key: {uniform: {keys: 1M}}}";
    let before = bench.ends();
    bench.write(40_000, many, "{}");
    for (after, before) in bench.ends().iter().zip(before) {
        // 10,000 each; 5 standard deviations are 433.
        assert!((after - before - 10_000).abs() < 433, "{:?}", bench.ends());
    }
}

#[test]
fn one_partition_takes_all_or_those_of_one_broker() {
    let mut bench = Bench::of_nodes(2);
    bench.write(500, "{size: 100 B}", "{partitioner: {partition: 2}}");
    assert_eq!(bench.ends(), [0, 0, 500, 0]);
    let leaders: Vec<i32> = {
        let metadata = bench.cluster.refresh(&[TOPIC]).unwrap();
        let topic = metadata.topic(TOPIC).unwrap();
        topic
            .partitions
            .iter()
            .map(|one| one.leader_id.unwrap())
            .collect()
    };
    let broker = leaders[0];
    let settings = format!("{{partitioner: {{broker: {broker}}}, batch.size: 1000}}");
    bench.write(2_000, "{size: 100 B}", &settings);
    for (partition, (end, leader)) in bench.ends().iter().zip(leaders).enumerate() {
        let before = if partition == 2 { 500 } else { 0 };
        assert_eq!(*end > before, leader == broker, "partition {partition}");
    }
    let share = bench.share(
        "  - {name: w, kind: produce, shape: max, records: 1, record: {size: 1 B}, settings: \
         {partitioner: {broker: 77}}}",
        "hold: none",
    );
    let error = bench.try_run(&share).err().unwrap().to_string();
    assert!(error.contains("broker 77"), "{error}");
}

#[test]
fn batches_shrink_as_far_as_the_scenario_wants_with_every_codec() {
    let bench = Bench::new();
    for codec in ["gzip", "snappy", "lz4", "zstd"] {
        let flow = format!(
            "  - {{name: w, kind: produce, shape: max, records: 5k, record: {{size: 1 kB, \
             compressibility: 4}}, settings: {{compression.type: {codec}, linger.ms: 1000}}}}"
        );
        let (_, slices) = bench.run(&flow, "warm-up: 0 s, hold: none");
        let sum = |count: fn(&Slice) -> u64| slices.iter().map(count).sum::<u64>() as f64;
        let plain = sum(|slice| slice.counts.batch_bytes_plain);
        let ratio = plain / sum(|slice| slice.counts.batch_bytes_compressed);
        assert!(plain > 5_000_000.0, "{codec}: {plain}");
        assert!((ratio / 4.0 - 1.0).abs() <= 0.05, "{codec}: {ratio}");
    }
}

#[test]
fn records_of_a_file_are_sent_as_they_stand_there() {
    let mut bench = Bench::new();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("records.txt");
    std::fs::write(&path, "one\ntwo\nthree\n").unwrap();
    let shown = path.display().to_string();
    bench.files = Files::by(move |_| {
        let bytes = std::fs::read(&shown).map_err(|error| error.to_string())?;
        let path = shown.clone();
        Ok(FileRead { path, bytes })
    });
    // 3 + 3 + 5 bytes in three records.
    assert_eq!(bench.write(300, "{file: records.txt}", "{}"), 1_100);
    assert_eq!(bench.read("from: earliest"), (300, 1_100));
    let flow = "  - {name: w, kind: produce, shape: max, records: 1, record: {file: records.txt}}";
    let share = bench.share(flow, "hold: none");
    std::fs::write(&path, "one\nTWO\nthree\n").unwrap();
    let error = bench.try_run(&share).err().unwrap().to_string();
    assert!(error.contains("has changed"), "{error}");
}

#[test]
fn a_ramp_asks_for_its_integral_and_a_trace_for_its_records() {
    let bench = Bench::new();
    let ramp = "  - {name: w, kind: produce, producers: 3, shape: {ramp: {from: 0/s, to: 2k/s}}, \
                record: {size: 10 B}}";
    let (outcome, slices) = bench.run(ramp, "warm-up: 0 s, hold: 1 s");
    let totals = outcome.flows[0].totals;
    assert_eq!((totals.scheduled, totals.acked), (1_000, 1_000));
    let hold = slices.iter().filter(|slice| slice.key.stage == Stage::Hold);
    assert_eq!(
        hold.map(|slice| slice.counts.records_scheduled)
            .sum::<u64>(),
        1_000
    );
    let mut bench = bench;
    bench.files = Files::by(|_| {
        let (path, bytes) = (String::new(), b"0\n0.1\n0.1\n0.15\n".to_vec());
        Ok(FileRead { path, bytes })
    });
    let trace = "  - {name: w, kind: produce, shape: {replay: {times: t}}, record: {size: 10 B}}";
    let (outcome, _) = bench.run(trace, "warm-up: 0 s, hold: none");
    assert_eq!(outcome.flows[0].totals.acked, 4);
    assert!(
        outcome.hold_end_ns >= 150_000_000,
        "{}",
        outcome.hold_end_ns
    );
}

#[test]
fn reading_starts_at_an_offset_or_a_time_and_ends_are_kept() {
    let bench = Bench::new();
    let settings = "{partitioner: round-robin}";
    bench.write(4_000, "{size: 10 B}", settings);
    // 1,000 in each of four partitions.
    assert_eq!(bench.read("from: {offset: 900}").0, 400);
    assert_eq!(bench.read("from: {offset: 1M}").0, 0);
    assert_eq!(bench.read("from: {ago: 1 h}").0, 4_000);
    assert_eq!(bench.read("from: {time: 2020-01-01T00:00:00Z}").0, 4_000);
    assert_eq!(bench.read("from: {time: 2100-01-01T00:00:00Z}").0, 0);
}

#[test]
fn each_of_several_groups_reads_everything_and_lag_is_sampled() {
    let bench = Bench::new();
    bench.write(6_000, "{size: 100 B}", "{partitioner: round-robin}");
    let flow = "  - {name: r, kind: consume, consumers: 2, group: true, groups: 2, records: all}";
    let (outcome, slices) = bench.run(flow, "warm-up: 0 s, hold: 60 s");
    assert_eq!(outcome.flows[0].totals.consumed, 12_000);
    assert_eq!(outcome.flows[0].group.unwrap().members, 4);
    let sum = |count: fn(&Slice) -> u64| slices.iter().map(count).sum::<u64>();
    assert!(sum(|slice| slice.counts.lag_samples) > 0);
}
