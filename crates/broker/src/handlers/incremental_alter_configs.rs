//! `IncrementalAlterConfigs` (key 44), versions 0 and 1: single configurations of topics and nodes,
//! by way of the controller. What is not named stays.
//!
//! * Operations: set (0) and delete (1). Append (2) and subtract (3) work on lists; the only list
//!   here is `cleanup.policy`, of which only one value at a time is possible, so they are refused (INVALID_REQUEST).
//! * A name that stands twice is refused.

use std::collections::BTreeSet;

use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::incremental_alter_configs::{
    AlterConfigsResource, IncrementalAlterConfigsRequest,
};

use super::Body;
use super::alter_configs::Changes;
use crate::controller::{ChangeScope, Mode, Refusal};
use crate::node::{Call, CloseReason, Node};

const SET: i8 = 0;
const DELETE: i8 = 1;

pub(super) fn handle(node: &mut Node, call: Call, body: Body<'_>) -> Result<(), CloseReason> {
    let request: IncrementalAlterConfigsRequest<'_> = body.decode(call.version())?;
    let mut changes = Changes::default();
    for resource in &request.resources {
        let (kind, name) = (resource.resource_type, &*resource.resource_name);
        changes.add(kind, name, ChangeScope::Named, values(resource));
    }
    changes.ask(node, call, Mode::of(request.validate_only));
    Ok(())
}

fn values(resource: &AlterConfigsResource<'_>) -> Result<Vec<(String, Option<String>)>, Refusal> {
    let mut seen = BTreeSet::new();
    let mut values = Vec::with_capacity(resource.configs.len());
    let refuse = |words: String| Err(Refusal::new(ErrorCode::InvalidRequest, words));
    for config in &resource.configs {
        let name = config.name.to_string();
        if !seen.insert(&*config.name) {
            return refuse(format!("Error due to duplicate config keys: {name}"));
        }
        let value = match (config.config_operation, &config.value) {
            (SET, Some(value)) => Some(value.to_string()),
            (SET, None) => return refuse(format!("Null value not supported for: {name}")),
            (DELETE, _) => None,
            (other, _) => return refuse(format!("Operation {other} is not done for {name}.")),
        };
        values.push((name, value));
    }
    Ok(values)
}
