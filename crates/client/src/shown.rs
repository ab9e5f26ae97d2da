//! Text from outside inside a message: it stays on its line, commands no terminal, and is not long.

/// Longer texts are cut.
const CHARS_MAX: usize = 300;

/// A text from a broker or a file as a message may show it: control characters and line breaks escaped.
pub fn shown(text: &str) -> String {
    let mut shown = String::new();
    for character in text.chars().take(CHARS_MAX) {
        if character.is_control() {
            shown.extend(character.escape_default())
        } else {
            shown.push(character)
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_keeps_its_line_and_its_quotes() {
        assert_eq!(shown("Topic 'a\u{e4}' exists"), "Topic 'a\u{e4}' exists");
        assert_eq!(
            shown("\u{1b}]0;b\u{7}\r\nkgauge: all good"),
            r"\u{1b}]0;b\u{7}\r\nkgauge: all good"
        );
        assert_eq!(shown(&"x".repeat(1_000)).len(), CHARS_MAX);
    }
}
