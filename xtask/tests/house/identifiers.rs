//! Identifiers: participles and metaphors of earlier versions may name nothing in hand-written code, not even a local
//! variable.

use super::sources;

/// A name states what the thing is: `stderr`, `report`, `start`, `expected`, `sample`.
const BANNED: [&str; 11] = [
    "begun", "board", "clerk", "desk", "ground", "looked", "said", "seat", "swallow", "told",
    "wanted",
];

#[test]
fn banned_words_name_nothing() {
    let mut found = Vec::new();
    for (name, text) in sources() {
        for (at, word) in identifiers(&text) {
            if BANNED.contains(&word) {
                let line = text[..at].matches('\n').count() + 1;
                found.push(format!("{name}:{line}: {word}"));
            }
        }
    }
    assert!(
        found.is_empty(),
        "docs/internals/glossary.md has better names: {found:#?}"
    );
}

/// Identifiers, keywords and numbers with their offsets. Comments, strings and characters are left out.
fn identifiers(code: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = code[at..].chars().next() {
        let rest = &code[at..];
        let end = rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
        let word = &rest[..end.unwrap_or(rest.len())];
        at += if let Some(length) = comment_length(rest).or_else(|| literal_length(rest)) {
            length
        } else if word.is_empty() {
            first.len_utf8()
        } else {
            found.push((at, word));
            word.len()
        };
    }
    found
}

/// The length of the comment at the start.
fn comment_length(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if !text.starts_with("/*") {
        return None;
    }
    // Block comments nest.
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += 1;
        }
    }
    Some(text.len())
}

/// The length of the string or character at the start. A lifetime is neither.
fn literal_length(text: &str) -> Option<usize> {
    let prefixes = ["br", "cr", "b", "c", "r", ""];
    let prefix = prefixes.iter().find(|prefix| text.starts_with(**prefix))?;
    let body = &text[prefix.len()..];
    if prefix.ends_with('r') {
        let hashes = body.bytes().take_while(|byte| *byte == b'#').count();
        let quoted = body[hashes..].strip_prefix('"')?;
        let end = format!("\"{}", "#".repeat(hashes));
        let inner = quoted.find(&end).unwrap_or(quoted.len());
        return Some(
            text.len()
                .min(prefix.len() + hashes + 1 + inner + end.len()),
        );
    }
    if body.starts_with('"') {
        return Some(prefix.len() + quoted_length(body, '"'));
    }
    let mut inner = body.strip_prefix('\'')?.chars();
    let is_character = inner.next()? == '\\' || inner.next() == Some('\'');
    is_character.then(|| prefix.len() + quoted_length(body, '\''))
}

/// From the opening quote to the closing one.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        if is_escaped {
            is_escaped = false;
        } else if letter == '\\' {
            is_escaped = true;
        } else if letter == quote {
            return at + 1;
        }
    }
    text.len()
}

#[test]
fn identifiers_are_found_outside_of_comments_and_literals() {
    let code = r###"
        /* said /* told */ said */ let told = r#"begun " wanted"#; // looked
        f::<'said>(b'\'', '"', "said \" said", r"\", br"told", r#wanted, '\u{22}', 'é', looked_at);
    "###;
    let words: Vec<&str> = identifiers(code)
        .into_iter()
        .map(|(_, word)| word)
        .collect();
    assert_eq!(
        words,
        ["let", "told", "f", "said", "r", "wanted", "looked_at"]
    );
}
