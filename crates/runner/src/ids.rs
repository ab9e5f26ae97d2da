//! Names of runs and the folders that they go to.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
pub use kgauge_observe::unix_ms;

use crate::error::RunError;

/// Where run folders go by default.
pub const RUNS: &str = "kgauge-runs";

/// A number that differs from run to run, for seeds and names.
pub fn fresh_number() -> u64 {
    // Half of it is the time, half the process: two runs that start in the same nanosecond differ too.
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or(Duration::ZERO);
    let text = format!("{} {}", since.as_nanos(), std::process::id());
    kgauge_scenario::derive_seed(0, &text)
}

/// A run's name: the time of its start, to find it by, and four random digits, to tell it apart.
pub(crate) fn run_id(started_unix_ms: u64, number: u64) -> String {
    let at = i64::try_from(started_unix_ms)
        .ok()
        .and_then(|ms| Timestamp::from_millisecond(ms).ok());
    let at = at.unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{}-{:04x}", at.strftime("%Y%m%d-%H%M%S"), number & 0xffff)
}

/// The folder of a run: `--out`, or one with the run's name.
pub(crate) fn run_dir(out: Option<&Path>, name: &str, run_id: &str) -> Result<PathBuf, RunError> {
    match out {
        Some(out) => {
            check_name(out)?;
            Ok(out.to_owned())
        }
        None => Ok(Path::new(RUNS).join(format!("{name}-{run_id}"))),
    }
}

/// The folder of a command with several runs, which is empty or does not exist, and the seed of these runs: that of the
/// user or a new one. `name` is what the user calls the command, `question` what is run.
///
/// # Errors
/// The name or the folder cannot be used.
pub fn parent_dir(
    out: Option<&Path>,
    name: Option<&str>,
    question: &str,
    seed: Option<u64>,
) -> Result<(PathBuf, u64), RunError> {
    let number = fresh_number();
    let id = run_id(unix_ms(), number);
    let name = match name {
        Some(name) => name_slug(name)?,
        None => question.to_owned(),
    };
    let dir = run_dir(out, &name, &id)?;
    check_free(&dir)?;
    Ok((dir, seed.unwrap_or(number)))
}

/// Refuses what is there already, but for an empty folder.
pub(crate) fn check_free(dir: &Path) -> Result<(), RunError> {
    let is_free = match dir.read_dir() {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => !dir.exists(),
    };
    match is_free {
        true => Ok(()),
        false => Err(RunError::input(format!(
            "{} is not empty; name another folder",
            dir.display()
        ))),
    }
}

/// Removes the folder of a run that did not begin if it is empty, and then the default folder around it. What cannot be
/// removed holds something else.
pub fn remove_unused(dir: &Path) {
    let parent = dir.parent().filter(|parent| *parent == Path::new(RUNS));
    for dir in [Some(dir), parent].into_iter().flatten() {
        let _ = std::fs::remove_dir(dir);
    }
}

/// The longest name of a run, in characters.
const NAME_CHARS_MAX: usize = 80;

/// Checks a name that the user gives a run, and returns the start of its folder's name.
///
/// # Errors
/// The name is too long, has control characters, or has no letter or digit.
pub fn name_slug(name: &str) -> Result<String, RunError> {
    let slug = slug(name, NAME_CHARS_MAX);
    let is_sound = !slug.is_empty() && !name.contains(char::is_control);
    match is_sound && name.chars().count() <= NAME_CHARS_MAX {
        true => Ok(slug),
        false => Err(RunError::input(format!(
            "--name: use at most {NAME_CHARS_MAX} characters, with an ASCII letter or digit among them"
        ))),
    }
}

/// A text for a file name: letters, digits, `.`, `_` and single dashes.
pub(crate) fn slug(text: &str, bytes_max: usize) -> String {
    let mut slug = String::new();
    for letter in text.chars() {
        match letter.is_ascii_alphanumeric() || "._".contains(letter) {
            true => slug.push(letter),
            false if !slug.ends_with('-') => slug.push('-'),
            false => {}
        }
        if slug.len() >= bytes_max {
            break;
        }
    }
    slug.trim_matches(['-', '.']).to_owned()
}

/// Refuses a path that is not UTF-8: it goes into JSON and into settings of processes.
pub(crate) fn check_name(path: &Path) -> Result<(), RunError> {
    if path.to_str().is_some() {
        return Ok(());
    }
    let words = format!(
        "the name of the folder {} is not UTF-8; choose another one",
        path.display()
    );
    Err(RunError::input(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_named_by_its_start_in_utc() {
        // 2026-11-20 10:15:00 UTC
        assert_eq!(run_id(1_795_169_700_000, 0x1_5f3a), "20261120-101500-5f3a");
    }

    #[test]
    fn several_runs_need_an_empty_folder() {
        let dir = tempfile::tempdir().unwrap();
        let parent = |name| parent_dir(Some(dir.path()), name, "latency", Some(7));
        assert_eq!(parent(Some("before")).unwrap(), (dir.path().into(), 7));
        assert!(parent(Some("/")).is_err());
        std::fs::write(dir.path().join("a"), "").unwrap();
        let error = parent(None).unwrap_err().to_string();
        assert!(
            error.ends_with("is not empty; name another folder"),
            "{error}"
        );
        let (default, _) = parent_dir(None, None, "latency", None).unwrap();
        assert!(default.starts_with(RUNS), "{default:?}");
    }

    #[test]
    fn a_name_becomes_a_plain_file_name() {
        assert_eq!(name_slug("before: 20 ms").unwrap(), "before-20-ms");
        assert_eq!(name_slug("../../etc").unwrap(), "etc");
        let long = "x".repeat(81);
        for wrong in ["", "..", "/", "a\nb", long.as_str()] {
            assert!(name_slug(wrong).is_err(), "{wrong:?}");
        }
    }
}
