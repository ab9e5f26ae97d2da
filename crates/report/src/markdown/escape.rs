//! Outside text for Markdown as GitHub reads it: it stays text, in a table too.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::clean::{cut, one_line};

/// Keeps two letters apart without being seen (U+2060, word joiner): GitHub looks for mentions and
/// references in the finished text, where no backslash helps.
const JOINER: char = '\u{2060}';

/// Hex digits that GitHub takes for the id of a commit.
const COMMIT_DIGITS: RangeInclusive<usize> = 7..=40;

/// A text that cannot become markup, HTML, a mention, a reference or a link, nor end its table cell or line;
/// longer ones are cut.
pub(super) fn escape(text: &str, letters_max: usize) -> String {
    let text = cut(one_line(text).trim(), letters_max);
    let mut out = String::with_capacity(text.len() + 16);
    let starts_list = starts_list(&text);
    let letters: Vec<char> = text.chars().collect();
    let commit_parts = commit_parts(&letters);
    for (index, letter) in letters.iter().copied().enumerate() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' | '#' => {
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
            letter => out.push(letter),
        }
        let (before, after) = letters.split_at(index + 1);
        if would_refer(before, after) || commit_parts.contains(&index) {
            out.push(JOINER);
        }
    }
    out
}

/// Whether GitHub would make a mention, a reference or a link of what lies around this place: `@name`, `#12`, `GH-12`,
/// `https://` and its like, `www.`.
fn would_refer(before: &[char], after: &[char]) -> bool {
    let is_number = || after.first().is_some_and(char::is_ascii_digit);
    match before {
        [.., '@'] => true,
        [.., '#'] | [.., 'G' | 'g', 'H' | 'h', '-'] => is_number(),
        [.., ':'] => after.starts_with(&['/', '/']),
        // Behind its dot the joiner would only be the first letter of a host.
        [.., 'W' | 'w', 'W' | 'w', 'W' | 'w'] => after.starts_with(&['.']),
        _ => false,
    }
}

/// After which letters what could be the id of a commit is parted: no part is long enough for one. Numbers stay as they
/// are, and so do words: people copy them, and hardly any commit has such an id.
fn commit_parts(letters: &[char]) -> BTreeSet<usize> {
    let part = COMMIT_DIGITS.start() - 1;
    let mut ends = BTreeSet::new();
    let mut start = 0;
    for run in letters.split(|letter| !letter.is_ascii_hexdigit()) {
        let digits = run.iter().filter(|letter| letter.is_ascii_digit()).count();
        let is_mixed = digits > 0 && digits < run.len();
        if is_mixed && COMMIT_DIGITS.contains(&run.len()) {
            let parts = (part..run.len()).step_by(part);
            ends.extend(parts.map(|length| start + length - 1));
        }
        start += run.len() + 1;
    }
    ends
}

/// Where the dot or bracket of `1. ` or `1) ` stands, if the text begins with such.
fn starts_list(text: &str) -> Option<usize> {
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let mut rest = text.chars().skip(digits);
    let is_mark = matches!(rest.next(), Some('.' | ')'));
    let is_item = is_mark && rest.next().is_none_or(char::is_whitespace);
    (digits > 0 && is_item).then_some(digits)
}

/// A block of code whose fence is longer than any in its text.
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
    fn no_text_refers_to_an_issue_a_commit_or_a_page() {
        for (text, escaped) in [
            ("GH-12 gh-7 GH-x", "GH-|12 gh-|7 GH-x"),
            ("see https://x.org", "see https:|//x.org"),
            ("ftp://x a://", "ftp:|//x a:|//"),
            ("www.x.org WWW.x w.x", "www|.x.org WWW|.x w.x"),
            ("a@b.org", "a@|b.org"),
            ("7f3a2b1", "7f3a2b|1"),
            ("user/repo@7f3a2b1c", "user/repo@|7f3a2b|1c"),
            ("7f3a2b defaced 20260301", "7f3a2b defaced 20260301"),
        ] {
            assert_eq!(escape(text, 99), escaped.replace('|', "\u{2060}"));
        }
        let commit = escape(&"0123456789abcdef".repeat(3)[..40], 99);
        let parts: Vec<usize> = commit.split(JOINER).map(str::len).collect();
        assert_eq!(parts, [6, 6, 6, 6, 6, 6, 4]);
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
