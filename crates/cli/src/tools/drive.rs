//! Runs a load of one flow for a tool: topics that brokers make on demand, slices as they come, Ctrl-C.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kgauge_client::cluster::{MetadataView, Topic};
use kgauge_client::{ClientConfig, Cluster, Interrupt};
use kgauge_load::{Clock, LoadOutcome, LoadProgress, LoadSetup, PreparedLoad};
use kgauge_results::recorder::MemorySlices;
use kgauge_results::{Slice, SliceSink};
use kgauge_scenario::{Share, Trial};
use kgauge_wire::api::ApiKey;
use kgauge_wire::messages::{Message, MetadataRequest, MetadataRequestTopic};

use super::flow::share;
use super::say::note;
use super::{ToolFailure, ToolRelease};
use crate::interrupt::{self, StopRequests};

/// How often a topic that is being made is looked for.
const TOPIC_LOOK: Duration = Duration::from_millis(20);

/// The first version of Metadata in which a client says whether a topic may be made.
const MAY_CREATE_FROM: i16 = 4;

/// Listens to Ctrl-C.
pub(crate) fn listen() -> Result<StopRequests, ToolFailure> {
    interrupt::listen("stopping (press Ctrl-C again to stop at once)").map_err(ToolFailure::new)
}

/// Reaches the cluster.
pub(crate) fn connect(
    client: &ClientConfig,
    interrupt: &Interrupt,
) -> Result<Cluster, ToolFailure> {
    Cluster::bootstrap_until(client.clone(), interrupt.clone())
        .map_err(|error| ToolFailure::new(format!("{error}\n  {}", error.fix())))
}

/// The topic with its partitions, made by the broker if it does that on demand, as for any producer.
pub(crate) fn topic_on_demand(
    cluster: &mut Cluster,
    name: &str,
    interrupt: &Interrupt,
    patience: Duration,
) -> Result<Topic, ToolFailure> {
    let deadline = Instant::now() + patience;
    let mut asked = false;
    loop {
        let found = cluster
            .refresh(&[name])
            .map_err(|error| ToolFailure::new(format!("{error}\n  {}", error.fix())))?;
        let topic = found.topic(name);
        let ready = topic.filter(|topic| {
            topic.error.is_none()
                && !topic.partitions.is_empty()
                && topic.first_without_leader().is_none()
        });
        if let Some(topic) = ready {
            return Ok(topic.clone());
        }
        let code = topic.map(|topic| topic.error);
        if interrupt.is_raised() {
            return Err(ToolFailure::new("interrupted"));
        }
        if Instant::now() >= deadline {
            let why = code.map_or_else(String::new, |code| format!(" ({code})"));
            return Err(ToolFailure::new(format!(
                "topic {name} does not exist{why}; create it with kafka-topics --create"
            )));
        }
        if !asked {
            asked = true;
            ask_for(cluster, name)?;
        }
        std::thread::sleep(TOPIC_LOOK);
    }
}

/// Asks for a topic in the way that makes brokers create it, if they do that.
fn ask_for(cluster: &mut Cluster, name: &str) -> Result<(), ToolFailure> {
    let Some(broker) = cluster.metadata().brokers.first().map(|broker| broker.id) else {
        return Ok(());
    };
    let asked = Some(vec![MetadataRequestTopic {
        name: Some(name.into()),
        ..MetadataRequestTopic::default()
    }]);
    let versions = cluster.api_versions(broker).map_err(ToolFailure::new)?;
    let version = versions.highest_common(ApiKey::Metadata, MetadataRequest::VERSIONS);
    let request = MetadataRequest {
        topics: asked,
        // Older versions create without being told so, and cannot say it.
        allow_auto_topic_creation: version.is_none_or(|version| version >= MAY_CREATE_FROM),
        ..MetadataRequest::default()
    };
    let request = match version {
        Some(version) if version < MAY_CREATE_FROM => MetadataRequest {
            topics: request.topics,
            ..MetadataRequest::default()
        },
        _ => request,
    };
    cluster
        .call(broker, &request)
        .map(|_| ())
        .map_err(ToolFailure::new)
}

/// All topics of a cluster.
pub(crate) fn all_topics(cluster: &mut Cluster) -> Result<MetadataView, ToolFailure> {
    let broker = cluster.metadata().brokers.first().map(|broker| broker.id);
    let broker = broker.ok_or_else(|| ToolFailure::new("the cluster has no broker"))?;
    let versions = cluster.api_versions(broker).map_err(ToolFailure::new)?;
    let version = versions
        .highest_common(ApiKey::Metadata, MetadataRequest::VERSIONS)
        .unwrap_or(0);
    let request = MetadataView::request(None, version);
    let reply = cluster.call(broker, &request).map_err(ToolFailure::new)?;
    let answer = reply.decode().map_err(ToolFailure::new)?;
    Ok(MetadataView::from_answer(&answer))
}

/// What a tool watches while its load runs.
pub(crate) trait LoadWatch {
    /// Slices that were shipped since the last look, and where the load is.
    fn sample(&mut self, slices: Vec<Slice>, progress: &LoadProgress);

    /// Whether the load should end now.
    fn wants_end(&self) -> bool;
}

/// What a load is made from.
pub(crate) struct Drive<'a> {
    pub(crate) topic: &'a str,
    /// What consumers read along with it.
    pub(crate) also: &'a [String],
    pub(crate) client: &'a ClientConfig,
    pub(crate) stopping: &'a StopRequests,
    /// For a group its `group.id`.
    pub(crate) groups: BTreeMap<String, String>,
    /// How often slices come.
    pub(crate) tick: Duration,
}

/// A load that is connected.
pub(crate) struct Ready {
    load: PreparedLoad,
    slices: Vec<MemorySlices>,
    stopping: StopRequests,
}

impl Drive<'_> {
    /// Connects, and joins the group.
    pub(crate) fn prepare(&self, trial: Trial) -> Result<Ready, ToolFailure> {
        let share: Share = share(trial);
        let slices: RefCell<Vec<MemorySlices>> = RefCell::default();
        let sink = || {
            let (sink, memory) = SliceSink::memory();
            slices.borrow_mut().push(memory);
            sink
        };
        let setup = LoadSetup {
            copy: None,
            drivers: &[],
            share: &share,
            topic: self.topic,
            also: self.also,
            earliest: None,
            client: self.client,
            groups: &self.groups,
            sink: &sink,
            interrupt: &self.stopping.load,
        };
        let load = PreparedLoad::prepare(&setup).map_err(ToolFailure::new)?;
        Ok(Ready {
            load: load.ship_every(self.tick),
            slices: slices.into_inner(),
            stopping: self.stopping.clone(),
        })
    }
}

impl Ready {
    /// Runs to the end; all slices have been looked at when it returns.
    pub(crate) fn run(
        self,
        clock: Clock,
        watch: &mut dyn LoadWatch,
    ) -> Result<LoadOutcome, ToolFailure> {
        let Ready {
            load,
            slices,
            stopping,
        } = self;
        let taken = || slices.iter().flat_map(MemorySlices::take).collect();
        let mut last = None;
        let outcome = load.run(clock, |progress| {
            for incident in &progress.incidents {
                note(&incident.what);
            }
            watch.sample(taken(), progress);
            if watch.wants_end() {
                stopping.load.raise();
            }
            last = Some(progress.clone());
        });
        let outcome = outcome.map_err(ToolFailure::new)?;
        if let Some(mut progress) = last {
            progress.incidents.clear();
            progress.elapsed_ns = outcome.end_ns;
            watch.sample(taken(), &progress);
        }
        if outcome.incidents_dropped > 0 {
            note(&format!("{} more such lines", outcome.incidents_dropped));
        }
        Ok(outcome)
    }
}

/// Whether a release counts reporting intervals in messages (KAFKA-3111 changed it in 0.10.1).
pub(crate) fn counts_messages(as_of: ToolRelease) -> bool {
    as_of < ToolRelease::of(0, 10, 1)
}
