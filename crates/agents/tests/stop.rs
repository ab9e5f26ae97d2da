//! A lead and two agents in one process: a stop at every moment of a repeat ends it in order, and the next one runs.

#![allow(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use kgauge_agents::agent::ListeningAgent;
use kgauge_agents::lead::{
    AgentPool, AgentPoolSetup, AgentsError, AgentsRepeat, AgentsRun, AgentsTrouble,
};
use kgauge_agents::protocol::{ClientSettings, PrepareOrder};
use kgauge_agents::{AgentToken, AgentsLost, AgentsSpec};
use kgauge_broker::{ClusterConfig, ClusterHandle, EmbeddedCluster};
use kgauge_client::admin::TopicSpec;
use kgauge_client::config::Address;
use kgauge_client::{ClientConfig, Cluster, Interrupt};
use kgauge_load::{Clock, HoldControl, LoadProgress};
use kgauge_results::RunFolder;
use kgauge_results::run::{RepeatKey, RunHead};
use kgauge_scenario::{Files, Scenario, Share, Size};

const TOPIC: &str = "stop-test";

/// A lead waits four seconds for agents that it has stopped before it takes them for lost.
const STOP_MAX: Duration = Duration::from_secs(4);

/// A lead that is interrupted by a test, its agents, and a cluster.
struct Bench {
    dir: tempfile::TempDir,
    cluster: Option<ClusterHandle>,
    client: ClientConfig,
    agents: Vec<Address>,
    token: AgentToken,
    interrupt: Interrupt,
    repeats: u32,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        let cluster = EmbeddedCluster::start(ClusterConfig::new(&data).with_nodes(1)).unwrap();
        let client = ClientConfig::from_servers(&cluster.bootstrap_servers()).unwrap();
        let topic = TopicSpec {
            name: TOPIC.to_owned(),
            partitions: 4,
            replication_factor: 1,
            configs: Vec::new(),
        };
        let mut admin = Cluster::bootstrap(client.clone()).unwrap();
        admin.create_topic(&topic).unwrap();
        let token = AgentToken::random().unwrap();
        Self {
            dir,
            cluster: Some(cluster),
            client,
            agents: (0..2).map(|_| listening(&token)).collect(),
            token,
            interrupt: Interrupt::new(),
            repeats: 0,
        }
    }

    fn gather(&self) -> Result<AgentPool, AgentsError> {
        let spec = AgentsSpec::Listening {
            addresses: self.agents.clone(),
        };
        let setup = AgentPoolSetup {
            spec: &spec,
            lost: AgentsLost::Fail,
            token: &self.token,
            program: PathBuf::new(),
            run_id: "stop-test",
            interrupt: &self.interrupt,
        };
        AgentPool::gather(&setup, &mut |_| {})
    }

    fn prepare(&self, pool: &mut AgentPool, share: &Share) -> Result<(), AgentsError> {
        let order = |stripe| {
            Some(PrepareOrder {
                key: KEY,
                share: share.of_agent(stripe),
                topic: TOPIC.to_owned(),
                earliest: None,
                groups: BTreeMap::new(),
                client: ClientSettings::of(&self.client),
                measures_ceilings: false,
            })
        };
        pool.prepare(&order, &self.interrupt)
    }

    /// Runs what was announced.
    fn run(
        &mut self,
        pool: &mut AgentPool,
        share: &Share,
        clock: Clock,
        on_progress: &mut dyn FnMut(&LoadProgress, &dyn HoldControl),
    ) -> AgentsRun {
        self.repeats += 1;
        let dir = self.dir.path().join(format!("run-{}", self.repeats));
        let head = RunHead::starting("stop-test".to_owned(), Vec::new(), 0);
        let folder = RunFolder::create(&dir, head).unwrap();
        let repeat = folder.begin_repeat(KEY).unwrap();
        let files = (0..pool.count()).map(|agent| repeat.agent_files(agent));
        let repeat = AgentsRepeat {
            trial: &share.trial,
            files: files.collect::<Result<_, _>>().unwrap(),
            clock,
            interrupt: &self.interrupt,
        };
        pool.run(repeat, on_progress)
    }

    /// A repeat that nobody stops: both agents send their share of 2,000 records.
    #[track_caller]
    fn check_next(&mut self, pool: &mut AgentPool) {
        self.interrupt.lower();
        let share = share("1 s");
        self.prepare(pool, &share).unwrap();
        let clock = pool.announce_start();
        let run = self.run(pool, &share, clock, &mut |_, _| {});
        assert_eq!(run.trouble, None);
        let acked: Vec<u64> = run.records.iter().map(|one| one.records_acked).collect();
        assert_eq!(acked, [1_000, 1_000]);
        assert_eq!(run.outcome.flows[0].totals.acked, 2_000);
        assert!(!run.outcome.interrupted);
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if let Some(cluster) = self.cluster.take() {
            cluster.stop().unwrap();
        }
    }
}

const KEY: RepeatKey = RepeatKey {
    trial: 0,
    repeat: 0,
};

/// An agent in a thread that goes on until the end of the test.
fn listening(token: &AgentToken) -> Address {
    let agent = ListeningAgent::bind("127.0.0.1:0").unwrap();
    let address = agent.address().unwrap();
    let token = token.clone();
    std::thread::spawn(move || agent.serve(&token, &|_| {}));
    Address::parse(&address.to_string()).unwrap()
}

/// Two producers, one on each agent.
fn share(hold: &str) -> Share {
    let text = format!(
        "kgauge: 1\nname: stop\nquestion: What does a stop leave?\ntopic: {{partitions: 4}}\nflows:\n  - {{name: \
         writers, kind: produce, producers: 2, shape: {{constant: 2k/s}}, record: {{size: 100 B}}}}\nstages: \
         {{warm-up: 0 s, hold: {hold}}}\nrepeats: 1\n"
    );
    let scenario = Scenario::parse_with("stop.yaml", &text, Files::none());
    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
    Share::of_trial(scenario.trials(Size::Default).remove(0), 7)
}

/// A stop that came before the start: nobody is lost, and nothing was sent.
#[track_caller]
fn check_not_started(run: &AgentsRun, took: Duration) {
    assert_eq!(run.trouble, None);
    assert!(run.outcome.interrupted);
    assert_eq!(run.outcome.flows[0].totals.acked, 0);
    for record in &run.records {
        assert_eq!(record.lost, None);
        assert_eq!((record.records_acked, record.start_late_ns), (0, None));
    }
    assert!(took < STOP_MAX, "{took:?}");
}

#[test]
fn a_stop_before_the_start_is_announced() {
    let mut bench = Bench::new();
    let mut pool = bench.gather().unwrap();
    let long = share("60 s");
    bench.prepare(&mut pool, &long).unwrap();
    bench.interrupt.raise();
    let begin = Instant::now();
    let clock = pool.announce_start();
    let run = bench.run(&mut pool, &long, clock, &mut |_, _| {});
    check_not_started(&run, begin.elapsed());
    bench.check_next(&mut pool);
}

#[test]
fn a_stop_between_the_announcement_and_the_start() {
    let mut bench = Bench::new();
    let mut pool = bench.gather().unwrap();
    let long = share("60 s");
    bench.prepare(&mut pool, &long).unwrap();
    let begin = Instant::now();
    let clock = pool.announce_start();
    let interrupt = bench.interrupt.clone();
    // The first report comes half a second before the start.
    let run = bench.run(&mut pool, &long, clock, &mut |_, _| interrupt.raise());
    check_not_started(&run, begin.elapsed());
    bench.check_next(&mut pool);
}

#[test]
fn a_stop_between_the_start_and_the_first_slice() {
    let mut bench = Bench::new();
    let mut pool = bench.gather().unwrap();
    let long = share("60 s");
    bench.prepare(&mut pool, &long).unwrap();
    let clock = pool.announce_start();
    let interrupt = bench.interrupt.clone();
    let mut stopped = None;
    // Slices are sent once per second; reports of sent records come before.
    let run = bench.run(&mut pool, &long, clock, &mut |progress, _| {
        if progress.flows[0].acked > 0 && stopped.is_none() {
            interrupt.raise();
            stopped = Some(Instant::now());
        }
    });
    assert!(stopped.unwrap().elapsed() < STOP_MAX);
    assert_eq!(run.trouble, None);
    assert!(run.outcome.interrupted);
    let acked: u64 = run.records.iter().map(|one| one.records_acked).sum();
    assert!(acked > 0);
    assert_eq!(run.outcome.flows[0].totals.acked, acked);
    for record in &run.records {
        assert_eq!(record.lost, None);
        assert!(record.start_late_ns.is_some() && record.start_bound_ns.is_some());
    }
    bench.check_next(&mut pool);
}

#[test]
fn a_stop_while_agents_prepare() {
    let mut bench = Bench::new();
    let mut pool = bench.gather().unwrap();
    bench.interrupt.raise();
    let ended = bench.prepare(&mut pool, &share("60 s"));
    assert!(matches!(ended, Err(AgentsError::Interrupted)));
    // Answers to the first preparation arrive during the second one.
    bench.check_next(&mut pool);
}

#[test]
fn several_stops_are_one() {
    let mut bench = Bench::new();
    let mut pool = bench.gather().unwrap();
    let long = share("60 s");
    bench.prepare(&mut pool, &long).unwrap();
    pool.stop();
    pool.stop();
    bench.interrupt.raise();
    let begin = Instant::now();
    let clock = pool.announce_start();
    let run = bench.run(&mut pool, &long, clock, &mut |_, _| {});
    check_not_started(&run, begin.elapsed());
    pool.stop();
    bench.check_next(&mut pool);
}

#[test]
fn a_repeat_that_nobody_follows_ends_with_the_next_preparation() {
    let mut bench = Bench::new();
    let mut pool = bench.gather().unwrap();
    bench.prepare(&mut pool, &share("60 s")).unwrap();
    // The run of this repeat failed behind its announcement.
    pool.announce_start();
    let begin = Instant::now();
    bench.check_next(&mut pool);
    assert!(begin.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_start_of_nothing_is_answered_and_named() {
    let mut bench = Bench::new();
    let mut pool = bench.gather().unwrap();
    let clock = pool.announce_start();
    let run = bench.run(&mut pool, &share("60 s"), clock, &mut |_, _| {});
    assert!(
        matches!(&run.trouble, Some(AgentsTrouble::Failed { why, .. }) if why.contains("nothing")),
        "{:?}",
        run.trouble
    );
    bench.check_next(&mut pool);
}

#[test]
fn an_agent_serves_one_lead_at_a_time() {
    let mut bench = Bench::new();
    let mut pool = bench.gather().unwrap();
    let refused = bench.gather().err().unwrap();
    assert!(matches!(refused, AgentsError::Busy { .. }), "{refused}");
    bench.check_next(&mut pool);
    drop(pool);
    let mut pool = bench.gather().unwrap();
    bench.check_next(&mut pool);
}
