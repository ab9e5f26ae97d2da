//! Sentences broken into lines of a terminal, with a hanging indent.

use crate::clean::{columns, one_line};

/// Breaks a text at spaces so that no line is wider than `width`; the first line starts with
/// `first`, the others with `rest`. A word wider than a line has its own line and is not cut: it
/// may be a path.
pub(crate) fn wrap(text: &str, width: usize, first: &str, rest: &str) -> Vec<String> {
    let text = one_line(text);
    let mut lines = Vec::new();
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && columns(&line) + 1 + columns(word) > width {
            lines.push(std::mem::replace(&mut line, rest.to_owned()));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    if !empty || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// Clauses with a dot between them, as many on a line as fit; the lines after the first start with `rest`.
pub(super) fn wrap_clauses(clauses: &[String], width: usize, rest: &str) -> Vec<String> {
    const DOT: &str = " · ";
    let mut lines: Vec<String> = Vec::new();
    for clause in clauses {
        let clause = one_line(clause);
        match lines.last_mut() {
            Some(line) if columns(line) + columns(DOT) + columns(&clause) <= width => {
                line.push_str(DOT);
                line.push_str(&clause);
            }
            Some(_) => lines.extend(wrap(&clause, width, rest, rest)),
            None => lines.extend(wrap(&clause, width, "", rest)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_hang() {
        assert_eq!(
            wrap("one two three four", 12, "! ", "  "),
            ["! one two", "  three four"]
        );
    }

    #[test]
    fn a_long_path_is_not_cut() {
        assert_eq!(
            wrap("see /a/very/long/path", 10, "", "  "),
            ["see", "  /a/very/long/path"]
        );
    }

    #[test]
    fn clauses_stay_whole_where_a_line_takes_them() {
        let clauses = ["one two", "three", "four five"].map(str::to_owned);
        assert_eq!(
            wrap_clauses(&clauses, 80, "  "),
            ["one two · three · four five"]
        );
        assert_eq!(
            wrap_clauses(&clauses, 16, "  "),
            ["one two · three", "  four five"]
        );
        assert_eq!(wrap_clauses(&[], 16, "  "), [""; 0]);
    }
}
