//! DescribeCluster: brokers that are registered but fenced, which no other request lists.

use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::DescribeClusterRequest;

use crate::cluster::{Cluster, ClusterError};

/// The version that has fenced brokers (KIP-1073, Kafka 4.0).
const VERSION_WITH_FENCED: i16 = 2;
/// `EndpointType` of brokers.
const BROKERS: i8 = 1;

impl Cluster {
    /// The ids of brokers that are registered and fenced: down, or not caught up with the controller.
    ///
    /// # Errors
    /// Brokers before 4.0 do not list them.
    pub fn fenced_brokers(&mut self) -> Result<Vec<i32>, ClusterError> {
        let request = DescribeClusterRequest {
            endpoint_type: BROKERS,
            include_fenced_brokers: true,
            ..DescribeClusterRequest::default()
        };
        let versions = VERSION_WITH_FENCED..=VERSION_WITH_FENCED;
        let limit = self.config().request_timeout;
        let broker = self.any_broker()?;
        let reply = self.call_between(broker, &request, versions, limit)?;
        let answer = reply.decode()?;
        ErrorCode::from(answer.error_code)
            .ok()
            .map_err(|code| ClusterError::Refused {
                api: ApiKey::DescribeCluster,
                code,
                message: answer.error_message.as_ref().map(ToString::to_string),
            })?;
        let fenced = answer.brokers.iter().filter(|broker| broker.is_fenced);
        Ok(fenced.map(|broker| broker.broker_id).collect())
    }
}
