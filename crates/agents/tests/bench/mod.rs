//! A lead and two agents in one process, and an embedded cluster.

#![allow(
    clippy::unwrap_used,
    dead_code,
    reason = "a test may end by a panic, and none needs everything"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use kgauge_agents::agent::ListeningAgent;
use kgauge_agents::lead::{AgentPool, AgentPoolSetup, AgentsError, AgentsRepeat, AgentsRun};
use kgauge_agents::protocol::{ClientSettings, PrepareOrder};
use kgauge_agents::{AgentToken, AgentsLost, AgentsSpec};
use kgauge_broker::{ClusterConfig, ClusterHandle, EmbeddedCluster};
use kgauge_client::admin::TopicSpec;
use kgauge_client::config::Address;
use kgauge_client::{ClientConfig, Cluster, Interrupt};
use kgauge_load::{Clock, HoldControl, LedgerFolder, LoadProgress};
use kgauge_results::RunFolder;
use kgauge_results::run::{RepeatKey, RunHead};
use kgauge_scenario::{Files, FlowPlan, Scenario, Share, Size};

const TOPIC: &str = "stop-test";

/// A lead that is interrupted by a test, its agents, and a cluster.
pub(crate) struct Bench {
    dir: tempfile::TempDir,
    cluster: Option<ClusterHandle>,
    client: ClientConfig,
    agents: Vec<Address>,
    token: AgentToken,
    pub(crate) interrupt: Interrupt,
    repeats: u32,
    /// The ledgers of the last repeat, if it was verified.
    pub(crate) ledgers: Option<LedgerFolder>,
}

impl Bench {
    pub(crate) fn new() -> Self {
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
            ledgers: None,
        }
    }

    pub(crate) fn gather(&self) -> Result<AgentPool, AgentsError> {
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

    pub(crate) fn prepare(&self, pool: &mut AgentPool, share: &Share) -> Result<(), AgentsError> {
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
    pub(crate) fn run(
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
        let flows = share.trial.flows.iter().enumerate();
        let spread_echoes = flows.filter_map(|(index, flow)| match flow {
            FlowPlan::Echo(_) => Some(index),
            FlowPlan::Produce(_) | FlowPlan::Consume(_) => None,
        });
        let spread_echoes = spread_echoes.collect();
        let ledgers = dir.join("ledgers");
        std::fs::create_dir(&ledgers).unwrap();
        self.ledgers = share.trial.verify.then_some(LedgerFolder(ledgers));
        let repeat = AgentsRepeat {
            trial: &share.trial,
            files: files.collect::<Result<_, _>>().unwrap(),
            ledgers: self.ledgers.clone(),
            clock,
            interrupt: &self.interrupt,
            spread_echoes,
        };
        pool.run(repeat, on_progress)
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

/// The share of an agent that runs everything.
pub(crate) fn share(flows: &str, hold: &str) -> Share {
    let text = format!(
        "kgauge: 1\nname: agents\nquestion: Do they agree?\ntopic: {{partitions: 4}}\nflows:\n{flows}\nstages: {{warm-up: \
         0 s, hold: {hold}}}\nrepeats: 1\n"
    );
    let scenario = Scenario::parse_with("agents.yaml", &text, Files::none());
    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
    Share::of_trial(scenario.trials(Size::Default).remove(0), 7)
}
