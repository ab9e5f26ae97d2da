//! Runs side by side: from run folders to a comparison, and to its files.

use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use kgauge_analyze::compare::{BetweenRuns, Choices};
use kgauge_analyze::{Comparison, RunToCompare, Summary, compare_sides};
use kgauge_report::{comparison_json, render_comparison_html, text};
use kgauge_results::{FolderError, RunRead};

use crate::error::{OrRunError, RunError};

/// The page of a comparison, in its folder.
pub const COMPARISON_PAGE: &str = "comparison.html";
/// The same for other programs.
const COMPARISON_JSON: &str = "comparison.json";

/// Run folders to compare.
#[derive(Debug, Clone)]
pub struct ComparisonRequest {
    /// The sides with their folders, each as `DIR` or `NAME=DIR`.
    pub sides: Vec<Vec<PathBuf>>,
    /// Position of the side that the others are compared with, from 0.
    pub baseline: usize,
    /// The spread between runs, where several runs of both sides do not show it.
    pub between_runs: BetweenRuns,
    /// Whether the embedded cluster may be next to other targets, without ratios.
    pub allows_unlike: bool,
}

/// A run and its figures.
#[derive(Debug)]
pub struct SummarizedRun {
    /// Its folder.
    pub read: RunRead,
    /// Its figures.
    pub summary: Summary,
}

impl SummarizedRun {
    fn open(dir: &Path) -> Result<Self, FolderError> {
        let read = RunRead::open(dir)?;
        let summary = Summary::of(&read);
        Ok(Self { read, summary })
    }

    fn to_compare(&self) -> RunToCompare<'_> {
        RunToCompare {
            run: &self.read,
            summary: &self.summary,
        }
    }
}

impl ComparisonRequest {
    /// Reads the folders and compares them.
    ///
    /// # Errors
    /// A folder cannot be read, or the runs cannot be compared.
    pub fn compare(&self) -> Result<Comparison, RunError> {
        let sides: Vec<Vec<NamedDir>> = self
            .sides
            .iter()
            .map(|side| side.iter().map(|dir| NamedDir::of(dir)).collect())
            .collect();
        let names: Vec<String> = sides.iter().map(|side| side_name(side)).collect();
        let runs: Result<Vec<Vec<SummarizedRun>>, FolderError> = sides
            .iter()
            .map(|side| {
                side.iter()
                    .map(|run| SummarizedRun::open(&run.dir))
                    .collect()
            })
            .collect();
        let choices = Choices {
            baseline: self.baseline,
            between_runs: self.between_runs,
            names: &names,
        };
        let comparison = compared(&runs.or_bad_input()?, choices)?;
        match comparison.unlike().filter(|_| !self.allows_unlike) {
            Some(unlike) => Err(RunError::input(format!(
                "these runs cannot be compared: {}\n  use `--allow-unlike` to show their figures \
                 side by side, without ratios",
                text::comparison::difference(unlike)
            ))),
            None => Ok(comparison),
        }
    }
}

/// Compares runs with the first one. Without names the runs are called by their targets.
///
/// # Errors
/// The runs cannot be compared.
pub fn compare_runs(runs: Vec<SummarizedRun>, names: &[String]) -> Result<Comparison, RunError> {
    let sides: Vec<Vec<SummarizedRun>> = runs.into_iter().map(|run| vec![run]).collect();
    let choices = Choices {
        names,
        ..Choices::default()
    };
    compared(&sides, choices)
}

fn compared(sides: &[Vec<SummarizedRun>], choices: Choices<'_>) -> Result<Comparison, RunError> {
    let sides: Vec<Vec<RunToCompare<'_>>> = sides
        .iter()
        .map(|side| side.iter().map(SummarizedRun::to_compare).collect())
        .collect();
    let why = |error| RunError::input(text::comparison::error(&error));
    compare_sides(&sides, choices).map_err(why)
}

/// Writes page and JSON of a comparison to a folder. Returns the page's path.
///
/// # Errors
/// A file cannot be written.
pub fn write_comparison(comparison: &Comparison, dir: &Path) -> Result<PathBuf, RunError> {
    let page = dir.join(COMPARISON_PAGE);
    let json = || serde_json::to_string_pretty(&comparison_json(comparison)?);
    let write = || -> std::io::Result<()> {
        std::fs::create_dir_all(dir)?;
        std::fs::write(&page, render_comparison_html(comparison))?;
        std::fs::write(dir.join(COMPARISON_JSON), json()? + "\n")
    };
    let written = write();
    written
        .map_err(|error| RunError::System(format!("cannot write {}: {error}", page.display())))?;
    Ok(page)
}

/// A run folder and its name.
struct NamedDir {
    name: Option<String>,
    dir: PathBuf,
}

impl NamedDir {
    /// `DIR` or `NAME=DIR`.
    fn of(argument: &Path) -> NamedDir {
        let text = argument.to_string_lossy();
        let named = text.split_once('=').filter(|(name, _)| {
            !argument.exists() && !name.is_empty() && !name.contains(MAIN_SEPARATOR)
        });
        match named {
            Some((name, dir)) => NamedDir {
                name: Some(name.to_owned()),
                dir: PathBuf::from(dir),
            },
            None => NamedDir {
                name: RunRead::head(argument)
                    .ok()
                    .and_then(|head| head.label.name),
                dir: argument.to_owned(),
            },
        }
    }

    fn folder_name(&self) -> String {
        let whole = self.dir.canonicalize().unwrap_or_else(|_| self.dir.clone());
        let name = whole.file_name().unwrap_or(whole.as_os_str());
        name.to_string_lossy().into_owned()
    }
}

/// The name of a side: the given one, that of its first run, its folder, or the common beginning of its folders.
fn side_name(side: &[NamedDir]) -> String {
    let Some(first) = side.first() else {
        return String::new();
    };
    if let Some(name) = &first.name {
        return name.clone();
    }
    let folder = first.folder_name();
    let common = side.iter().skip(1).fold(folder.clone(), |common, run| {
        let letters = common
            .chars()
            .zip(run.folder_name().chars().collect::<Vec<_>>());
        letters
            .take_while(|(one, other)| one == other)
            .map(|(letter, _)| letter)
            .collect()
    });
    let common = match side.len() {
        1 => common.as_str(),
        // `old1`, `old2` and `old10` are runs of `old`.
        _ => common
            .trim_end_matches(|letter: char| letter.is_ascii_digit() || "-_.".contains(letter)),
    };
    match common {
        "" => folder,
        common => common.to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn name(dirs: &[&str]) -> String {
        let dirs: Vec<NamedDir> = dirs
            .iter()
            .map(|dir| NamedDir::of(Path::new(dir)))
            .collect();
        side_name(&dirs)
    }

    #[test]
    fn a_side_is_called_by_its_name_or_its_folders() {
        assert_eq!(name(&["runs/l20"]), "l20");
        assert_eq!(name(&["linger 20=runs/l20"]), "linger 20");
        assert_eq!(name(&["runs/a=b"]), "a=b", "a folder may have such a name");
        assert_eq!(name(&["old1", "old2", "old10"]), "old");
        assert_eq!(name(&["new=old1", "old2"]), "new");
        assert_eq!(name(&["a", "b"]), "a");
    }

    #[test]
    fn a_folder_without_a_run_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let request = ComparisonRequest {
            sides: vec![vec![dir.path().to_owned()], vec![dir.path().to_owned()]],
            baseline: 0,
            between_runs: BetweenRuns::Usual,
            allows_unlike: false,
        };
        assert!(matches!(request.compare(), Err(RunError::Input(_))));
    }
}
