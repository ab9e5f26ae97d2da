//! Java's properties syntax, as documented for `java.util.Properties.load`.
//!
//! Kafka's tools use it, so a file must mean the same here: comments with `#` and `!`, keys ended by `=`, `:` or white
//! space, continuation lines, and `\t`, `\n`, `\r`, `\f`, `\uXXXX` escapes. Java reads the bytes as ISO 8859-1. Newer
//! files are mostly UTF-8, so valid UTF-8 is read as such, and everything else as ISO 8859-1.

use std::borrow::Cow;

use kgauge_wire::Secret;

/// One key with its value, and the line on which the key begins (counted from 1).
pub(super) struct PropertyLine {
    /// The key, unescaped.
    pub(super) key: String,
    /// The value, unescaped. Trailing white space is part of it, as in Java.
    pub(super) value: Secret,
    /// The location of the key.
    pub(super) line: u32,
}

/// An invalid escape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SyntaxMistake {
    /// The line on which the entry begins, counted from 1.
    pub(super) line: u32,
    /// What is wrong, without any of the value's text.
    pub(super) what: &'static str,
}

/// Parses all entries in the order of the file; entries with an invalid escape are left out and returned in the second
/// list.
pub(super) fn parse(bytes: &[u8]) -> (Vec<PropertyLine>, Vec<SyntaxMistake>) {
    let text = decode(bytes);
    let mut entries = Vec::new();
    let mut mistakes = Vec::new();
    for (line, logical) in logical_lines(&text) {
        let (key, value) = split_key(&logical);
        match (unescape(key), unescape(value)) {
            (Ok(key), Ok(value)) => {
                entries.push(PropertyLine {
                    key,
                    value: Secret::new(value),
                    line,
                });
            }
            (Err(what), _) | (_, Err(what)) => mistakes.push(SyntaxMistake { line, what }),
        }
    }
    (entries, mistakes)
}

fn decode(bytes: &[u8]) -> Cow<'_, str> {
    // Editors on Windows start UTF-8 files with a byte order mark, which is not part of a key.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|&byte| char::from(byte)).collect()),
    }
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\u{c}')
}

/// Natural lines end with `\n`, `\r` or `\r\n`.
fn natural_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = text.find(['\n', '\r']) else {
            rest = None;
            return Some(text);
        };
        let after = &text[end..];
        let skip = if after.starts_with("\r\n") { 2 } else { 1 };
        rest = Some(&after[skip..]);
        Some(&text[..end])
    })
}

/// Joins continued lines, drops comments and blank lines; each with the number of its first line.
fn logical_lines(text: &str) -> Vec<(u32, String)> {
    let mut logical: Vec<(u32, String)> = Vec::new();
    let mut continues = false;
    for (number, line) in (1u32..).zip(natural_lines(text)) {
        let line = line.trim_start_matches(is_blank);
        if !continues && (line.is_empty() || line.starts_with(['#', '!'])) {
            continue;
        }
        let backslashes = line.chars().rev().take_while(|&c| c == '\\').count();
        let continued_next = backslashes % 2 == 1;
        let content = if continued_next {
            &line[..line.len() - 1]
        } else {
            line
        };
        match logical.last_mut() {
            Some((_, joined)) if continues => joined.push_str(content),
            _ => logical.push((number, content.to_owned())),
        }
        continues = continued_next;
    }
    logical.retain(|(_, line)| !line.is_empty());
    logical
}

/// Splits at the first unescaped `=`, `:` or white space.
fn split_key(line: &str) -> (&str, &str) {
    let mut protected = false;
    let end = line
        .char_indices()
        .find(|&(_, character)| {
            let ends = !protected && (matches!(character, '=' | ':') || is_blank(character));
            protected = character == '\\' && !protected;
            ends
        })
        .map_or(line.len(), |(index, _)| index);
    let rest = line[end..].trim_start_matches(is_blank);
    let rest = rest.strip_prefix(['=', ':']).unwrap_or(rest);
    (&line[..end], rest.trim_start_matches(is_blank))
}

fn unescape(text: &str) -> Result<String, &'static str> {
    if !text.contains('\\') {
        return Ok(text.to_owned());
    }
    // Java strings are UTF-16, so two \u escapes may be the halves of one character.
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut buffer = [0u16; 2];
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let plain = match character {
            '\\' => match characters.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('f') => '\u{c}',
                Some('u') => {
                    units.push(hex_unit(&mut characters)?);
                    continue;
                }
                Some(other) => other,
                None => continue,
            },
            other => other,
        };
        units.extend_from_slice(plain.encode_utf16(&mut buffer));
    }
    String::from_utf16(&units).map_err(|_| "a \\u escape is half a surrogate pair")
}

fn hex_unit(characters: &mut std::str::Chars<'_>) -> Result<u16, &'static str> {
    let mut unit = 0u32;
    for _ in 0..4 {
        let digit = characters
            .next()
            .and_then(|character| character.to_digit(16));
        unit = unit * 16 + digit.ok_or("\\u is not followed by four hexadecimal digits")?;
    }
    Ok(u16::try_from(unit).unwrap_or(u16::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String, u32)> {
        let (entries, mistakes) = parse(text.as_bytes());
        assert_eq!(mistakes, []);
        entries
            .into_iter()
            .map(|e| (e.key, e.value.expose().to_owned(), e.line))
            .collect()
    }

    #[track_caller]
    fn check(text: &str, key: &str, value: &str) {
        assert_eq!(
            pairs(text),
            [(key.to_owned(), value.to_owned(), 1)],
            "in {text:?}"
        );
    }

    #[test]
    fn keys_end_at_equals_colon_or_white_space() {
        // The five spellings in the documentation of java.util.Properties.
        check("Truth = Beauty", "Truth", "Beauty");
        check(" Truth:Beauty", "Truth", "Beauty");
        check("Truth            :Beauty", "Truth", "Beauty");
        check("Truth Beauty", "Truth", "Beauty");
        check("Truth", "Truth", "");
        check("a==b", "a", "=b");
        check("a = : b", "a", ": b");
        check("a\\=b\\ c\\:d=e", "a=b c:d", "e");
    }

    #[test]
    fn trailing_white_space_belongs_to_the_value() {
        check("key=value \t", "key", "value \t");
    }

    #[test]
    fn continuation_lines_join_without_their_indent() {
        let text = "fruits  apple, banana, \\\n   cherry\\\r\n\t, # no comment\nnext=1";
        assert_eq!(
            pairs(text),
            [
                (
                    "fruits".into(),
                    "apple, banana, cherry, # no comment".into(),
                    1
                ),
                ("next".into(), "1".into(), 4),
            ]
        );
    }

    #[test]
    fn an_even_number_of_backslashes_does_not_continue() {
        assert_eq!(
            pairs("path=c:\\\\\nb=2"),
            [
                ("path".into(), "c:\\".into(), 1),
                ("b".into(), "2".into(), 2)
            ]
        );
    }

    #[test]
    fn comments_and_blank_lines_are_skipped_and_do_not_continue() {
        assert_eq!(
            pairs("# one \\\n! two\n\n  \t\n  a=1\r\rb=2"),
            [("a".into(), "1".into(), 5), ("b".into(), "2".into(), 7)]
        );
    }

    #[test]
    fn escapes_are_javas() {
        check("k=\\t\\n\\r\\f\\z\\\"", "k", "\t\n\r\u{c}z\"");
        check("k=\\u00e4\\u20ac", "k", "ä€");
        check("k=\\ud83d\\ude00", "k", "😀");
        check("k=end\\", "k", "end");
    }

    #[test]
    fn broken_escapes_are_reported_without_their_text() {
        let (entries, mistakes) = parse(b"good=1\nbad=\\u12g4\nhalf=\\ud83d!\nlast=2");
        assert_eq!(entries.len(), 2);
        assert_eq!(mistakes.iter().map(|m| m.line).collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn utf_8_is_read_as_such_and_anything_else_as_latin_1() {
        assert_eq!(pairs("k=ä")[0].1, "ä");
        let (entries, _) = parse(b"k=\xe4");
        assert_eq!(entries[0].value.expose(), "ä");
        let (entries, _) = parse(b"\xef\xbb\xbfk=1");
        assert_eq!(entries[0].key, "k");
    }
}
