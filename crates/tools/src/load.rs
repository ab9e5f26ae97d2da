//! Runs the load engine for a tool: connects, creates topics on demand, passes slices on as they come.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kgauge_client::cluster::Topic;
use kgauge_client::{ClientConfig, Cluster, ClusterError};
use kgauge_load::{Clock, LoadOutcome, LoadProgress, LoadSetup, PreparedLoad};
use kgauge_results::recorder::MemorySlices;
use kgauge_results::{Slice, SliceSink};
use kgauge_scenario::{FlowPlan, Share, Stages, TopicPlan};

use crate::context::ToolContext;
use crate::failure::ToolFailure;

/// The name of the only flow.
pub(crate) const FLOW: &str = "tool";

/// The pause between two metadata requests for a topic that is being created.
const TOPIC_PAUSE: Duration = Duration::from_millis(20);

/// Connects to the cluster.
pub(crate) fn connect(
    client: &ClientConfig,
    context: &ToolContext<'_>,
) -> Result<Cluster, ToolFailure> {
    Cluster::bootstrap_until(client.clone(), context.stop.first.clone()).map_err(with_fix)
}

fn with_fix(error: ClusterError) -> ToolFailure {
    ToolFailure::Failed(format!("{error}\n  {}", error.fix()))
}

/// The topic with its partitions. If it does not exist, the broker may create it, as for any producer.
pub(crate) fn topic_on_demand(
    cluster: &mut Cluster,
    name: &str,
    patience: Duration,
    context: &ToolContext<'_>,
) -> Result<Topic, ToolFailure> {
    let deadline = Instant::now() + patience;
    let mut is_requested = false;
    loop {
        let found = cluster.refresh(&[name]).map_err(with_fix)?;
        let topic = found.topic(name);
        let is_ready = |topic: &&Topic| {
            topic.error.is_none()
                && !topic.partitions.is_empty()
                && topic.first_without_leader().is_none()
        };
        if let Some(topic) = topic.filter(is_ready) {
            return Ok(topic.clone());
        }
        if context.stop.is_wanted() {
            return Err(ToolFailure::of("interrupted"));
        }
        if Instant::now() >= deadline {
            let why = topic.map_or_else(String::new, |topic| format!(" ({})", topic.error));
            return Err(ToolFailure::Failed(format!(
                "topic {name} does not exist{why}; create it with kafka-topics --create"
            )));
        }
        if !is_requested {
            is_requested = true;
            cluster.create_on_demand(name)?;
        }
        std::thread::sleep(TOPIC_PAUSE);
    }
}

/// What a tool does while its load runs.
pub(crate) trait LoadWatch {
    /// Receives the slices since the last call, and the state of the load.
    fn sample(&mut self, slices: Vec<Slice>, progress: &LoadProgress);

    /// Whether the load should end now.
    fn wants_end(&self) -> bool;
}

/// A load of one flow.
pub(crate) struct ToolLoad<'a> {
    pub(crate) topic: &'a str,
    /// Further topics that consumers read.
    pub(crate) also: &'a [String],
    /// Of all topics together.
    pub(crate) partitions: u32,
    pub(crate) flow: FlowPlan,
    pub(crate) warm_up_ns: u64,
    pub(crate) drain_ns_max: u64,
    pub(crate) client: &'a ClientConfig,
    /// The `group.id` of each group's label.
    pub(crate) groups: BTreeMap<String, String>,
    /// How often slices come.
    pub(crate) tick: Duration,
}

/// A load that is connected.
pub(crate) struct ReadyLoad<'a> {
    load: PreparedLoad,
    slices: Vec<MemorySlices>,
    context: &'a ToolContext<'a>,
}

impl ToolLoad<'_> {
    /// Connects, and joins the group.
    pub(crate) fn prepare<'a>(
        self,
        context: &'a ToolContext<'a>,
    ) -> Result<ReadyLoad<'a>, ToolFailure> {
        let stages = Stages {
            warm_up_ns: self.warm_up_ns,
            warm_up_ns_max: 0,
            hold_ns: None,
            drain_ns_max: self.drain_ns_max,
        };
        let topic = TopicPlan::of_partitions(self.partitions);
        let share = Share::of_flows(vec![self.flow], topic, stages, context.seed);
        let slices: RefCell<Vec<MemorySlices>> = RefCell::default();
        let sink = || {
            let (sink, memory) = SliceSink::memory();
            slices.borrow_mut().push(memory);
            sink
        };
        let setup = LoadSetup {
            copy: None,
            verify: None,
            drivers: &[],
            share: &share,
            topic: self.topic,
            also: self.also,
            earliest: None,
            client: self.client,
            groups: &self.groups,
            sink: &sink,
            interrupt: &context.stop.first,
        };
        let load = PreparedLoad::prepare(&setup).map_err(ToolFailure::of)?;
        Ok(ReadyLoad {
            load: load.ship_every(self.tick),
            slices: slices.into_inner(),
            context,
        })
    }
}

impl ReadyLoad<'_> {
    /// Runs the load to its end. The watch has received all slices when it returns.
    pub(crate) fn run(
        self,
        clock: Clock,
        watch: &mut dyn LoadWatch,
    ) -> Result<LoadOutcome, ToolFailure> {
        let (slices, context) = (self.slices, self.context);
        let taken = || slices.iter().flat_map(MemorySlices::take).collect();
        let mut last = None;
        let outcome = self.load.run(clock, |progress| {
            for incident in &progress.incidents {
                context.note(&incident.what);
            }
            watch.sample(taken(), progress);
            if watch.wants_end() {
                context.stop.end_load();
            }
            last = Some(progress.clone());
        });
        let outcome = outcome.map_err(ToolFailure::of)?;
        if let Some(mut progress) = last {
            progress.incidents.clear();
            progress.elapsed_ns = outcome.end_ns;
            watch.sample(taken(), &progress);
        }
        if outcome.incidents_dropped > 0 {
            context.note(&format!("{} more such lines", outcome.incidents_dropped));
        }
        Ok(outcome)
    }
}
