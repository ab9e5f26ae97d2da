//! The classification of loads beside that of the Python package MLRsearch, which the RFC's authors wrote.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use kgauge_analyze::search::{GoalWindow, LoadClass, Reading};
use kgauge_analyze::statistics::RandomDraws;
use serde_json::json;

use crate::folders::{is_installed, mark_installed, root};
use crate::kafka::Job;
use crate::say::print_line;

const CASES: u64 = 10_000;
const TIME_MAX: Duration = Duration::from_secs(300);

/// A reading, and the windows of a load.
struct Case {
    reading: Reading,
    windows: Vec<GoalWindow>,
}

/// Runs the part. True if every class is the same.
pub(super) fn check() -> Result<bool> {
    let mut draws = RandomDraws::new(1);
    let cases: Vec<Case> = (0..CASES).map(|_| Case::drawn(&mut draws)).collect();
    let input: String = cases.iter().map(Case::line).collect();
    let mut command = Command::new(installed()?);
    command
        .args(["-E", "-s", "-B"])
        .arg(source().join("classify.py"));
    let job = Job::new("classify.py".to_owned(), command, TIME_MAX);
    let stdout = job.with_input(&input)?.run()?.success()?.stdout;
    let theirs: Vec<&str> = stdout.lines().collect();
    ensure!(
        theirs.len() == cases.len(),
        "MLRsearch classified {} of {CASES} loads",
        theirs.len()
    );
    let mut counts = [0; 3];
    let mut different = 0;
    for (case, theirs) in cases.iter().zip(theirs) {
        let (index, ours) = match case.reading.classify(&case.windows) {
            LoadClass::Lower => (0, "lower"),
            LoadClass::Upper => (1, "upper"),
            LoadClass::Undecided => (2, "undecided"),
        };
        counts[index] += 1;
        if ours != theirs {
            different += 1;
            print_line(&format!(
                "FAIL  {ours} here, {theirs} there: {}",
                case.line().trim_end()
            ));
        }
    }
    let [lower, upper, undecided] = counts;
    print_line(&format!(
        "classification: {different} of {CASES} loads differ from MLRsearch ({lower} lower, {upper} upper, {undecided} undecided)"
    ));
    Ok(different == 0)
}

impl Case {
    /// Up to twelve windows, short ones among them. Durations are whole seconds, so that sums are exact.
    fn drawn(draws: &mut RandomDraws) -> Case {
        let mut below = |most: u32| (draws.uniform() * f64::from(most)).floor();
        let exceed = [0.0, 0.25, 0.5, 0.75][below(4) as usize % 4];
        let window_s = 1.0 + below(10);
        let reading = Reading {
            exceed,
            window_s,
            duration_s: window_s * (1.0 + below(9)),
        };
        let windows = (0..below(13) as usize).map(|_| GoalWindow {
            duration_s: match below(3) as u32 {
                0 => 1.0 + below(10),
                _ => window_s,
            },
            kept: below(10) < 6.0,
        });
        let windows = windows.collect();
        Case { reading, windows }
    }

    fn line(&self) -> String {
        let windows = self.windows.iter();
        let windows: Vec<(f64, bool)> = windows
            .map(|window| (window.duration_s, window.kept))
            .collect();
        let case = json!({
            "exceed": self.reading.exceed,
            "window_s": self.reading.window_s,
            "duration_s": self.reading.duration_s,
            "windows": windows,
        });
        format!("{case}\n")
    }
}

fn source() -> PathBuf {
    root().join("xtask/search")
}

/// Installs the package into a virtual environment below `target`. Gives its Python.
fn installed() -> Result<PathBuf> {
    let folder = root().join("target/search-check/python");
    let list = source().join("requirements.txt");
    let python = folder.join("bin/python");
    if !is_installed(&folder, &list)? {
        let mut make = Command::new("python3");
        make.args(["-m", "venv", "--clear"]).arg(&folder);
        run("python3 -m venv", make).context("Debian has it in python3-venv")?;
        run("pip install", pip(&python, &list))?;
        mark_installed(&folder, &list)?;
    }
    Ok(python)
}

fn pip(python: &Path, list: &Path) -> Command {
    let mut fetch = Command::new(python);
    fetch.args(["-m", "pip", "install", "--disable-pip-version-check"]);
    fetch.args(["--quiet", "--only-binary", ":all:", "--requirement"]);
    fetch.arg(list);
    fetch
}

fn run(words: &str, command: Command) -> Result<()> {
    Job::new(words.to_owned(), command, TIME_MAX)
        .run()?
        .success()?;
    Ok(())
}
