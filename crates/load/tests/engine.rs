//! The engine against the embedded cluster: what it says was acked is what the broker counts.

#![allow(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kgauge_broker::{ClusterConfig, ClusterHandle, EmbeddedCluster as Broker};
use kgauge_client::admin::TopicSpec;
use kgauge_client::{ClientConfig, Cluster, Interrupt};
use kgauge_load::{
    Clock, HOLD_NOTICE_NS, HoldControl, LoadControl, LoadOutcome, LoadProgress, LoadSetup,
    PreparedLoad, Totals, preload,
};
use kgauge_results::recorder::MemorySlices;
use kgauge_results::{Counts, Slice, SliceSink, Stage, TimeKind};
use kgauge_scenario::{
    Acks, Compression, CompressionCodec, ConsumeEnd, ConsumeFlow, ConsumerSettings, FlowPlan,
    PartitionShare, Partitioner, Preload, ProduceFlow, ProducerSettings, RecordPlan, Shape, Share,
    Stages, StartOffset, TopicPlan,
};

const MS: u64 = 1_000_000;
const PARTITIONS: u32 = 3;

/// A cluster, a topic on it, and how to reach both.
struct Bench {
    _dir: tempfile::TempDir,
    broker: Option<ClusterHandle>,
    client: ClientConfig,
    cluster: Cluster,
    topic: String,
}

impl Bench {
    fn new() -> Self {
        Self::of_nodes(1)
    }

    fn of_nodes(nodes: u16) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let broker = Broker::start(ClusterConfig::new(dir.path()).with_nodes(nodes)).unwrap();
        let client = ClientConfig::from_servers(&broker.bootstrap_servers()).unwrap();
        let mut cluster = Cluster::bootstrap(client.clone()).unwrap();
        let topic = "load-test".to_owned();
        cluster
            .create_topic(&TopicSpec {
                name: topic.clone(),
                partitions: PARTITIONS as i32,
                replication_factor: 1,
                configs: Vec::new(),
            })
            .unwrap();
        Self {
            _dir: dir,
            broker: Some(broker),
            client,
            cluster,
            topic,
        }
    }

    fn run(&self, flows: Vec<FlowPlan>, stages: Stages) -> (LoadOutcome, Vec<Slice>) {
        self.run_watched(flows, stages, &Interrupt::new(), |_| ())
    }

    fn run_watched(
        &self,
        flows: Vec<FlowPlan>,
        stages: Stages,
        interrupt: &Interrupt,
        mut watch: impl FnMut(&LoadProgress),
    ) -> (LoadOutcome, Vec<Slice>) {
        self.run_all(flows, stages, interrupt, |progress, _| watch(progress))
    }

    fn run_controlled(
        &self,
        flows: Vec<FlowPlan>,
        stages: Stages,
        watch: impl FnMut(&LoadProgress, &LoadControl<'_>),
    ) -> (LoadOutcome, Vec<Slice>) {
        self.run_all(flows, stages, &Interrupt::new(), watch)
    }

    fn run_all(
        &self,
        flows: Vec<FlowPlan>,
        stages: Stages,
        interrupt: &Interrupt,
        watch: impl FnMut(&LoadProgress, &LoadControl<'_>),
    ) -> (LoadOutcome, Vec<Slice>) {
        let share = share(flows, stages);
        let sinks = std::cell::RefCell::new(Vec::<MemorySlices>::new());
        let sink = || {
            let (sink, slices) = SliceSink::memory();
            sinks.borrow_mut().push(slices);
            sink
        };
        let setup = LoadSetup {
            copy: None,
            verify: None,
            drivers: &[],
            share: &share,
            topic: &self.topic,
            also: &[],
            earliest: None,
            groups: &BTreeMap::new(),
            client: &self.client,
            sink: &sink,
            interrupt,
        };
        let load = PreparedLoad::prepare(&setup).unwrap();
        let outcome = load.run_controlled(Clock::start(), watch).unwrap();
        let slices = sinks.borrow().iter().flat_map(MemorySlices::take).collect();
        (outcome, slices)
    }

    fn records_on_broker(&mut self) -> u64 {
        self.cluster
            .end_offsets(&self.topic)
            .unwrap()
            .iter()
            .sum::<i64>() as u64
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if let Some(broker) = self.broker.take() {
            broker.stop().unwrap();
        }
    }
}

fn share(flows: Vec<FlowPlan>, stages: Stages) -> Share {
    Share::of_flows(flows, topic_plan(), stages, 7)
}

fn topic_plan() -> TopicPlan {
    TopicPlan::of_partitions(PARTITIONS)
}

fn stages(warm_up_ms: u64, hold_ms: Option<u64>) -> Stages {
    Stages {
        warm_up_ns: warm_up_ms * MS,
        warm_up_ns_max: 0,
        hold_ns: hold_ms.map(|ms| ms * MS),
        drain_ns_max: 30_000 * MS,
    }
}

fn writers(shape: Shape, records_max: Option<u64>) -> ProduceFlow {
    ProduceFlow {
        shape,
        records_max,
        settings: ProducerSettings {
            acks: Acks::All,
            batch_bytes: 16_384,
            buffer_bytes: 4 << 20,
            client_id: "test".into(),
            ..ProducerSettings::default()
        },
        ..ProduceFlow::of_records("writers", RecordPlan::of_values(100))
    }
}

fn readers(consumers: u32, partitions: PartitionShare, records: ConsumeEnd) -> ConsumeFlow {
    ConsumeFlow {
        name: "readers".into(),
        consumers,
        partitions,
        from: StartOffset::Earliest,
        records,
        group: None,
        groups: 1,
        settings: ConsumerSettings {
            client_id: "test".into(),
            ..ConsumerSettings::default()
        },
    }
}

fn totals(outcome: &LoadOutcome, flow: usize) -> Totals {
    assert!(!outcome.broken && !outcome.abandoned);
    outcome.flows[flow].totals
}

#[test]
fn what_was_acked_is_what_the_broker_counts() {
    let mut bench = Bench::new();
    for (acks, idempotence) in [
        (Acks::All, true),
        (Acks::Leader, false),
        (Acks::None, false),
    ] {
        let before = bench.records_on_broker();
        let mut flow = writers(Shape::Max, Some(50_000));
        flow.settings.acks = acks;
        flow.settings.idempotence = idempotence;
        let (outcome, _) = bench.run(vec![FlowPlan::Produce(flow)], stages(0, None));
        let totals = totals(&outcome, 0);
        assert_eq!(
            (totals.scheduled, totals.acked, totals.failed),
            (50_000, 50_000, 0)
        );
        if acks == Acks::None {
            // Nobody answers: the broker may still be reading what was written.
            let deadline = Instant::now() + Duration::from_secs(10);
            while bench.records_on_broker() < before + 50_000 && Instant::now() < deadline {
                std::thread::yield_now();
            }
        }
        assert_eq!(bench.records_on_broker() - before, 50_000, "{acks:?}");
    }
}

#[test]
fn several_producers_share_the_records_and_partitions_of_several_brokers() {
    let mut bench = Bench::of_nodes(3);
    let mut flow = writers(Shape::Max, Some(30_001));
    flow.producers = 4;
    flow.settings.partitioner = Partitioner::RoundRobin;
    let (outcome, _) = bench.run(vec![FlowPlan::Produce(flow)], stages(0, None));
    assert_eq!(totals(&outcome, 0).acked, 30_001);
    let ends = bench.cluster.end_offsets(&bench.topic).unwrap();
    assert_eq!(ends.iter().sum::<i64>(), 30_001);
    // Four producers taking turns over three partitions differ by at most one record each.
    assert!(
        ends.iter().all(|&end| (end - 10_000).abs() <= 4),
        "{ends:?}"
    );
}

#[test]
fn round_robin_misses_no_partition_when_batches_fill_unevenly() {
    let mut bench = Bench::of_nodes(3);
    let mut flow = writers(Shape::Max, Some(30_001));
    flow.settings.partitioner = Partitioner::RoundRobin;
    // So little room that batches leave half filled, each partition's at another moment.
    flow.settings.batch_bytes = 1_500;
    flow.settings.buffer_bytes = 32 << 10;
    bench.run(vec![FlowPlan::Produce(flow)], stages(0, None));
    let mut ends = bench.cluster.end_offsets(&bench.topic).unwrap();
    ends.sort_unstable();
    assert_eq!(ends, [10_000, 10_000, 10_001]);
}

#[test]
fn a_constant_rate_is_kept_to_the_record_and_every_record_has_three_times() {
    let bench = Bench::new();
    let flow = writers(
        Shape::Constant {
            per_second: 2_000.0,
        },
        None,
    );
    let (outcome, slices) = bench.run(vec![FlowPlan::Produce(flow)], stages(100, Some(900)));
    let totals = totals(&outcome, 0);
    assert_eq!(
        (totals.scheduled, totals.acked, totals.skipped),
        (2_000, 2_000, 0)
    );
    let mut hold = 0;
    for mut slice in slices
        .into_iter()
        .filter(|slice| slice.key.stage == Stage::Hold)
    {
        slice.settle();
        hold += slice.counts.records_scheduled;
        let count = |kind: TimeKind| slice.times(kind).count();
        assert_eq!(count(TimeKind::Response), count(TimeKind::Service));
        assert_eq!(count(TimeKind::Response), count(TimeKind::Lag));
        assert!(
            slice.times(TimeKind::Response).max_ns() >= slice.times(TimeKind::Service).max_ns()
        );
    }
    assert_eq!(hold, 1_800, "warm-up takes 200 of the 2,000");
    // The worker spins before scheduled sends, and counts that time separately from its work.
    // It does not spin while other programs wait for processors.
    assert!(outcome.worker_hold_spun_ns[0] + outcome.worker_hold_gave_way_ns[0] > 0);
    let hold_ns = outcome.hold_end_ns - outcome.hold_start_ns;
    assert!(outcome.worker_hold_spun_ns[0] < hold_ns);
}

#[test]
fn a_hold_begins_when_the_caller_decides_and_is_as_long_as_planned() {
    let bench = Bench::new();
    let shape = Shape::Constant {
        per_second: 2_000.0,
    };
    let stages = Stages {
        warm_up_ns_max: 60_000 * MS,
        ..stages(100, Some(900))
    };
    let mut announced_ns = None;
    let flows = vec![FlowPlan::Produce(writers(shape, None))];
    let (outcome, slices) = bench.run_controlled(flows, stages, |progress, control| {
        let acked: u64 = control.paces()[0].records.iter().sum();
        if announced_ns.is_none() && acked > 0 {
            let at_ns = progress.elapsed_ns + HOLD_NOTICE_NS;
            control.begin_hold(at_ns);
            // A later moment changes nothing any more.
            control.begin_hold(at_ns + 7);
            announced_ns = Some(at_ns);
        }
    });
    assert_eq!(Some(outcome.hold_start_ns), announced_ns);
    assert_eq!(outcome.hold_end_ns - outcome.hold_start_ns, 900 * MS);
    let hold = slices
        .iter()
        .filter(|slice| slice.key.stage == Stage::Hold)
        .map(|slice| slice.counts.records_scheduled);
    // 0.9 s at 2,000/s, wherever it begins.
    assert_eq!(hold.sum::<u64>(), 1_800);
    assert!(outcome.worker_hold_cpu_ns[0] > 0);
    let paced: u64 = outcome.flows[0].pace.records.iter().sum();
    assert_eq!(paced, totals(&outcome, 0).acked);
}

#[test]
fn what_the_schedule_asked_for_is_accounted_for_however_late_it_is() {
    let bench = Bench::new();
    // More than this broker takes: 20,000 records of 50 kB a second are a gigabyte.
    let shape = Shape::Constant {
        per_second: 20_000.0,
    };
    let mut flow = writers(shape, None);
    flow.record.value_bytes = 50_000;
    let (outcome, _) = bench.run(vec![FlowPlan::Produce(flow)], stages(0, Some(500)));
    let totals = totals(&outcome, 0);
    assert_eq!(totals.scheduled, 10_000, "20,000 a second for 500 ms");
    assert_eq!(totals.acked + totals.skipped, 10_000);
    assert!(totals.skipped > 0, "buffer.memory was full at the end");
}

#[test]
fn consumers_read_every_record_of_every_codec_and_all_of_its_bytes() {
    let codecs = [
        CompressionCodec::None,
        CompressionCodec::Gzip,
        CompressionCodec::Snappy,
        CompressionCodec::Lz4,
        CompressionCodec::Zstd,
    ];
    let bench = Bench::new();
    for codec in codecs {
        let mut flow = writers(Shape::Max, Some(3_000));
        flow.settings.compression = Compression { codec, level: None };
        let (outcome, _) = bench.run(vec![FlowPlan::Produce(flow)], stages(0, None));
        assert_eq!(totals(&outcome, 0).acked, 3_000, "{codec:?}");
    }
    let all = FlowPlan::Consume(readers(2, PartitionShare::All, ConsumeEnd::Backlog));
    let (outcome, _) = bench.run(vec![all], stages(0, Some(60_000)));
    let read = totals(&outcome, 0);
    assert_eq!(
        (read.consumed, read.logical_bytes),
        (2 * 15_000, 2 * 15_000 * 100)
    );
    let split = FlowPlan::Consume(readers(2, PartitionShare::Split, ConsumeEnd::Backlog));
    let (outcome, _) = bench.run(vec![split], stages(0, Some(60_000)));
    assert_eq!(totals(&outcome, 0).consumed, 15_000);
    assert!(
        outcome.end_ns < 30_000 * MS,
        "a backlog that is read ends the hold"
    );
}

#[test]
fn a_consumer_reads_along_while_a_producer_writes() {
    let mut bench = Bench::new();
    let flows = vec![
        FlowPlan::Produce(writers(Shape::Max, Some(40_000))),
        FlowPlan::Consume(readers(1, PartitionShare::All, ConsumeEnd::Count(40_000))),
    ];
    let (outcome, _) = bench.run(flows, stages(0, None));
    assert_eq!(totals(&outcome, 0).acked, 40_000);
    assert!(totals(&outcome, 1).consumed >= 40_000);
    assert_eq!(bench.records_on_broker(), 40_000);
}

#[test]
fn a_preload_writes_exactly_its_records_evenly() {
    let mut bench = Bench::new();
    let plan = Preload {
        records: 9_000,
        record: RecordPlan::of_values(50),
        cached: true,
    };
    let interrupt = Interrupt::new();
    preload(
        &bench.topic,
        &topic_plan(),
        &plan,
        &bench.client,
        &interrupt,
        |_| (),
    )
    .unwrap();
    assert_eq!(
        bench.cluster.end_offsets(&bench.topic).unwrap(),
        [3_000, 3_000, 3_000]
    );
}

#[test]
fn an_interrupt_ends_a_load_within_a_second() {
    let bench = Bench::new();
    let interrupt = Interrupt::new();
    let mut raised = None;
    let flow = writers(Shape::Constant { per_second: 500.0 }, None);
    let watch = |progress: &LoadProgress| {
        if progress.flows[0].acked > 0 && raised.is_none() {
            interrupt.raise();
            raised = Some(Instant::now());
        }
    };
    let flows = vec![FlowPlan::Produce(flow)];
    let (outcome, _) = bench.run_watched(flows, stages(0, Some(600_000)), &interrupt, watch);
    let took = raised.unwrap().elapsed();
    assert!(outcome.interrupted);
    // A second, and another for a machine that is busy with other tests.
    assert!(took < Duration::from_secs(2), "{took:?}");
    let totals = outcome.flows[0].totals;
    assert_eq!(
        totals.acked + totals.failed + totals.indeterminate,
        totals.scheduled
    );
}

#[test]
fn records_that_are_too_late_are_skipped_and_counted() {
    let bench = Bench::new();
    let mut flow = writers(
        Shape::Constant {
            per_second: 2_000_000.0,
        },
        None,
    );
    // A buffer of one batch and one request in flight: far less than two million a second.
    flow.settings.buffer_bytes = 16_384;
    flow.settings.in_flight_max = 1;
    flow.skip_after_ns = 20 * MS;
    let (outcome, slices) = bench.run(vec![FlowPlan::Produce(flow)], stages(0, Some(300)));
    let totals = totals(&outcome, 0);
    assert!(totals.skipped > 0);
    assert_eq!(totals.acked + totals.skipped, totals.scheduled);
    // The client had no room for most of them: that was not its own doing. On a busy machine some come late by
    // themselves.
    let mut counts = Counts::default();
    slices.iter().for_each(|slice| counts.add(&slice.counts));
    assert_eq!(counts.records_skipped, totals.skipped);
    assert!(counts.records_late > 0, "{counts:?}");
    assert!(
        counts.records_late_waiting * 2 > counts.records_late,
        "{counts:?}"
    );
    assert!(
        counts.records_skipped_waiting * 2 > counts.records_skipped,
        "{counts:?}"
    );
}

#[test]
fn waits_for_room_count_while_they_last_and_not_when_the_load_is_over() {
    let bench = Bench::new();
    for shape in [
        Shape::Max,
        Shape::Constant {
            per_second: 2_000_000.0,
        },
    ] {
        let mut flow = writers(shape, None);
        // Room for four records and one request in flight: it waits for most answers.
        flow.record.value_bytes = 4_000;
        flow.settings.buffer_bytes = 16_384;
        flow.settings.in_flight_max = 1;
        let (_, slices) = bench.run(vec![FlowPlan::Produce(flow)], stages(0, Some(400)));
        let (mut waits, mut waited_ns) = (0, 0);
        for mut slice in slices
            .into_iter()
            .filter(|slice| slice.key.stage == Stage::Hold)
        {
            slice.settle();
            waits += slice.times(TimeKind::BufferWait).count();
            waited_ns += slice.times(TimeKind::BufferWait).sum_ns();
        }
        assert!(
            waits > 10,
            "each record that finds room has waited: {waits}"
        );
        assert!(waited_ns > 40 * u128::from(MS), "{waited_ns} ns of 400 ms");
        assert!(
            waited_ns <= 400 * u128::from(MS),
            "{waited_ns} ns of 400 ms"
        );
    }
}
