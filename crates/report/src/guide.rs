//! Pages of the guide for a terminal: the Markdown that they use, as plain text.

use crate::clean::columns;
use crate::terminal::wrap::wrap;

/// Between columns of a table.
const GAP: usize = 2;
/// A column of names up to this width stays beside the texts of a table of two columns.
const NAME_MAX: usize = 16;

/// The page as plain text.
pub(crate) fn text(markdown: &str, width: usize) -> String {
    let mut page = Page {
        width,
        lines: Vec::new(),
        is_in_list: false,
    };
    let mut rest: Vec<&str> = markdown.lines().collect();
    rest.retain(|line| !line.starts_with("<!--"));
    let mut rest = rest.as_slice();
    while let Some((first, after)) = rest.split_first() {
        let block = block_length(rest);
        let (block, after) = match first.trim().is_empty() {
            true => (&rest[..0], after),
            false => rest.split_at(block),
        };
        page.add(block);
        rest = after;
    }
    page.lines.join("\n") + "\n"
}

const FENCE: &str = "```";

/// Number of lines of the block at the start: a fenced example, a table, a heading, a list item or a paragraph.
fn block_length(lines: &[&str]) -> usize {
    let first = lines.first().copied().unwrap_or_default();
    let count = |continues: &dyn Fn(&str) -> bool| {
        let more = lines.iter().skip(1);
        1 + more.take_while(|line| continues(line)).count()
    };
    if first.starts_with(FENCE) {
        let inner = count(&|line| !line.starts_with(FENCE));
        return (inner + 1).min(lines.len());
    }
    if is_row(first) {
        return count(&is_row);
    }
    match first.starts_with('#') {
        true => 1,
        false => count(&|line| {
            let starts_block = is_row(line) || line.starts_with('#') || line.starts_with(FENCE);
            !line.trim().is_empty() && !starts_block && item(line).is_none()
        }),
    }
}

fn is_row(line: &str) -> bool {
    line.starts_with('|')
}

/// The indent of a list item, its mark with a blank, and its text.
fn item(line: &str) -> Option<(usize, &str, &str)> {
    let text = line.trim_start();
    let indent = line.len() - text.len();
    if let Some(rest) = text.strip_prefix("* ") {
        return Some((indent, "* ", rest));
    }
    let digits = text.find(|letter: char| !letter.is_ascii_digit())?;
    let rest = text[digits..].strip_prefix(". ")?;
    (digits > 0).then(|| (indent, &text[..digits + 2], rest))
}

struct Page {
    width: usize,
    lines: Vec<String>,
    /// The last block was a list item.
    is_in_list: bool,
}

impl Page {
    fn add(&mut self, block: &[&str]) {
        let Some((first, more)) = block.split_first() else {
            return;
        };
        let item = item(first);
        if item.is_none() || !self.is_in_list {
            self.gap();
        }
        self.is_in_list = item.is_some();
        if let Some((indent, mark, start)) = item {
            let first = format!("{}{mark}", " ".repeat(indent + GAP));
            let rest = " ".repeat(first.len());
            self.paragraph(start, more, &first, &rest);
        } else if first.starts_with(FENCE) {
            let inner = more.iter().filter(|line| !line.starts_with(FENCE));
            self.lines.extend(inner.map(|line| format!("    {line}")));
        } else if is_row(first) {
            self.table(block);
        } else if first.starts_with('#') {
            self.heading(first);
        } else if first.starts_with("    ") {
            self.lines
                .extend(block.iter().map(|line| (*line).to_owned()));
        } else {
            self.paragraph(first, more, "", "");
        }
    }

    /// An empty line, unless there is one, or nothing above it.
    fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }

    fn heading(&mut self, line: &str) {
        let title = plain(line.trim_start_matches('#').trim());
        let level = line.len() - line.trim_start_matches('#').len();
        let underline = match level {
            1 => "=".repeat(columns(&title)),
            2 => "-".repeat(columns(&title)),
            _ => String::new(),
        };
        self.lines.push(title);
        if !underline.is_empty() {
            self.lines.push(underline);
        }
    }

    fn paragraph(&mut self, first: &str, more: &[&str], start: &str, indent: &str) {
        let mut joined = first.to_owned();
        for line in more {
            joined.push(' ');
            joined.push_str(line.trim());
        }
        let lines = wrap(&plain(&joined), self.width, start, indent);
        self.lines.extend(lines);
    }

    /// Rows side by side if they fit, or if the first of two columns is narrow. Otherwise each row is a paragraph: its
    /// first cell, the others in parentheses, and the last one below.
    fn table(&mut self, block: &[&str]) {
        let is_rule = |line: &&&str| line.chars().all(|letter| "|-: ".contains(letter));
        let rows = block.iter().filter(|line| !is_rule(line));
        let rows: Vec<Vec<String>> = rows.map(|line| cells(line)).collect();
        let Some((head, below)) = rows.split_first() else {
            return;
        };
        let width_of = |index: usize| {
            let cells = rows.iter().filter_map(|row| row.get(index));
            cells.map(|cell| columns(cell)).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..head.len()).map(width_of).collect();
        if widths.iter().map(|width| width + GAP).sum::<usize>() <= self.width {
            let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
            for row in [head, &rule].into_iter().chain(below) {
                let mut line = String::new();
                for (cell, width) in row.iter().zip(&widths) {
                    let pad = width - columns(cell);
                    line.push_str(&format!("{:GAP$}{cell}{:pad$}", "", ""));
                }
                self.lines.push(line.trim_end().to_owned());
            }
            return;
        }
        let is_narrow = matches!(widths[..], [name, _] if name <= NAME_MAX);
        for row in below {
            let (Some(name), Some(last)) = (row.first(), row.last()) else {
                continue;
            };
            if is_narrow {
                let pad = widths[0] - columns(name);
                let start = format!("{:GAP$}{name}{:pad$}{:GAP$}", "", "", "");
                let indent = " ".repeat(columns(&start));
                self.lines.extend(wrap(last, self.width, &start, &indent));
                continue;
            }
            let middle = head.iter().zip(row).take(row.len() - 1).skip(1);
            let middle = middle.filter(|(_, cell)| !cell.is_empty());
            let middle: Vec<String> = middle
                .map(|(name, cell)| format!("{name}: {cell}"))
                .collect();
            let start = match middle.is_empty() {
                true => name.clone(),
                false => format!("{name} ({})", middle.join("; ")),
            };
            self.lines.extend(wrap(&start, self.width, "  ", "    "));
            if !last.is_empty() {
                let lines = wrap(last, self.width, "      ", "      ");
                self.lines.extend(lines);
            }
        }
    }
}

/// The cells of a row. `\|` is a bar in a cell.
fn cells(line: &str) -> Vec<String> {
    let escaped = line.trim().trim_matches('|').replace("\\|", "\u{0}");
    let cells = escaped.split('|');
    cells
        .map(|cell| plain(&cell.trim().replace('\u{0}', "|")))
        .collect()
}

/// Text without the marks of code, emphasis and links. Addresses of links to the web stay.
fn plain(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['`', '*', '[']) {
        shown.push_str(&rest[..at]);
        rest = &rest[at..];
        let (piece, length) =
            code(rest)
                .or_else(|| link(rest))
                .unwrap_or_else(|| match rest.starts_with("**") {
                    true => (String::new(), 2),
                    false => (rest[..1].to_owned(), 1),
                });
        shown.push_str(&piece);
        rest = &rest[length..];
    }
    shown.push_str(rest);
    shown
}

/// The code at the start, and its length with the marks.
fn code(text: &str) -> Option<(String, usize)> {
    let inner = text.strip_prefix('`')?;
    let end = inner.find('`')?;
    Some((inner[..end].to_owned(), end + 2))
}

/// The link at the start, and its length with the marks.
fn link(text: &str) -> Option<(String, usize)> {
    let inner = text.strip_prefix('[')?;
    let (name, rest) = inner.split_once("](")?;
    let (address, _) = rest.split_once(')')?;
    if name.contains('[') {
        return None;
    }
    let length = 1 + name.len() + 2 + address.len() + 1;
    let name = plain(name);
    match address.starts_with("http") {
        true => Some((format!("{name} ({address})"), length)),
        false => Some((name, length)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_block_becomes_plain_text() {
        let markdown = "\
# Targets

`--target` selects the **cluster**, see
[the guide](x.md#y) and [Kafka](https://kafka.apache.org).

<!-- keys: Target -->

| key | meaning |
|---|---|
| `a\\|b` | one [two](#t) |

## Next
* first item that is long
  enough to wrap
  * inner
* second

```sh
kgauge run   x
```

1. number
";
        let expected = "\
Targets
=======

--target selects the cluster,
see the guide and Kafka
(https://kafka.apache.org).

  key  meaning
  ---  -------
  a|b  one two

Next
----

  * first item that is long
    enough to wrap
    * inner
  * second

    kgauge run   x

  1. number
";
        assert_eq!(text(markdown, 30), expected);
    }

    #[test]
    fn a_wide_table_becomes_paragraphs() {
        let markdown = "\
| key | value | default | description |
|---|---|---|---|
| `acks` | `0`, `1`, `all` | `all` | Which replicas must have the batch. |
| `one` | count |  | None. |
";
        let expected = "  acks (value: 0, 1, all;
    default: all)
      Which replicas must have
      the batch.
  one (value: count)
      None.
";
        assert_eq!(text(markdown, 30), expected);
    }

    #[test]
    fn narrow_names_stay_beside_their_texts() {
        let markdown = "\
| status | meaning |
|---|---|
| 0 | success |
| 130 | interrupted; the report is still written |
";
        let expected = "  0       success
  130     interrupted; the
          report is still
          written
";
        assert_eq!(text(markdown, 30), expected);
    }

    #[test]
    fn lone_marks_are_letters() {
        assert_eq!(plain("2 * 3 [x] `y"), "2 * 3 [x] `y");
    }
}
