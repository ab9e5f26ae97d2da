//! Reads options as Kafka's tools do: with joptsimple (consumer, topics, end-to-end, Scala tools) or argparse4j
//! (producer, verifiable tools). Both accept `--name value` and `--name=value`. They differ in lists, abbreviations,
//! help and the wording of errors.

use std::collections::BTreeMap;
use std::str::FromStr;

use crate::failure::ToolFailure;

/// kgauge's own options, which every tool accepts.
pub(crate) const OWN: &str = "\
--as-of VALUE                     kgauge: print as this release of Kafka, such as 0.8.2.2 (also KGAUGE_AS_OF)
--exit-zero-on-failures           kgauge: exit with 0 even if sends failed, as Kafka's own tool does";

/// The library with which a tool reads its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// joptsimple: unambiguous abbreviations, `-x` is `--x`, usage and mistakes on stderr.
    Jopt,
    /// argparse4j: no abbreviations, lists of words, help on stdout.
    Argparse,
}

/// The options of a tool in all releases.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OptionTable {
    pub(crate) style: Style,
    /// What the tool does.
    pub(crate) about: &'static str,
    /// A line per option: `--name`, its argument, its effect.
    pub(crate) options: &'static str,
}

/// One option.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolOption {
    /// Without the dashes.
    pub(crate) name: &'static str,
    takes: Takes,
}

/// What follows an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    /// One word, required: `VALUE`.
    One,
    /// A word, if the next one is not an option: `[VALUE]`, joptsimple's `withOptionalArg`.
    Maybe,
    /// All words up to the next option, at least one: `VALUE ...`.
    Many,
}

impl OptionTable {
    /// The options of the tool, then those of kgauge.
    pub(crate) fn all(&self) -> impl Iterator<Item = ToolOption> {
        let lines = self.options.lines().chain(OWN.lines());
        lines.filter_map(|line| {
            let (name, rest) = line.strip_prefix("--")?.split_once(' ')?;
            let takes = match rest {
                _ if rest.starts_with("VALUE ...") => Takes::Many,
                _ if rest.starts_with("VALUE ") => Takes::One,
                _ if rest.starts_with("[VALUE]") => Takes::Maybe,
                _ => Takes::Nothing,
            };
            Some(ToolOption { name, takes })
        })
    }

    /// The list for help and after mistakes.
    pub(crate) fn list(&self) -> String {
        format!("{}\n{OWN}", self.options)
    }

    fn find(&self, name: &str) -> Result<ToolOption, ToolFailure> {
        if let Some(option) = self.all().find(|option| option.name == name) {
            return Ok(option);
        }
        let is_longer = |option: &ToolOption| !name.is_empty() && option.name.starts_with(name);
        let mut longer = self.all().filter(is_longer);
        ToolFailure::options(match (self.style, longer.next(), longer.next()) {
            (Style::Jopt, Some(only), None) => return Ok(only),
            (Style::Jopt, Some(one), Some(other)) => format!(
                "{name} is not a recognized option: it may be {} or {}",
                one.name, other.name
            ),
            (Style::Jopt, ..) => format!("{name} is not a recognized option"),
            (Style::Argparse, ..) => format!("unrecognized arguments: '--{name}'"),
        })
    }
}

impl Style {
    /// The text after the dashes of an option; a negative number is not an option.
    fn dashed(self, word: &str) -> Option<&str> {
        if let Some(rest) = word.strip_prefix("--") {
            return Some(rest);
        }
        let rest = word.strip_prefix('-')?;
        if rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return None;
        }
        match self {
            Style::Argparse if rest == "h" => Some("help"),
            Style::Argparse | Style::Jopt => Some(rest),
        }
    }

    fn lacks_argument(self, option: ToolOption) -> ToolFailure {
        let name = option.name;
        ToolFailure::Options(match (self, option.takes) {
            (Style::Jopt, _) => format!("Option {name} requires an argument"),
            (Style::Argparse, Takes::Many) => {
                format!("argument --{name}: expected at least one argument")
            }
            (Style::Argparse, _) => format!("argument --{name}: expected one argument"),
        })
    }

    /// The error for a required option that is missing.
    pub(crate) fn missing(self, name: &str) -> ToolFailure {
        ToolFailure::Options(match self {
            Style::Jopt => format!("Missing required argument \"[{name}]\""),
            Style::Argparse => format!("argument --{name} is required"),
        })
    }
}

/// The options of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParsedOptions {
    style: Style,
    values: BTreeMap<&'static str, Vec<String>>,
    /// Words that belong to no option.
    pub(crate) words: Vec<String>,
}

impl ParsedOptions {
    /// Whether an option was given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// The last value of an option.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name)?.last().map(String::as_str)
    }

    /// All values of an option.
    pub(crate) fn all(&self, name: &str) -> &[String] {
        self.values.get(name).map_or(&[], Vec::as_slice)
    }

    /// The value of the first of several names of one option.
    pub(crate) fn first_of(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.text(name))
    }

    /// The value of a required option, which may have several names.
    pub(crate) fn required(&self, names: &[&str]) -> Result<&str, ToolFailure> {
        let name = names.first().unwrap_or(&"");
        self.first_of(names).ok_or_else(|| self.style.missing(name))
    }

    /// A number. `kind` is Java's name of its type, for errors.
    pub(crate) fn number<T: FromStr>(
        &self,
        name: &str,
        kind: &str,
    ) -> Result<Option<T>, ToolFailure> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let mistake = || match self.style {
            Style::Jopt => format!("Cannot parse argument '{text}' of option {name}"),
            Style::Argparse => format!(
                "argument --{name}: could not convert '{text}' to {kind} (For input string: \"{text}\")"
            ),
        };
        let number = text.trim().parse();
        number
            .map(Some)
            .map_err(|_| ToolFailure::Options(mistake()))
    }

    fn add(&mut self, name: &'static str, value: Option<String>) {
        self.values.entry(name).or_default().extend(value);
    }
}

/// Reads the arguments of a call.
pub(crate) fn read(
    table: &OptionTable,
    arguments: &[String],
) -> Result<ParsedOptions, ToolFailure> {
    let style = table.style;
    let mut given = ParsedOptions {
        style,
        values: BTreeMap::new(),
        words: Vec::new(),
    };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let Some(dashed) = style.dashed(argument) else {
            given.words.push(argument.clone());
            continue;
        };
        if dashed.is_empty() {
            given.words.extend(rest.cloned());
            break;
        }
        let (name, inline) = match dashed.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (dashed, None),
        };
        let option = table.find(name)?;
        if inline.is_some() {
            if option.takes == Takes::Nothing {
                return ToolFailure::options(format!("{name} takes no value"));
            }
            given.add(option.name, inline);
            continue;
        }
        let values_max = match option.takes {
            Takes::Nothing => 0,
            Takes::One | Takes::Maybe => 1,
            Takes::Many => usize::MAX,
        };
        let following = rest.as_slice();
        let is_value = |word: &&String| style.dashed(word).is_none();
        let mut values = following
            .iter()
            .take_while(is_value)
            .count()
            .min(values_max);
        // joptsimple takes whatever follows a required argument.
        if style == Style::Jopt && option.takes == Takes::One {
            values = following.len().min(1);
        }
        if values == 0 && matches!(option.takes, Takes::One | Takes::Many) {
            return Err(style.lacks_argument(option));
        }
        given.add(option.name, None);
        for value in &following[..values] {
            given.add(option.name, Some(value.clone()));
        }
        rest = following[values..].iter();
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(style: Style, line: &str) -> Result<ParsedOptions, ToolFailure> {
        let table = OptionTable {
            style,
            about: "",
            options: "\
--topic VALUE  x
--topics VALUE  x
--threads VALUE  x
--timeout [VALUE]  x
--props VALUE ...  x
--hide-header  x
--help  x",
        };
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        super::read(&table, &words)
    }

    #[test]
    fn values_follow_the_name_or_an_equals_sign() {
        for style in [Style::Jopt, Style::Argparse] {
            let given = read(style, "--topic a --threads=3 --hide-header").unwrap();
            assert_eq!(given.text("topic"), Some("a"));
            assert_eq!(given.number::<u32>("threads", "Integer"), Ok(Some(3)));
            assert!(given.has("hide-header") && !given.has("help"));
        }
    }

    #[test]
    fn a_list_ends_at_the_next_option_and_values_keep_their_equals_signs() {
        let given = read(Style::Argparse, "--props a=b sasl=x=y --topic t").unwrap();
        assert_eq!(given.all("props"), ["a=b", "sasl=x=y"]);
        assert_eq!(given.text("topic"), Some("t"));
    }

    #[test]
    fn a_negative_number_is_a_value() {
        let given = read(Style::Argparse, "--threads -1").unwrap();
        assert_eq!(given.text("threads"), Some("-1"));
    }

    #[test]
    fn an_optional_value_may_be_missing() {
        let given = read(Style::Jopt, "--timeout --topic t").unwrap();
        assert!(given.has("timeout") && given.text("timeout").is_none());
        let given = read(Style::Jopt, "--timeout 5").unwrap();
        assert_eq!(given.text("timeout"), Some("5"));
    }

    #[test]
    fn joptsimple_accepts_unambiguous_abbreviations() {
        let given = read(Style::Jopt, "--thr 3").unwrap();
        assert_eq!(given.text("threads"), Some("3"));
        assert!(read(Style::Jopt, "--t 3").is_err());
        let given = read(Style::Jopt, "--topic 3").unwrap();
        assert_eq!(given.text("topic"), Some("3"));
        assert!(read(Style::Argparse, "--thr 3").is_err());
    }

    #[test]
    fn mistakes_have_the_wording_of_each_library() {
        let mistake = |style, line| read(style, line).unwrap_err().to_string();
        for (style, line, wording) in [
            (Style::Jopt, "--nope", "nope is not a recognized option"),
            (
                Style::Argparse,
                "--nope 3",
                "unrecognized arguments: '--nope'",
            ),
            (Style::Jopt, "--topic", "Option topic requires an argument"),
            (
                Style::Argparse,
                "--topic --help",
                "argument --topic: expected one argument",
            ),
        ] {
            assert_eq!(mistake(style, line), wording);
        }
        let given = read(Style::Argparse, "--threads x").unwrap();
        let mistake = given.number::<i64>("threads", "Long").unwrap_err();
        assert_eq!(
            mistake.to_string(),
            "argument --threads: could not convert 'x' to Long (For input string: \"x\")"
        );
    }

    #[test]
    fn every_tool_accepts_kgauges_own_options() {
        let given = read(Style::Jopt, "--as-of 1.0.2 --exit-zero-on-failures x y").unwrap();
        assert_eq!(given.text("as-of"), Some("1.0.2"));
        assert!(given.has("exit-zero-on-failures"));
        assert_eq!(given.words, ["x", "y"]);
    }
}
