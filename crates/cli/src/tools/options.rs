//! The two ways in which Kafka's tools have read their options: joptsimple (Scala tools, topics,
//! consumer, end-to-end) and argparse4j (producer, verifiable tools). Both take `--name value` and
//! `--name=value`; they differ in lists, abbreviations, help and wording of mistakes.

use std::collections::BTreeMap;

/// What follows an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Nothing.
    Nothing,
    /// A word, which must be there.
    One,
    /// A word, if the next one is no option (joptsimple's `withOptionalArg`).
    Maybe,
    /// All words up to the next option, at least one.
    Many,
}

/// One option, of whatever release.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opt {
    /// Without the dashes.
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
    /// For the list of options: which releases have it, and what it does here.
    pub(crate) help: &'static str,
}

/// An option of a table.
pub(crate) const fn opt(name: &'static str, takes: Takes, help: &'static str) -> Opt {
    Opt { name, takes, help }
}

/// Which library a tool reads its options with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// joptsimple: unambiguous abbreviations, `-x` is `--x`, usage and mistakes on stderr.
    Jopt,
    /// argparse4j: no abbreviations, lists of words, help on stdout.
    Argparse,
}

/// kgauge's own options, which every tool takes.
pub(crate) const OWN: &[Opt] = &[
    opt(
        "as-of",
        Takes::One,
        "kgauge: print the lines of this release of Kafka, such as 0.8.2.2 (also KGAUGE_AS_OF)",
    ),
    opt(
        "exit-zero-on-failures",
        Takes::Nothing,
        "kgauge: failed sends end with status 0, as with Kafka's own tool",
    ),
];

/// What was typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ParsedOptions {
    values: BTreeMap<&'static str, Vec<String>>,
    /// Words that belong to no option.
    pub(crate) words: Vec<String>,
}

/// A mistake in the options, in the tool's own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mistake(pub(crate) String);

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

    /// The first of several names of one thing that was given.
    pub(crate) fn first_of(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.text(name))
    }

    /// A number, by Java's name for its kind in messages.
    pub(crate) fn number<T: std::str::FromStr>(
        &self,
        name: &str,
        style: Style,
        kind: &str,
    ) -> Result<Option<T>, Mistake> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        text.trim().parse().map(Some).map_err(|_| match style {
            Style::Jopt => Mistake(format!("Cannot parse argument '{text}' of option {name}")),
            Style::Argparse => Mistake(format!(
                "argument --{name}: could not convert '{text}' to {kind} (For input string: \
                 \"{text}\")"
            )),
        })
    }

    fn add(&mut self, name: &'static str, value: Option<String>) {
        self.values.entry(name).or_default().extend(value);
    }
}

/// Reads what was typed against a table, kgauge's own options beside it.
pub(crate) fn read(
    table: &[Opt],
    style: Style,
    arguments: &[String],
) -> Result<ParsedOptions, Mistake> {
    let mut given = ParsedOptions::default();
    let mut rest = arguments.iter().peekable();
    while let Some(argument) = rest.next() {
        let Some(dashed) = dashed(argument, style) else {
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
        let option = find(table, style, name)?;
        let is_value = |next: &&&String| self::dashed(next, style).is_none();
        match (option.takes, inline) {
            (Takes::Nothing, None) => given.add(option.name, None),
            (Takes::Nothing, Some(_)) => {
                return Err(Mistake(format!("{name} takes no value")));
            }
            (_, Some(value)) => given.add(option.name, Some(value)),
            (Takes::Maybe, None) => {
                let value = rest.peek().filter(is_value).is_some();
                let value = if value { rest.next().cloned() } else { None };
                given.add(option.name, value);
            }
            (Takes::One, None) => {
                let value = match style {
                    // joptsimple takes whatever follows a required argument.
                    Style::Jopt => rest.next().cloned(),
                    Style::Argparse => rest
                        .next_if(|next| self::dashed(next, style).is_none())
                        .cloned(),
                };
                given.add(
                    option.name,
                    Some(value.ok_or_else(|| lacks(style, option))?),
                );
            }
            (Takes::Many, None) => {
                let mut count = 0;
                while let Some(value) = rest.next_if(|next| self::dashed(next, style).is_none()) {
                    given.add(option.name, Some(value.clone()));
                    count += 1;
                }
                if count == 0 {
                    return Err(lacks(style, option));
                }
            }
        }
    }
    Ok(given)
}

fn lacks(style: Style, option: &Opt) -> Mistake {
    let name = option.name;
    Mistake(match (style, option.takes) {
        (Style::Jopt, _) => format!("Option {name} requires an argument"),
        (Style::Argparse, Takes::Many) => {
            format!("argument --{name}: expected at least one argument")
        }
        (Style::Argparse, _) => format!("argument --{name}: expected one argument"),
    })
}

/// What follows the dashes of an option; a negative number is none.
fn dashed(word: &str, style: Style) -> Option<&str> {
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if let Some(rest) = word.strip_prefix("--") {
        return Some(rest);
    }
    let rest = word.strip_prefix('-')?;
    if rest.is_empty() || is_number(rest) {
        return None;
    }
    match style {
        Style::Jopt => Some(rest),
        Style::Argparse if rest == "h" => Some("help"),
        Style::Argparse => Some(rest),
    }
}

fn find<'a>(table: &'a [Opt], style: Style, name: &str) -> Result<&'a Opt, Mistake> {
    let known = || table.iter().chain(OWN);
    if let Some(option) = known().find(|option| option.name == name) {
        return Ok(option);
    }
    let mut longer = known().filter(|option| !name.is_empty() && option.name.starts_with(name));
    match (style, longer.next(), longer.next()) {
        (Style::Jopt, Some(only), None) => Ok(only),
        (Style::Jopt, Some(one), Some(other)) => Err(Mistake(format!(
            "{name} is not a recognized option: it may be {} or {}",
            one.name, other.name
        ))),
        (Style::Jopt, ..) => Err(Mistake(format!("{name} is not a recognized option"))),
        (Style::Argparse, ..) => Err(Mistake(format!("unrecognized arguments: '--{name}'"))),
    }
}

/// The list of options, for help and after mistakes.
pub(crate) fn list(table: &[Opt]) -> String {
    const COLUMN: usize = 34;
    let mut text = String::new();
    for option in table.iter().chain(OWN) {
        let head = match option.takes {
            Takes::Nothing => format!("--{}", option.name),
            Takes::One => format!("--{} VALUE", option.name),
            Takes::Maybe => format!("--{} [VALUE]", option.name),
            Takes::Many => format!("--{} VALUE ...", option.name),
        };
        let gap = " ".repeat(COLUMN.saturating_sub(head.len()).max(2));
        text.push_str(&format!("{head}{gap}{}\n", option.help));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Opt] = &[
        opt("topic", Takes::One, ""),
        opt("topics", Takes::One, ""),
        opt("threads", Takes::One, ""),
        opt("timeout", Takes::Maybe, ""),
        opt("props", Takes::Many, ""),
        opt("hide-header", Takes::Nothing, ""),
        opt("help", Takes::Nothing, ""),
    ];

    fn read(style: Style, line: &str) -> Result<ParsedOptions, Mistake> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        super::read(TABLE, style, &words)
    }

    #[test]
    fn values_follow_or_stand_behind_an_equals_sign() {
        for style in [Style::Jopt, Style::Argparse] {
            let given = read(style, "--topic a --threads=3 --hide-header").unwrap();
            assert_eq!(given.text("topic"), Some("a"));
            assert_eq!(
                given.number::<u32>("threads", style, "Integer"),
                Ok(Some(3))
            );
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
        assert_eq!(
            read(Style::Jopt, "--timeout 5").unwrap().text("timeout"),
            Some("5")
        );
    }

    #[test]
    fn joptsimple_takes_abbreviations_that_mean_one_thing() {
        assert_eq!(
            read(Style::Jopt, "--thr 3").unwrap().text("threads"),
            Some("3")
        );
        assert!(read(Style::Jopt, "--t 3").is_err());
        assert_eq!(
            read(Style::Jopt, "--topic 3").unwrap().text("topic"),
            Some("3")
        );
        assert!(read(Style::Argparse, "--thr 3").is_err());
    }

    #[test]
    fn mistakes_are_told_in_the_words_of_each_library() {
        let said = |style, line| read(style, line).unwrap_err().0;
        assert_eq!(
            said(Style::Jopt, "--nope"),
            "nope is not a recognized option"
        );
        assert_eq!(
            said(Style::Argparse, "--nope 3"),
            "unrecognized arguments: '--nope'"
        );
        assert_eq!(
            said(Style::Jopt, "--topic"),
            "Option topic requires an argument"
        );
        assert_eq!(
            said(Style::Argparse, "--topic --help"),
            "argument --topic: expected one argument"
        );
        let given = read(Style::Argparse, "--threads x").unwrap();
        let said = given
            .number::<i64>("threads", Style::Argparse, "Long")
            .unwrap_err()
            .0;
        assert_eq!(
            said,
            "argument --threads: could not convert 'x' to Long (For input string: \"x\")"
        );
    }

    #[test]
    fn every_tool_takes_kgauges_own_options() {
        let given = read(Style::Jopt, "--as-of 1.0.2 --exit-zero-on-failures x y").unwrap();
        assert_eq!(given.text("as-of"), Some("1.0.2"));
        assert!(given.has("exit-zero-on-failures"));
        assert_eq!(given.words, ["x", "y"]);
    }
}
