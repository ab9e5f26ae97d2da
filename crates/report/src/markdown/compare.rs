//! A comparison as Markdown for a pull request's comment: what differs between the runs, how they stand to each
//! other, and every figure, as far as a comment holds them.

use super::escape::escape;
use crate::compare::{self, CellView, CompareView, Group, Sentence, Tone};
use crate::format;
use crate::view::Level;

/// GitHub takes comments of up to 65,536 characters; bytes are never fewer.
const BYTES_MAX: usize = 60_000;
/// Tables with more rows are folded.
const ROWS_OPEN_MAX: usize = 30;

/// How much is shown. What is left out stands in `comparison.html`, and the text says so.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// Rows of all tables.
    rows: usize,
    /// Entries of a list.
    items: usize,
    /// Letters of one text.
    letters: usize,
    /// Runs beside the baseline.
    runs: usize,
}

/// Tried one after the other until the text fits. With the last it always does: some forty texts of 60 letters, each
/// of which takes at most 5 bytes more.
const LIMITS: [Limits; 4] = [
    Limits {
        rows: 400,
        items: 40,
        letters: 2_000,
        runs: 31,
    },
    Limits {
        rows: 120,
        items: 20,
        letters: 600,
        runs: 31,
    },
    Limits {
        rows: 40,
        items: 10,
        letters: 200,
        runs: 8,
    },
    Limits {
        rows: 6,
        items: 3,
        letters: 60,
        runs: 2,
    },
];

/// The whole text, ending with a line break.
pub(crate) fn text(view: &CompareView) -> String {
    let mut texts = LIMITS.into_iter().map(|limits| {
        let mut writer = Writer {
            limits,
            rows_left: limits.rows,
            out: String::new(),
        };
        writer.write(view);
        writer.out
    });
    let found = texts.find(|text| text.len() <= BYTES_MAX);
    // Only reached if the arithmetic above were wrong: then the least that can be said.
    found.unwrap_or_else(|| "The comparison is too long for a comment.\n".to_owned())
}

/// Text under construction.
struct Writer {
    limits: Limits,
    rows_left: usize,
    out: String,
}

impl Writer {
    fn write(&mut self, view: &CompareView) {
        let title = self.escaped(&view.title);
        self.line(&format!("### {title}"));
        self.gap();
        let grave = |sentence: &&Sentence| sentence.level == Level::Grave;
        self.sentences(view.sentences.iter().filter(grave));
        self.sentences(view.differing.iter());
        for answer in view.answers.iter().take(self.limits.items) {
            let answer = self.escaped(answer);
            self.line(&format!("- **{answer}**"));
        }
        self.more(view.answers.len().saturating_sub(self.limits.items), "runs");
        self.gap();
        let rows = view.groups.iter().flat_map(|group| &group.parts);
        let rows: usize = rows.map(|part| part.rows.len()).sum();
        if rows > ROWS_OPEN_MAX {
            self.line(&format!("<details><summary>{rows} figures</summary>"));
            self.gap();
            self.groups(view);
            self.line("</details>");
            self.gap();
        } else {
            self.groups(view);
        }
        self.sentences(view.sentences.iter().filter(|sentence| !grave(sentence)));
        for (mark, words) in &view.marks {
            let sign = match compare::mark_sign(*mark) {
                "" => "n=1",
                sign => sign,
            };
            let sign = self.escaped(sign);
            self.line(&format!("- {sign}: {words}"));
        }
        self.gap();
        let method = escape(&view.method, 2_000);
        self.line(&format!("<sub>{method}</sub>"));
    }

    fn escaped(&self, text: &str) -> String {
        escape(text, self.limits.letters)
    }

    fn line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    /// A blank line, never two: it ends what stands above.
    fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn more(&mut self, left_out: usize, what: &str) {
        if left_out > 0 {
            let count = format::count(left_out as u64);
            self.line(&format!("- and {count} more {what} in `comparison.html`"));
        }
    }

    fn sentences<'a>(&mut self, sentences: impl Iterator<Item = &'a Sentence>) {
        let mut left_out = 0;
        for (index, sentence) in sentences.enumerate() {
            if index >= self.limits.items {
                left_out += 1;
                continue;
            }
            let word = match sentence.level {
                Level::Note => "Note",
                Level::Caution => "Caution",
                Level::Grave => "Important",
            };
            let words = self.escaped(&sentence.words);
            self.line(&format!("> **{word}:** {words}"));
            self.gap();
        }
        self.more(left_out, "sentences");
        self.gap();
    }

    /// Positions of the runs that are shown, the baseline among them.
    fn shown(&self, view: &CompareView) -> Vec<usize> {
        let others = (0..view.heads.len()).filter(|index| *index != view.baseline);
        let mut shown: Vec<usize> = others.take(self.limits.runs).collect();
        shown.push(view.baseline);
        shown.sort_unstable();
        shown
    }

    fn groups(&mut self, view: &CompareView) {
        let shown = self.shown(view);
        let mut left_out = 0;
        for group in &view.groups {
            let rows: usize = group.parts.iter().map(|part| part.rows.len()).sum();
            if rows > self.rows_left {
                left_out += rows;
                self.rows_left = 0;
                continue;
            }
            self.rows_left -= rows;
            self.group(view, group, &shown);
        }
        self.more(left_out, "figures");
        self.more(view.heads.len().saturating_sub(shown.len()), "runs");
        self.gap();
    }

    fn group(&mut self, view: &CompareView, group: &Group, shown: &[usize]) {
        let title = self.escaped(&group.title);
        self.line(&format!("**{title}**"));
        self.gap();
        let mut head = "| |".to_owned();
        for index in shown {
            let label = view.heads.get(*index).map_or("", |head| &head.label);
            let label = self.escaped(label);
            let baseline = if *index == view.baseline {
                ", baseline"
            } else {
                ""
            };
            head.push_str(&format!(" {label}{baseline} |"));
        }
        self.line(&head);
        self.line(&format!("| --- |{}", " ---: |".repeat(shown.len())));
        for part in &group.parts {
            for row in &part.rows {
                let flow = match &part.flow {
                    Some(flow) => format!("{} ", self.escaped(flow)),
                    None => String::new(),
                };
                let mut line = format!("| {flow}{} |", row.name);
                for index in shown {
                    let cell = row.cells.get(*index);
                    let cell = cell.map_or_else(String::new, |cell| self.cell(cell));
                    line.push_str(&format!(" {cell} |"));
                }
                self.line(&line);
            }
        }
        self.gap();
    }

    /// `1.28 M ± 2.4 %<br>**0.900 × slower** (0.880 to 0.920)`
    fn cell(&self, cell: &CellView) -> String {
        let signs = compare::signs(&cell.marks);
        let figure = format!("{}{signs} {}", cell.figure, cell.spread);
        let mut text = self.escaped(figure.trim_end());
        let Some(against) = &cell.against else {
            return text;
        };
        let said = match (against.ratio.as_str(), against.word) {
            (_, kgauge_results::compare::AgainstWord::NotJudged) => return text,
            ("", word) => word.as_str().to_owned(),
            (ratio, word) => format!("{ratio} × {}", word.as_str()),
        };
        let said = match against.tone {
            Tone::Better | Tone::Worse => format!("**{said}**"),
            Tone::Same | Tone::Silent => said,
        };
        text.push_str("<br>");
        text.push_str(&said);
        if let Some(interval) = &against.interval {
            text.push_str(&format!(" ({interval})"));
        }
        text
    }
}
