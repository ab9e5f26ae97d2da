//! `CreateTopics` (key 19), versions 2 to 7: new topics, all by way of the controller.
//!
//! * Any node takes the request. The answer comes when every node knows the topics.
//! * −1 for partitions or replication factor means the cluster's default (KIP-464, from version 4).
//! * A name that occurs twice in one request is refused (INVALID_REQUEST).
//! * From version 5 the answer names partitions, replication factor and configurations; from
//!   version 7 the id.
//! * Replicas are spread over the nodes and racks as Kafka does, or placed as the request says; more
//!   of them than nodes that are up: INVALID_REPLICATION_FACTOR.
//!
//! Not done: the request's timeout is not used, since nothing here takes long.

use std::collections::BTreeMap;

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::create_topics::{
    CreatableTopic, CreatableTopicConfigs, CreatableTopicResult, CreateTopicsRequest,
    CreateTopicsResponse,
};

use super::RequestBody;
use super::controller_decisions::ControllerDecisions;
use crate::controller::{
    ControllerReply, ControllerRequest, CreatedTopic, Mode, NewTopic, Refusal,
};
use crate::ids::NodeId;
use crate::node::{BrokerNode, CloseReason, ControllerQuestion, PendingRequest, Reply};
use crate::settings::{ConfigMap, TOPIC_DEFINITIONS};

/// The names in the request's order, each with an early refusal or none.
#[derive(Debug)]
pub(crate) struct PendingTopicCreation(Vec<(String, Option<Refusal>)>);

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: CreateTopicsRequest<'_> = body.decode(call.version())?;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for topic in &request.topics {
        *counts.entry(&topic.name).or_default() += 1;
    }
    let mut pending: Vec<(String, Option<Refusal>)> = Vec::new();
    let mut topics = Vec::new();
    for topic in &request.topics {
        let name = topic.name.to_string();
        let read = match counts.remove(&*topic.name) {
            Some(1) => read(topic),
            Some(_) => Err(Refusal::new(
                ErrorCode::InvalidRequest,
                "Duplicate topic name.",
            )),
            // A repeated name is answered once.
            None => continue,
        };
        match read {
            Ok(topic) => {
                topics.push(topic);
                pending.push((name, None));
            }
            Err(refusal) => pending.push((name, Some(refusal))),
        }
    }
    let mode = Mode::of(request.validate_only);
    let asked = ControllerQuestion::CreateTopics(call.reply, PendingTopicCreation(pending));
    node.ask(
        call.now,
        ControllerRequest::CreateTopics { topics, mode },
        asked,
    );
    Ok(())
}

fn read(topic: &CreatableTopic<'_>) -> Result<NewTopic, Refusal> {
    let mut configs = ConfigMap::new();
    for config in &topic.configs {
        // Null asks for the default, which an absent name is.
        if let Some(value) = &config.value {
            configs.insert(config.name.to_string(), value.to_string());
        }
    }
    let assignments = topic
        .assignments
        .iter()
        .map(|a| {
            (
                a.partition_index,
                a.broker_ids.iter().copied().map(NodeId).collect(),
            )
        })
        .collect();
    Ok(NewTopic {
        name: topic.name.to_string(),
        partitions: (topic.num_partitions != -1).then_some(topic.num_partitions),
        replication_factor: (topic.replication_factor != -1).then_some(topic.replication_factor),
        assignments,
        configs,
    })
}

impl PendingTopicCreation {
    /// Answers with the controller's results, and with the early refusals.
    pub(crate) fn finish(self, node: &mut BrokerNode, reply: Reply, answer: ControllerReply) {
        let mut decided = match answer {
            ControllerReply::CreateTopics(results) => ControllerDecisions::of(results),
            other => ControllerDecisions::without_results(other),
        };
        let results: Vec<(String, Result<CreatedTopic, Refusal>)> = self
            .0
            .into_iter()
            .map(|(name, early)| (name, decided.next(early)))
            .collect();
        let topics = results
            .iter()
            .map(|(name, result)| entry(node, name, result))
            .collect();
        let response = CreateTopicsResponse {
            topics,
            ..CreateTopicsResponse::default()
        };
        node.respond(reply, &response);
    }
}

fn entry<'a>(
    node: &BrokerNode,
    name: &'a str,
    result: &'a Result<CreatedTopic, Refusal>,
) -> CreatableTopicResult<'a> {
    match result {
        Ok(created) => CreatableTopicResult {
            name: Str::Borrowed(name),
            topic_id: created.id,
            num_partitions: created.partitions,
            replication_factor: created.replication_factor,
            configs: Some(effective(node, &created.configs)),
            ..CreatableTopicResult::default()
        },
        Err(refusal) => CreatableTopicResult {
            name: Str::Borrowed(name),
            error_code: refusal.code.as_i16(),
            error_message: Some(Str::Borrowed(&refusal.message)),
            configs: None,
            ..CreatableTopicResult::default()
        },
    }
}

/// Every configuration that holds for the topic on this node.
fn effective(node: &BrokerNode, configs: &ConfigMap) -> Vec<CreatableTopicConfigs<'static>> {
    let held = node.held_configs();
    TOPIC_DEFINITIONS
        .iter()
        .filter_map(|definition| {
            let (value, source) = held.layers().topic_value(configs, definition)?;
            Some(CreatableTopicConfigs {
                name: Str::Borrowed(definition.name),
                value: Some(Str::Owned(value)),
                read_only: false,
                config_source: source as i8,
                is_sensitive: false,
            })
        })
        .collect()
}
