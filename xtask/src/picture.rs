//! `cargo xtask picture`: the pictures that README shows, from a real run that this makes:
//! `docs/pictures/report-light.png`, `report-dark.png`, and `run.svg`, what the terminal shows.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::browser::install;
use crate::built::ProgramOption;
use crate::folders::{make_empty, root};
use crate::kafka;
use crate::say::{print_line, remark};

/// The run that is shown.
const SCENARIO: &str = "xtask/browser/picture.yaml";
const TARGET: &str = "embedded:3";
/// All pictures together are no larger.
const BYTES_MAX: u64 = 400_000;
/// Lines of the terminal that are shown.
const LINES_MAX: usize = 46;

/// Runs the command.
pub(crate) fn run(program: &ProgramOption) -> Result<()> {
    let binary = program.kgauge()?;
    let folder = root().join("target/tmp/picture");
    make_empty(&folder)?;
    let pictures = root().join("docs/pictures");
    fs::create_dir_all(&pictures)?;
    fs::copy(root().join(SCENARIO), folder.join("picture.yaml"))?;
    remark("kgauge run picture.yaml");
    let mut run = Command::new(binary);
    run.args(["run", "picture.yaml", "--target", TARGET, "--out", "run"])
        .current_dir(&folder);
    let (status, text) = kafka::printed(&mut run)?;
    ensure!(status.success(), "the run failed: {status}");
    let command = format!("kgauge run picture.yaml --target {TARGET}");
    fs::write(pictures.join("run.svg"), svg(&command, &text))?;
    let npm = root().join("target/tmp/browser/npm");
    install(&npm)?;
    let mut node = Command::new("node");
    node.arg(npm.join("picture.mjs"))
        .arg(folder.join("run/report.html"))
        .arg(&pictures);
    let is_made = kafka::status(&mut node)?.success();
    ensure!(is_made, "the pictures could not be made");
    let bytes = bytes(&pictures)?;
    print_line(&format!("{bytes} bytes in {}", pictures.display()));
    ensure!(
        bytes <= BYTES_MAX,
        "{bytes} bytes are more than {BYTES_MAX}"
    );
    Ok(())
}

fn bytes(folder: &Path) -> Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(folder)? {
        sum += entry?.metadata()?.len();
    }
    Ok(sum)
}

/// A terminal with a command and what it printed, in colours that can be read in the light and in the dark.
fn svg(command: &str, text: &str) -> String {
    const LINE: usize = 17;
    let lines: Vec<&str> = text.lines().take(LINES_MAX).collect();
    let height = (lines.len() + 3) * LINE;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"{height}\" viewBox=\"0 0 720 {height}\" \
         role=\"img\" aria-label=\"What a run prints\">\n\
         <rect width=\"720\" height=\"{height}\" rx=\"6\" fill=\"#14181c\"/>\n\
         <g font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"13\" fill=\"#e7eaed\" \
         xml:space=\"preserve\">\n"
    );
    let mut line = |number: usize, fill: &str, text: &str| {
        let y = (number + 1) * LINE + 6;
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "<text x=\"16\" y=\"{y}\"{fill}>{}</text>",
            escaped(text)
        );
    };
    line(0, " fill=\"#45cda2\"", &format!("$ {command}"));
    for (index, text) in lines.iter().enumerate() {
        let fill = if text.starts_with(char::is_whitespace) || text.is_empty() {
            ""
        } else if text.starts_with("! ") || text.starts_with("IMPORTANT") {
            " fill=\"#f0c568\""
        } else {
            " fill=\"#7cbcf5\""
        };
        line(index + 1, fill, text);
    }
    out.push_str("</g>\n</svg>\n");
    out
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    // Some viewers forget xml:space.
    text.replace(' ', "\u{a0}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_no_markup() {
        let picture = svg("kgauge run a.yaml", "a <b> & c\n  d");
        assert!(
            picture.contains("a\u{a0}&lt;b>\u{a0}&amp;\u{a0}c"),
            "{picture}"
        );
        assert!(picture.contains("$\u{a0}kgauge\u{a0}run"));
        assert!(picture.ends_with("</svg>\n"));
    }
}
