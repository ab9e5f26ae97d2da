//! Errors in a scenario, collected: each with its position, its path and its fix.

use std::fmt;

use crate::files::Files;

/// One error and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Name of the text that contains it: a file's path, or `--set`.
    pub source: String,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// Where in the scenario, such as `flows[0].settings.batch.sise`; empty for the whole.
    pub path: String,
    /// What is wrong.
    pub what: String,
    /// How to fix it.
    pub cure: String,
    /// The source line, or a window of it, and where in it the mark goes.
    excerpt: Excerpt,
}

impl Problem {
    /// Hides the source text.
    pub(crate) fn hide_line(&mut self) {
        self.excerpt = Excerpt {
            text: "(not shown)".to_owned(),
            mark_column: 0,
            mark_width: 1,
        };
    }
}

/// All errors of one text. `Display` shows each of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    list: Vec<Problem>,
    /// There are more than [`Problems::SHOWN_MAX`].
    more: bool,
}

impl std::error::Error for Problems {}

impl Problems {
    /// The maximum number of errors kept: a file with thousands of unknown keys must not produce a
    /// megabyte of messages.
    pub const SHOWN_MAX: usize = 100;

    /// The errors, in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.list.iter()
    }

    /// The number of errors kept.
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// True when nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// True when no further error will be kept; records that there is one.
    ///
    /// Called before a message is built, so that a flood of errors costs little.
    pub(crate) fn refuses_more(&mut self) -> bool {
        let is_full = self.list.len() >= Problems::SHOWN_MAX;
        self.more |= is_full;
        is_full
    }

    /// Adds an error, unless the same one is already recorded for the same place.
    pub(crate) fn add(&mut self, problem: Problem) {
        if !self.list.contains(&problem) && !self.refuses_more() {
            self.list.push(problem);
        }
    }

    pub(crate) fn append(&mut self, other: Problems) {
        for problem in other.list {
            self.add(problem);
        }
        self.more |= other.more;
    }

    /// Sorts the errors by their position in the texts.
    pub(crate) fn sort(&mut self) {
        // Stable, and by source as first met: the file comes before `--set`.
        let order: Vec<String> = self
            .list
            .iter()
            .map(|problem| problem.source.clone())
            .collect();
        let rank = |source: &str| order.iter().position(|other| other == source);
        self.list
            .sort_by_key(|problem| (rank(&problem.source), problem.line, problem.column));
    }

    /// `Ok` when nothing is wrong.
    pub(crate) fn into_result<T>(mut self, value: T) -> Result<T, Problems> {
        if self.is_empty() {
            return Ok(value);
        }
        self.sort();
        Err(self)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}:{}: ",
            printable(&self.source),
            self.line,
            self.column
        )?;
        if !self.path.is_empty() {
            write!(f, "{}: ", printable(&self.path))?;
        }
        writeln!(f, "{}", printable(&self.what))?;
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        writeln!(f, " {number} | {}", self.excerpt.text)?;
        let indent = " ".repeat(self.excerpt.mark_column);
        let mark = "^".repeat(self.excerpt.mark_width);
        writeln!(f, " {margin} | {indent}{mark}")?;
        writeln!(f, " {margin} = {}", printable(&self.cure))
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.list {
            writeln!(f, "{problem}")?;
        }
        match (self.count(), self.more) {
            (1, false) => write!(f, "1 error"),
            (count, false) => write!(f, "{count} errors"),
            (count, true) => write!(f, "more than {count} errors"),
        }
    }
}

/// Escapes control characters, so that the text cannot control the terminal.
fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// A piece of a source line that fits a terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Excerpt {
    text: String,
    /// Characters before the mark.
    mark_column: usize,
    /// At least 1.
    mark_width: usize,
}

/// A position in one of the [`SourceTexts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceLocation {
    /// Index into [`SourceTexts`].
    pub(crate) source: usize,
    /// From 1.
    pub(crate) line: usize,
    /// From 1.
    pub(crate) column: usize,
    /// Characters; at least 1 is marked.
    pub(crate) width: usize,
}

/// The texts that places point into: the scenario file first, then each `--set`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SourceTexts {
    /// Access to files that a text names.
    pub(crate) files: Files,
    list: Vec<Source>,
}

#[derive(Clone, Debug, PartialEq)]
struct Source {
    name: String,
    text: String,
}

impl SourceTexts {
    /// Creates sources without a text, with access to files.
    pub(crate) fn with(files: Files) -> SourceTexts {
        SourceTexts {
            files,
            list: Vec::new(),
        }
    }

    /// Adds a text and returns its index.
    pub(crate) fn add(&mut self, name: &str, text: &str) -> usize {
        self.list.push(Source {
            name: name.to_owned(),
            text: text.to_owned(),
        });
        self.list.len() - 1
    }

    pub(crate) fn name(&self, index: usize) -> &str {
        self.list.get(index).map_or("", |source| &source.name)
    }

    pub(crate) fn text(&self, index: usize) -> &str {
        self.list.get(index).map_or("", |source| &source.text)
    }

    pub(crate) fn problem(
        &self,
        place: SourceLocation,
        path: &str,
        what: String,
        cure: String,
    ) -> Problem {
        Problem {
            source: self.name(place.source).to_owned(),
            line: saturate(place.line.max(1)),
            column: saturate(place.column.max(1)),
            path: path.to_owned(),
            what,
            cure,
            excerpt: self.excerpt(place),
        }
    }

    fn excerpt(&self, place: SourceLocation) -> Excerpt {
        /// Characters of a line that are shown.
        const WINDOW: usize = 96;
        /// The maximum number of characters before the mark.
        const BEFORE_MARK: usize = 60;
        let text = self.text(place.source);
        let line = lines(text).nth(place.line.saturating_sub(1)).unwrap_or("");
        let column = place.column.saturating_sub(1);
        let first = column.saturating_sub(BEFORE_MARK);
        let one_wide = |c: char| if c.is_control() { ' ' } else { c };
        let shown: String = line
            .chars()
            .skip(first)
            .take(WINDOW)
            .map(one_wide)
            .collect();
        let mark_column = column - first;
        let room = shown.chars().count().saturating_sub(mark_column).max(1);
        Excerpt {
            text: shown,
            mark_column,
            mark_width: place.width.clamp(1, room),
        }
    }
}

/// The lines of a text as YAML counts them: ended by LF, CR or CR LF.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n')
        .flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

fn saturate(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str, line: usize, column: usize, width: usize) -> Problem {
        let mut sources = SourceTexts::default();
        let source = sources.add("a.yaml", text);
        let place = SourceLocation {
            source,
            line,
            column,
            width,
        };
        sources.problem(place, "flows[0]", "it is wrong".into(), "mend it".into())
    }

    #[test]
    fn a_problem_shows_its_line_and_marks_the_place() {
        let shown = problem("one: 1\n  two: 2\n", 2, 3, 3).to_string();
        let expected = "a.yaml:2:3: flows[0]: it is wrong\n \
                        2 |   two: 2\n   |   ^^^\n   = mend it\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_long_line_is_shown_in_part_and_escapes_do_not_reach_the_terminal() {
        let line = format!("{}\u{1b}[31mhere{}", "x".repeat(5_000), "y".repeat(5_000));
        let shown = problem(&line, 1, 5_006, 4).to_string();
        assert!(!shown.contains('\u{1b}'));
        assert!(
            shown.lines().all(|line| line.chars().count() < 110),
            "{shown}"
        );
        let lines: Vec<&str> = shown.lines().collect();
        let mark = lines[2].find('^').unwrap();
        assert_eq!(&lines[1][mark..mark + 4], "here");
    }

    #[test]
    fn carriage_returns_end_lines_too() {
        assert_eq!(
            lines("a\r\nb\rc\nd").collect::<Vec<_>>(),
            ["a", "b", "c", "d"]
        );
    }

    #[test]
    fn a_flood_of_problems_is_not_kept() {
        let mut problems = Problems::default();
        for line in 1..=1_000 {
            problems.add(problem("", line, 1, 1));
            problems.add(problem("", line, 1, 1));
        }
        assert_eq!(problems.iter().count(), Problems::SHOWN_MAX);
        assert!(problems.to_string().ends_with("more than 100 errors"));
    }
}
