//! A scenario in the making: lines of YAML with the options that they come from, and what has no place in it.

use std::collections::BTreeMap;

use kgauge_client::config::{KeyRole, key_role};
use kgauge_scenario::{Problem, Problems};

use crate::failure::ToolFailure;

/// Comments start at this column, unless a line is longer.
const COMMENT_COLUMN: usize = 40;

/// The scenario.
#[derive(Debug, Default)]
pub(super) struct Draft {
    lines: Vec<(String, String)>,
    left_out: Vec<(String, String)>,
    servers: Option<String>,
    /// Names of connection settings. Their values may be secret.
    connection: Vec<String>,
}

/// Settings of a flow, by name.
pub(super) type FlowSettings = BTreeMap<String, String>;

/// Whether a flow can have settings.
pub(super) type Accepts = dyn Fn(&FlowSettings) -> Result<(), Problems>;

impl Draft {
    /// The head of a scenario.
    pub(super) fn new(name: &str, question: &str) -> Draft {
        let mut draft = Draft::default();
        draft.line("kgauge: 1", "");
        draft.line(&format!("name: {name}"), "");
        draft.line(&format!("question: {question}"), "");
        draft.line("topic:", "");
        draft.line("  partitions: 6", "assumed: the command does not say");
        draft
    }

    /// Adds a line, with a comment unless that is empty.
    pub(super) fn line(&mut self, yaml: &str, comment: &str) {
        self.lines.push((yaml.to_owned(), comment.to_owned()));
    }

    /// Notes an option without a place in a scenario.
    pub(super) fn leave_out(&mut self, option: &str, why: &str) {
        self.left_out.push((option.to_owned(), why.to_owned()));
    }

    /// Sets the brokers, for the command that runs the scenario.
    pub(super) fn set_servers(&mut self, servers: &str) {
        self.servers = Some(servers.to_owned());
    }

    /// The options that name the topic and a file with settings.
    pub(super) fn leave_out_topic_and_file(&mut self, topic: &str, file: Option<&str>) {
        self.leave_out(
            &format!("--topic {topic}"),
            "each repeat creates its own topic",
        );
        if let Some(file) = file {
            let why =
                "pass it as --target if it has bootstrap.servers; copy the flow's settings by hand";
            self.leave_out(&format!("the file {file}"), why);
        }
    }

    /// Adds the settings of a flow, from words `KEY=VALUE` of an option. Later ones win.
    pub(super) fn settings(
        &mut self,
        words: &[String],
        option: &str,
        mut settings: FlowSettings,
        accepts: &Accepts,
    ) -> Result<(), ToolFailure> {
        for word in words {
            // The word may be a part of a password.
            let Some((key, value)) = word.split_once('=') else {
                let message =
                    format!("{option}: a word is not KEY=VALUE; put quotes around values");
                return Err(ToolFailure::Failed(message));
            };
            let (key, value) = (key.trim(), value.trim());
            match key_role(key) {
                _ if key == "bootstrap.servers" => self.set_servers(value),
                Some(KeyRole::Security) => self.connection.push(key.to_owned()),
                Some(KeyRole::Client) if accepts(&one(key, value)).is_err() => {
                    self.connection.push(key.to_owned());
                }
                Some(KeyRole::JavaOnly | KeyRole::Unsupported) => {
                    self.leave_out(key, "it configures Kafka's own client");
                }
                Some(KeyRole::Client | KeyRole::Producer | KeyRole::Consumer) | None => {
                    settings.insert(key.to_owned(), value.to_owned());
                }
            }
        }
        // Some settings only fit together.
        if accepts(&settings).is_err() {
            settings.retain(|key, value| {
                let problems = accepts(&one(key, value)).err();
                let problem = problems
                    .as_ref()
                    .and_then(|problems| problems.iter().next());
                if let Some(problem) = problem {
                    self.left_out.push(refused(key, problem));
                }
                problem.is_none()
            });
        }
        if !settings.is_empty() {
            self.line("    settings:", option);
        }
        for (key, value) in &settings {
            self.line(&format!("      {key}: {}", scalar(value)), "");
        }
        Ok(())
    }

    /// The stages and repeats; the flow ends by its number of records.
    pub(super) fn finish(&mut self, warm_up: &str, comment: &str) {
        self.line("stages:", "");
        self.line(&format!("  warm-up: {warm_up}"), comment);
        self.line("  hold: none", "until all records are done");
        self.line("repeats: 3", "");
        self.line("sizes:", "");
        self.line("  quick: {stages.hold: 5 s}", "--quick ends earlier");
    }

    /// The text of the scenario.
    pub(super) fn text(mut self, tool: &str) -> String {
        if !self.connection.is_empty() {
            self.connection.sort();
            self.connection.dedup();
            let why = "connection settings; put them into the client.properties file of --target";
            let names = self.connection.join(", ");
            self.leave_out(&names, why);
        }
        let target = match &self.servers {
            Some(servers) => format!("--target {servers}"),
            None => "--target HOST:PORT".to_owned(),
        };
        let mut head = vec![
            format!("From a command line of {tool}. Comments name its options."),
            format!("Run it with {target}"),
        ];
        if !self.left_out.is_empty() {
            head.push("Not translated:".to_owned());
        }
        let left_out = self.left_out.iter();
        head.extend(left_out.map(|(option, why)| format!("  {option}: {why}")));
        let mut text = String::new();
        for line in &head {
            text.push_str(&format!("# {}\n", one_line(line)));
        }
        for (yaml, comment) in &self.lines {
            match comment.as_str() {
                "" => text.push_str(yaml),
                comment => {
                    text.push_str(&format!("{yaml:COMMENT_COLUMN$}  # {}", one_line(comment)))
                }
            }
            text.push('\n');
        }
        text
    }
}

/// A setting that the flow cannot have, and why. A key that looks like no setting may be a part of a password.
fn refused(key: &str, problem: &Problem) -> (String, String) {
    let is_plain = |letter: char| letter.is_ascii_lowercase() || ".-_".contains(letter);
    match (key_role(key), key.chars().all(is_plain)) {
        (Some(_), _) => (
            key.to_owned(),
            format!("{}; {}", problem.what, problem.cure),
        ),
        (None, true) => (
            key.to_owned(),
            "Kafka's clients have no such setting".to_owned(),
        ),
        (None, false) => (
            "a word".to_owned(),
            "it is not a setting of Kafka's clients".to_owned(),
        ),
    }
}

fn one(key: &str, value: &str) -> FlowSettings {
    FlowSettings::from([(key.to_owned(), value.to_owned())])
}

/// A value as YAML: in quotes, unless it is a plain word or number.
pub(super) fn scalar(value: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-/".contains(letter);
    match value.starts_with(|letter: char| letter.is_ascii_alphanumeric())
        && value.chars().all(is_plain)
    {
        true => value.to_owned(),
        // A string of JSON is one of YAML too.
        false => serde_json::Value::from(value).to_string(),
    }
}

/// Text for a comment.
fn one_line(text: &str) -> String {
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    text.chars().map(plain).collect()
}
