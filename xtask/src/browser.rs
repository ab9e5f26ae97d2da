//! `cargo xtask browser`: checks reports and comparisons in Debian's Chromium. It makes a short real run, a comparison
//! of it with itself, and pages in which every name is hostile; `xtask/browser` checks each of them, and the live page
//! of a run.
//! Nothing uses the network except npm, which fetches the package that drives the browser.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::built::{self, ProgramOption};
use crate::folders::{is_installed, make_empty, mark_installed, root};
use crate::kafka::{self, Job, poll};
use crate::kgauge::Background;
use crate::say::{print_line, remark};

/// Node resolves modules from the folder of the program, so these files are copied to where the modules are installed.
const FILES: [&str; 8] = [
    ".npmrc",
    "charts.mjs",
    "live.mjs",
    "looks.mjs",
    "main.mjs",
    "package-lock.json",
    "package.json",
    "picture.mjs",
];
/// The run whose report is checked: it has all kinds of charts.
const SCENARIO: &str = "xtask/browser/look.yaml";
/// The run that is watched.
const WATCHED: &str = "xtask/browser/live.yaml";
const TARGET: &str = "embedded:3";
/// It serves itself within this time, even when the machine is busy.
const SERVING_MAX: Duration = Duration::from_secs(300);
/// The studies, for `--studies`.
const STUDIES: [&str; 5] = [
    "linkedin-2014",
    "dcos-2018",
    "compose-2024",
    "aks-2019",
    "image-queue-2016",
];

/// Which pages are checked.
#[derive(Debug, clap::Args)]
pub(crate) struct BrowserOptions {
    #[command(flatten)]
    program: ProgramOption,
    /// Also the reports of all five studies, quick
    #[arg(long)]
    studies: bool,
    /// Only the live page of a run in progress
    #[arg(long)]
    live: bool,
    /// Existing pages, instead of new ones
    #[arg(value_name = "PAGE")]
    pages: Vec<PathBuf>,
}

/// One check of one page, as the program in `xtask/browser` prints it.
#[derive(Debug, Deserialize)]
struct PageCheck {
    page: String,
    check: String,
    problems: Vec<String>,
    detail: String,
}

/// Runs the command. Returns false when a check found something.
pub(crate) fn run(options: &BrowserOptions) -> Result<bool> {
    let folder = root().join("target/tmp/browser");
    let shots = folder.join("pictures");
    fs::create_dir_all(&shots)?;
    let program = install(&folder.join("npm"))?;
    let mut pages: Vec<PathBuf> = Vec::new();
    for page in &options.pages {
        let page = page.canonicalize();
        pages.push(page.context("a page to look at is not there")?);
    }
    let mut watched = None;
    if pages.is_empty() {
        let binary = options.program.kgauge()?;
        if !options.live {
            pages = make(options, &binary, &folder.join("pages"))?;
        }
        let run = WatchedRun::start(&binary, &folder.join("live"))?;
        pages.push(PathBuf::from(&run.address));
        watched = Some(run);
    }
    remark(&format!("browser: {} pages", pages.len()));
    let is_good = check(&program, &shots, &pages)?;
    if let Some(run) = watched {
        run.end()?;
    }
    print_line(&format!("pictures: {}", shots.display()));
    Ok(is_good)
}

/// Opens the pages in the browser and checks them. Returns false when a check found something.
fn check(program: &Path, shots: &Path, pages: &[PathBuf]) -> Result<bool> {
    let mut node = Command::new("node");
    node.arg(program)
        .arg(shots)
        .args(pages)
        .env_remove("NODE_OPTIONS");
    let (status, lines) = kafka::printed(&mut node)?;
    let is_good = print_checks(&lines)?;
    ensure!(status.success(), "the browser's program failed");
    Ok(is_good)
}

/// A run that serves itself; it ends by itself, and with this.
struct WatchedRun {
    run: Background,
    address: String,
}

impl WatchedRun {
    fn start(binary: &Path, folder: &Path) -> Result<Self> {
        make_empty(folder)?;
        remark("kgauge run live.yaml --serve 0");
        let mut command = Command::new(binary);
        command
            .arg("run")
            .arg(root().join(WATCHED))
            .args(["--target", TARGET, "--out", "run", "--serve", "0"])
            .current_dir(folder);
        let run = Background::start("kgauge", command, &folder.join("watched"))?;
        let address = poll(SERVING_MAX, || {
            let ended = run.running.ended()?;
            let stderr = fs::read_to_string(&run.stderr)?;
            let address = stderr.split_once("watch the run at ");
            let address = address.and_then(|(_, rest)| rest.split_once(' '));
            let address = address.map(|(address, _)| address.to_owned());
            if let (None, Some(status)) = (&address, ended) {
                bail!("kgauge ended without an address: {status}\n{stderr}");
            }
            Ok(address)
        })?;
        Ok(Self {
            run,
            address: address.context("kgauge printed no address")?,
        })
    }

    /// Waits for its end, which must be a good one.
    fn end(&self) -> Result<()> {
        let status = self.run.running.finish()?;
        ensure!(
            status.success(),
            "the run that was watched: {status}\n{}",
            self.run.text()
        );
        Ok(())
    }
}

/// Prints each check. Returns false when one found something.
fn print_checks(lines: &str) -> Result<bool> {
    let mut is_good = true;
    for line in lines.lines() {
        let result: PageCheck = serde_json::from_str(line).with_context(|| line.to_owned())?;
        let word = if result.problems.is_empty() {
            "ok  "
        } else {
            "FAIL"
        };
        print_line(&format!(
            "{word}  {}: {}  {}",
            result.page, result.check, result.detail
        ));
        for problem in &result.problems {
            print_line(&format!("        {problem}"));
        }
        is_good &= result.problems.is_empty();
    }
    ensure!(!lines.is_empty(), "the browser's program printed nothing");
    Ok(is_good)
}

/// Makes the pages. Returns their paths.
fn make(options: &BrowserOptions, binary: &Path, folder: &Path) -> Result<Vec<PathBuf>> {
    make_empty(folder)?;
    let made = kafka::status(Command::new(built::test_example("browser")?).arg(folder))?;
    ensure!(made.success(), "the made-up pages could not be written");
    let scenario = root().join(SCENARIO);
    let mut runs = vec![("look", scenario.as_os_str(), None)];
    if options.studies {
        let quick = |study: &'static str| (study, OsStr::new(study), Some("--quick"));
        runs.extend(STUDIES.map(quick));
    }
    for (name, question, quick) in runs {
        let mut run = Command::new(binary);
        run.arg("run").arg(question).args(quick);
        run.args(["--target", TARGET, "--out", &format!("runs/{name}")]);
        call(run, folder)?;
        let page = folder.join(format!("{name}.html"));
        fs::copy(folder.join("runs").join(name).join("report.html"), page)?;
    }
    let mut compare = Command::new(binary);
    compare.args(["compare", "runs/look", "runs/look", "--as", "html"]);
    compare.args(["--out", "look-comparison.html"]);
    call(compare, folder)?;
    let mut pages = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "html") {
            pages.push(path);
        }
    }
    pages.sort();
    Ok(pages)
}

/// kgauge in a folder. A missed goal is no failure here: the scenario has one.
fn call(mut command: Command, folder: &Path) -> Result<()> {
    let words: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
    let words = format!("kgauge {}", words.join(" "));
    remark(&words);
    command.current_dir(folder);
    let ended = Job::new(words, command, Duration::MAX).run()?;
    let code = ended.status.and_then(|status| status.code());
    ensure!(
        matches!(code, Some(0 | 1)),
        "{}: {code:?}\n{}",
        ended.words,
        ended.stderr
    );
    Ok(())
}

/// Has npm install what drives the browser, once; returns the program.
pub(crate) fn install(folder: &Path) -> Result<PathBuf> {
    let from = root().join("xtask/browser");
    fs::create_dir_all(folder)?;
    let list = from.join("package-lock.json");
    for name in FILES {
        fs::copy(from.join(name), folder.join(name))?;
    }
    if !is_installed(folder, &list)? {
        remark("npm: installing playwright-core");
        let mut npm = Command::new("npm");
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
            .current_dir(folder)
            .stdout(Stdio::null());
        let is_complete = kafka::status(&mut npm)?.success();
        ensure!(is_complete, "npm could not install playwright-core");
        mark_installed(folder, &list)?;
    }
    Ok(folder.join("main.mjs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_with_problems_is_bad_and_silence_is_an_error() {
        let line = |problems: &str| {
            format!(r#"{{"page":"p","check":"c","problems":[{problems}],"detail":""}}"#)
        };
        let (good, bad) = (line(""), line("\"too wide\""));
        assert!(print_checks(&good).unwrap());
        assert!(!print_checks(&format!("{bad}\n{good}\n")).unwrap());
        assert!(print_checks("").is_err());
    }
}
