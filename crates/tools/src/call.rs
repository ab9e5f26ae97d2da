//! Chooses the tool that the program's name or its first argument means, and reads its options.

use crate::context::ToolContext;
use crate::failure::ToolFailure;
use crate::names::{self, KafkaTool, RUN_CLASS, ToolName};
use crate::options::{self, ParsedOptions, Style};
use crate::release::ToolRelease;

/// A call of one of Kafka's tools.
#[derive(Debug)]
pub struct ToolCall {
    pub(crate) tool: KafkaTool,
    /// The newest release that has the tool under this name.
    newest: ToolRelease,
    pub(crate) name: String,
    pub(crate) arguments: Vec<String>,
}

/// How the lists of options are written.
const NOTATION: &str = "(`4.2+`: since Kafka 4.2; `; 5000` at the end: the default)";

impl ToolCall {
    /// The tool that `arguments` call, if they call one. They begin with the program's name.
    ///
    /// # Errors
    /// The message for a class that kgauge does not know.
    pub fn find(arguments: &[String]) -> Option<Result<ToolCall, String>> {
        let (program, rest) = arguments.split_first()?;
        let own = names::bare(program);
        let (name, rest) = match own == RUN_CLASS || names::script(own).is_some() {
            true => (own, rest),
            false => {
                let (first, rest) = rest.split_first()?;
                (names::bare(first), rest)
            }
        };
        if name == RUN_CLASS {
            return Some(ToolCall::by_class(rest));
        }
        Some(Ok(ToolCall::new(names::script(name)?, name, rest)))
    }

    /// `kafka-run-class [-daemon ...] CLASS ...`
    fn by_class(arguments: &[String]) -> Result<ToolCall, String> {
        // The script's own flags, which affect how Java starts.
        let mut rest = arguments;
        while let Some((first, more)) = rest.split_first() {
            match first.as_str() {
                "-daemon" | "-loggc" => rest = more,
                "-name" => rest = more.get(1..).unwrap_or_default(),
                _ => break,
            }
        }
        let known = || names::classes().collect::<Vec<_>>().join("\n  ");
        let asks = |class: &str| ["--help", "-h"].contains(&class);
        let named = rest.split_first().filter(|(class, _)| !asks(class));
        let Some((class, rest)) = named else {
            let known = known();
            return Err(format!(
                "USAGE: kafka-run-class CLASSNAME [opts]; kgauge knows\n  {known}"
            ));
        };
        match names::class(class) {
            Some(named) => Ok(ToolCall::new(named, class, rest)),
            None => Err(format!(
                "could not find class {class}; kgauge knows\n  {}",
                known()
            )),
        }
    }

    fn new(named: ToolName, name: &str, arguments: &[String]) -> ToolCall {
        // The script of 0.8 ran another tool; these two have no option in common.
        let is_old = |word: &String| word.starts_with("--broker-list");
        let tool = match named.tool {
            KafkaTool::Producer if arguments.iter().any(is_old) => KafkaTool::OldProducer,
            tool => tool,
        };
        ToolCall {
            tool,
            newest: named.newest,
            name: name.to_owned(),
            arguments: arguments.to_vec(),
        }
    }

    /// The options. Help and version end the tool.
    pub(crate) fn options(&self, context: &ToolContext<'_>) -> Result<ParsedOptions, ToolFailure> {
        let table = self.tool.options();
        let given = options::read(table, &self.arguments)?;
        if given.has("version") {
            let release = self.release(&given, ToolRelease::NEWEST, context)?;
            context.line(&release.to_string());
            context
                .output
                .message(concat!("kgauge ", env!("CARGO_PKG_VERSION")));
            return Err(ToolFailure::Answered);
        }
        if !given.has("help") && !self.arguments.is_empty() {
            return Ok(given);
        }
        let (about, name, list) = (table.about, &self.name, table.list());
        let help = format!("{about}\n\nusage: {name} [options]\n{NOTATION}\n\n{list}");
        match table.style {
            // argparse4j prints its help as a result, joptsimple as a mistake.
            Style::Argparse => {
                context.line(&help);
                Err(ToolFailure::Answered)
            }
            Style::Jopt => Err(ToolFailure::Failed(help)),
        }
    }

    /// A mistake in the options together with what the tool prints around it.
    pub(crate) fn with_usage(&self, mistake: &str) -> String {
        let table = self.tool.options();
        let (name, list) = (&self.name, table.list());
        match table.style {
            Style::Jopt => format!("{mistake}\n{list}"),
            Style::Argparse => format!("usage: {name} [options]\n{list}\n{name}: error: {mistake}"),
        }
    }

    /// The release to print as: the requested one, or the newest that has the tool under this name and these options,
    /// which no release after `newest` has.
    pub(crate) fn release(
        &self,
        given: &ParsedOptions,
        newest: ToolRelease,
        context: &ToolContext<'_>,
    ) -> Result<ToolRelease, ToolFailure> {
        let asked = given.text("as-of").or(context.release.as_deref());
        match asked.filter(|text| !text.is_empty()) {
            Some(text) => ToolRelease::parse(text)
                .map_err(|error| ToolFailure::Failed(format!("--as-of: {error}"))),
            None => Ok(self.newest.min(newest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(line: &str) -> Option<Result<ToolCall, String>> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        ToolCall::find(&words)
    }

    #[test]
    fn a_tool_is_called_by_a_first_argument_or_by_a_link() {
        for line in [
            "kgauge kafka-topics --topic t",
            "./target/kgauge kafka-topics.sh --topic t",
            "bin/kafka-topics.sh --topic t",
            "kafka-run-class.sh kafka.admin.TopicCommand --topic t",
            "kgauge kafka-run-class -daemon -name x org.apache.kafka.tools.TopicCommand --topic t",
        ] {
            let call = find(line).unwrap().unwrap();
            assert_eq!(call.tool, KafkaTool::Topics, "{line}");
            assert_eq!(call.arguments, ["--topic", "t"], "{line}");
        }
    }

    #[test]
    fn kgauges_own_commands_are_left_alone() {
        for line in ["kgauge", "kgauge run linkedin-2014", "kgauge --help", ""] {
            assert!(find(line).is_none(), "{line}");
        }
    }

    #[test]
    fn an_unknown_class_is_refused_with_the_known_ones() {
        let error = find("kafka-run-class kafka.Kafka server.properties");
        let error = error.unwrap().unwrap_err();
        assert!(error.contains("kafka.Kafka"), "{error}");
        assert!(error.contains("kafka.tools.TestEndToEndLatency"), "{error}");
        assert!(find("kafka-run-class").unwrap().is_err());
    }
}
