//! `kafka-topics`: create, delete, describe, list, alter. It does to the cluster what its user says,
//! like Kafka's own tool.

mod change;
mod checks;
mod describe;
mod order;
mod pattern;

use kgauge_client::cluster::Topic;
use kgauge_client::{Cluster, shown};

use super::drive::{all_topics, connect};
use super::options::{Opt, ParsedOptions, Style, Takes, opt};
use super::properties::{ClientRole, PropertySources, servers_for_zookeeper};
use super::release::ToolRelease;
use super::say;
use super::{ToolCall, ToolFailure, ToolResult};
use crate::exit::ExitStatus;
use pattern::Pattern;

const STYLE: Style = Style::Jopt;

const ABOUT: &str =
    "Creates, deletes, describes, lists and changes topics, as Kafka's TopicCommand does.";

const TABLE: &[Opt] = &[
    opt("create", Takes::Nothing, "make a topic"),
    opt("delete", Takes::Nothing, "delete topics"),
    opt("describe", Takes::Nothing, "tell about topics"),
    opt("list", Takes::Nothing, "tell the names"),
    opt(
        "alter",
        Takes::Nothing,
        "change the number of partitions (with --zookeeper also settings)",
    ),
    opt(
        "topic",
        Takes::One,
        "its name; but for --create also a regular expression",
    ),
    opt(
        "topic-id",
        Takes::One,
        "3.2+: describe the topic of this id",
    ),
    opt("bootstrap-server", Takes::One, "2.2+: the brokers"),
    opt(
        "zookeeper",
        Takes::One,
        "to 2.8: the brokers are those in KGAUGE_BOOTSTRAP_SERVERS",
    ),
    opt(
        "command-config",
        Takes::One,
        "2.2+: a file of client settings",
    ),
    opt("partitions", Takes::One, "how many partitions"),
    opt("replication-factor", Takes::One, "how many copies of each"),
    opt(
        "replica-assignment",
        Takes::One,
        "brokers of each partition: 1:2,2:3",
    ),
    opt(
        "config",
        Takes::One,
        "a setting of the topic, name=value; may be given again",
    ),
    opt(
        "delete-config",
        Takes::One,
        "with --alter --zookeeper: a setting goes back to its default",
    ),
    opt(
        "if-not-exists",
        Takes::Nothing,
        "create: a topic that is there is no failure",
    ),
    opt(
        "if-exists",
        Takes::Nothing,
        "alter, delete, describe: a topic that is not there is no failure",
    ),
    opt(
        "exclude-internal",
        Takes::Nothing,
        "describe, list: without Kafka's own topics",
    ),
    opt(
        "topics-with-overrides",
        Takes::Nothing,
        "describe: topics with settings of their own",
    ),
    opt(
        "under-replicated-partitions",
        Takes::Nothing,
        "describe: fewer replicas in sync than there are",
    ),
    opt(
        "unavailable-partitions",
        Takes::Nothing,
        "describe: without a leader",
    ),
    opt(
        "under-min-isr-partitions",
        Takes::Nothing,
        "describe: fewer in sync than min.insync.replicas",
    ),
    opt(
        "at-min-isr-partitions",
        Takes::Nothing,
        "describe: as many in sync as min.insync.replicas",
    ),
    opt(
        "partition-size-limit-per-response",
        Takes::One,
        "3.7+: no effect",
    ),
    opt("disable-rack-aware", Takes::Nothing, "to 2.8: no effect"),
    opt("force", Takes::Nothing, "to 2.8: no effect"),
    opt("help", Takes::Nothing, "this list"),
    opt(
        "version",
        Takes::Nothing,
        "the release whose lines are printed",
    ),
];

pub(super) fn run(call: &ToolCall) -> ToolResult {
    let given = call.options(TABLE, STYLE, ABOUT)?;
    let is_zookeeper = given.has("zookeeper") && !given.has("bootstrap-server");
    let newest = match is_zookeeper {
        true => ToolRelease::of(2, 8, 2),
        false => ToolRelease::NEWEST,
    };
    let as_of = call.as_of_at_most(&given, newest)?;
    let action = checks::action(&given, is_zookeeper)
        .map_err(|mistake| call.mistake(TABLE, STYLE, &mistake))?;
    let mut site = TopicsCall {
        given: &given,
        as_of,
        is_zookeeper,
        cluster: cluster(&given, is_zookeeper)?,
    };
    match site.act(action) {
        Ok(()) => Ok(ExitStatus::Good),
        Err(words) => {
            // As there: the words are a result, and the status is not good.
            let said = format!("Error while executing topic command : {words}");
            say::line(&said);
            Err(ToolFailure::new(format!("kgauge: {words}")))
        }
    }
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Create,
    Delete,
    Describe,
    List,
    Alter,
}

fn cluster(given: &ParsedOptions, is_zookeeper: bool) -> Result<Cluster, ToolFailure> {
    let servers = match given.text("bootstrap-server") {
        Some(servers) => servers.to_owned(),
        None if is_zookeeper => servers_for_zookeeper()?,
        None => return Err(ToolFailure::new("--bootstrap-server must be specified")),
    };
    let sources = PropertySources {
        file: given.text("command-config"),
        flags: vec![("bootstrap.servers", servers)],
        ..PropertySources::default()
    };
    let properties = sources.read(ClientRole::Admin)?;
    connect(&properties.client, &kgauge_client::Interrupt::new())
}

/// One call at work.
struct TopicsCall<'a> {
    given: &'a ParsedOptions,
    as_of: ToolRelease,
    is_zookeeper: bool,
    cluster: Cluster,
}

impl TopicsCall<'_> {
    fn act(&mut self, action: Action) -> Result<(), String> {
        match action {
            Action::Create => self.create(),
            Action::Delete => self.delete(),
            Action::Describe => self.describe(),
            Action::List => self.list(),
            Action::Alter => self.alter(),
        }
    }

    fn list(&mut self) -> Result<(), String> {
        for topic in self.required()? {
            say::line(&shown(&topic.name));
        }
        Ok(())
    }

    /// The topics that `--topic` means, sorted by name; all without it.
    fn required(&mut self) -> Result<Vec<Topic>, String> {
        let pattern = self.given.text("topic").map(Pattern::parse).transpose()?;
        let metadata = all_topics(&mut self.cluster).map_err(|failure| failure.words)?;
        let no_internal = self.given.has("exclude-internal");
        let mut topics = metadata.topics;
        topics.retain(|topic| {
            let is_wanted = pattern
                .as_ref()
                .is_none_or(|pattern| pattern.fits(&topic.name));
            is_wanted && !(no_internal && topic.is_internal)
        });
        topics.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(topics)
    }

    /// The same; none at all is a failure, unless `--if-exists` says otherwise.
    fn some_required(&mut self) -> Result<Vec<Topic>, String> {
        let topics = self.required()?;
        let name = self.given.text("topic");
        match name {
            Some(name) if topics.is_empty() && !self.given.has("if-exists") => {
                Err(match (self.is_zookeeper, self.given.text("zookeeper")) {
                    (true, Some(path)) if self.as_of < ToolRelease::of(2, 2, 0) => {
                        format!("Topic {name} does not exist on ZK path {path}")
                    }
                    _ => format!("Topic '{name}' does not exist as expected"),
                })
            }
            _ => Ok(topics),
        }
    }
}
