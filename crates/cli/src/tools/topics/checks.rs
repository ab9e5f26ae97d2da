//! Which options go together, in the words of Kafka's tool.

use super::super::options::{Mistake, ParsedOptions};
use super::Action;

const ACTIONS: [(&str, Action); 5] = [
    ("list", Action::List),
    ("describe", Action::Describe),
    ("create", Action::Create),
    ("alter", Action::Alter),
    ("delete", Action::Delete),
];

/// Options, and the actions that they go with.
const ONLY_WITH: &[(&str, &[Action])] = &[
    ("partitions", &[Action::Create, Action::Alter]),
    ("replication-factor", &[Action::Create]),
    ("replica-assignment", &[Action::Create, Action::Alter]),
    ("config", &[Action::Create, Action::Alter]),
    ("delete-config", &[Action::Alter]),
    ("if-not-exists", &[Action::Create]),
    (
        "if-exists",
        &[Action::Alter, Action::Delete, Action::Describe],
    ),
    ("exclude-internal", &[Action::Describe, Action::List]),
    ("topic-id", &[Action::Describe]),
    ("topics-with-overrides", &[Action::Describe]),
    ("under-replicated-partitions", &[Action::Describe]),
    ("unavailable-partitions", &[Action::Describe]),
    ("under-min-isr-partitions", &[Action::Describe]),
    ("at-min-isr-partitions", &[Action::Describe]),
];

/// The one action of a call whose options go together.
pub(super) fn action(given: &ParsedOptions, is_zookeeper: bool) -> Result<Action, Mistake> {
    let wrong = |words: String| Err(Mistake(words));
    let mut found = ACTIONS.iter().filter(|(name, _)| given.has(name));
    let (Some(&(name, action)), None) = (found.next(), found.next()) else {
        return wrong(
            "Command must include exactly one action: --list, --describe, --create, --alter or \
             --delete"
                .to_owned(),
        );
    };
    let missing = |name: &str| Mistake(format!("Missing required argument \"[{name}]\""));
    let needs_topic = match action {
        Action::Create | Action::Alter => true,
        Action::Delete => !is_zookeeper,
        Action::Describe | Action::List => false,
    };
    if needs_topic && !given.has("topic") {
        return Err(missing("topic"));
    }
    for (option, actions) in ONLY_WITH {
        if given.has(option) && !actions.contains(&action) {
            return wrong(format!(
                "Option \"[{option}]\" can't be used with option \"[{name}]\""
            ));
        }
    }
    let assigns = given.has("replica-assignment");
    if action == Action::Create {
        for option in ["partitions", "replication-factor"] {
            if assigns && given.has(option) {
                return wrong(format!(
                    "Option \"[replica-assignment]\" can't be used with option \"[{option}]\""
                ));
            }
            // Brokers have defaults of their own since 2.4 (KIP-464), ZooKeeper never had.
            if is_zookeeper && !assigns && !given.has(option) {
                return Err(missing(option));
            }
        }
    }
    if action == Action::Alter && !is_zookeeper {
        if given.has("config") || given.has("delete-config") {
            return wrong(
                "Option combination \"[bootstrap-server],[config]\" can't be used with option \
                 \"[alter]\" (the kafka-configs.sh tool can be used to alter topic configs when \
                 using a bootstrap server)"
                    .to_owned(),
            );
        }
        if !given.has("partitions") {
            return Err(missing("partitions"));
        }
    }
    Ok(action)
}

#[cfg(test)]
mod tests {
    use super::super::super::options::read;
    use super::super::{STYLE, TABLE};
    use super::*;

    fn action(line: &str) -> Result<Action, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let given = read(TABLE, STYLE, &words).map_err(|mistake| mistake.0)?;
        super::action(&given, given.has("zookeeper")).map_err(|mistake| mistake.0)
    }

    #[test]
    fn the_command_lines_of_published_studies_are_understood() {
        for line in [
            "--zookeeper z:2181 --create --topic test-rep-one --partitions 6 --replication-factor 1",
            "--create --zookeeper localhost:2181/kafka-test --replication-factor 3 --partitions 6 --topic t",
            "--bootstrap-server a:1 --create --topic t",
        ] {
            assert_eq!(action(line), Ok(Action::Create), "{line}");
        }
        let alter = "--zookeeper z:1 --alter --topic t --config retention.ms=1";
        assert_eq!(action(alter), Ok(Action::Alter));
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
