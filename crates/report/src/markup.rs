//! Writes HTML and SVG so that no text from outside can become markup.
//!
//! Tag and attribute names are `&'static str`, so they can only come from this crate's source.
//! Everything else goes through [`Markup::text`] or an attribute value and is escaped there.
//! Elements are closed by the call that opened them, so tags balance by construction.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// An attribute: its name from our source, its value from anywhere.
pub(crate) type Attribute<'a> = (&'static str, &'a str);

/// Complete markup that was made here: other markup may contain it unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SafeMarkup(Arc<str>);

impl SafeMarkup {
    /// The text, for whoever keeps it.
    pub fn text(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

impl fmt::Display for SafeMarkup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Deref for SafeMarkup {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// HTML under construction.
#[derive(Default)]
pub(crate) struct Markup {
    out: String,
}

impl Markup {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// The finished text.
    pub(crate) fn finish(self) -> String {
        self.out
    }

    /// The finished text, as a part of others.
    pub(crate) fn finish_part(self) -> SafeMarkup {
        SafeMarkup(self.out.into())
    }

    /// A part that is finished.
    pub(crate) fn part(&mut self, part: &SafeMarkup) {
        self.out.push_str(part);
    }

    /// Text that this crate wrote itself and that is markup already: the style sheet, the script.
    pub(crate) fn own(&mut self, markup: &'static str) {
        self.out.push_str(markup);
    }

    /// Text from anywhere.
    pub(crate) fn text(&mut self, text: &str) {
        escape_into(&mut self.out, text);
    }

    /// An element with children.
    pub(crate) fn element(
        &mut self,
        tag: &'static str,
        attributes: &[Attribute<'_>],
        children: impl FnOnce(&mut Self),
    ) {
        self.start(tag, attributes);
        self.out.push('>');
        children(self);
        self.out.push_str("</");
        self.out.push_str(tag);
        self.out.push('>');
    }

    /// The head of a table: the names of its columns.
    pub(crate) fn table_head<T: AsRef<str>>(&mut self, names: impl IntoIterator<Item = T>) {
        self.element("thead", &[], |page| {
            page.element("tr", &[], |page| {
                for name in names {
                    page.leaf("th", &[("scope", "col")], name.as_ref());
                }
            });
        });
    }

    /// An element that holds only text.
    pub(crate) fn leaf(&mut self, tag: &'static str, attributes: &[Attribute<'_>], text: &str) {
        self.element(tag, attributes, |inner| inner.text(text));
    }

    /// An element with text for people: a number and its unit stay on one line, and what is between backticks is code.
    pub(crate) fn prose(&mut self, tag: &'static str, attributes: &[Attribute<'_>], words: &str) {
        let parts: Vec<&str> = words.split('`').collect();
        self.element(tag, attributes, |inner| match parts.len() % 2 {
            1 => {
                for (index, part) in parts.iter().enumerate() {
                    match index % 2 {
                        0 => inner.text(&unbroken(part)),
                        _ => inner.leaf("code", &[], part),
                    }
                }
            }
            // A backtick without a second one is only a letter.
            _ => inner.text(&unbroken(words)),
        });
    }

    /// An HTML element that never has an end tag: `meta`, `br`.
    pub(crate) fn void(&mut self, tag: &'static str, attributes: &[Attribute<'_>]) {
        self.start(tag, attributes);
        self.out.push('>');
    }

    /// An SVG element without children, written as `<tag/>`.
    pub(crate) fn shape(&mut self, tag: &'static str, attributes: &[Attribute<'_>]) {
        self.start(tag, attributes);
        self.out.push_str("/>");
    }

    /// A line break in the source, so that the file can be read and compared.
    pub(crate) fn line(&mut self) {
        self.out.push('\n');
    }

    /// A block of JSON that scripts read: `<script type="application/json">`.
    ///
    /// Inside it HTML knows no escapes, so `<`, `>` and `&` are written as JSON escapes; they can
    /// only stand inside JSON strings, where the escape means the same.
    pub(crate) fn json_block(&mut self, id: &'static str, json: &str) {
        self.start("script", &[("type", "application/json"), ("id", id)]);
        self.out.push('>');
        for character in json.chars() {
            match character {
                '<' => self.out.push_str("\\u003c"),
                '>' => self.out.push_str("\\u003e"),
                '&' => self.out.push_str("\\u0026"),
                '\u{2028}' => self.out.push_str("\\u2028"),
                '\u{2029}' => self.out.push_str("\\u2029"),
                other if crate::clean::is_unsafe(other) => self.out.push('\u{fffd}'),
                other => self.out.push(other),
            }
        }
        self.out.push_str("</script>");
    }

    fn start(&mut self, tag: &'static str, attributes: &[Attribute<'_>]) {
        self.out.push('<');
        self.out.push_str(tag);
        for (name, value) in attributes {
            self.out.push(' ');
            self.out.push_str(name);
            if !value.is_empty() {
                self.out.push_str("=\"");
                escape_into(&mut self.out, value);
                self.out.push('"');
            }
        }
    }
}

/// Escapes for text and for quoted attribute values alike. Control characters, which HTML forbids
/// and a terminal may obey, become the replacement character; so do the marks that reverse reading
/// direction.
fn escape_into(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other if crate::clean::is_unsafe(other) => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
}

/// What follows a number and belongs to it.
const UNITS: [&str; 17] = [
    "%", "ns", "µs", "ms", "s", "min", "h", "B", "kB", "MB", "GB", "KiB", "MiB", "GiB", "MB/s",
    "cores", "times",
];

/// With spaces that break no line between a number and its unit.
pub(crate) fn unbroken(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    let mut before = "";
    for word in words.split_inclusive(' ') {
        let bare = word.trim_end_matches(|end: char| end == ' ' || ".,;:)".contains(end));
        let of_number = UNITS.contains(&bare) && before.ends_with(|end: char| end.is_ascii_digit());
        if out.ends_with(' ') && of_number {
            out.pop();
            out.push('\u{a0}');
        }
        out.push_str(word);
        before = word.trim_end();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_cannot_become_markup() {
        let mut page = Markup::new();
        page.leaf(
            "p",
            &[("title", "\"><script>")],
            "<script>alert('x') & more</script>",
        );
        assert_eq!(
            page.finish(),
            "<p title=\"&quot;&gt;&lt;script&gt;\">&lt;script&gt;alert(&#39;x&#39;) &amp; \
             more&lt;/script&gt;</p>"
        );
    }

    #[test]
    fn what_is_between_backticks_is_code() {
        let prose = |words: &str| {
            let mut page = Markup::new();
            page.prose("p", &[], words);
            page.finish()
        };
        assert_eq!(
            prose("drop `--quick <b>` for 2 s"),
            "<p>drop <code>--quick &lt;b&gt;</code> for 2\u{a0}s</p>"
        );
        assert_eq!(prose("one ` only"), "<p>one ` only</p>");
    }

    #[test]
    fn json_cannot_end_its_script_block() {
        let mut page = Markup::new();
        page.json_block("data", r#"{"name":"</script><!--"}"#);
        assert_eq!(
            page.finish(),
            r#"<script type="application/json" id="data">{"name":"\u003c/script\u003e\u003c!--"}</script>"#
        );
    }

    #[test]
    fn control_characters_and_direction_marks_are_replaced() {
        let mut page = Markup::new();
        page.text("a\u{1b}[31mb\u{0}\u{202e}c\n");
        assert_eq!(page.finish(), "a\u{fffd}[31mb\u{fffd}\u{fffd}c\n");
    }

    #[test]
    fn a_number_and_its_unit_stay_together() {
        let text = "p99 (20.9 ms, ±27 %) of 2 cores: 1,000 records/s; B 3 or 4 B. 5";
        assert_eq!(
            unbroken(text),
            "p99 (20.9\u{a0}ms, ±27\u{a0}%) of 2\u{a0}cores: 1,000 records/s; B 3 or 4\u{a0}B. 5"
        );
        assert_eq!(unbroken(""), "");
        assert_eq!(unbroken("  a  ms "), "  a  ms ");
    }
}
