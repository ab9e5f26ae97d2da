//! The time that a broker takes for the smallest request that a request handler answers.

use std::time::{Duration, Instant};

use kgauge_wire::messages::{Message, MetadataRequest};

use crate::cluster::{Cluster, ClusterError};

impl Cluster {
    /// Sends Metadata without topics to a broker and waits for the response. A connection is opened before the clock
    /// starts. In version 0, before Kafka 0.10, the response lists all topics.
    ///
    /// # Errors
    /// The broker does not answer within `limit`, or cannot be reached.
    pub fn round_trip(
        &mut self,
        broker_id: i32,
        limit: Duration,
    ) -> Result<Duration, ClusterError> {
        let request = MetadataRequest {
            topics: Some(Vec::new()),
            ..MetadataRequest::default()
        };
        self.api_versions(broker_id)?;
        let start = Instant::now();
        let reply = self.call_between(broker_id, &request, MetadataRequest::VERSIONS, limit)?;
        let took = start.elapsed();
        reply.decode()?;
        Ok(took)
    }
}
