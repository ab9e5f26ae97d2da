//! `DescribeConfigs` (key 32), versions 1 to 4: every configuration of topics and nodes that the
//! cluster honours, with who decided it.
//!
//! * Resource types: topic (2), broker (4). An empty broker name means what is set on all nodes; a
//!   node is asked about itself only, as in Kafka (INVALID_REQUEST for another's number).
//! * A resource that is named twice is answered once.
//! * Brokers' loggers (8), client metrics (16) and groups (32) are refused (INVALID_REQUEST).
//! * From version 3 each entry has its type; documentation is not given, as it is Kafka's.

use std::collections::HashSet;

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::describe_configs::{
    DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResourceResult,
    DescribeConfigsResponse, DescribeConfigsResult, DescribeConfigsSynonym,
};

use super::RequestBody;
use crate::controller::Refusal;
use crate::node::{BrokerNode, CloseReason, PendingRequest};
use crate::settings::{
    ChangePolicy, ConfigType, NODE_DEFINITIONS, SettingSource, Synonym, TOPIC_DEFINITIONS,
};

/// A topic.
pub(super) const TOPIC: i8 = 2;
/// A node, or all of them.
pub(super) const BROKER: i8 = 4;

type Entries = Vec<DescribeConfigsResourceResult<'static>>;

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: DescribeConfigsRequest<'_> = body.decode(call.version())?;
    let result = |resource: &DescribeConfigsResource<'_>| {
        let found = describe(node, resource).map(|mut entries| {
            if let Some(keys) = &resource.configuration_keys {
                entries.retain(|entry| keys.contains(&entry.name));
            }
            if !request.include_synonyms {
                entries.iter_mut().for_each(|entry| entry.synonyms.clear());
            }
            entries
        });
        let refusal = found.as_ref().err().cloned();
        DescribeConfigsResult {
            error_code: refusal.as_ref().map_or(0, |refusal| refusal.code.as_i16()),
            error_message: refusal.map(|refusal| Str::Owned(refusal.message)),
            resource_type: resource.resource_type,
            resource_name: Str::Owned(resource.resource_name.to_string()),
            configs: found.unwrap_or_default(),
        }
    };
    // An answer with every repetition would be hundreds of times larger than the request.
    let mut seen = HashSet::new();
    let mut is_new = |resource: &&DescribeConfigsResource<'_>| {
        seen.insert((resource.resource_type, resource.resource_name.to_string()))
    };
    let resources = request.resources.iter();
    let results = resources
        .filter(|known| is_new(known))
        .map(result)
        .collect();
    let response = DescribeConfigsResponse {
        results,
        throttle_time_ms: 0,
    };
    node.respond(call.reply, &response);
    Ok(())
}

fn describe(node: &BrokerNode, resource: &DescribeConfigsResource<'_>) -> Result<Entries, Refusal> {
    let name = &*resource.resource_name;
    match resource.resource_type {
        TOPIC => describe_topic(node, name),
        BROKER if name.is_empty() => Ok(describe_all_nodes(node)),
        BROKER if name.parse() == Ok(node.id().0) => Ok(describe_node(node)),
        BROKER => {
            let words = format!(
                "Unexpected broker id, expected {}, but received {name}",
                node.id()
            );
            Err(Refusal::new(ErrorCode::InvalidRequest, words))
        }
        other => Err(no_configurations(other)),
    }
}

/// The refusal of a type of resources that has no configurations here.
pub(super) fn no_configurations(resource_type: i8) -> Refusal {
    let words =
        format!("The embedded cluster keeps no configurations of resource type {resource_type}.");
    Refusal::new(ErrorCode::InvalidRequest, words)
}

fn describe_topic(node: &BrokerNode, name: &str) -> Result<Entries, Refusal> {
    let Some(topic) = node.image.topic(name) else {
        let code = match crate::ids::check_topic_name(name) {
            Ok(()) => ErrorCode::UnknownTopicOrPartition,
            Err(_) => ErrorCode::InvalidTopicException,
        };
        return Err(Refusal::new(code, code.explanation()));
    };
    let held = node.held_configs();
    let entry = |definition: &crate::settings::TopicDefinition| {
        let layers = held.layers();
        let (value, source) = layers.topic_value(&topic.configs, definition)?;
        let chain = layers.topic_chain(&topic.configs, definition);
        Some(
            Entry {
                name: definition.name,
                value,
                source,
                kind: definition.kind,
            }
            .with(chain),
        )
    };
    Ok(TOPIC_DEFINITIONS.iter().filter_map(entry).collect())
}

fn describe_node(node: &BrokerNode) -> Entries {
    let held = node.held_configs();
    let entry = |definition: &crate::settings::NodeDefinition| {
        let layers = held.layers();
        let chain = layers.node_chain(definition);
        let kind = definition.kind;
        let read_only = definition.change == ChangePolicy::AtStart;
        let found = match layers.node_value(definition) {
            Some((value, source)) => Entry {
                name: definition.name,
                value,
                source,
                kind,
            }
            .with(chain),
            None => unset(definition.name, kind),
        };
        DescribeConfigsResourceResult { read_only, ..found }
    };
    let id = DescribeConfigsResourceResult {
        read_only: true,
        ..Entry {
            name: "node.id",
            value: node.id().to_string(),
            source: SettingSource::Static,
            kind: ConfigType::Int,
        }
        .with(Vec::new())
    };
    NODE_DEFINITIONS.iter().map(entry).chain([id]).collect()
}

/// What is set on all nodes while they run, and nothing else.
fn describe_all_nodes(node: &BrokerNode) -> Entries {
    let set = node.image.configs_of(None);
    let entry = |definition: &crate::settings::NodeDefinition| {
        let value = set.get(definition.name)?.clone();
        let source = SettingSource::DynamicDefault;
        let chain = vec![Synonym {
            name: definition.name,
            value: value.clone(),
            source,
        }];
        let kind = definition.kind;
        Some(
            Entry {
                name: definition.name,
                value,
                source,
                kind,
            }
            .with(chain),
        )
    };
    NODE_DEFINITIONS.iter().filter_map(entry).collect()
}

struct Entry {
    name: &'static str,
    value: String,
    source: SettingSource,
    kind: ConfigType,
}

impl Entry {
    fn with(self, chain: Vec<Synonym>) -> DescribeConfigsResourceResult<'static> {
        let synonym = |synonym: Synonym| DescribeConfigsSynonym {
            name: Str::Borrowed(synonym.name),
            value: Some(Str::Owned(synonym.value)),
            source: synonym.source as i8,
        };
        DescribeConfigsResourceResult {
            name: Str::Borrowed(self.name),
            value: Some(Str::Owned(self.value)),
            read_only: false,
            config_source: self.source as i8,
            is_sensitive: false,
            synonyms: chain.into_iter().map(synonym).collect(),
            config_type: self.kind as i8,
            documentation: None,
            ..DescribeConfigsResourceResult::default()
        }
    }
}

fn unset(name: &'static str, kind: ConfigType) -> DescribeConfigsResourceResult<'static> {
    let entry = Entry {
        name,
        value: String::new(),
        source: SettingSource::Default,
        kind,
    };
    DescribeConfigsResourceResult {
        value: None,
        ..entry.with(Vec::new())
    }
}
