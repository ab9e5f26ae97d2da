//! `IncrementalAlterConfigs` (key 44), versions 0 and 1: single configurations of topics and nodes,
//! by way of the controller. What is not named stays.
//!
//! * Operations: set (0), delete (1), append (2) and subtract (3). The last two work on lists and
//!   are refused for other types (INVALID_CONFIG).
//! * A name that is given twice is refused (INVALID_REQUEST).

use std::collections::BTreeSet;

use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::incremental_alter_configs::{
    AlterConfigsResource, IncrementalAlterConfigsRequest,
};

use super::RequestBody;
use super::alter_configs::{Changes, ConfigValues};
use crate::controller::{ChangeScope, ConfigOperation, Mode, Refusal};
use crate::node::{BrokerNode, CloseReason, PendingRequest};

const SET: i8 = 0;
const DELETE: i8 = 1;
const APPEND: i8 = 2;
const SUBTRACT: i8 = 3;

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: IncrementalAlterConfigsRequest<'_> = body.decode(call.version())?;
    let mut changes = Changes::default();
    for resource in &request.resources {
        let (kind, name) = (resource.resource_type, &*resource.resource_name);
        changes.add(kind, name, ChangeScope::Named, values(resource));
    }
    changes.ask(node, call, Mode::of(request.validate_only));
    Ok(())
}

fn values(resource: &AlterConfigsResource<'_>) -> Result<ConfigValues, Refusal> {
    let mut seen = BTreeSet::new();
    let mut values = Vec::with_capacity(resource.configs.len());
    let refuse = |words: String| Err(Refusal::new(ErrorCode::InvalidRequest, words));
    for config in &resource.configs {
        let name = config.name.to_string();
        if !seen.insert(&*config.name) {
            return refuse(format!("Error due to duplicate config keys: {name}"));
        }
        let operation: fn(String) -> ConfigOperation = match config.config_operation {
            SET => ConfigOperation::Set,
            DELETE => |_| ConfigOperation::Reset,
            APPEND => ConfigOperation::Append,
            SUBTRACT => ConfigOperation::Subtract,
            other => return refuse(format!("Unknown operation {other} for {name}.")),
        };
        let value = match &config.value {
            Some(value) => operation(value.to_string()),
            None if config.config_operation == DELETE => ConfigOperation::Reset,
            None => return refuse(format!("Null value not supported for : {name}")),
        };
        values.push((name, value));
    }
    Ok(values)
}
