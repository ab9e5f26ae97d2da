//! `kafka-consumer-perf-test` and `kafka-simple-consumer-perf-test`, 0.8 to 4.3.1.

use std::time::Duration;

use kgauge_client::Cluster;
use kgauge_client::cluster::Topic;
use kgauge_load::{Clock, LoadOutcome, Totals};
use kgauge_report::text::flow::group_trouble;
use kgauge_scenario::{ConsumeEnd, ConsumeFlow, FlowPlan, StartOffset};
use kgauge_wire::api::ApiKey;

use crate::call::ToolCall;
use crate::consumer_args::{ConsumerArgs, ReadQuery, ReadTool};
use crate::consumer_rows::{ReadProgress, gave_up, metrics, total};
use crate::consumer_watch::ReadWatch;
use crate::context::ToolContext;
use crate::failure::{ToolFailure, ToolResult, ToolStatus};
use crate::load::{FLOW, ToolLoad, connect};
use crate::options::ParsedOptions;
use crate::properties::{ClientRole, PropertySources, ToolProperties, servers};
use crate::release::ToolRelease;

pub(crate) fn run(call: &ToolCall, reader: ReadTool, context: &ToolContext<'_>) -> ToolResult {
    let given = call.options(context)?;
    let newest = match reader {
        ReadTool::SimpleConsumer => ToolRelease::of(0, 11, 0),
        ReadTool::Consumer if given.has("zookeeper") => ToolRelease::of(1, 1, 1),
        ReadTool::Consumer => ToolRelease::NEWEST,
    };
    let as_of = call.release(&given, newest, context)?;
    ConsumerArgs::new(&given, as_of, reader)?.run(&given, context)
}

/// The existing topics of a query.
struct FoundTopics {
    names: Vec<String>,
    /// Of all topics together.
    partitions: u32,
}

impl ConsumerArgs {
    fn run(&self, given: &ParsedOptions, context: &ToolContext<'_>) -> ToolResult {
        let mut properties = properties(given, context)?;
        let reset = properties.flow.remove("auto.offset.reset");
        let is_from_latest = given.has("from-latest") || reset.as_deref() == Some("latest");
        if self.as_of >= ToolRelease::of(4, 2, 0) && given.has("messages") {
            context.line("Warning: --messages is deprecated. Use --num-records instead.");
        }
        if !given.has("hide-header") {
            context.line(&self.columns.header(self.is_detailed));
        }
        let mut cluster = connect(&properties.client, context)?;
        let since = Clock::start();
        let start = ReadProgress {
            at_ms: since.unix_ms(0),
            ..ReadProgress::default()
        };
        let found = self.find(&mut cluster, properties.excludes_internal, context)?;
        let Some(found) = found else {
            let end = ReadProgress {
                at_ms: since.unix_ms(since.now_ns()),
                ..start
            };
            self.print_nothing(start, end, context);
            return Ok(ToolStatus::Good);
        };
        let group = self.group(&mut cluster, &properties, context);
        drop(cluster);
        let flow = self.flow(
            found.partitions,
            &properties,
            group.is_some(),
            is_from_latest,
        )?;
        context.note("checksums are verified; Kafka's tool does not verify them");
        let client_id = flow.settings.client_id.clone();
        let load = ToolLoad {
            topic: &found.names[0],
            also: &found.names[1..],
            partitions: found.partitions,
            flow: FlowPlan::Consume(flow),
            warm_up_ns: 0,
            drain_ns_max: 1_000_000_000,
            client: &properties.client,
            groups: group.map(|id| (FLOW.to_owned(), id)).into_iter().collect(),
            tick: Duration::from_secs(1),
        };
        let ready = load.prepare(context)?;
        // The consumers join before the load's clock starts, and within the tool's times.
        let joined_ms = since.now_ns() / 1_000_000;
        let clock = Clock::start();
        let mut watch = ReadWatch::new(self, start, joined_ms, clock, context);
        let outcome = ready.run(clock, &mut watch)?;
        let (is_timed_out, counts) = (watch.is_timed_out, watch.counts);
        self.print_totals(&outcome, start, joined_ms, is_timed_out, context);
        if given.has("print-metrics") {
            for line in metrics(&client_id, &counts, outcome.end_ns) {
                context.line(&line);
            }
        }
        Ok(ToolStatus::failed_if(outcome.broken))
    }

    fn print_totals(
        &self,
        outcome: &LoadOutcome,
        start: ReadProgress,
        joined_ms: u64,
        is_timed_out: bool,
        context: &ToolContext<'_>,
    ) {
        if is_timed_out {
            let warning = gave_up(self.timeout_ms, self.as_of);
            match self.as_of >= ToolRelease::of(2, 0, 0) {
                true => context.line(&warning),
                false => context.note(&warning),
            }
        }
        let flow = outcome.flows.first();
        let totals = flow.map_or_else(Totals::default, |flow| flow.totals);
        let group = flow.and_then(|flow| flow.group);
        if !self.is_detailed {
            let end = ReadProgress {
                // As in Kafka's tool, the time includes the wait for records that did not come.
                at_ms: start.at_ms + (joined_ms + outcome.end_ns / 1_000_000).cast_signed(),
                records: totals.consumed,
                bytes: totals.logical_bytes,
                rebalance_ms: joined_ms + group.map_or(0, |group| group.rebalance_ns / 1_000_000),
            };
            context.line(&total(self.columns, &self.dates, start, end));
        }
        if let Some(trouble) = group.as_ref().and_then(group_trouble) {
            context.note(&trouble);
        }
    }

    /// The existing topics to read; `None` if there are none.
    fn find(
        &self,
        cluster: &mut Cluster,
        excludes_internal: bool,
        context: &ToolContext<'_>,
    ) -> Result<Option<FoundTopics>, ToolFailure> {
        let is_wanted = |topic: &Topic| match &self.query {
            ReadQuery::Topic(name) => topic.name == *name,
            ReadQuery::Matching(_, pattern) => {
                pattern.matches(&topic.name) && !(excludes_internal && topic.is_internal)
            }
        };

        let mut topics = cluster.all_topics()?.topics;
        topics.retain(|topic| topic.error.is_none() && is_wanted(topic));
        topics.sort_by(|one, other| one.name.cmp(&other.name));
        let partitions: usize = topics.iter().map(|topic| topic.partitions.len()).sum();
        let names: Vec<String> = topics.into_iter().map(|topic| topic.name).collect();
        if matches!(self.query, ReadQuery::Matching(..)) && !names.is_empty() {
            context.note(&format!("reads {}", names.join(", ")));
        }
        Ok((!names.is_empty()).then(|| FoundTopics {
            names,
            partitions: u32::try_from(partitions).unwrap_or(u32::MAX),
        }))
    }

    /// Without a topic there is nothing to read: Kafka's tool waits for it until it gives up.
    fn print_nothing(&self, start: ReadProgress, end: ReadProgress, context: &ToolContext<'_>) {
        context.note(&match &self.query {
            ReadQuery::Topic(topic) => format!("topic {topic} does not exist"),
            ReadQuery::Matching(pattern, _) => format!("no topic's name matches {pattern}"),
        });
        context.line(&gave_up(self.timeout_ms, self.as_of));
        if !self.is_detailed {
            context.line(&total(self.columns, &self.dates, start, end));
        }
    }

    /// The `group.id`, on releases that have groups.
    fn group(
        &self,
        cluster: &mut Cluster,
        properties: &ToolProperties,
        context: &ToolContext<'_>,
    ) -> Option<String> {
        let broker = cluster.metadata().brokers.first()?.id;
        let versions = cluster.api_versions(broker).ok()?;
        let has_groups = versions.range(ApiKey::JoinGroup).is_some();
        let fresh = || format!("perf-consumer-{}", context.seed % 100_000);
        (has_groups && self.reader == ReadTool::Consumer)
            .then(|| properties.group.clone().unwrap_or_else(fresh))
    }

    fn flow(
        &self,
        partitions: u32,
        properties: &ToolProperties,
        has_group: bool,
        is_from_latest: bool,
    ) -> Result<ConsumeFlow, ToolFailure> {
        let mut settings = properties.flow.clone();
        if has_group && properties.group.is_none() {
            settings.insert("enable.auto.commit".to_owned(), "false".to_owned());
        }
        let group = has_group.then_some(FLOW);
        let mut flow = ConsumeFlow::from_properties(FLOW, group, &settings)?;
        flow.consumers = self.consumers.min(partitions.max(1));
        flow.records = ConsumeEnd::Count(self.records);
        if is_from_latest {
            flow.from = StartOffset::Latest;
        }
        Ok(flow)
    }
}

fn properties(
    given: &ParsedOptions,
    context: &ToolContext<'_>,
) -> Result<ToolProperties, ToolFailure> {
    let client_id = given.text("clientId").unwrap_or("perf-consumer-client");
    let servers = servers(
        given,
        &["bootstrap-server", "broker-list", "server"],
        context,
    )?;
    let mut flags = vec![
        ("bootstrap.servers", servers),
        // The engine looks at each record to count its bytes, so that verifying checksums costs little.
        ("check.crcs", "true".to_owned()),
    ];
    for (option, key) in [
        ("fetch-size", "max.partition.fetch.bytes"),
        ("socket-buffer-size", "receive.buffer.bytes"),
        ("group", "group.id"),
    ] {
        flags.extend(given.text(option).map(|value| (key, value.to_owned())));
    }
    let sources = PropertySources {
        defaults: vec![
            ("client.id", client_id.to_owned()),
            ("max.partition.fetch.bytes", "1048576".to_owned()),
            ("receive.buffer.bytes", "2097152".to_owned()),
        ],
        file: given.first_of(&["command-config", "consumer.config"]),
        words: given.all("command-property"),
        flags,
    };
    sources.read(ClientRole::Consumer, context)
}
