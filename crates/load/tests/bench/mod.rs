//! An embedded cluster with a topic, and flows on it as in a scenario file.

#![allow(
    clippy::unwrap_used,
    dead_code,
    reason = "a test may end by a panic, and none needs everything"
)]

use std::collections::BTreeMap;

use kgauge_broker::{ClusterConfig, ClusterHandle, EmbeddedCluster as Broker};
use kgauge_client::admin::TopicSpec;
use kgauge_client::{ClientConfig, Cluster, Interrupt};
use kgauge_load::{Clock, CopySetup, LoadOutcome, LoadSetup, PrepareError, PreparedLoad};
use kgauge_results::recorder::MemorySlices;
use kgauge_results::{Slice, SliceSink};
use kgauge_scenario::{Files, Scenario, Share, Size};

pub(crate) const PARTITIONS: u32 = 4;
pub(crate) const TOPIC: &str = "records-test";

pub(crate) struct Bench {
    _dir: tempfile::TempDir,
    broker: Option<ClusterHandle>,
    pub(crate) client: ClientConfig,
    pub(crate) cluster: Cluster,
    pub(crate) files: Files,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::of_nodes(1)
    }

    pub(crate) fn of_nodes(nodes: u16) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let broker = Broker::start(ClusterConfig::new(dir.path()).with_nodes(nodes)).unwrap();
        let client = ClientConfig::from_servers(&broker.bootstrap_servers()).unwrap();
        let mut cluster = Cluster::bootstrap(client.clone()).unwrap();
        let topic = TopicSpec {
            name: TOPIC.to_owned(),
            partitions: PARTITIONS as i32,
            replication_factor: 1,
            configs: Vec::new(),
        };
        cluster.create_topic(&topic).unwrap();
        Self {
            _dir: dir,
            broker: Some(broker),
            client,
            cluster,
            files: Files::none(),
        }
    }

    /// Flows as in a scenario file.
    pub(crate) fn share(&self, flows: &str, stages: &str) -> Share {
        let text = format!(
            "kgauge: 1\nname: a\nquestion: b\ntopic: {{partitions: {PARTITIONS}, preload: \
             {{records: 1M, record: {{size: 1 B}}}}}}\nflows:\n{flows}\nstages: {{{stages}}}\n"
        );
        let scenario = Scenario::parse_with("a.yaml", &text, self.files.clone());
        let trial = scenario
            .unwrap_or_else(|problems| panic!("{problems}"))
            .trials(Size::Default);
        Share::of_trial(trial.into_iter().next().unwrap(), 7)
    }

    pub(crate) fn try_run(&self, share: &Share) -> Result<(LoadOutcome, Vec<Slice>), PrepareError> {
        self.try_run_on(share, None)
    }

    /// The same with echo flows that read a copy.
    pub(crate) fn try_run_on(
        &self,
        share: &Share,
        copy: Option<CopySetup<'_>>,
    ) -> Result<(LoadOutcome, Vec<Slice>), PrepareError> {
        let sinks = std::cell::RefCell::new(Vec::<MemorySlices>::new());
        let sink = || {
            let (sink, slices) = SliceSink::memory();
            sinks.borrow_mut().push(slices);
            sink
        };
        let groups: BTreeMap<String, String> = ["r", "r-1", "r-2"]
            .into_iter()
            .map(|label| (label.to_owned(), format!("group-{label}")))
            .collect();
        let load = PreparedLoad::prepare(&LoadSetup {
            copy,
            verify: None,
            drivers: &[],
            share,
            topic: TOPIC,
            also: &[],
            earliest: None,
            groups: &groups,
            client: &self.client,
            sink: &sink,
            interrupt: &Interrupt::new(),
        })?;
        let outcome = load.run(Clock::start(), |_| ()).unwrap();
        assert!(!outcome.broken && (!outcome.abandoned || copy.is_some()));
        let slices = sinks.borrow().iter().flat_map(MemorySlices::take).collect();
        Ok((outcome, slices))
    }

    pub(crate) fn run(&self, flows: &str, stages: &str) -> (LoadOutcome, Vec<Slice>) {
        let run = self.try_run(&self.share(flows, stages));
        run.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Writes so many records, all of which have to be acked, and gives their logical bytes.
    pub(crate) fn write(&self, records: u64, record: &str, settings: &str) -> u64 {
        let flow = format!(
            "  - {{name: w, kind: produce, shape: max, records: {records}, record: {record}, \
             settings: {settings}}}"
        );
        let (outcome, _) = self.run(&flow, "warm-up: 0 s, hold: none");
        assert_eq!(outcome.flows[0].totals.acked, records);
        outcome.flows[0].totals.logical_bytes
    }

    pub(crate) fn read(&self, flow: &str) -> (u64, u64) {
        let flow = format!("  - {{name: r, kind: consume, records: all, {flow}}}");
        let (outcome, _) = self.run(&flow, "warm-up: 0 s, hold: 60 s");
        let totals = outcome.flows[0].totals;
        (totals.consumed, totals.logical_bytes)
    }

    /// Its topic, as the copy of another's.
    pub(crate) fn as_copy(&self) -> CopySetup<'_> {
        CopySetup {
            topic: TOPIC,
            client: &self.client,
        }
    }

    /// Stops the cluster; returns the folder of its data, which goes with the value.
    pub(crate) fn stop(mut self) -> DataDir {
        self.broker.take().unwrap().stop().unwrap();
        DataDir(std::mem::replace(
            &mut self._dir,
            tempfile::tempdir().unwrap(),
        ))
    }

    pub(crate) fn ends(&mut self) -> Vec<i64> {
        self.cluster.end_offsets(TOPIC).unwrap()
    }
}

/// The data of a cluster that has stopped.
pub(crate) struct DataDir(tempfile::TempDir);

impl std::ops::Deref for DataDir {
    type Target = std::path::Path;

    fn deref(&self) -> &std::path::Path {
        self.0.path()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if let Some(broker) = self.broker.take() {
            broker.stop().unwrap();
        }
    }
}
