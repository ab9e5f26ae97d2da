//! Outside text for Markdown as GitHub reads it: it stays text, in a table too.

use crate::clean::one_line;

/// Keeps two letters apart without being seen (U+2060, word joiner): GitHub looks for mentions and
/// references in the finished text, where no backslash helps.
const JOINER: char = '\u{2060}';

/// A text that cannot become markup, HTML, a mention or a reference, nor end its table cell or line;
/// longer ones are cut.
pub(super) fn escape(text: &str, letters_max: usize) -> String {
    let text = cut(one_line(text).trim(), letters_max);
    let mut out = String::with_capacity(text.len() + 16);
    let starts_list = starts_list(&text);
    let mut letters = text.chars().enumerate().peekable();
    while let Some((index, letter)) = letters.next() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' => {
                out.push('\\');
                out.push(letter);
            }
            '-' | '+' | '=' if index == 0 => {
                out.push('\\');
                out.push(letter);
            }
            '.' | ')' if starts_list == Some(index) => {
                out.push('\\');
                out.push(letter);
            }
            '#' => {
                out.push_str("\\#");
                if letters
                    .peek()
                    .is_some_and(|(_, next)| next.is_ascii_digit())
                {
                    out.push(JOINER);
                }
            }
            '@' => {
                out.push('@');
                out.push(JOINER);
            }
            letter => out.push(letter),
        }
    }
    out
}

/// Where the dot or bracket of `1. ` or `1) ` stands, if the text begins with such.
fn starts_list(text: &str) -> Option<usize> {
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let mut rest = text.chars().skip(digits);
    let is_mark = matches!(rest.next(), Some('.' | ')'));
    let is_item = is_mark && rest.next().is_none_or(char::is_whitespace);
    (digits > 0 && is_item).then_some(digits)
}

/// A block of code whose fence is longer than any that stands in it.
pub(super) fn fenced(lines: &[String]) -> String {
    let longest = lines.iter().map(|line| longest_run(line)).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    let lines: Vec<String> = lines.iter().map(|line| one_line(line)).collect();
    format!("{fence}sh\n{}\n{fence}\n", lines.join("\n"))
}

fn longest_run(text: &str) -> usize {
    let runs = text.split(|letter| letter != '`');
    runs.map(str::len).max().unwrap_or(0)
}

/// At most so many letters, the last of them an ellipsis where something is cut.
fn cut(text: &str, letters_max: usize) -> String {
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
    fn markup_and_html_stay_text() {
        assert_eq!(escape("<script>", 99), "&lt;script&gt;");
        assert_eq!(
            escape("a|b `c` *d* [e](f)", 99),
            "a\\|b \\`c\\` \\*d\\* \\[e\\](f)"
        );
        assert_eq!(escape("one\n| two", 99), "one \\| two");
        assert_eq!(escape("\\| &lt;", 99), "\\\\\\| &amp;lt;");
        assert_eq!(escape("# head", 99), "\\# head");
        assert_eq!(escape("- item", 99), "\\- item");
        assert_eq!(escape("12. item", 99), "12\\. item");
        assert_eq!(escape("1.5 ms", 99), "1.5 ms");
        assert_eq!(escape("=====", 99), "\\=====");
    }

    #[test]
    fn nobody_is_called_and_nothing_referred_to() {
        assert_eq!(escape("@all #12", 99), "@\u{2060}all \\#\u{2060}12");
    }

    #[test]
    fn a_fence_outgrows_what_it_holds() {
        let block = fenced(&["kgauge run '````\n# x'".to_owned()]);
        assert!(block.starts_with("`````sh\n"), "{block}");
        assert_eq!(block.lines().count(), 3);
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(escape("abcdef", 4), "abc…");
        assert_eq!(escape("abcd", 4), "abcd");
    }
}
