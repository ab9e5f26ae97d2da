//! What a node's thread costs a record, measured on one connection: produce and fetch.
//! `cargo run --release -p kgauge-broker --example measure -- [RECORDS] [BATCH_BYTES]`
#![allow(clippy::print_stdout, reason = "an example talks to its user")]

use std::error::Error;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use kgauge_broker::{ClusterConfig, EmbeddedCluster};
use kgauge_wire::codec::{Bytes, Str};
use kgauge_wire::frame::put_request;
use kgauge_wire::messages::create_topics::{CreatableTopic, CreateTopicsRequest};
use kgauge_wire::messages::fetch::{FetchPartition, FetchRequest, FetchTopic};
use kgauge_wire::messages::produce::{PartitionProduceData, ProduceRequest, TopicProduceData};
use kgauge_wire::record_batch::{BatchEncoder, ProducerState};

const RECORD_BYTES: usize = 100;
const IN_FLIGHT: u64 = 5;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let records: u64 = arguments.next().as_deref().unwrap_or("5000000").parse()?;
    let batch_bytes: usize = arguments.next().as_deref().unwrap_or("131072").parse()?;
    let dir = tempfile::tempdir_in(".")?;
    let cluster = EmbeddedCluster::start(ClusterConfig::new(dir.path()))?;
    let address = cluster.addresses()[0];
    create(address)?;
    let (batch, batch_records) = batch(batch_bytes)?;
    let batches = records / batch_records;
    produce(address, &batch, batches / 10)?;
    let (cpu_before, start) = (node_cpu_ns()?, Instant::now());
    produce(address, &batch, batches)?;
    report("produce", batches * batch_records, cpu_before, start)?;
    let (cpu_before, start) = (node_cpu_ns()?, Instant::now());
    let bytes = fetch_all(address)?;
    report(
        "fetch",
        bytes / batch.len() as u64 * batch_records,
        cpu_before,
        start,
    )?;
    cluster.stop()?;
    Ok(())
}

fn report(what: &str, records: u64, cpu_before: u64, start: Instant) -> Result<()> {
    let cpu_ns = (node_cpu_ns()? - cpu_before) / records.max(1);
    let seconds = start.elapsed().as_secs_f64();
    let rate = records as f64 / seconds / 1e6;
    println!("{what}: {cpu_ns} ns of the node's thread a record, {rate:.2} M records/s");
    Ok(())
}

/// CPU of the node's thread so far, from the scheduler's own count.
fn node_cpu_ns() -> Result<u64> {
    for task in fs::read_dir("/proc/self/task")? {
        let path = task?.path();
        if fs::read_to_string(path.join("comm"))?.trim() == "kgauge-node-1" {
            let schedstat = fs::read_to_string(path.join("schedstat"))?;
            return Ok(schedstat.split(' ').next().unwrap_or("0").parse()?);
        }
    }
    Err("there is no thread of that name".into())
}

fn ask(stream: &mut TcpStream, bytes: &[u8]) -> Result<Vec<u8>> {
    stream.write_all(bytes)?;
    let mut answer = Vec::new();
    receive(stream, &mut answer)?;
    Ok(answer)
}

fn receive(stream: &mut TcpStream, answer: &mut Vec<u8>) -> Result<()> {
    let mut size = [0; 4];
    stream.read_exact(&mut size)?;
    answer.resize(usize::try_from(i32::from_be_bytes(size))?, 0);
    Ok(stream.read_exact(answer)?)
}

fn create(address: SocketAddr) -> Result<()> {
    let topic = CreatableTopic {
        name: Str::Borrowed("t"),
        num_partitions: 1,
        replication_factor: 1,
        ..CreatableTopic::default()
    };
    let request = CreateTopicsRequest {
        topics: vec![topic],
        ..Default::default()
    };
    let mut bytes = Vec::new();
    put_request(&mut bytes, 7, 0, None, &request)?;
    ask(&mut TcpStream::connect(address)?, &bytes)?;
    Ok(())
}

fn batch(batch_bytes: usize) -> Result<(Vec<u8>, u64)> {
    let now_ms = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?;
    let mut encoder = BatchEncoder::default();
    encoder.start(now_ms);
    let value = [b'x'; RECORD_BYTES];
    while encoder.has_room_for(RECORD_BYTES + 20, batch_bytes) {
        encoder.append(now_ms, None, Some(&value), &[]);
    }
    let records = u64::from(encoder.records());
    Ok((encoder.finish(&ProducerState::NONE).to_vec(), records))
}

fn produce(address: SocketAddr, batch: &[u8], batches: u64) -> Result<()> {
    let data = PartitionProduceData {
        index: 0,
        records: Some(Bytes::Borrowed(batch)),
    };
    let topic = TopicProduceData {
        name: Str::Borrowed("t"),
        partition_data: vec![data],
        ..TopicProduceData::default()
    };
    let request = ProduceRequest {
        acks: 1,
        timeout_ms: 5000,
        topic_data: vec![topic],
        ..Default::default()
    };
    let mut bytes = Vec::new();
    put_request(&mut bytes, 12, 0, None, &request)?;
    let mut stream = TcpStream::connect(address)?;
    let mut answer = Vec::new();
    for sent in 0..batches + IN_FLIGHT {
        if sent < batches {
            stream.write_all(&bytes)?;
        }
        if sent >= IN_FLIGHT {
            receive(&mut stream, &mut answer)?;
        }
    }
    Ok(())
}

fn fetch_all(address: SocketAddr) -> Result<u64> {
    let mut stream = TcpStream::connect(address)?;
    let (mut offset, mut total) = (0, 0);
    loop {
        let partition = FetchPartition {
            fetch_offset: offset,
            partition_max_bytes: 1 << 20,
            ..FetchPartition::default()
        };
        let partitions = vec![partition];
        let topics = vec![FetchTopic {
            topic: Str::Borrowed("t"),
            partitions,
            ..Default::default()
        }];
        let request = FetchRequest {
            min_bytes: 1,
            topics,
            ..Default::default()
        };
        let mut bytes = Vec::new();
        put_request(&mut bytes, 11, 0, None, &request)?;
        let answer = ask(&mut stream, &bytes)?;
        let reader = &mut kgauge_wire::codec::Reader::new(&answer[4..]);
        let answer = <kgauge_wire::messages::FetchResponse<'_> as
            kgauge_wire::messages::Message<'_>>::decode(reader, 11)?;
        let records = answer.responses[0].partitions[0]
            .records
            .as_deref()
            .unwrap_or_default();
        let whole = kgauge_wire::record_batch::batches(records).map_while(std::result::Result::ok);
        let Some(last) = whole.last() else {
            return Ok(total);
        };
        offset = last.header.next_offset();
        total += records.len() as u64;
    }
}
