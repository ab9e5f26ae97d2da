//! scratch
#![allow(clippy::all, missing_docs)]
use kgauge_broker::log::*;
use kgauge_broker::storage::*;
use kgauge_wire::compress::{Codec, Compressor};
use kgauge_wire::record_batch::*;
use std::path::Path;
use std::time::Instant;

fn batch(records: usize, value: usize, ts: i64, p: &ProducerState, codec: Codec) -> Vec<u8> {
    let mut e = BatchEncoder::default();
    e.start(ts);
    let v = vec![b'v'; value];
    for i in 0..records {
        e.append(ts + i as i64, Some(b"k"), Some(&v), &[("h", Some(b"x"))]);
    }
    if codec == Codec::None {
        e.finish(p).to_vec()
    } else {
        let mut c = Compressor::new(codec, None).unwrap();
        e.finish_compressed(p, &mut c).unwrap().to_vec()
    }
}

#[test]
fn dump() {
    let dir = Path::new("/tmp/w/dump/topic-0");
    let _ = std::fs::remove_dir_all(dir);
    let cfg = LogConfig {
        segment_bytes: 60_000,
        timestamp_after_max_ms: None,
        ..LogConfig::default()
    };
    let mut log = PartitionLog::open(RealStorage::shared(), dir, cfg, 0).unwrap();
    let mut seq = 0;
    for i in 0..200i64 {
        let codec = [
            Codec::None,
            Codec::Gzip,
            Codec::Snappy,
            Codec::Lz4,
            Codec::Zstd,
        ][(i % 5) as usize];
        let n = 1 + (i % 7) as usize;
        let p = if i % 3 == 0 {
            ProducerState {
                id: 7 + i % 2,
                epoch: 1,
                base_sequence: 0,
                transactional: false,
            }
        } else {
            ProducerState::NONE
        };
        let p = if p.id == 7 {
            let s = ProducerState {
                base_sequence: seq,
                ..p
            };
            seq += n as i32;
            s
        } else if p.id == 8 {
            ProducerState::NONE
        } else {
            p
        };
        let mut b = batch(n, 300, 1_700_000_000_000 + i * 10, &p, codec);
        log.append_as_leader(&mut b, (i / 60) as i32, 0).unwrap();
    }
    println!("{:?}", log.segments().collect::<Vec<_>>());
    log.close().unwrap();
    write_topic_id(&RealStorage, dir, kgauge_wire::codec::Uuid([7; 16])).unwrap();
}

#[test]
fn ten_thousand() {
    let root = Path::new("/tmp/w/tenk");
    let _ = std::fs::remove_dir_all(root);
    let st = RealStorage::shared();
    let t = Instant::now();
    let mut logs: Vec<_> = (0..10_000)
        .map(|i| {
            PartitionLog::open(
                st.clone(),
                &root.join(format!("t-{i}")),
                LogConfig::default(),
                0,
            )
            .unwrap()
        })
        .collect();
    println!("create {:?}", t.elapsed());
    let t = Instant::now();
    let b = batch(10, 100, 0, &ProducerState::NONE, Codec::None);
    for l in &mut logs {
        l.append_as_leader(&mut b.clone(), 0, 0).unwrap();
        l.close_files().unwrap();
    }
    println!("append+close_files {:?}", t.elapsed());
    drop(logs);
    let t = Instant::now();
    let logs: Vec<_> = (0..10_000)
        .map(|i| {
            PartitionLog::open(
                st.clone(),
                &root.join(format!("t-{i}")),
                LogConfig::default(),
                0,
            )
            .unwrap()
        })
        .collect();
    println!("open unclean {:?}", t.elapsed());
    let t = Instant::now();
    let jobs: Vec<_> = logs.into_iter().map(|l| l.begin_close().unwrap()).collect();
    println!("begin close {:?}", t.elapsed());
    let q = std::sync::Mutex::new(jobs);
    std::thread::scope(|s| {
        for _ in 0..16 {
            s.spawn(|| {
                loop {
                    let Some(j) = q.lock().unwrap().pop() else {
                        break;
                    };
                    j.run().unwrap();
                }
            });
        }
    });
    println!("close {:?}", t.elapsed());
    let t = Instant::now();
    let logs: Vec<_> = (0..10_000)
        .map(|i| {
            PartitionLog::open(
                st.clone(),
                &root.join(format!("t-{i}")),
                LogConfig::default(),
                0,
            )
            .unwrap()
        })
        .collect();
    println!("open clean {:?}", t.elapsed());
    assert_eq!(logs[77].log_end_offset(), 10);
    let t = Instant::now();
    for l in logs {
        l.close().unwrap();
    }
    println!("close untouched {:?}", t.elapsed());
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn speed() {
    let dir = Path::new("/tmp/w/speed/t-0");
    let _ = std::fs::remove_dir_all(dir);
    let mut log = PartitionLog::open(RealStorage::shared(), dir, LogConfig::default(), 0).unwrap();
    for (records, value) in [(1, 10), (1200, 100)] {
        let one = batch(records, value, 0, &ProducerState::NONE, Codec::None);
        let mut b = one.clone();
        let n = 4000;
        let t = Instant::now();
        for _ in 0..n {
            b[..8].fill(0);
            log.append_as_leader(&mut b, 0, 0).unwrap();
        }
        println!("{} bytes: append {:?}", one.len(), t.elapsed() / n);
        let t = Instant::now();
        for _ in 0..n {
            validate_for_append(&one).unwrap();
        }
        println!("   of which validate {:?}", t.elapsed() / n);
    }
    let end = log.log_end_offset();
    let t = Instant::now();
    for i in 0..4000 {
        log.read(&ReadRequest {
            offset: (i * 7919) % end,
            bytes_max: 1,
            upper_bound_offset: end,
            first_batch: FirstBatch::Whole,
        })
        .unwrap();
    }
    println!("random read {:?}", t.elapsed() / 4000);
    let t = Instant::now();
    for _ in 0..4000 {
        log.read(&ReadRequest {
            offset: end - 2000,
            bytes_max: 1,
            upper_bound_offset: end - 1000,
            first_batch: FirstBatch::Whole,
        })
        .unwrap();
    }
    println!("tail read {:?}", t.elapsed() / 4000);
    drop(log);
    let t = Instant::now();
    let log = PartitionLog::open(RealStorage::shared(), dir, LogConfig::default(), 0).unwrap();
    println!(
        "recover {} MB {:?}",
        log.size_bytes() / 1_000_000,
        t.elapsed()
    );
    log.delete().unwrap();
}
