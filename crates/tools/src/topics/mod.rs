//! `kafka-topics`: creates, deletes, describes, lists and alters the topics that its user names, like Kafka's own tool.

mod change;
mod checks;
mod describe;
mod order;

use kgauge_client::cluster::Topic;
use kgauge_client::{Cluster, shown};

use crate::call::ToolCall;
use crate::context::ToolContext;
use crate::failure::{ToolFailure, ToolResult, ToolStatus};
use crate::load::connect;
use crate::options::ParsedOptions;
use crate::properties::{ClientRole, PropertySources, servers};
use crate::release::ToolRelease;
use crate::topic_pattern::{PatternMistake, TopicPattern};
use checks::TopicAction;

pub(crate) fn run(call: &ToolCall, context: &ToolContext<'_>) -> ToolResult {
    let given = call.options(context)?;
    let is_zookeeper = given.has("zookeeper") && !given.has("bootstrap-server");
    let newest = match is_zookeeper {
        true => ToolRelease::of(2, 8, 2),
        false => ToolRelease::NEWEST,
    };
    let as_of = call.release(&given, newest, context)?;
    let action = checks::action(&given, is_zookeeper)?;
    if !is_zookeeper && !given.has("bootstrap-server") {
        return Err(ToolFailure::of("--bootstrap-server must be specified"));
    }
    let servers = servers(&given, &["bootstrap-server"], context)?;
    let sources = PropertySources {
        file: given.text("command-config"),
        flags: vec![("bootstrap.servers", servers)],
        ..PropertySources::default()
    };
    let properties = sources.read(ClientRole::Admin, context)?;
    let mut call = TopicsCall {
        given: &given,
        context,
        as_of,
        is_zookeeper,
        cluster: connect(&properties.client, context)?,
    };
    let done = match action {
        TopicAction::Create => call.create(),
        TopicAction::Delete => call.delete(),
        TopicAction::Describe => call.describe(),
        TopicAction::List => call.list(),
        TopicAction::Alter => call.alter(),
    };
    let Err(failure) = done else {
        return Ok(ToolStatus::Good);
    };
    // Kafka's tool prints the error on stdout and then its stack trace on stderr.
    context.line(&format!("Error while executing topic command : {failure}"));
    Err(ToolFailure::Failed(format!("kgauge: {failure}")))
}

/// A call that is connected to its cluster.
struct TopicsCall<'a> {
    given: &'a ParsedOptions,
    context: &'a ToolContext<'a>,
    as_of: ToolRelease,
    is_zookeeper: bool,
    cluster: Cluster,
}

impl TopicsCall<'_> {
    fn list(&mut self) -> Result<(), ToolFailure> {
        for topic in self.matching()? {
            self.context.line(&shown(&topic.name));
        }
        Ok(())
    }

    /// The topics that `--topic` matches, sorted by name; without it all topics.
    fn matching(&mut self) -> Result<Vec<Topic>, ToolFailure> {
        let pattern = self.given.text("topic").map(pattern).transpose()?;
        let no_internal = self.given.has("exclude-internal");
        let mut topics = self.cluster.all_topics()?.topics;
        topics.retain(|topic| {
            let pattern = pattern.as_ref();
            let is_wanted = pattern.is_none_or(|pattern| pattern.matches(&topic.name));
            is_wanted && !(no_internal && topic.is_internal)
        });
        topics.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(topics)
    }

    /// The same. If none matches, it is an error, except with `--if-exists`.
    fn existing(&mut self) -> Result<Vec<Topic>, ToolFailure> {
        let topics = self.matching()?;
        let Some(name) = self.given.text("topic") else {
            return Ok(topics);
        };
        if !topics.is_empty() || self.given.has("if-exists") {
            return Ok(topics);
        }
        let path = self.given.text("zookeeper");
        Err(ToolFailure::Failed(match path {
            Some(path) if self.is_zookeeper && self.as_of < ToolRelease::of(2, 2, 0) => {
                format!("Topic {name} does not exist on ZK path {path}")
            }
            _ => format!("Topic '{name}' does not exist as expected"),
        }))
    }
}

/// A pattern as Kafka's tool prepares it: commas separate alternatives; blanks, and quotes around it, do not count.
fn pattern(text: &str) -> Result<TopicPattern, ToolFailure> {
    let text = text.trim().replace(',', "|").replace(' ', "");
    let text = text.trim_matches(['"', '\'']);
    TopicPattern::parse(text).map_err(|mistake| {
        ToolFailure::Failed(match mistake {
            PatternMistake::OnlyJava(what) => format!("--topic {text}: {what} is not supported"),
            PatternMistake::Invalid(_) => format!("{text} is an invalid regex."),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_separate_topics_and_blanks_and_quotes_do_not_count() {
        let topics = pattern(" 'a, b-.*' ").unwrap();
        for (name, is_wanted) in [("a", true), ("b-1", true), ("a,b", false)] {
            assert_eq!(topics.matches(name), is_wanted, "{name}");
        }
        let mistake = pattern("(a").unwrap_err();
        assert_eq!(mistake.to_string(), "(a is an invalid regex.");
    }
}
