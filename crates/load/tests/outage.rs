//! Brokers that die, stall or come back during a load: it is noticed in time, the load ends in time, and no record
//! gets lost from the accounts.

#![allow(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kgauge_broker::cluster::Endpoint;
use kgauge_broker::fault::{InjectedFault, RequestFault};
use kgauge_broker::ids::NodeId;
use kgauge_broker::{ClusterConfig, ClusterHandle, EmbeddedCluster as Broker};
use kgauge_client::admin::TopicSpec;
use kgauge_client::{ClientConfig, Cluster, Interrupt};
use kgauge_load::{
    Clock, LoadOutcome, LoadProgress, LoadSetup, OutageChange, OutageKind, PreparedLoad,
};
use kgauge_results::SliceSink;
use kgauge_scenario::{
    Acks, ConsumeEnd, ConsumeFlow, ConsumerSettings, FlowPlan, PartitionShare, ProduceFlow,
    ProducerSettings, RecordPlan, Shape, Share, Stages, StartOffset, TopicPlan,
};
use kgauge_wire::api::ApiKey;

const SECOND_NS: u64 = 1_000_000_000;
const PARTITIONS: u32 = 6;

struct Bench {
    _dir: tempfile::TempDir,
    nodes: ClusterHandle,
    client: ClientConfig,
}

impl Bench {
    fn new(nodes: u16) -> Self {
        Self::with_replicas(nodes, 1)
    }

    fn with_replicas(nodes: u16, replicas: i16) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let nodes = Broker::start(ClusterConfig::new(dir.path()).with_nodes(nodes)).unwrap();
        let client = ClientConfig::from_servers(&nodes.bootstrap_servers()).unwrap();
        let mut cluster = Cluster::bootstrap(client.clone()).unwrap();
        let topic = TopicSpec {
            name: "outage".to_owned(),
            partitions: PARTITIONS as i32,
            replication_factor: replicas,
            configs: Vec::new(),
        };
        cluster.create_topic(&topic).unwrap();
        Self {
            _dir: dir,
            nodes,
            client,
        }
    }

    /// Runs flows for `hold_s` and a drain of a second; `act` is called once two seconds have passed, and then with
    /// every look.
    fn run(
        &mut self,
        flows: Vec<FlowPlan>,
        hold_s: u64,
        mut act: impl FnMut(&mut ClusterHandle, &LoadProgress, &Interrupt),
    ) -> (LoadOutcome, Vec<OutageChange>, Duration) {
        let interrupt = Interrupt::new();
        let share = share(flows, hold_s);
        let setup = LoadSetup {
            copy: None,
            verify: None,
            drivers: &[],
            share: &share,
            topic: "outage",
            also: &[],
            earliest: None,
            groups: &BTreeMap::new(),
            client: &self.client,
            sink: &|| SliceSink::memory().0,
            interrupt: &interrupt,
        };
        let load = PreparedLoad::prepare(&setup).unwrap();
        let (mut changes, began) = (Vec::new(), Instant::now());
        let nodes = &mut self.nodes;
        let outcome = load.run(Clock::start(), |progress| {
            changes.extend(progress.outage_changes.clone());
            if progress.elapsed_ns >= 2 * SECOND_NS {
                act(nodes, progress, &interrupt);
            }
        });
        (outcome.unwrap(), changes, began.elapsed())
    }
}

fn share(flows: Vec<FlowPlan>, hold_s: u64) -> Share {
    let stages = Stages {
        warm_up_ns: 0,
        warm_up_ns_max: 0,
        hold_ns: Some(hold_s * SECOND_NS),
        drain_ns_max: SECOND_NS,
    };
    Share::of_flows(flows, TopicPlan::of_partitions(PARTITIONS), stages, 7)
}

fn writers() -> FlowPlan {
    FlowPlan::Produce(ProduceFlow {
        shape: Shape::Constant { per_second: 200.0 },
        settings: ProducerSettings {
            acks: Acks::All,
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
        partitions: PartitionShare::Split,
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

/// The first outage of a broker: how it showed, how long after the broker stopped it was found, and partitions without
/// a leader.
fn found(changes: &[OutageChange], broker: i32) -> (OutageKind, u64, u32) {
    let mut all = changes.iter().filter_map(|change| match change {
        OutageChange::Found { outage, at_ns } if outage.broker == broker => Some((
            outage.kind,
            at_ns - outage.since_ns,
            outage.partitions_without_leader,
        )),
        OutageChange::Found { .. } | OutageChange::Over { .. } => None,
    });
    all.next().unwrap_or_else(|| panic!("{changes:?}"))
}

fn every_record_has_a_fate(outcome: &LoadOutcome) {
    let totals = outcome.flows[0].totals;
    let fates = totals.acked + totals.failed + totals.indeterminate + totals.skipped;
    assert_eq!(totals.scheduled, fates, "{totals:?}");
}

#[test]
fn the_only_broker_dies_and_the_load_ends_with_its_drain() {
    let mut bench = Bench::new(1);
    let mut is_killed = false;
    let (outcome, changes, took) = bench.run(vec![writers(), readers()], 5, |nodes, _, _| {
        if !std::mem::replace(&mut is_killed, true) {
            nodes.kill_node(NodeId(1)).unwrap();
        }
    });
    let (kind, after_ns, without) = found(&changes, 1);
    assert_eq!((kind, without), (OutageKind::Unconnected, PARTITIONS));
    assert!(after_ns < 10 * SECOND_NS, "{after_ns}");
    assert!(outcome.is_target_gone && outcome.outages.len() == 1);
    // A retry would go on for delivery.timeout.ms, two minutes.
    assert!(took < Duration::from_secs(30), "{took:?}");
    every_record_has_a_fate(&outcome);
    assert!(outcome.flows[0].totals.connections.lost > 0);
    assert!(outcome.flows[1].totals.connections.lost > 0);
}

#[test]
fn a_broker_that_is_paused_and_goes_on_is_reported_twice() {
    let mut bench = Bench::new(3);
    let (mut is_paused, mut is_resumed) = (false, false);
    let (outcome, changes, _) = bench.run(vec![writers()], 9, |nodes, progress, _| {
        if !std::mem::replace(&mut is_paused, true) {
            nodes.pause_node(NodeId(2)).unwrap();
        }
        let is_found = !progress.outages.is_empty();
        if is_found && !std::mem::replace(&mut is_resumed, true) {
            nodes.resume_node(NodeId(2)).unwrap();
        }
    });
    let (kind, _, without) = found(&changes, 2);
    assert_eq!((kind, without), (OutageKind::Silent, 2));
    let of_others = |change: &OutageChange| match change {
        OutageChange::Found { outage, .. } | OutageChange::Over { outage, .. } => {
            outage.broker != 2
        }
    };
    assert!(!changes.iter().any(of_others), "{changes:?}");
    let is_over = |change: &OutageChange| matches!(change, OutageChange::Over { .. });
    assert!(changes.iter().any(is_over), "{changes:?}");
    assert!(!outcome.is_target_gone && outcome.outages.is_empty());
    every_record_has_a_fate(&outcome);
}

#[test]
fn a_broker_that_holds_requests_is_slow_and_not_gone() {
    let mut bench = Bench::new(1);
    let mut is_set = false;
    let (outcome, changes, _) = bench.run(vec![writers()], 6, |nodes, _, _| {
        if !std::mem::replace(&mut is_set, true) {
            let stall = InjectedFault::of(
                ApiKey::Produce,
                RequestFault::stall(Duration::from_secs(600)),
            );
            nodes.fault(None, stall).unwrap();
        }
    });
    let (kind, _, without) = found(&changes, 1);
    assert_eq!((kind, without), (OutageKind::Held, 0));
    assert!(!outcome.is_target_gone, "it answers");
    every_record_has_a_fate(&outcome);
    assert!(outcome.abandoned && outcome.flows[0].totals.indeterminate > 0);
}

#[test]
fn an_interrupt_ends_a_load_on_a_dead_cluster_at_once() {
    let mut bench = Bench::new(1);
    let (mut is_killed, mut raised_at) = (false, None);
    let (outcome, _, _) = bench.run(vec![writers()], 600, |nodes, progress, interrupt| {
        if !std::mem::replace(&mut is_killed, true) {
            nodes.kill_node(NodeId(1)).unwrap();
        }
        if !progress.outages.is_empty() {
            raised_at.get_or_insert_with(Instant::now);
            interrupt.raise();
        }
    });
    assert!(outcome.interrupted);
    let waited = raised_at.unwrap().elapsed();
    assert!(waited < Duration::from_secs(10), "{waited:?}");
    every_record_has_a_fate(&outcome);
}

#[test]
fn what_a_leader_has_acked_is_in_its_log_although_no_follower_has_it() {
    let mut bench = Bench::with_replicas(2, 2);
    let [one, other] = [1, 2].map(|node| Endpoint::Node(NodeId(node)));
    bench.nodes.cut(one, other);
    bench.nodes.cut(other, one);
    let FlowPlan::Produce(mut flow) = writers() else {
        unreachable!("it produces");
    };
    flow.settings.acks = Acks::Leader;
    let (outcome, ..) = bench.run(vec![FlowPlan::Produce(flow)], 1, |_, _, _| {});
    let mut cluster = Cluster::bootstrap(bench.client.clone()).unwrap();
    let sum = |ends: Vec<i64>| u64::try_from(ends.iter().sum::<i64>()).unwrap();
    let acked = outcome.flows[0].totals.acked;
    assert!(acked > 100, "{acked}");
    assert_eq!(sum(cluster.log_end_offsets("outage").unwrap()), acked);
    assert!(
        sum(cluster.end_offsets("outage").unwrap()) < acked,
        "followers are behind"
    );
}
