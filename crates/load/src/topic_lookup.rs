//! Looks up topics before the start: the leaders of their partitions, and their offsets.

use std::sync::Arc;

use kgauge_client::admin::OffsetAt;
use kgauge_client::{ClientConfig, Cluster, Interrupt};

use crate::control::{ControlSetup, leaders};
use crate::leaders::{ClientSide, Leaders};
use crate::load_setup::{LoadSetup, PrepareError};
use crate::topics::Topics;

/// The topics, and the connection to them.
pub(crate) struct LoadTopics {
    pub(crate) side: ClientSide,
    /// The topic of the producers.
    pub(crate) topic: String,
    pub(crate) topics: Arc<Topics>,
    pub(crate) cluster: Cluster,
    pub(crate) leaders: Leaders,
    pub(crate) ends: Vec<i64>,
}

impl LoadTopics {
    /// The topics on the cluster under load.
    pub(crate) fn source(setup: &LoadSetup<'_>) -> Result<Self, PrepareError> {
        let (topic, also) = (setup.topic, setup.also);
        LoadTopics::find(
            topic,
            also,
            setup.client,
            ClientSide::Source,
            setup.interrupt,
        )
    }

    /// Looks up a topic and additional ones.
    pub(crate) fn find(
        topic: &str,
        also: &[String],
        client: &ClientConfig,
        side: ClientSide,
        interrupt: &Interrupt,
    ) -> Result<Self, PrepareError> {
        let mut cluster = Cluster::bootstrap_until(client.clone(), interrupt.clone())?;
        // Every leader must answer for its partition: right after a topic was created, metadata may name leaders that
        // do not know it yet, and a run should not start with their refusals.
        let (mut ends, mut counted) = (Vec::new(), Vec::new());
        for name in std::iter::once(topic).chain(also.iter().map(String::as_str)) {
            let of_topic = cluster.end_offsets(name)?;
            counted.push((name.to_owned(), of_topic.len()));
            ends.extend(of_topic);
        }
        let topics = Arc::new(Topics::new(counted));
        let leaders = leaders(&mut cluster, &topics)?;
        Ok(Self {
            side,
            topic: topic.to_owned(),
            topics,
            cluster,
            leaders,
            ends,
        })
    }

    /// One offset for every partition.
    pub(crate) fn offsets(&mut self, at: OffsetAt) -> Result<Vec<i64>, PrepareError> {
        let mut all = vec![0; self.ends.len()];
        for name in self.topics.names() {
            for (partition, offset) in (0..).zip(self.cluster.offsets(name, at)?) {
                let place = self.topics.place(name, partition);
                // A partition that was added meanwhile has none.
                if let Some(of_place) = place.and_then(|place| all.get_mut(place as usize)) {
                    *of_place = offset;
                }
            }
        }
        Ok(all)
    }

    /// The number of partitions.
    pub(crate) fn partitions(&self) -> u32 {
        u32::try_from(self.leaders.0.len()).unwrap_or(u32::MAX)
    }

    /// The remaining parts, for the control thread.
    pub(crate) fn into_control(self, config: &ClientConfig) -> ControlSetup {
        ControlSetup {
            side: self.side,
            cluster: self.cluster,
            config: config.clone(),
            topics: self.topics,
            leaders: self.leaders,
        }
    }
}
