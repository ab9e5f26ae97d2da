//! Consumers behind a proxy that spoils every answer to a Fetch: nothing hangs, and what went wrong is counted.

#![allow(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kgauge_broker::{ClusterConfig, ClusterHandle, EmbeddedCluster as Broker};
use kgauge_client::admin::TopicSpec;
use kgauge_client::{ClientConfig, Cluster, Interrupt};
use kgauge_load::{
    Clock, LoadOutcome, LoadProgress, LoadSetup, OutageChange, OutageKind, PreparedLoad,
};
use kgauge_results::SliceSink;
use kgauge_scenario::{
    ConsumeEnd, ConsumeFlow, ConsumerSettings, FlowPlan, PartitionShare, ProduceFlow,
    ProducerSettings, RecordPlan, Shape, Share, Stages, StartOffset, TopicPlan,
};

use kgauge_wire::compress::{Codec, Compressor};
use kgauge_wire::messages::ProduceRequest;
use kgauge_wire::messages::produce::{PartitionProduceData, TopicProduceData};
use kgauge_wire::record_batch::{BatchEncoder, ProducerState};

const SECOND_NS: u64 = 1_000_000_000;
const FETCH: i16 = 1;

/// What becomes of a Fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spoil {
    /// It is answered with bytes that mean nothing.
    Garbage,
    /// It never gets to the broker.
    Never,
    /// Nothing bad.
    Nothing,
}

/// Whoever raises it cuts the proxy off: it takes connections and requests, and passes nothing on.
type Cut = Arc<AtomicBool>;

/// A frame without its size; `None` when the other side is gone.
fn frame(from: &mut TcpStream) -> Option<Vec<u8>> {
    let mut size = [0; 4];
    from.read_exact(&mut size).ok()?;
    let mut bytes = vec![0; u32::from_be_bytes(size) as usize];
    from.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

fn send(to: &mut TcpStream, bytes: &[u8]) -> Option<()> {
    to.write_all(&(bytes.len() as u32).to_be_bytes()).ok()?;
    to.write_all(bytes).ok()
}

/// Serves one client until it is gone. Requests are answered one after the other, as a broker does.
fn pass_on(mut client: TcpStream, broker: u16, spoil: Spoil, cut: &Cut) -> Option<()> {
    let mut broker = TcpStream::connect((Ipv4Addr::LOCALHOST, broker)).ok()?;
    loop {
        let request = frame(&mut client)?;
        if cut.load(Ordering::Relaxed) {
            continue;
        }
        let api = i16::from_be_bytes(*request.first_chunk()?);
        match (api, spoil) {
            (FETCH, Spoil::Never) => {}
            (FETCH, Spoil::Garbage) => {
                let mut answer = request[4..8].to_vec();
                answer.extend([0xA5; 60]);
                send(&mut client, &answer)?;
            }
            _ => {
                send(&mut broker, &request)?;
                send(&mut client, &frame(&mut broker)?)?;
            }
        }
    }
}

struct Bench {
    _dir: tempfile::TempDir,
    _broker: ClusterHandle,
    client: ClientConfig,
    cut: Cut,
}

/// A broker that advertises the proxy.
fn bench(spoil: Spoil) -> Bench {
    let proxy = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = proxy.local_addr().unwrap().port();
    let dir = tempfile::tempdir().unwrap();
    let mut config = ClusterConfig::new(dir.path());
    config.advertised_port = Some(port);
    let broker = Broker::start(config).unwrap();
    let behind = broker.addresses()[0].port();
    let cut = Cut::default();
    let seen = Arc::clone(&cut);
    // The thread ends with the process; the tests' clients are gone by then.
    std::thread::spawn(move || {
        for client in proxy.incoming() {
            let client = client.unwrap();
            let cut = Arc::clone(&seen);
            std::thread::spawn(move || pass_on(client, behind, spoil, &cut));
        }
    });
    let client = ClientConfig::from_servers(&format!("127.0.0.1:{port}")).unwrap();
    let mut cluster = Cluster::bootstrap(client.clone()).unwrap();
    let topic = TopicSpec {
        name: "spoilt".to_owned(),
        partitions: 1,
        replication_factor: 1,
        configs: Vec::new(),
    };
    cluster.create_topic(&topic).unwrap();
    Bench {
        _dir: dir,
        _broker: broker,
        client,
        cut,
    }
}

/// Writes and reads for some seconds.
fn run(bench: &Bench, hold_s: u64) -> (LoadOutcome, Vec<OutageChange>) {
    let flows = vec![writers(), readers()];
    let (outcome, changes, _) = run_flows(bench, flows, hold_s, |_| ());
    (outcome, changes)
}

/// Runs flows; what came of them, and what went wrong, in words.
fn run_flows(
    bench: &Bench,
    flows: Vec<FlowPlan>,
    hold_s: u64,
    mut act: impl FnMut(&LoadProgress),
) -> (LoadOutcome, Vec<OutageChange>, Vec<String>) {
    let stages = Stages {
        warm_up_ns: 0,
        warm_up_ns_max: 0,
        hold_ns: Some(hold_s * SECOND_NS),
        drain_ns_max: SECOND_NS,
    };
    let share = Share::of_flows(flows, TopicPlan::of_partitions(1), stages, 7);
    let setup = LoadSetup {
        copy: None,
        verify: None,
        drivers: &[],
        share: &share,
        topic: "spoilt",
        also: &[],
        earliest: None,
        groups: &BTreeMap::new(),
        client: &bench.client,
        sink: &|| SliceSink::memory().0,
        interrupt: &Interrupt::new(),
    };
    let (mut changes, mut words) = (Vec::new(), Vec::new());
    let load = PreparedLoad::prepare(&setup).unwrap();
    let outcome = load.run(Clock::start(), |progress| {
        act(progress);
        changes.extend(progress.outage_changes.iter().cloned());
        words.extend(progress.incidents.iter().map(|one| one.what.clone()));
    });
    (outcome.unwrap(), changes, words)
}

fn writers() -> FlowPlan {
    FlowPlan::Produce(ProduceFlow {
        shape: Shape::Constant { per_second: 200.0 },
        settings: ProducerSettings {
            client_id: "test".into(),
            ..ProducerSettings::default()
        },
        ..ProduceFlow::of_records("writers", RecordPlan::of_values(100))
    })
}

fn readers() -> FlowPlan {
    FlowPlan::Consume(ConsumeFlow {
        name: "readers".into(),
        consumers: 1,
        partitions: PartitionShare::All,
        from: StartOffset::Earliest,
        records: ConsumeEnd::StageEnd,
        group: None,
        groups: 1,
        settings: ConsumerSettings {
            client_id: "test".into(),
            ..ConsumerSettings::default()
        },
    })
}

#[test]
fn answers_that_mean_nothing_are_counted_and_the_writer_does_not_suffer() {
    let (outcome, _) = run(&bench(Spoil::Garbage), 2);
    let (writers, readers) = (outcome.flows[0].totals, outcome.flows[1].totals);
    assert_eq!((writers.acked, writers.failed), (400, 0));
    assert_eq!(readers.consumed, 0);
    assert!(readers.connections.malformed > 0, "{readers:?}");
    assert_eq!(readers.connections.malformed, readers.connections.lost);
    assert_eq!(writers.connections.lost, 0);
}

#[test]
fn a_broker_that_never_answers_a_fetch_is_slow_and_not_gone() {
    let (outcome, changes) = run(&bench(Spoil::Never), 5);
    let (writers, readers) = (outcome.flows[0].totals, outcome.flows[1].totals);
    assert_eq!((writers.acked, readers.consumed), (1_000, 0));
    let is_held = |change: &OutageChange| match change {
        OutageChange::Found { outage, .. } => outage.kind == OutageKind::Held,
        OutageChange::Over { .. } => true,
    };
    assert!(changes.iter().all(is_held), "{changes:?}");
    assert!(!outcome.is_target_gone);
}

/// Appends a batch whose one record is zeros that inflate to more than a consumer takes.
fn write_bomb(bench: &Bench) {
    let mut encoder = BatchEncoder::default();
    encoder.start(1_700_000_000_000);
    encoder.append(1_700_000_000_000, None, Some(&vec![0; 300 << 20]), &[]);
    let mut compressor = Compressor::new(Codec::Gzip, None).unwrap();
    let none = ProducerState::NONE;
    let batch = encoder.finish_compressed(&none, &mut compressor).unwrap();
    let request = ProduceRequest {
        acks: -1,
        timeout_ms: 30_000,
        topic_data: vec![TopicProduceData {
            name: "spoilt".into(),
            partition_data: vec![PartitionProduceData {
                index: 0,
                records: Some(batch.into()),
            }],
            ..Default::default()
        }],
        ..Default::default()
    };
    let mut cluster = Cluster::bootstrap(bench.client.clone()).unwrap();
    let mut connection = cluster.open(1).unwrap();
    // Later versions name topics by their ids.
    let limit = Duration::from_secs(60);
    let reply = connection.call_between(&request, 3..=12, limit).unwrap();
    let answer = reply.decode().unwrap();
    assert_eq!(answer.responses[0].partition_responses[0].error_code, 0);
}

#[test]
fn a_batch_too_large_to_inflate_is_named_and_makes_a_bad_result() {
    let bench = bench(Spoil::Nothing);
    write_bomb(&bench);
    let (outcome, _, words) = run_flows(&bench, vec![readers()], 2, |_| ());
    assert!(outcome.broken);
    assert_eq!(outcome.flows[0].totals.consumed, 0);
    assert!(
        words.iter().any(|one| one.contains("268435456 bytes")),
        "{words:?}"
    );
}

#[test]
fn a_broker_that_is_cut_off_without_a_word_is_silent_and_the_load_ends_with_its_drain() {
    let bench = bench(Spoil::Nothing);
    let (flows, start) = (vec![writers(), readers()], Instant::now());
    let (outcome, changes, _) = run_flows(&bench, flows, 5, |progress| {
        let is_time = progress.elapsed_ns >= 2 * SECOND_NS;
        bench.cut.store(is_time, Ordering::Relaxed);
    });
    let [OutageChange::Found { outage, .. }] = changes.as_slice() else {
        panic!("{changes:?}");
    };
    assert_eq!(outage.kind, OutageKind::Silent);
    assert!(outcome.is_target_gone && outcome.abandoned);
    let totals = outcome.flows[0].totals;
    let fates = totals.acked + totals.failed + totals.indeterminate + totals.skipped;
    assert_eq!(totals.scheduled, fates, "{totals:?}");
    assert!(totals.indeterminate > 0, "what was sent may be there");
    // request.timeout.ms alone would be thirty seconds.
    assert!(start.elapsed() < Duration::from_secs(25));
}
