//! Consumers in a group: every record is read, whoever comes and goes. Against the embedded cluster,
//! and against a Kafka that somebody has started:
//! `KGAUGE_KAFKA=host:port cargo test -p kgauge-load --test group -- --ignored`.

#![allow(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::collections::BTreeMap;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use kgauge_broker::{
    ClusterConfig, ClusterHandle, DropPoint, EmbeddedCluster as Broker, InjectedFault, RequestFault,
};
use kgauge_client::admin::TopicSpec;
use kgauge_client::group::{
    Assignor, Beat, ConsumerMember, GroupMember, GroupSettings, HeartbeatAnswer,
};
use kgauge_client::{ClientConfig, Cluster, Interrupt};
use kgauge_load::{Clock, LoadOutcome, LoadSetup, PrepareError, PreparedLoad, preload};
use kgauge_results::SliceSink;
use kgauge_results::run::{GroupMemberRecord, GroupRecord};
use kgauge_scenario::{Preload, RecordPlan, Scenario, Share, Size, Trial};
use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;

const PARTITIONS: u32 = 6;
const RECORDS: u64 = 60_000;

/// A cluster that ends with its handle.
struct Embedded {
    client: ClientConfig,
    broker: Option<ClusterHandle>,
    _dir: tempfile::TempDir,
}

impl Embedded {
    fn start() -> Embedded {
        let dir = tempfile::tempdir().unwrap();
        let broker = Broker::start(ClusterConfig::new(dir.path()).with_nodes(3)).unwrap();
        Embedded {
            client: ClientConfig::from_servers(&broker.bootstrap_servers()).unwrap(),
            broker: Some(broker),
            _dir: dir,
        }
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.broker.take().unwrap().stop().unwrap();
    }
}

/// A topic with records, and a group.
struct GroupFixture {
    client: ClientConfig,
    cluster: Cluster,
    /// Of the topic, and of the group.
    name: String,
}

impl GroupFixture {
    fn new(client: &ClientConfig, label: &str) -> GroupFixture {
        let name = format!("kgauge-load-{label}-{}", std::process::id());
        let mut cluster = Cluster::bootstrap(client.clone()).unwrap();
        let topic = TopicSpec {
            name: name.clone(),
            partitions: PARTITIONS as i32,
            replication_factor: 1,
            configs: Vec::new(),
        };
        cluster.create_topic(&topic).unwrap();
        let plan = Preload {
            records: RECORDS,
            record: RecordPlan::of_values(100),
            cached: true,
        };
        let topic = trial("").topic;
        let interrupt = Interrupt::new();
        preload(&name, &topic, &plan, client, &interrupt, |_| ()).unwrap();
        GroupFixture {
            client: client.clone(),
            cluster,
            name,
        }
    }

    /// Ready to start: all have joined.
    fn prepare(&self, flow: &str) -> PreparedLoad {
        self.try_prepare(flow).unwrap()
    }

    fn try_prepare(&self, flow: &str) -> Result<PreparedLoad, PrepareError> {
        let share = Share::of_trial(trial(flow), 7);
        let setup = LoadSetup {
            copy: None,
            verify: None,
            drivers: &[],
            share: &share,
            topic: &self.name,
            also: &[],
            earliest: None,
            groups: &BTreeMap::from([("readers".to_owned(), self.name.clone())]),
            client: &self.client,
            sink: &|| SliceSink::memory().0,
            interrupt: &Interrupt::new(),
        };
        PreparedLoad::prepare(&setup)
    }

    fn member(&self) -> GroupMember {
        self.member_of(Assignor::Range)
    }

    fn member_of(&self, assignor: Assignor) -> GroupMember {
        let mut settings = GroupSettings::new(&self.name, &self.name);
        settings.session_timeout = Duration::from_secs(10);
        settings.assignors = vec![assignor];
        GroupMember::new(Cluster::bootstrap(self.client.clone()).unwrap(), settings)
    }

    /// The sum of the group's committed offsets.
    fn committed(&self) -> i64 {
        let partitions: Vec<i32> = (0..PARTITIONS as i32).collect();
        let offsets = self.member().committed(&self.name, &partitions).unwrap();
        offsets.into_iter().flatten().sum()
    }

    /// Nobody may be left in the group.
    fn end(mut self) {
        self.cluster.delete_group(&self.name).unwrap();
        self.cluster.delete_topic(&self.name).unwrap();
    }
}

/// A trial with one consume flow of this text.
fn trial(flow: &str) -> Trial {
    let text = format!(
        "kgauge: 1\nname: a\nquestion: b\ntopic: {{partitions: {PARTITIONS}, preload: {{records: \
         60k, record: {{size: 100 B}}}}}}\nflows:\n  - {{name: readers, kind: consume, records: all, \
         group: true, {flow}}}\nstages: {{warm-up: 0 s, hold: none}}\n"
    );
    let scenario = Scenario::parse("a.yaml", &text).unwrap();
    scenario.trials(Size::Default).remove(0)
}

fn run(load: PreparedLoad) -> (LoadOutcome, GroupRecord) {
    let mut incidents = Vec::new();
    let outcome = load.run(Clock::start(), |progress| {
        incidents.extend(progress.incidents.iter().map(|one| one.what.clone()));
    });
    let outcome = outcome.unwrap();
    assert!(!outcome.broken && !outcome.abandoned, "{incidents:?}");
    let group = outcome.flows[0].group.unwrap();
    (outcome, group)
}

fn members_share_the_partitions_and_commit_all(client: &ClientConfig) {
    let fixture = GroupFixture::new(client, "share");
    let (outcome, group) = run(fixture.prepare("consumers: 3"));
    assert_eq!(outcome.flows[0].totals.consumed, RECORDS);
    assert_eq!((group.members, group.rebalances), (3, 0));
    assert_eq!(
        (group.commits, group.commits_failed),
        (3, 0),
        "in the end, each its own"
    );
    assert_eq!(group.records_again, 0);
    assert_eq!((group.records_skipped, group.commits_back), (0, 0));
    assert_eq!(fixture.committed(), RECORDS as i64);
    // Who comes later finds nothing to do.
    let (outcome, group) = run(fixture.prepare("consumers: 1"));
    assert_eq!((outcome.flows[0].totals.consumed, group.members), (0, 1));
    fixture.end();
}

fn more_members_than_partitions_and_no_commits(client: &ClientConfig) {
    let fixture = GroupFixture::new(client, "spare");
    let flow = "consumers: 8, settings: {enable.auto.commit: false, \
                partition.assignment.strategy: roundrobin}";
    let (outcome, group) = run(fixture.prepare(flow));
    assert_eq!(outcome.flows[0].totals.consumed, RECORDS);
    assert_eq!((group.members, group.commits), (8, 0));
    assert_eq!(fixture.committed(), 0);
    fixture.end();
}

/// Another application's member: it joins, reads nothing, commits nothing, and leaves on request.
struct Guest {
    leave: std::sync::mpsc::Sender<()>,
    thread: std::thread::JoinHandle<Vec<usize>>,
}

impl Guest {
    fn join(fixture: &GroupFixture) -> Guest {
        Guest::join_by(fixture, Assignor::Range)
    }

    fn join_by(fixture: &GroupFixture, assignor: Assignor) -> Guest {
        let (leave, left) = std::sync::mpsc::channel();
        let (say, joined) = std::sync::mpsc::channel();
        let (mut member, topic) = (fixture.member_of(assignor), fixture.name.clone());
        let thread = std::thread::spawn(move || {
            let mut shares = Vec::new();
            let count = |of: &kgauge_client::group::Assignment| {
                of.partitions.get(&topic).map_or(0, Vec::len)
            };
            shares.push(count(&member.join().unwrap()));
            say.send(()).unwrap();
            while left.recv_timeout(Duration::from_millis(10)).is_err() {
                if member.heartbeat().unwrap() != Beat::Stable {
                    shares.push(count(&member.join().unwrap()));
                    // Who has less than before gives the rest back by joining again.
                    while member.is_cooperative()
                        && shares[shares.len() - 1] < shares[shares.len() - 2]
                    {
                        shares.push(count(&member.join().unwrap()));
                    }
                }
            }
            member.leave().unwrap();
            shares
        });
        joined.recv().unwrap();
        Guest { leave, thread }
    }

    /// How many partitions it had, one assignment after another.
    fn leave(self) -> Vec<usize> {
        self.leave.send(()).unwrap();
        self.thread.join().unwrap()
    }
}

/// A load that shares its partitions with a guest.
struct Shared {
    words: Vec<String>,
    group: GroupRecord,
    members: Vec<GroupMemberRecord>,
    /// How many partitions the guest had, one assignment after another.
    shares: Vec<usize>,
}

/// Runs it until all is read and committed; the guest leaves when the others have read all that is theirs.
fn run_beside(guest: Guest, load: PreparedLoad, fixture: &GroupFixture) -> Shared {
    let mut guest = Some(guest);
    let (mut words, mut shares) = (Vec::new(), Vec::new());
    let start = Instant::now();
    let outcome = load.run(Clock::start(), |progress| {
        words.extend(progress.incidents.iter().map(|one| one.what.clone()));
        let seen = progress.flows[0].consumed;
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "{seen} {words:?}"
        );
        if seen == RECORDS / 3 * 2
            && let Some(guest) = guest.take()
        {
            shares = guest.leave();
        }
    });
    let outcome = outcome.unwrap();
    assert_eq!(
        shares.last(),
        Some(&2),
        "two of six partitions were the guest's"
    );
    assert_eq!(outcome.flows[0].totals.consumed, RECORDS, "{words:?}");
    let group = outcome.flows[0].group.unwrap();
    assert_eq!(
        (group.members, group.rebalances, group.records_again),
        (2, 1, 0),
        "{words:?}"
    );
    assert_eq!(fixture.committed(), RECORDS as i64);
    Shared {
        words,
        group,
        members: outcome.flows[0].members.clone(),
        shares,
    }
}

fn what_a_leaver_had_is_read_by_the_others(client: &ClientConfig) {
    let fixture = GroupFixture::new(client, "leaver");
    let guest = Guest::join(&fixture);
    let flow = "consumers: 2, settings: {heartbeat.interval.ms: 50, session.timeout.ms: 10000}";
    let seen = run_beside(guest, fixture.prepare(flow), &fixture);
    assert!(seen.group.rebalance_ns > 0);
    let pauses = seen.members.iter();
    let pauses: Vec<_> = pauses.map(|one| (one.consumer, one.rebalances)).collect();
    assert_eq!(pauses, [(0, 1), (1, 1)]);
    let is_paused = |one: &GroupMemberRecord| one.pause_ns > 0 && one.pause_ns_max == one.pause_ns;
    assert!(seen.members.iter().all(is_paused), "{:?}", seen.members);
    let given_up = seen.words.iter();
    let given_up = given_up.filter(|words| words.contains("gave up"));
    assert_eq!(given_up.count(), 2, "{:?}", seen.words);
    fixture.end();
}

fn cooperative_members_read_on_while_they_rebalance(client: &ClientConfig) {
    let fixture = GroupFixture::new(client, "cooperative");
    let guest = Guest::join_by(&fixture, Assignor::CooperativeSticky);
    let flow = "consumers: 2, settings: {heartbeat.interval.ms: 50, session.timeout.ms: 10000, \
                partition.assignment.strategy: cooperative-sticky}";
    let seen = run_beside(guest, fixture.prepare(flow), &fixture);
    assert!(seen.members.iter().all(|one| one.pause_ns == 0));
    let Shared { words, shares, .. } = seen;
    // It had all six, gave four back, and had two in the end.
    assert_eq!(shares[0], 6, "{shares:?}");
    // Each takes one more, and nobody gives anything up for that.
    let taken = words
        .iter()
        .filter(|words| words.contains("partitions: 3 (1 new)"));
    assert_eq!(taken.count(), 2, "{words:?}");
    assert!(
        !words.iter().any(|words| words.contains("given up")),
        "{words:?}"
    );
    fixture.end();
}

fn sticky_members_share_and_commit_all(client: &ClientConfig) {
    let fixture = GroupFixture::new(client, "sticky");
    let flow = "consumers: 3, settings: {partition.assignment.strategy: sticky}";
    let (outcome, group) = run(fixture.prepare(flow));
    assert_eq!(outcome.flows[0].totals.consumed, RECORDS);
    assert_eq!((group.members, group.records_again), (3, 0));
    assert_eq!(fixture.committed(), RECORDS as i64);
    fixture.end();
}

#[test]
fn a_cluster_without_the_new_protocol_is_named() {
    let embedded = Embedded::start();
    let fixture = GroupFixture::new(&embedded.client, "anew");
    let refused = fixture.try_prepare("consumers: 2, settings: {group.protocol: consumer}");
    let message = refused.err().unwrap().to_string();
    assert!(
        message.contains("does not support group.protocol=consumer"),
        "{message}"
    );
    assert!(
        message.contains("write group.protocol: classic"),
        "{message}"
    );
}

#[test]
#[ignore = "needs a real Kafka of 4.0 or later: KGAUGE_KAFKA=host:port"]
fn members_of_the_new_protocol_share_take_over_and_commit_all() {
    let servers = std::env::var("KGAUGE_KAFKA").expect("KGAUGE_KAFKA=host:port");
    let client = ClientConfig::from_servers(&servers).unwrap();
    let fixture = GroupFixture::new(&client, "anew");
    let settings = GroupSettings::new(&fixture.name, &fixture.name);
    let cluster = Cluster::bootstrap(client.clone()).unwrap();
    let mut guest = ConsumerMember::new(cluster, settings, None);
    let (leave, left) = std::sync::mpsc::channel::<()>();
    let (say, joined) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let mut shares = Vec::new();
        while left.recv_timeout(Duration::from_millis(10)) == Err(RecvTimeoutError::Timeout) {
            if let HeartbeatAnswer::Assigned(partitions) = guest.heartbeat().unwrap() {
                shares.push(partitions.values().map(Vec::len).sum::<usize>());
                guest.acknowledge(&partitions);
                let _ = say.send(());
            }
        }
        guest.leave(true).unwrap();
        shares
    });
    joined.recv().unwrap();
    let load = fixture.prepare(
        "consumers: 2, settings: {group.protocol: consumer, group.remote.assignor: uniform}",
    );
    let mut leave = Some(leave);
    let mut words = Vec::new();
    let start = Instant::now();
    let outcome = load.run(Clock::start(), |progress| {
        words.extend(progress.incidents.iter().map(|one| one.what.clone()));
        assert!(start.elapsed() < Duration::from_secs(60), "{words:?}");
        if progress.flows[0].consumed == RECORDS / 3 * 2 {
            leave.take();
        }
    });
    let outcome = outcome.unwrap();
    let shares = thread.join().unwrap();
    assert_eq!((shares[0], shares.last()), (6, Some(&2)), "{shares:?}");
    assert_eq!(outcome.flows[0].totals.consumed, RECORDS, "{words:?}");
    let group = outcome.flows[0].group.unwrap();
    assert_eq!(
        (group.members, group.records_again, group.commits_failed),
        (2, 0, 0),
        "{words:?}"
    );
    assert!(group.rebalances >= 1 && group.rebalance_ns > 0, "{group:?}");
    assert_eq!(fixture.committed(), RECORDS as i64);
    fixture.end();
}

fn who_commits_nothing_reads_twice_and_says_so(client: &ClientConfig) {
    let fixture = GroupFixture::new(client, "twice");
    let guest = Guest::join(&fixture);
    let flow = "consumers: 2, settings: {heartbeat.interval.ms: 50, enable.auto.commit: false}";
    let load = fixture.prepare(flow);
    let mut guest = Some(guest);
    let outcome = load.run(Clock::start(), |progress| {
        if progress.flows[0].consumed == RECORDS / 3 * 2
            && let Some(guest) = guest.take()
        {
            guest.leave();
        }
    });
    let outcome = outcome.unwrap();
    let again = outcome.flows[0].group.unwrap().records_again;
    assert!(again > 0);
    assert_eq!(outcome.flows[0].totals.consumed, RECORDS + again);
    fixture.end();
}

#[test]
fn faults_on_the_way_into_the_group_and_out_of_it_lose_nothing() {
    let embedded = Embedded::start();
    let fixture = GroupFixture::new(&embedded.client, "faults");
    let once = |api, action| {
        let broker = embedded.broker.as_ref().unwrap();
        broker
            .fault(None, InjectedFault::of(api, action).times(1))
            .unwrap();
    };
    let loading = ErrorCode::CoordinatorLoadInProgress;
    once(
        ApiKey::FindCoordinator,
        RequestFault::fail(ErrorCode::CoordinatorNotAvailable.name()),
    );
    once(ApiKey::JoinGroup, RequestFault::Drop(DropPoint::Before));
    once(
        ApiKey::SyncGroup,
        RequestFault::fail(ErrorCode::RebalanceInProgress.name()),
    );
    once(ApiKey::OffsetFetch, RequestFault::fail(loading.name()));
    once(ApiKey::OffsetCommit, RequestFault::Drop(DropPoint::After));
    let (outcome, group) = run(fixture.prepare("consumers: 3"));
    assert_eq!(outcome.flows[0].totals.consumed, RECORDS);
    assert_eq!(
        (group.rebalances, group.commits, group.commits_failed),
        (0, 3, 0)
    );
    assert_eq!(fixture.committed(), RECORDS as i64);
    fixture.end();
}

#[test]
fn a_commit_that_the_end_cuts_short_is_made_up_for_by_the_last_one() {
    let embedded = Embedded::start();
    let fixture = GroupFixture::new(&embedded.client, "cut-short");
    let broker = embedded.broker.as_ref().unwrap();
    let delay = |of: Duration| RequestFault::Delay(of.into());
    // The first commit is under way, 10 ms after the start, when all is read, after 100 ms at the least.
    let slow = InjectedFault::of(ApiKey::Fetch, delay(Duration::from_millis(100)));
    broker.fault(None, slow).unwrap();
    let slower = InjectedFault::of(ApiKey::OffsetCommit, delay(Duration::from_secs(20))).times(1);
    broker.fault(None, slower).unwrap();
    let load = fixture.prepare("consumers: 1, settings: {auto.commit.interval.ms: 10}");
    let (outcome, group) = run(load);
    assert_eq!(outcome.flows[0].totals.consumed, RECORDS);
    assert_eq!((group.commits, group.commits_failed), (1, 0));
    assert_eq!(fixture.committed(), RECORDS as i64);
    fixture.end();
}

#[test]
fn a_member_that_the_group_went_on_without_comes_back() {
    let embedded = Embedded::start();
    let fixture = GroupFixture::new(&embedded.client, "back");
    let mut guest = Some(Guest::join(&fixture));
    let flow = "consumers: 2, settings: {heartbeat.interval.ms: 50, session.timeout.ms: 10000}";
    let load = fixture.prepare(flow);
    let (mut is_set, mut words) = (false, Vec::new());
    let outcome = load.run(Clock::start(), |progress| {
        words.extend(progress.incidents.iter().map(|one| one.what.clone()));
        if progress.flows[0].consumed >= RECORDS / 3 * 2 && !is_set {
            is_set = true;
            let fault = RequestFault::fail(ErrorCode::IllegalGeneration.name());
            let fault = InjectedFault::of(ApiKey::Heartbeat, fault).times(1);
            embedded
                .broker
                .as_ref()
                .unwrap()
                .fault(None, fault)
                .unwrap();
        }
        if words.iter().any(|words| words.contains("rebalanced in"))
            && let Some(guest) = guest.take()
        {
            guest.leave();
        }
    });
    let outcome = outcome.unwrap();
    assert!(!outcome.broken, "{words:?}");
    let group = outcome.flows[0].group.unwrap();
    let read = outcome.flows[0].totals.consumed;
    assert_eq!(read, RECORDS + group.records_again, "{words:?}");
    assert!(group.rebalances >= 2, "{group:?}");
    assert_eq!(fixture.committed(), RECORDS as i64);
    fixture.end();
}

/// The same test on both.
macro_rules! on_both {
    ($($name:ident)*) => {
        mod embedded {
            $(
                #[test]
                fn $name() {
                    super::$name(&super::Embedded::start().client);
                }
            )*
        }

        mod real_kafka {
            $(
                #[test]
                #[ignore = "needs a real Kafka: KGAUGE_KAFKA=host:port"]
                fn $name() {
                    let servers = std::env::var("KGAUGE_KAFKA").expect("KGAUGE_KAFKA=host:port");
                    super::$name(&super::ClientConfig::from_servers(&servers).unwrap());
                }
            )*
        }
    };
}

on_both! {
    members_share_the_partitions_and_commit_all
    more_members_than_partitions_and_no_commits
    what_a_leaver_had_is_read_by_the_others
    who_commits_nothing_reads_twice_and_says_so
    cooperative_members_read_on_while_they_rebalance
    sticky_members_share_and_commit_all
}
