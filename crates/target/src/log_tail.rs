//! Log files: their last lines, for errors, and the removal of empty ones.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

const LINES_MAX: usize = 15;
const BYTES_MAX: u64 = 16 * 1024;

/// The last lines of the file, with unprintable characters escaped; empty if there is no file.
pub(crate) fn log_tail(path: &Path) -> String {
    last(path, |_| true)
}

/// The last lines of a Java program's log that describe an error; otherwise the last lines.
pub(crate) fn log_lines(path: &Path) -> String {
    let errors = last(path, |line| {
        let is_frame =
            line.trim_start().starts_with("at ") || line.trim_start().starts_with("... ");
        let words = [
            "ERROR",
            "FATAL",
            "Exception",
            "Caused by",
            "Unrecognized",
            "Error:",
            "Error ",
        ];
        !is_frame && words.iter().any(|word| line.contains(word))
    });
    if errors.is_empty() {
        log_tail(path)
    } else {
        errors
    }
}

fn last(path: &Path, is_relevant: impl Fn(&str) -> bool) -> String {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|mut file| {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(BYTES_MAX)))?;
        file.take(BYTES_MAX).read_to_end(&mut bytes)
    });
    if read.is_err() {
        return String::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty() && is_relevant(line))
        .collect();
    let last = &lines[lines.len().saturating_sub(LINES_MAX)..];
    let printable = |line: &&str| {
        line.chars()
            .map(|c| if c.is_control() && c != '\t' { '?' } else { c })
            .collect::<String>()
    };
    last.iter().map(printable).collect::<Vec<_>>().join("\n")
}

/// Removes an empty log, and its folder if nothing else is in it.
pub(crate) fn remove_empty_log(log_file: &Path) {
    let is_empty = fs::metadata(log_file).is_ok_and(|facts| facts.is_file() && facts.len() == 0);
    let Some(dir) = log_file.parent().filter(|_| is_empty) else {
        return;
    };
    let is_alone = fs::read_dir(dir).is_ok_and(|entries| entries.count() == 1);
    if is_alone {
        let _ = fs::remove_file(log_file);
        let _ = fs::remove_dir(dir);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_that_say_what_went_wrong_come_first() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        std::fs::write(
            &path,
            "starting\nERROR bad x (kafka)\n\tat a.b.C(D.java:1)\nclosed\n",
        )
        .unwrap();
        assert_eq!(log_lines(&path), "ERROR bad x (kafka)");
        std::fs::write(&path, "starting\nclosed\n").unwrap();
        assert_eq!(log_lines(&path), "starting\nclosed");
    }

    #[test]
    fn the_last_lines_are_shown_without_control_characters() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        assert_eq!(log_tail(&path), "");
        let text: String = (0..100)
            .map(|number| format!("line {number}\n\n"))
            .collect();
        std::fs::write(&path, text + "\x1b[31mred\n").unwrap();
        let tail = log_tail(&path);
        assert_eq!(tail.lines().count(), LINES_MAX);
        assert!(
            tail.starts_with("line 86\n") && tail.ends_with("?[31mred"),
            "{tail}"
        );
        std::fs::write(&path, vec![b'x'; 100_000]).unwrap();
        assert_eq!(log_tail(&path).len(), 16 * 1024);
    }
}
