//! Writes the first inputs of the targets: messages of agents, messages and headers from the golden files of `wire`,
//! batches and compressed sections of every codec, files of run folders: of one that is made here, and of those whose
//! paths are given.

use std::path::{Path, PathBuf};
use std::{fs, io};

use kgauge_agents::protocol::{CHUNK_HEAD_BYTES, FrameKind, encode_frame};
use kgauge_fuzz::{decoders, input, run_folder, steps};
use kgauge_verify::{
    BatchEntry, BatchFate, LedgerEntry, LedgerWriter, ReadSpan, TransactionFate, producer_number,
};
use kgauge_wire::compress::{Codec, Compressor};
use kgauge_wire::record_batch::{BatchEncoder, ProducerState};

fn main() -> io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for target in [
        "agents",
        "messages",
        "headers",
        "frames",
        "record_batch",
        "message_set",
        "compress",
        "node",
        "run_folder",
    ] {
        fs::create_dir_all(corpus.join(target))?;
    }
    fs::write(corpus.join("node/story"), steps::story())?;
    let count = 1 + messages(&corpus)? + batches(&corpus)? + message_sets(&corpus)?;
    let count = count + run_folders(&corpus)? + agents(&corpus)?;
    println!("{count} inputs in {}", corpus.display());
    Ok(())
}

/// Messages of leads and agents, alone and in one stream, and values of `--agents`.
fn agents(corpus: &Path) -> io::Result<u32> {
    const MESSAGES: [&str; 7] = [
        r#"{"message":"welcome","run_id":"r","index":0,"count":2}"#,
        r#"{"message":"clock-probe","sent_ns":7}"#,
        r#"{"message":"start","at_ns":9,"unix_ms":1795000000000}"#,
        r#"{"message":"hello","host":"h","version":"0.1.0","pid":1,"processors":2}"#,
        r#"{"message":"clock-answer","sent_ns":7,"received_ns":8,"answered_ns":9}"#,
        r#"{"message":"prepared","round":1,"facts":{"threads":2}}"#,
        r#"{"message":"progress","load":{"elapsed_ns":1,"shipped_ns":1,"flows":[],"behind":[null],"held":[],"spun_ns":[3],
            "incidents":[],"outages":[],"outage_changes":[]},
            "paces":[{"bin_ns":100000000,"records":[1,2],"delay_ns":[3,4]}],"counts_done_ns":null}"#,
    ];
    const SPECS: [&str; 5] = [
        "local:4",
        "ssh:a,u@b",
        "join:2,listen=[::1]:7700",
        "a:1,b:2",
        "k8s:replicas=2,namespace=perf,node-selector=pool=load",
    ];
    let (mut count, mut all) = (0, Vec::new());
    let mut write = |name: String, bytes: &[u8]| {
        count += 1;
        fs::write(corpus.join("agents").join(name), bytes)
    };
    for (number, message) in MESSAGES.iter().enumerate() {
        let mut frame = Vec::new();
        encode_frame(FrameKind::Message, message.as_bytes(), &mut frame)
            .map_err(io::Error::other)?;
        write(format!("message-{number}"), &frame)?;
        all.extend(frame);
    }
    let mut frame = Vec::new();
    encode_frame(FrameKind::Ledger, &ledger_chunk()?, &mut frame).map_err(io::Error::other)?;
    write("ledger".to_owned(), &frame)?;
    all.extend(frame);
    write("all".to_owned(), &all)?;
    for (number, spec) in SPECS.iter().enumerate() {
        write(format!("spec-{number}"), spec.as_bytes())?;
    }
    Ok(count)
}

/// The whole ledger of the first producer of the first flow, with entries of every kind.
fn ledger_chunk() -> io::Result<Vec<u8>> {
    let batch = |fate, sequence| {
        LedgerEntry::Batch(BatchEntry {
            fate,
            partition: 0,
            sequence,
            count: 5,
            offset: Some(sequence),
        })
    };
    let mut bytes = vec![0; CHUNK_HEAD_BYTES];
    let mut writer = LedgerWriter::new(&mut bytes, producer_number(0, 0));
    for entry in [
        LedgerEntry::Clock(1_795_000_000_000),
        batch(BatchFate::Acked, 0),
        LedgerEntry::TransactionEnd(TransactionFate::Committed),
        batch(BatchFate::Unknown, 5),
        batch(BatchFate::Failed, 10),
        LedgerEntry::TransactionEnd(TransactionFate::Aborted),
        LedgerEntry::Read(ReadSpan {
            partition: 0,
            from: 0,
            end: 12,
            hidden: 1,
        }),
        LedgerEntry::BatchSum(7),
        LedgerEntry::Poll {
            partition: 0,
            expected: 12,
            offset: 20,
        },
    ] {
        writer.push(entry);
    }
    writer.close()?;
    Ok(bytes)
}

/// Every line of the golden files.
fn messages(corpus: &Path) -> io::Result<u32> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/wire/tests/golden");
    let decoders = decoders();
    let mut count = 0;
    for entry in fs::read_dir(golden)? {
        let text = fs::read_to_string(entry?.path())?;
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<_> = line.split(' ').collect();
            let [name, version, variant, hex] = words.as_slice() else {
                continue;
            };
            let bytes = unhex(hex);
            let number = version.parse().unwrap_or_default();
            if let Some(steps) = steps::of_golden(name, number, &bytes) {
                fs::write(
                    corpus.join(format!("node/{name}-{version}-{variant}")),
                    steps,
                )?;
                count += 1;
            }
            let (target, bytes) = match input(&decoders, name, number, &bytes) {
                Some(input) => ("messages", input),
                None => ("headers", bytes),
            };
            fs::write(
                corpus.join(format!("{target}/{name}-{version}-{variant}")),
                bytes,
            )?;
            count += 1;
        }
    }
    Ok(count)
}

/// The sets that old Kafka's own classes wrote.
fn message_sets(corpus: &Path) -> io::Result<u32> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/wire/tests/golden_messages");
    let mut count = 0;
    for entry in fs::read_dir(golden)? {
        let path = entry?.path();
        if let Some(name) = path
            .file_name()
            .filter(|_| path.extension().is_some_and(|e| e == "bin"))
        {
            fs::copy(&path, corpus.join("message_set").join(name))?;
            count += 1;
        }
    }
    Ok(count)
}

/// The files of a run folder that is made here, and of the real ones that the user names.
fn run_folders(corpus: &Path) -> io::Result<u32> {
    let made = tempfile::tempdir()?;
    let own = made.path().join("run");
    run_folder::make(&own)?;
    let named = std::env::args_os().skip(1).map(PathBuf::from);
    let mut count = 0;
    for (number, folder) in std::iter::once(own).chain(named).enumerate() {
        for (position, path) in run_folder::FILES.iter().enumerate() {
            let Ok(bytes) = fs::read(folder.join(path)) else {
                continue;
            };
            let name = format!("run_folder/{number}-{position}");
            fs::write(corpus.join(name), run_folder::input(position, &bytes))?;
            count += 1;
        }
    }
    Ok(count)
}

/// A batch and a bare section of each codec.
fn batches(corpus: &Path) -> io::Result<u32> {
    let mut count = 0;
    for codec in (0..).map_while(Codec::from_id) {
        let mut compressor = Compressor::new(codec, None).map_err(io::Error::other)?;
        let mut encoder = BatchEncoder::with_capacity(1024);
        encoder.start(1);
        encoder.append(1, None, Some(b"value value value value"), &[]);
        encoder.append(
            2,
            Some(b"key"),
            None,
            &[("header", Some(b"text")), ("null", None)],
        );
        let batch = encoder
            .finish_compressed(&ProducerState::default(), &mut compressor)
            .map_err(io::Error::other)?;
        fs::write(corpus.join(format!("record_batch/{codec}")), batch)?;
        let section = compressor
            .compress(&[b'x'; 200])
            .map_err(io::Error::other)?;
        fs::write(
            corpus.join(format!("compress/{codec}")),
            [&[codec.id()], section].concat(),
        )?;
        count += 2;
    }
    Ok(count)
}

fn unhex(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2);
    pairs
        .filter_map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}
