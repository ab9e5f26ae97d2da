//! A comparison as Markdown for a pull request's comment: what differs between the runs, how they stand to each
//! other, and every figure, as far as a comment holds them.

use kgauge_analyze::compare::DifferenceVerdict;

use super::escape::escape;
use super::lines::{Lines, first_that_fits};
use crate::compare::{self, CellView, CompareView, Sentence, Tone, TrialRows};
use crate::view::Severity;

/// Tables with more rows are folded.
const ROWS_OPEN_MAX: usize = 30;

/// Limits of what is shown. The text refers to `comparison.html` for the rest.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// Rows of all tables.
    rows: usize,
    /// Entries of a list.
    items: usize,
    /// Letters of one text.
    letters: usize,
    /// Runs next to the baseline.
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
    let texts = LIMITS.into_iter().map(|limits| {
        let mut writer = Writer {
            limits,
            rows_left: limits.rows,
            out: Lines::new(limits.letters, "comparison.html"),
        };
        writer.write(view);
        writer.out.finish()
    });
    first_that_fits(texts, "comparison")
}

/// Text under construction.
struct Writer {
    limits: Limits,
    rows_left: usize,
    out: Lines,
}

impl Writer {
    fn write(&mut self, view: &CompareView) {
        let title = self.out.escaped(&view.title);
        self.out.line(&format!("### {title}"));
        self.out.gap();
        let grave = |sentence: &&Sentence| sentence.level == Severity::Grave;
        self.sentences(view.sentences.iter().filter(grave));
        for sentence in &view.counts {
            let words = self.out.escaped(&sentence.words);
            match sentence.level {
                Severity::Note => self.out.line(&words),
                Severity::Caution | Severity::Grave => self.out.quoted(sentence.level, &words),
            }
            self.out.gap();
        }
        self.sentences(view.differing.iter());
        for answer in view.answers.iter().take(self.limits.items) {
            let head = self.out.escaped(&answer.head);
            self.out.line(&format!("- **{head}**"));
            for figure in answer.figures.iter().take(self.limits.items) {
                let figure = self.out.escaped(figure);
                self.out.line(&format!("  - {figure}"));
            }
        }
        self.out
            .more(view.answers.len().saturating_sub(self.limits.items), "runs");
        self.out.gap();
        let rows = view.groups.iter().flat_map(|group| &group.parts);
        let rows: usize = rows.map(|part| part.rows.len()).sum();
        if rows > ROWS_OPEN_MAX {
            self.out
                .line(&format!("<details><summary>{rows} figures</summary>"));
            self.out.gap();
            self.groups(view);
            self.out.line("</details>");
            self.out.gap();
        } else {
            self.groups(view);
        }
        self.sentences(view.sentences.iter().filter(|sentence| !grave(sentence)));
        for (mark, words) in &view.marks {
            let sign = match compare::mark_sign(*mark) {
                "" => "n=1",
                sign => sign,
            };
            let sign = self.out.escaped(sign);
            self.out.line(&format!("- {sign}: {words}"));
        }
        self.out.gap();
        if !view.between_runs.is_empty() {
            let words = escape(&view.between_runs, 2_000);
            self.out.line(&words);
            self.out.gap();
        }
        let method = escape(&view.method, 2_000);
        self.out.line(&format!("<sub>{method}</sub>"));
    }

    fn sentences<'a>(&mut self, sentences: impl Iterator<Item = &'a Sentence>) {
        let mut left_out = 0;
        for (index, sentence) in sentences.enumerate() {
            if index >= self.limits.items {
                left_out += 1;
                continue;
            }
            let words = self.out.escaped(&sentence.words);
            self.out.quoted(sentence.level, &words);
        }
        self.out.more(left_out, "sentences");
        self.out.gap();
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
        self.out.more(left_out, "figures");
        self.out
            .more(view.heads.len().saturating_sub(shown.len()), "runs");
        self.out.gap();
    }

    fn group(&mut self, view: &CompareView, group: &TrialRows, shown: &[usize]) {
        let title = self.out.escaped(&group.title);
        self.out.line(&format!("**{title}**"));
        self.out.gap();
        let mut head = "| |".to_owned();
        for index in shown {
            let label = view.heads.get(*index).map_or("", |head| &head.label);
            let label = self.out.escaped(label);
            let baseline = if *index == view.baseline {
                ", baseline"
            } else {
                ""
            };
            head.push_str(&format!(" {label}{baseline} |"));
        }
        self.out.line(&head);
        self.out
            .line(&format!("| --- |{}", " ---: |".repeat(shown.len())));
        for part in &group.parts {
            for row in &part.rows {
                let flow = match &part.flow {
                    Some(flow) => format!("{} ", self.out.escaped(flow)),
                    None => String::new(),
                };
                let mut line = format!("| {flow}{} |", row.name);
                for index in shown {
                    let cell = row.cells.get(*index);
                    let cell = cell.map_or_else(String::new, |cell| self.cell(cell));
                    line.push_str(&format!(" {cell} |"));
                }
                self.out.line(&line);
            }
        }
        self.out.gap();
    }

    /// `1.28 M ±2.4 %<br>**0.900× slower** (0.880 to 0.920)`
    fn cell(&self, cell: &CellView) -> String {
        let signs = compare::signs(&cell.marks);
        let figure = format!("{}{signs} {}", cell.figure, cell.spread);
        let mut text = self.out.escaped(figure.trim_end());
        let Some(against) = &cell.against else {
            return text;
        };
        if against.word == DifferenceVerdict::NotJudged {
            return text;
        }
        let verdict = match against.ratio.as_str() {
            "" => against.name.to_owned(),
            ratio => format!("{ratio}× {}", against.name),
        };
        text.push_str("<br>");
        match against.tone {
            Tone::Better | Tone::Worse => text.push_str(&format!("**{verdict}**")),
            Tone::Same | Tone::Open | Tone::Silent => text.push_str(&verdict),
        }
        if let Some(interval) = &against.interval_words() {
            text.push_str(&format!(" ({interval})"));
        }
        text
    }
}
