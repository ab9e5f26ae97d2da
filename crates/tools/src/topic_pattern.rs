//! Topic names that match a regular expression of Java's: the consumer's `--include`, and `--topic` of `kafka-topics`.
//!
//! Topic names are ASCII, and almost all of Java's syntax has the same meaning in the `regex` crate. Syntax that the
//! crate lacks, or reads differently, is refused by name.

use regex::bytes::{Regex, RegexBuilder};

/// A topic pattern.
#[derive(Debug)]
pub(crate) struct TopicPattern(Regex);

/// Why a pattern cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PatternMistake {
    /// The pattern is valid in Java and not supported here.
    #[error("{0} is not supported")]
    OnlyJava(&'static str),
    /// The pattern is invalid.
    #[error("{0}")]
    Invalid(String),
}

impl TopicPattern {
    /// Reads a pattern.
    pub(crate) fn parse(pattern: &str) -> Result<TopicPattern, PatternMistake> {
        let whole = format!("^(?:{})$", translate(pattern)?);
        let built = RegexBuilder::new(&whole).unicode(false).build();
        built.map(TopicPattern).map_err(|error| {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            PatternMistake::Invalid(last.trim().trim_start_matches("error: ").to_owned())
        })
    }

    /// Whether a topic's whole name matches.
    pub(crate) fn matches(&self, name: &str) -> bool {
        self.0.is_match(name.as_bytes())
    }
}

/// Whether a repetition precedes: `a`, `a*`, `a*?`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repetition {
    No,
    Yes,
    Lazy,
}

/// The same pattern in the syntax of the `regex` crate.
fn translate(pattern: &str) -> Result<String, PatternMistake> {
    let mut out = String::new();
    let mut rest = pattern;
    let mut classes = 0_u32;
    let mut before = Repetition::No;
    while let Some(letter) = rest.chars().next() {
        let after = &rest[letter.len_utf8()..];
        if letter == '\\' {
            rest = escape(after, &mut out)?;
            before = Repetition::No;
            continue;
        }
        match letter {
            '[' if after.starts_with(':') && classes > 0 => {
                return Err(PatternMistake::OnlyJava("`[:` inside a class"));
            }
            '[' => classes += 1,
            ']' => classes = classes.saturating_sub(1),
            '-' | '~' if classes > 0 && after.starts_with(letter) => {
                return Err(PatternMistake::OnlyJava("`--` or `~~` inside a class"));
            }
            '(' if classes == 0 => group(after)?,
            _ => {}
        }
        if classes == 0 {
            before = repetition(letter, before)?;
        }
        out.push(letter);
        rest = after;
    }
    Ok(out)
}

/// Writes the escape that follows a backslash; returns the rest.
fn escape<'a>(rest: &'a str, out: &mut String) -> Result<&'a str, PatternMistake> {
    let Some(letter) = rest.chars().next() else {
        let what = "a backslash at the end escapes nothing".to_owned();
        return Err(PatternMistake::Invalid(what));
    };
    let after = &rest[letter.len_utf8()..];
    match letter {
        'Q' => {
            let (quoted, after) = after.split_once("\\E").unwrap_or((after, ""));
            out.push_str(&regex::escape(quoted));
            return Ok(after);
        }
        '1'..='9' | 'k' => return Err(PatternMistake::OnlyJava("a reference back to a group")),
        // In Java, these are literals.
        '<' | '>' => out.push(letter),
        'Z' => out.push_str("\\z"),
        _ => {
            out.push('\\');
            out.push(letter);
        }
    }
    Ok(after)
}

/// Checks the kind of a group.
fn group(rest: &str) -> Result<(), PatternMistake> {
    let Some(kind) = rest.strip_prefix('?') else {
        return Ok(());
    };
    if ["=", "!", "<=", "<!"]
        .iter()
        .any(|look| kind.starts_with(look))
    {
        return Err(PatternMistake::OnlyJava("look-around, as in `(?!`,"));
    }
    if kind.starts_with('>') {
        return Err(PatternMistake::OnlyJava("an atomic group, `(?>`,"));
    }
    let mut flags = kind
        .chars()
        .take_while(|letter| letter.is_ascii_alphabetic() || *letter == '-');
    match kind.starts_with('<') || flags.all(|flag| "ims-".contains(flag)) {
        true => Ok(()),
        false => Err(PatternMistake::OnlyJava("a flag other than i, m and s")),
    }
}

fn repetition(letter: char, before: Repetition) -> Result<Repetition, PatternMistake> {
    match (letter, before) {
        ('+', Repetition::Yes) => Err(PatternMistake::OnlyJava(
            "a possessive repetition, as in `*+`,",
        )),
        ('?', Repetition::Yes) => Ok(Repetition::Lazy),
        ('*' | '{', Repetition::Yes | Repetition::Lazy) | ('+' | '?', Repetition::Lazy) => Err(
            PatternMistake::Invalid("a repetition repeats nothing".to_owned()),
        ),
        ('*' | '+' | '?' | '}', _) => Ok(Repetition::Yes),
        _ => Ok(Repetition::No),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        TopicPattern::parse(pattern).unwrap().matches(name)
    }

    #[test]
    fn patterns_match_whole_names_as_in_java() {
        for (pattern, yes, no) in [
            ("orders", &["orders"][..], &["orders2", "my-orders"][..]),
            ("my-topic_1", &["my-topic_1"], &["my-topic", "my-topic_12"]),
            ("^a$", &["a"], &["b", "aa"]),
            ("a|ab", &["a", "ab"], &["abc", "b"]),
            (
                "orders-[0-9]{1,2}",
                &["orders-1", "orders-42"],
                &["orders-", "orders-123"],
            ),
            (r"logs\..*", &["logs.a", "logs."], &["logsXa"]),
            (r"\Qa.b*\E\d", &["a.b*7"], &["axb*7", "a.b*"]),
            ("(?i)Orders", &["ORDERS"], &["order"]),
            ("(?:x|y)+?z", &["xyz"], &["z"]),
            ("x(ab)?y", &["xy", "xaby"], &["xabaay"]),
            ("(a*)*b", &["b", "aaab"], &["aaa"]),
            (r"[\w&&[^0-9]]+", &["abc"], &["abc1"]),
            (r"[^_].*", &["a"], &["_a"]),
            ("", &[], &["a"]),
            ("(?<year>20..)", &["2024"], &["1999"]),
        ] {
            for name in yes {
                assert!(matches(pattern, name), "{pattern} {name}");
            }
            for name in no {
                assert!(!matches(pattern, name), "{pattern} {name}");
            }
        }
    }

    #[test]
    fn syntax_that_only_java_has_is_refused_by_name() {
        for (pattern, name) in [
            ("(?!__).*", "look-around"),
            ("(?<=a)b", "look-around"),
            (r"(a)\1", "a reference back"),
            (r"(?<x>a)\k<x>", "a reference back"),
            ("a*+a", "possessive"),
            ("a{2}+", "possessive"),
            ("(?>a|ab)c", "atomic"),
            ("(?x)a", "a flag"),
            ("[a--z]", "inside a class"),
            ("[[:alpha:]]", "inside a class"),
        ] {
            match TopicPattern::parse(pattern).unwrap_err() {
                PatternMistake::OnlyJava(what) => assert!(what.contains(name), "{what}"),
                PatternMistake::Invalid(what) => panic!("{pattern}: {what}"),
            }
        }
    }

    #[test]
    fn an_invalid_pattern_is_an_error_of_one_line() {
        for pattern in ["(a", "[a", "*a", "a**", "a\\", "a{", "a)", &"(".repeat(100)] {
            match TopicPattern::parse(pattern).unwrap_err() {
                PatternMistake::OnlyJava(what) => panic!("{pattern}: {what}"),
                PatternMistake::Invalid(what) => assert!(!what.contains('\n'), "{what}"),
            }
        }
    }

    #[test]
    fn a_pattern_that_takes_others_forever_takes_no_time() {
        assert!(!matches("(a*)*(a*)*(a*)*c", &"a".repeat(249)));
    }
}
