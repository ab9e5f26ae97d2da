//! `kgauge compare`: compares runs.

use std::path::{Path, PathBuf};

use anyhow::Context;
use kgauge_analyze::compare::{BetweenRuns, Choices, GateChoice, GateRequest, GateVerdict};
use kgauge_analyze::{Comparison, RunToCompare, Summary, compare_sides};
use kgauge_report::{
    TerminalStyle, comparison_json, gate_lines, render_comparison_html, render_comparison_markdown,
    render_comparison_terminal, text,
};
use kgauge_results::{FolderError, RunRead};

use crate::args::{Compare, CompareForm};
use crate::exit::{ExitStatus, OrStop, stop};
use crate::print;
use crate::report::write_file;
use crate::style::DetailArgs;

/// The page of a comparison.
pub(crate) const COMPARISON: &str = "comparison.html";

/// A run to compare.
pub(crate) struct ComparisonSide {
    pub(crate) read: RunRead,
    pub(crate) summary: Summary,
}

impl ComparisonSide {
    fn to_compare(&self) -> RunToCompare<'_> {
        RunToCompare {
            run: &self.read,
            summary: &self.summary,
        }
    }
}

/// Compares run folders.
pub(crate) fn folders(arguments: &Compare) -> anyhow::Result<ExitStatus> {
    let read = |dir: &PathBuf| {
        let read = RunRead::open(dir)?;
        let summary = Summary::of(&read);
        Ok(ComparisonSide { read, summary })
    };
    let sides = sides(arguments);
    let names: Vec<String> = sides.iter().map(|side| side_name(side)).collect();
    let runs: Result<Vec<Vec<ComparisonSide>>, FolderError> = sides
        .iter()
        .map(|side| side.iter().map(|run| read(&run.dir)).collect())
        .collect();
    let choices = Choices {
        baseline: arguments.baseline.saturating_sub(1),
        between_runs: match arguments.between_runs {
            Some(part) => BetweenRuns::Part(part),
            None => BetweenRuns::Usual,
        },
        names: &names,
    };
    let comparison = compared(&runs.or_bad_input()?, choices)?;
    if let Some(unlike) = comparison.unlike().filter(|_| !arguments.allow_unlike) {
        let why = text::comparison::difference(unlike);
        let words = format!(
            "these runs cannot be compared: {why}\n  use `--allow-unlike` to show their figures \
             side by side, without ratios"
        );
        return Err(stop(ExitStatus::BadInput, words));
    }
    match arguments.form {
        Some(form) => {
            let out = arguments.out.as_deref();
            match out.filter(|out| *out != Path::new("-")) {
                Some(file) => {
                    let style = arguments.detail.file_style();
                    write_file(file, &text(form, &comparison, style)?)?;
                }
                None => print::result(&text(form, &comparison, arguments.detail.style())?),
            }
        }
        None => match &arguments.out {
            Some(dir) => keep(&comparison, dir, arguments.json, arguments.detail)?,
            None => show(&comparison, arguments.json, arguments.detail)?,
        },
    }
    match arguments.fail_if_worse {
        Some(allowed) => Ok(gate(&comparison, allowed, &arguments.metric)),
        None => Ok(ExitStatus::Good),
    }
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
            !argument.exists() && !name.is_empty() && !name.contains(std::path::MAIN_SEPARATOR)
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

/// Each folder is a side. With `--with`, the folders before it are the first side.
fn sides(arguments: &Compare) -> Vec<Vec<NamedDir>> {
    let named = |dirs: &[PathBuf]| dirs.iter().map(|dir| NamedDir::of(dir)).collect();
    if arguments.with.sides.is_empty() {
        let dirs = arguments.dirs.iter();
        return dirs.map(|dir| vec![NamedDir::of(dir)]).collect();
    }
    let mut sides = vec![named(&arguments.dirs)];
    sides.extend(arguments.with.sides.iter().map(|side| named(side)));
    sides
}

/// Compares runs with the first one, writes page and JSON to a folder, and prints the table or the JSON. Without names
/// the runs are called by their targets.
pub(crate) fn compare(
    runs: Vec<ComparisonSide>,
    names: &[String],
    dir: &Path,
    json: bool,
    detail: DetailArgs,
) -> anyhow::Result<()> {
    let sides: Vec<Vec<ComparisonSide>> = runs.into_iter().map(|run| vec![run]).collect();
    let choices = Choices {
        names,
        ..Choices::default()
    };
    keep(&compared(&sides, choices)?, dir, json, detail)
}

fn compared(sides: &[Vec<ComparisonSide>], choices: Choices<'_>) -> anyhow::Result<Comparison> {
    let sides: Vec<Vec<RunToCompare<'_>>> = sides
        .iter()
        .map(|side| side.iter().map(ComparisonSide::to_compare).collect())
        .collect();
    let why = |error| stop(ExitStatus::BadInput, text::comparison::error(&error));
    compare_sides(&sides, choices).map_err(why)
}

/// A form that is one text; the table has the style.
fn text(
    form: CompareForm,
    comparison: &Comparison,
    style: TerminalStyle,
) -> anyhow::Result<String> {
    Ok(match form {
        CompareForm::Table => render_comparison_terminal(comparison, style),
        CompareForm::Html => render_comparison_html(comparison),
        CompareForm::Json => serde_json::to_string_pretty(&comparison_json(comparison)?)? + "\n",
        CompareForm::Markdown => render_comparison_markdown(comparison),
    })
}

fn keep(comparison: &Comparison, dir: &Path, json: bool, detail: DetailArgs) -> anyhow::Result<()> {
    let page = dir.join(COMPARISON);
    let write = || -> anyhow::Result<()> {
        std::fs::create_dir_all(dir)?;
        std::fs::write(&page, render_comparison_html(comparison))?;
        let text = serde_json::to_string_pretty(&comparison_json(comparison)?)? + "\n";
        std::fs::write(dir.join("comparison.json"), text)?;
        Ok(())
    };
    write()
        .with_context(|| format!("cannot write {}", page.display()))
        .or_unwritable()?;
    show(comparison, json, detail)?;
    if !json {
        print::line(&format!("\nreport: {}", page.display()));
    }
    Ok(())
}

fn show(comparison: &Comparison, json: bool, detail: DetailArgs) -> anyhow::Result<()> {
    if json {
        return print::json(&comparison_json(comparison)?);
    }
    print::result(&render_comparison_terminal(comparison, detail.style()));
    Ok(())
}

/// The exit status of the gate. An undecided gate does not pass.
fn gate(comparison: &Comparison, allowed: f64, figures: &[Vec<GateChoice>]) -> ExitStatus {
    let request = GateRequest {
        allowed,
        figures: figures.concat(),
    };
    let gate = comparison.gate(&request);
    for line in gate_lines(&gate) {
        // Names come from run folders and must not control the terminal.
        print::message(&format!("kgauge: {}", kgauge_report::one_line(&line)));
    }
    match gate.word() {
        GateVerdict::Passed => ExitStatus::Good,
        GateVerdict::Worse => ExitStatus::Failed,
        GateVerdict::Undecided => ExitStatus::BadInput,
    }
}

#[cfg(test)]
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
}
