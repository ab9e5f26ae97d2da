//! Drop-in names: Kafka's own command-line tools of every release, with their flags and their lines on
//! stdout, and kgauge's figures in them. All that the old tool would not print goes to stderr.
//!
//! A file a tool; what they share: [`names`] and [`release`] (who is meant), [`options`] and
//! [`properties`] (what was typed), [`flow`] and [`drive`] (the load engine's work), [`plain`] (records
//! one at a time, for the tools that want to know of each), [`java`] (how Java prints).

mod consumer;
mod consumer_rows;
mod consumer_watch;
mod drive;
mod e2e;
mod flow;
mod include;
mod java;
mod names;
mod old_producer;
mod options;
mod payloads;
mod plain;
mod positional;
mod producer;
mod producer_lines;
mod producer_run;
mod properties;
mod release;
mod say;
mod topics;
mod verifiable_consumer;
mod verifiable_events;
mod verifiable_producer;

use std::fmt;

use crate::exit::ExitStatus;
use names::{KafkaTool, RUN_CLASS, ToolName};
use options::{Mistake, Opt, ParsedOptions, Style};
use release::ToolRelease;

/// A tool that was asked for, and what stands behind its name.
#[derive(Debug)]
pub(crate) struct ToolCall {
    named: ToolName,
    name: String,
    arguments: Vec<String>,
}

/// Why a tool ends before its work is done.
#[derive(Debug)]
pub(crate) struct ToolFailure {
    status: ExitStatus,
    words: String,
}

impl ToolFailure {
    /// As Kafka's tools end, whatever is wrong.
    fn new(words: impl fmt::Display) -> ToolFailure {
        ToolFailure {
            status: ExitStatus::Failed,
            words: words.to_string(),
        }
    }

    /// Something that the old tool can and kgauge cannot.
    fn refused(words: impl fmt::Display) -> ToolFailure {
        ToolFailure {
            status: ExitStatus::BadInput,
            words: words.to_string(),
        }
    }
}

impl From<String> for ToolFailure {
    fn from(words: String) -> ToolFailure {
        ToolFailure::new(words)
    }
}

impl From<Mistake> for ToolFailure {
    fn from(mistake: Mistake) -> ToolFailure {
        ToolFailure::new(mistake.0)
    }
}

/// How a tool ends.
pub(crate) type ToolResult = Result<ExitStatus, ToolFailure>;

/// The tool that the program's name, or its first argument, asks for.
///
/// `arguments` begins with the program's name, as the operating system gives it.
pub(crate) fn called(arguments: &[String]) -> Option<Result<ToolCall, String>> {
    let (program, rest) = arguments.split_first()?;
    if names::bare(program) == RUN_CLASS {
        return Some(by_class(rest));
    }
    if let Some(named) = names::script(program) {
        return Some(Ok(ToolCall::new(named, names::bare(program), rest)));
    }
    let (first, rest) = rest.split_first()?;
    if names::bare(first) == RUN_CLASS {
        return Some(by_class(rest));
    }
    let named = names::script(first)?;
    Some(Ok(ToolCall::new(named, names::bare(first), rest)))
}

/// `kafka-run-class [-daemon ...] CLASS ...`
fn by_class(arguments: &[String]) -> Result<ToolCall, String> {
    // Flags of the script itself, which say how Java is started.
    let mut rest = arguments;
    while let Some((first, more)) = rest.split_first() {
        match first.as_str() {
            "-daemon" | "-loggc" => rest = more,
            "-name" => rest = more.get(1..).unwrap_or_default(),
            _ => break,
        }
    }
    let Some((class, rest)) = rest.split_first() else {
        let known: Vec<&str> = names::classes().collect();
        return Err(format!(
            "USAGE: kafka-run-class CLASSNAME [opts]; kgauge knows\n  {}",
            known.join("\n  ")
        ));
    };
    let Some(named) = names::class(class) else {
        let known: Vec<&str> = names::classes().collect();
        return Err(format!(
            "could not find class {class}; kgauge knows\n  {}",
            known.join("\n  ")
        ));
    };
    Ok(ToolCall::new(named, class, rest))
}

/// Runs the tool.
pub(crate) fn run(call: Result<ToolCall, String>) -> ExitStatus {
    let ended = match call {
        Ok(call) => call.run(),
        Err(words) => Err(ToolFailure::new(words)),
    };
    match ended {
        Ok(status) => status,
        Err(failure) => {
            say::raw(&failure.words);
            failure.status
        }
    }
}

impl ToolCall {
    fn new(named: ToolName, name: &str, arguments: &[String]) -> ToolCall {
        ToolCall {
            named,
            name: name.to_owned(),
            arguments: arguments.to_vec(),
        }
    }

    fn run(&self) -> ToolResult {
        match self.named.tool {
            KafkaTool::Producer => producer::run(self),
            KafkaTool::ProducerByPosition => positional::run(self),
            KafkaTool::OldProducer => old_producer::run(self),
            KafkaTool::Consumer | KafkaTool::SimpleConsumer => consumer::run(self),
            KafkaTool::EndToEnd => e2e::run(self),
            KafkaTool::Topics => topics::run(self),
            KafkaTool::VerifiableProducer => verifiable_producer::run(self),
            KafkaTool::VerifiableConsumer => verifiable_consumer::run(self),
        }
    }

    /// Reads the options; without any, or with `--help`, the tool's list of them is its answer.
    fn options(
        &self,
        table: &[Opt],
        style: Style,
        about: &str,
    ) -> Result<ParsedOptions, ToolFailure> {
        let given = options::read(table, style, &self.arguments)
            .map_err(|mistake| self.mistake(table, style, &mistake))?;
        if given.has("version") {
            say::line(&self.as_of(&given)?.to_string());
            return Err(ToolFailure {
                status: ExitStatus::Good,
                words: format!("kgauge {}", env!("CARGO_PKG_VERSION")),
            });
        }
        if !given.has("help") && !self.arguments.is_empty() {
            return Ok(given);
        }
        let help = format!(
            "{about}\n\nusage: {} [options]\n\n{}",
            self.name,
            options::list(table)
        );
        Err(match style {
            // argparse4j prints its help as a result, joptsimple as a mistake.
            Style::Argparse => {
                say::line(help.trim_end());
                ToolFailure {
                    status: ExitStatus::Good,
                    words: String::new(),
                }
            }
            Style::Jopt => ToolFailure::new(help.trim_end()),
        })
    }

    /// A mistake together with what the tool prints around it.
    fn mistake(&self, table: &[Opt], style: Style, mistake: &Mistake) -> ToolFailure {
        let (words, list) = (&mistake.0, options::list(table));
        let list = list.trim_end();
        match style {
            Style::Jopt => ToolFailure::new(format!("{words}\n{list}")),
            Style::Argparse => {
                let name = &self.name;
                ToolFailure::new(format!(
                    "usage: {name} [options]\n{list}\n{name}: error: {words}"
                ))
            }
        }
    }

    /// The release whose lines are printed: as asked, or the newest that has the tool by this name.
    fn as_of(&self, given: &ParsedOptions) -> Result<ToolRelease, String> {
        self.as_of_at_most(given, ToolRelease::NEWEST)
    }

    /// The same for options that no release after `newest` has.
    fn as_of_at_most(
        &self,
        given: &ParsedOptions,
        newest: ToolRelease,
    ) -> Result<ToolRelease, String> {
        let asked = given.text("as-of").map(str::to_owned);
        let asked = asked.or_else(|| std::env::var("KGAUGE_AS_OF").ok());
        match asked.filter(|text| !text.is_empty()) {
            Some(text) => ToolRelease::parse(&text).map_err(|error| format!("--as-of: {error}")),
            None => Ok(self.named.newest.min(newest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(line: &str) -> Option<Result<ToolCall, String>> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        super::called(&words)
    }

    fn tool(line: &str) -> (KafkaTool, Vec<String>) {
        let call = called(line).unwrap().unwrap();
        (call.named.tool, call.arguments)
    }

    #[test]
    fn a_tool_is_called_by_a_first_argument_or_by_a_link() {
        let rest = || vec!["--topic".to_owned(), "t".to_owned()];
        for line in [
            "kgauge kafka-topics --topic t",
            "./target/kgauge kafka-topics.sh --topic t",
            "bin/kafka-topics.sh --topic t",
            "kafka-run-class.sh kafka.admin.TopicCommand --topic t",
            "kgauge kafka-run-class -daemon -name x org.apache.kafka.tools.TopicCommand --topic t",
        ] {
            assert_eq!(tool(line), (KafkaTool::Topics, rest()), "{line}");
        }
    }

    #[test]
    fn kgauges_own_commands_are_left_alone() {
        for line in ["kgauge", "kgauge run linkedin-2014", "kgauge --help", ""] {
            assert!(called(line).is_none(), "{line}");
        }
    }

    #[test]
    fn an_unknown_class_is_refused_with_those_that_are_known() {
        let said = called("kafka-run-class kafka.Kafka server.properties");
        let said = said.unwrap().unwrap_err();
        assert!(said.contains("kafka.Kafka"), "{said}");
        assert!(said.contains("kafka.tools.TestEndToEndLatency"), "{said}");
        assert!(called("kafka-run-class").unwrap().is_err());
    }
}
