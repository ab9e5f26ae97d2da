//! `--include`: topics whose whole name matches a regular expression of Java's.
//!
//! Names are plain ASCII, and on them nearly all of Java's syntax means what the `regex` crate takes it
//! for. What that crate does not have, or reads differently, is refused by name instead of being
//! read as something else.

use regex::bytes::{Regex, RegexBuilder};

use super::ToolFailure;

/// A topic pattern.
#[derive(Debug)]
pub(super) struct Include(Regex);

impl Include {
    /// Reads a pattern.
    ///
    /// # Errors
    /// In words: what is no pattern at all, and (as what kgauge cannot do) what only Java has.
    pub(super) fn parse(pattern: &str) -> Result<Include, ToolFailure> {
        let wrong = |what: &str| ToolFailure::new(format!("--include {pattern}: {what}"));
        let whole = match translated(pattern) {
            Ok(same) => format!("^(?:{same})$"),
            Err(Wrong::OnlyJava(what)) => {
                return Err(ToolFailure::refused(format!(
                    "kgauge: --include {pattern}: {what} is not supported; write the pattern without it"
                )));
            }
            Err(Wrong::NoPattern(what)) => return Err(wrong(what)),
        };
        let built = RegexBuilder::new(&whole).unicode(false).build();
        built.map(Include).map_err(|error| {
            let said = error.to_string();
            let last = said.lines().last().unwrap_or_default();
            wrong(last.trim().trim_start_matches("error: "))
        })
    }

    /// Whether a topic's whole name matches.
    pub(super) fn fits(&self, name: &str) -> bool {
        self.0.is_match(name.as_bytes())
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Wrong {
    OnlyJava(&'static str),
    NoPattern(&'static str),
}

/// How far a repetition is written: `a`, `a*`, `a*?`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeats {
    No,
    Yes,
    Lazily,
}

/// The same pattern as the `regex` crate writes it.
fn translated(pattern: &str) -> Result<String, Wrong> {
    let mut out = String::new();
    let mut rest = pattern;
    let mut classes = 0_u32;
    let mut repeats = Repeats::No;
    while let Some(letter) = rest.chars().next() {
        let after = &rest[letter.len_utf8()..];
        if letter == '\\' {
            rest = escape(after, &mut out)?;
            repeats = Repeats::No;
            continue;
        }
        match letter {
            '[' if after.starts_with(':') && classes > 0 => {
                return Err(Wrong::OnlyJava("`[:` inside a class"));
            }
            '[' => classes += 1,
            ']' => classes = classes.saturating_sub(1),
            '-' | '~' if classes > 0 && after.starts_with(letter) => {
                return Err(Wrong::OnlyJava("`--` or `~~` inside a class"));
            }
            '(' if classes == 0 => group(after)?,
            _ => {}
        }
        if classes == 0 {
            repeats = repeated(letter, repeats)?;
        }
        out.push(letter);
        rest = after;
    }
    Ok(out)
}

/// What stands behind a backslash: writes it, gives what comes after.
fn escape<'a>(rest: &'a str, out: &mut String) -> Result<&'a str, Wrong> {
    let Some(letter) = rest.chars().next() else {
        return Err(Wrong::NoPattern("a backslash stands at the end"));
    };
    let after = &rest[letter.len_utf8()..];
    match letter {
        'Q' => {
            let (quoted, after) = after.split_once("\\E").unwrap_or((after, ""));
            out.push_str(&regex::escape(quoted));
            return Ok(after);
        }
        '1'..='9' | 'k' => return Err(Wrong::OnlyJava("a reference back to a group")),
        // Which stand for themselves in Java.
        '<' | '>' => out.push(letter),
        'Z' => out.push_str("\\z"),
        _ => {
            out.push('\\');
            out.push(letter);
        }
    }
    Ok(after)
}

/// What stands behind an open parenthesis.
fn group(rest: &str) -> Result<(), Wrong> {
    let Some(kind) = rest.strip_prefix('?') else {
        return Ok(());
    };
    if ["=", "!", "<=", "<!"]
        .iter()
        .any(|look| kind.starts_with(look))
    {
        return Err(Wrong::OnlyJava("look-around, as in `(?!`,"));
    }
    if kind.starts_with('>') {
        return Err(Wrong::OnlyJava("an atomic group, `(?>`,"));
    }
    let flags = kind
        .chars()
        .take_while(|letter| letter.is_ascii_alphabetic() || *letter == '-');
    match kind.starts_with('<') || flags.into_iter().all(|flag| "ims-".contains(flag)) {
        true => Ok(()),
        false => Err(Wrong::OnlyJava("a flag other than i, m and s")),
    }
}

fn repeated(letter: char, before: Repeats) -> Result<Repeats, Wrong> {
    const DANGLING: Wrong = Wrong::NoPattern("a repetition repeats nothing");
    match (letter, before) {
        ('+', Repeats::Yes) => Err(Wrong::OnlyJava("a possessive repetition, as in `*+`,")),
        ('?', Repeats::Yes) => Ok(Repeats::Lazily),
        ('*' | '{', Repeats::Yes | Repeats::Lazily) | ('+' | '?', Repeats::Lazily) => Err(DANGLING),
        ('*' | '+' | '?' | '}', _) => Ok(Repeats::Yes),
        _ => Ok(Repeats::No),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::ExitStatus;

    fn fits(pattern: &str, name: &str) -> bool {
        Include::parse(pattern).unwrap().fits(name)
    }

    fn refusal(pattern: &str) -> (ExitStatus, String) {
        let failure = Include::parse(pattern).unwrap_err();
        (failure.status, failure.words)
    }

    #[test]
    fn patterns_fit_whole_names_as_in_java() {
        for (pattern, yes, no) in [
            ("orders", &["orders"][..], &["orders2", "my-orders"][..]),
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
            (r"[\w&&[^0-9]]+", &["abc"], &["abc1"]),
            (r"[^_].*", &["a"], &["_a"]),
            ("", &[], &["a"]),
            ("(?<year>20..)", &["2024"], &["1999"]),
        ] {
            for name in yes {
                assert!(fits(pattern, name), "{pattern} {name}");
            }
            for name in no {
                assert!(!fits(pattern, name), "{pattern} {name}");
            }
        }
    }

    #[test]
    fn what_only_java_has_is_refused_by_name() {
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
            let (status, words) = refusal(pattern);
            assert_eq!(status, ExitStatus::BadInput, "{pattern}");
            assert!(words.contains(name) && words.contains(pattern), "{words}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_said_to_be_wrong() {
        for pattern in ["(a", "[a", "*a", "a**", "a\\", "a{", "a)"] {
            let (status, words) = refusal(pattern);
            assert_eq!(status, ExitStatus::Failed, "{pattern}: {words}");
            assert!(
                words.starts_with(&format!("--include {pattern}: ")),
                "{words}"
            );
            assert!(!words.contains('\n'), "{words}");
        }
    }

    #[test]
    fn a_pattern_that_would_take_others_for_ever_takes_no_time() {
        assert!(!fits("(a*)*(a*)*(a*)*c", &"a".repeat(249)));
    }
}
