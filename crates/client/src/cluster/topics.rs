//! Topics as Kafka's clients use them: all topics of a cluster, and automatically created ones.

use kgauge_wire::api::ApiKey;
use kgauge_wire::messages::{Message, MetadataRequest, MetadataRequestTopic};

use super::{Cluster, ClusterError, MetadataView};

impl Cluster {
    /// All topics of the cluster. [`Cluster::metadata`] does not keep them.
    pub fn all_topics(&mut self) -> Result<MetadataView, ClusterError> {
        let broker = self.any_broker()?;
        let versions = self.api_versions(broker)?;
        let version = versions.highest_common(ApiKey::Metadata, MetadataRequest::VERSIONS);
        let reply = self.call(broker, &MetadataView::request(None, version.unwrap_or(0)))?;
        Ok(MetadataView::from_answer(&reply.decode()?))
    }

    /// Requests a topic as producers do: brokers with `auto.create.topics.enable` then create it, which takes a while.
    pub fn create_on_demand(&mut self, topic: &str) -> Result<(), ClusterError> {
        let broker = self.any_broker()?;
        let request = MetadataRequest {
            topics: Some(vec![MetadataRequestTopic {
                name: Some(topic.into()),
                ..MetadataRequestTopic::default()
            }]),
            allow_auto_topic_creation: true,
            ..MetadataRequest::default()
        };
        self.call(broker, &request).map(|_| ())
    }
}
