//! The options that go together, with the errors of Kafka's tool.

use crate::failure::ToolFailure;
use crate::options::{ParsedOptions, Style};

/// The action of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TopicAction {
    Create,
    Delete,
    Describe,
    List,
    Alter,
}

const ACTIONS: [(&str, TopicAction); 5] = [
    ("list", TopicAction::List),
    ("describe", TopicAction::Describe),
    ("create", TopicAction::Create),
    ("alter", TopicAction::Alter),
    ("delete", TopicAction::Delete),
];

/// Options, and the actions that have them.
#[rustfmt::skip]
const ONLY_WITH: &[(&str, &[TopicAction])] = &[
    ("partitions", &[TopicAction::Create, TopicAction::Alter]),
    ("replication-factor", &[TopicAction::Create]),
    ("replica-assignment", &[TopicAction::Create, TopicAction::Alter]),
    ("config", &[TopicAction::Create, TopicAction::Alter]),
    ("delete-config", &[TopicAction::Alter]),
    ("if-not-exists", &[TopicAction::Create]),
    ("if-exists", &[TopicAction::Alter, TopicAction::Delete, TopicAction::Describe]),
    ("exclude-internal", &[TopicAction::Describe, TopicAction::List]),
    ("topic-id", &[TopicAction::Describe]),
    ("topics-with-overrides", &[TopicAction::Describe]),
    ("under-replicated-partitions", &[TopicAction::Describe]),
    ("unavailable-partitions", &[TopicAction::Describe]),
    ("under-min-isr-partitions", &[TopicAction::Describe]),
    ("at-min-isr-partitions", &[TopicAction::Describe]),
];

/// The action of a call whose options go together.
pub(super) fn action(
    given: &ParsedOptions,
    is_zookeeper: bool,
) -> Result<TopicAction, ToolFailure> {
    let mut found = ACTIONS.iter().filter(|(name, _)| given.has(name));
    let (Some(&(name, action)), None) = (found.next(), found.next()) else {
        return ToolFailure::options(
            "Command must include exactly one action: --list, --describe, --create, --alter or \
             --delete",
        );
    };
    let is_changed = matches!(action, TopicAction::Create | TopicAction::Alter);
    if is_changed || action == TopicAction::Delete && !is_zookeeper {
        given.required(&["topic"])?;
    }
    let exclude = |option: &str, other: &str| {
        ToolFailure::options(format!(
            "Option \"[{option}]\" can't be used with option \"[{other}]\""
        ))
    };
    for (option, actions) in ONLY_WITH {
        if given.has(option) && !actions.contains(&action) {
            return exclude(option, name);
        }
    }
    let assigns = given.has("replica-assignment");
    for option in ["partitions", "replication-factor"] {
        if action == TopicAction::Create && assigns && given.has(option) {
            return exclude("replica-assignment", option);
        }
        // Brokers have defaults since 2.4 (KIP-464), ZooKeeper has none.
        if action == TopicAction::Create && is_zookeeper && !assigns && !given.has(option) {
            return Err(Style::Jopt.missing(option));
        }
    }
    if action == TopicAction::Alter && !is_zookeeper {
        if given.has("config") || given.has("delete-config") {
            return ToolFailure::options(
                "Option combination \"[bootstrap-server],[config]\" can't be used with option \
                 \"[alter]\" (the kafka-configs.sh tool can be used to alter topic configs when \
                 using a bootstrap server)",
            );
        }
        given.required(&["partitions"])?;
    }
    Ok(action)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::option_tables::TOPICS;
    use crate::options;

    fn action(line: &str) -> Result<TopicAction, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let given = options::read(&TOPICS, &words).map_err(|mistake| mistake.to_string())?;
        super::action(&given, given.has("zookeeper")).map_err(|mistake| mistake.to_string())
    }

    #[test]
    fn the_command_lines_of_published_studies_are_understood() {
        for line in [
            "--zookeeper z:2181 --create --topic test-rep-one --partitions 6 --replication-factor 1",
            "--create --zookeeper localhost:2181/kafka-test --replication-factor 3 --partitions 6 --topic t",
            "--bootstrap-server a:1 --create --topic t",
        ] {
            assert_eq!(action(line), Ok(TopicAction::Create), "{line}");
        }
        let alter = "--zookeeper z:1 --alter --topic t --config retention.ms=1";
        assert_eq!(action(alter), Ok(TopicAction::Alter));
    }

    #[test]
    fn mistakes_have_the_words_of_kafkas_tool() {
        for (line, words) in [
            (
                "--bootstrap-server a:1",
                "Command must include exactly one action: --list, --describe, --create, --alter or --delete",
            ),
            (
                "--create --describe --topic a",
                "Command must include exactly one action: --list, --describe, --create, --alter or --delete",
            ),
            ("--create", "Missing required argument \"[topic]\""),
            (
                "--list --partitions 3",
                "Option \"[partitions]\" can't be used with option \"[list]\"",
            ),
            (
                "--zookeeper z:1 --create --topic t --partitions 2",
                "Missing required argument \"[replication-factor]\"",
            ),
            (
                "--alter --topic t",
                "Missing required argument \"[partitions]\"",
            ),
            ("--nope", "nope is not a recognized option"),
        ] {
            assert_eq!(action(line), Err(words.to_owned()), "{line}");
        }
        assert!(
            action("--alter --topic t --config a=b")
                .unwrap_err()
                .contains("kafka-configs.sh")
        );
    }
}
