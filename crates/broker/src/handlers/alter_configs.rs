//! `AlterConfigs` (key 33), versions 0 to 2: the whole set of a resource's configurations, by way
//! of the controller. What is not named goes back to its default; clients prefer
//! `IncrementalAlterConfigs`, which shares the answer.
//!
//! * Resource types: topic (2), broker (4; an empty name means all nodes). Others are refused.
//! * Unknown names and values that do not fit are refused and nothing of the resource is changed:
//!   INVALID_CONFIG, but INVALID_REQUEST for a broker's value that does not fit, as Kafka has it.

use kgauge_wire::api::ApiKey;
use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::alter_configs::{
    AlterConfigsRequest, AlterConfigsResourceResponse, AlterConfigsResponse,
};
use kgauge_wire::messages::incremental_alter_configs as incremental;

use super::RequestBody;
use super::controller_decisions::{ControllerDecisions, error_fields};
use super::describe_configs::{BROKER, TOPIC, no_configurations};
use crate::controller::{
    ChangeScope, ConfigChange, ConfigOperation, ConfigResource, ControllerReply, ControllerRequest,
    Mode, Refusal,
};
use crate::ids::NodeId;
use crate::node::{BrokerNode, CloseReason, ControllerQuestion, PendingRequest, Reply};

/// A resource of the request: its type, its name, and a refusal that needs no controller.
#[derive(Debug)]
struct Resource {
    kind: i8,
    name: String,
    early: Option<Refusal>,
}

/// A resource and what became of it.
type ResourceResult = (Resource, Result<(), Refusal>);

/// The request's resources in order.
#[derive(Debug, Default)]
pub(crate) struct PendingConfigChange(Vec<Resource>);

/// Configurations by name, each with what becomes of it.
pub(super) type ConfigValues = Vec<(String, ConfigOperation)>;

/// A request being read: what the controller is to do, and the resources in order.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pending: PendingConfigChange,
    changes: Vec<ConfigChange>,
}

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: AlterConfigsRequest<'_> = body.decode(call.version())?;
    let mut changes = Changes::default();
    for resource in &request.resources {
        let value = |value: &Option<Str<'_>>| match value {
            Some(value) => ConfigOperation::Set(value.to_string()),
            None => ConfigOperation::Reset,
        };
        let values = resource
            .configs
            .iter()
            .map(|c| (c.name.to_string(), value(&c.value)));
        let values = Ok(values.collect());
        let (kind, name) = (resource.resource_type, &*resource.resource_name);
        changes.add(kind, name, ChangeScope::All, values);
    }
    changes.ask(node, call, Mode::of(request.validate_only));
    Ok(())
}

impl Changes {
    /// Adds one resource with its new values, or with what is wrong with them.
    pub(super) fn add(
        &mut self,
        kind: i8,
        name: &str,
        scope: ChangeScope,
        values: Result<ConfigValues, Refusal>,
    ) {
        let change = resource(kind, name).and_then(|resource| {
            Ok(ConfigChange {
                resource,
                scope,
                values: values?,
            })
        });
        let early = match change {
            Ok(change) => {
                self.changes.push(change);
                None
            }
            Err(refusal) => Some(refusal),
        };
        self.pending.0.push(Resource {
            kind,
            name: name.to_owned(),
            early,
        });
    }

    /// Hands the changes to the controller.
    pub(super) fn ask(self, node: &mut BrokerNode, call: PendingRequest, mode: Mode) {
        let request = ControllerRequest::AlterConfigs {
            changes: self.changes,
            mode,
        };
        node.ask(
            call.now,
            request,
            ControllerQuestion::AlterConfigs(call.reply, self.pending),
        );
    }
}

fn resource(kind: i8, name: &str) -> Result<ConfigResource, Refusal> {
    match kind {
        TOPIC => Ok(ConfigResource::Topic(name.to_owned())),
        BROKER if name.is_empty() => Ok(ConfigResource::Node(None)),
        BROKER => match name.parse() {
            Ok(id) => Ok(ConfigResource::Node(Some(NodeId(id)))),
            Err(_) => {
                let words = format!("Node id must be an integer, but it is: {name}");
                Err(Refusal::new(ErrorCode::InvalidRequest, words))
            }
        },
        other => Err(no_configurations(other)),
    }
}

impl PendingConfigChange {
    /// Answers with the controller's results, and with the early refusals.
    pub(crate) fn finish(self, node: &mut BrokerNode, reply: Reply, answer: ControllerReply) {
        let mut decided = match answer {
            ControllerReply::AlterConfigs(results) => ControllerDecisions::of(results),
            other => ControllerDecisions::without_results(other),
        };
        let resources = self.0.into_iter().map(|mut resource| {
            let result = decided.next(resource.early.take());
            (resource, result)
        });
        let results: Vec<ResourceResult> = resources.collect();
        if reply.api == ApiKey::IncrementalAlterConfigs {
            node.respond(reply, &incremental_response(results));
        } else {
            node.respond(reply, &response(results));
        }
    }
}

fn response(resources: Vec<ResourceResult>) -> AlterConfigsResponse<'static> {
    let entry = |(resource, result): ResourceResult| {
        let (error_code, error_message) = error_fields(result);
        AlterConfigsResourceResponse {
            error_code,
            error_message,
            resource_type: resource.kind,
            resource_name: Str::Owned(resource.name),
        }
    };
    AlterConfigsResponse {
        responses: resources.into_iter().map(entry).collect(),
        throttle_time_ms: 0,
    }
}

fn incremental_response(
    resources: Vec<ResourceResult>,
) -> incremental::IncrementalAlterConfigsResponse<'static> {
    let entry = |(resource, result): ResourceResult| {
        let (error_code, error_message) = error_fields(result);
        incremental::AlterConfigsResourceResponse {
            error_code,
            error_message,
            resource_type: resource.kind,
            resource_name: Str::Owned(resource.name),
        }
    };
    let responses = resources.into_iter().map(entry).collect();
    incremental::IncrementalAlterConfigsResponse {
        responses,
        throttle_time_ms: 0,
    }
}
