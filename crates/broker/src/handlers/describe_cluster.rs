//! `DescribeCluster` (key 60), versions 0 to 2: the cluster's id and nodes.
//!
//! * From version 1 the client says whether it wants brokers (1) or controllers (2). The controller
//!   here has no separate listener, so 2 is refused (MISMATCHED_ENDPOINT_TYPE), as by Kafka's
//!   brokers.
//! * Version 2 may ask for fenced brokers too; a node that is fenced is not there.

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::describe_cluster::{
    DescribeClusterBroker, DescribeClusterRequest, DescribeClusterResponse,
};

use super::{RequestBody, authorized};
use crate::node::{BrokerNode, CloseReason, PendingRequest};

const BROKERS: i8 = 1;

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: DescribeClusterRequest = body.decode(call.version())?;
    let image = std::sync::Arc::clone(&node.image);
    let broker =
        |(id, node): (&crate::ids::NodeId, &'_ crate::image::NodeImage)| DescribeClusterBroker {
            broker_id: id.0,
            host: Str::Owned(node.host.clone()),
            port: i32::from(node.port),
            rack: node.rack.clone().map(Str::Owned),
            is_fenced: false,
        };
    let asked = request.include_cluster_authorized_operations;
    let mut response = DescribeClusterResponse {
        cluster_id: Str::Borrowed(&image.cluster_id),
        controller_id: image.controller().map_or(-1, |node| node.0),
        brokers: image.nodes.iter().map(broker).collect(),
        cluster_authorized_operations: authorized::if_asked(asked, authorized::ON_CLUSTER),
        ..DescribeClusterResponse::default()
    };
    if request.endpoint_type != BROKERS {
        response = DescribeClusterResponse {
            error_code: ErrorCode::MismatchedEndpointType.as_i16(),
            error_message: Some(Str::Borrowed("This listener is one of brokers.")),
            ..DescribeClusterResponse::default()
        };
    }
    node.respond(call.reply, &response);
    Ok(())
}
