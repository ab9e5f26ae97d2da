//! Which characters of outside text may reach a terminal or a page, and how many.

/// True for characters that a terminal would obey or that reorder what is read: controls other than
/// line break and tab, and the bidirectional overrides.
pub(crate) fn is_unsafe(character: char) -> bool {
    let direction = matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(character, '\u{2066}'..='\u{2069}' | '\u{feff}');
    direction || (character.is_control() && !matches!(character, '\n' | '\t'))
}

/// Outside text for one line of a terminal: unsafe characters and line breaks replaced.
pub fn one_line(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\n' | '\t' => ' ',
            other if is_unsafe(other) => '\u{fffd}',
            other => other,
        })
        .collect()
}

/// Outside text for a terminal: unsafe characters replaced, line breaks and tabs kept.
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|character| match is_unsafe(character) {
            true => '\u{fffd}',
            false => character,
        })
        .collect()
}

/// Columns that a text takes in a terminal: two for East Asian wide characters and emoji (Unicode
/// Standard Annex 11, the ranges that are wide as a whole), one for others.
pub(crate) fn columns(text: &str) -> usize {
    text.chars()
        .map(|character| if is_wide(character) { 2 } else { 1 })
        .sum()
}

fn is_wide(character: char) -> bool {
    matches!(u32::from(character),
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f
        | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1f64f | 0x1f900..=0x1f9ff
        | 0x20000..=0x3fffd)
}

/// At most `letters` letters; the last one is an ellipsis where the text was cut.
pub(crate) fn cut(text: &str, letters_max: usize) -> String {
    if text.chars().count() <= letters_max {
        return text.to_owned();
    }
    let kept = text.chars().take(letters_max.saturating_sub(1));
    kept.chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escape_sequence_does_not_reach_the_terminal() {
        assert_eq!(one_line("topic\u{1b}[2J\nnext"), "topic\u{fffd}[2J next");
        assert_eq!(
            printable("a\u{1b}]0;b\u{7}\r\n\tc\u{9b}2J"),
            "a\u{fffd}]0;b\u{fffd}\u{fffd}\n\tc\u{fffd}2J"
        );
    }
}
