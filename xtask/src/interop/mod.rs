//! `cargo xtask interop`: real clients against the embedded cluster, and kgauge against a real Kafka.

mod checks;
mod console;
mod embedded;
mod kcat;
mod kgauge;
mod performance;
mod real;
mod stopped;
mod topics;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::codegen::root;
use crate::kafka::{RELEASE, Release};
use crate::say::say;
use crate::{built, stop};
use checks::Checks;

/// What was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    /// A kgauge that is there already.
    binary: Option<PathBuf>,
    /// Only this half.
    only: Option<Half>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    Embedded,
    Kafka,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Options> {
        let mut options = Options::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let value = arguments.next().map(String::as_str);
            match (argument.as_str(), value) {
                ("--binary", Some(path)) => options.binary = Some(path.into()),
                ("--only", Some("embedded")) => options.only = Some(Half::Embedded),
                ("--only", Some("kafka")) => options.only = Some(Half::Kafka),
                _ => {
                    bail!("interop takes --binary PATH and --only embedded|kafka, not {argument:?}")
                }
            }
        }
        Ok(options)
    }

    fn wants(&self, half: Half) -> bool {
        self.only.is_none_or(|only| only == half)
    }
}

/// Runs the command with what stood after its name.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let options = Options::parse(arguments)?;
    stop::listen()?;
    let binary = match &options.binary {
        Some(path) => {
            fs::canonicalize(path).with_context(|| format!("there is no {}", path.display()))?
        }
        None => built::release("kgauge", &["--bin", "kgauge"])?,
    };
    let release = Release::fetch()?;
    let folder = root().join("target/interop");
    fs::create_dir_all(&folder)?;
    let work = tempfile::Builder::new()
        .prefix("work-")
        .tempdir_in(&folder)?;
    let output = folder.join("output");
    let mut checks = Checks::new(output.clone())?;
    say(&format!(
        "Kafka {RELEASE}'s tools, {}; what they say is kept in {}",
        binary.display(),
        output.display()
    ));
    if options.wants(Half::Embedded) {
        checks.against("embedded cluster");
        embedded::run(
            &mut checks,
            &release,
            &binary,
            &work.path().join("embedded"),
        )?;
    }
    if options.wants(Half::Kafka) {
        checks.against("Apache Kafka");
        real::run(&mut checks, &release, &binary, &work.path().join("kafka"))?;
    }
    say(&format!("\n{}", checks.table()));
    say(&checks.totals());
    Ok(if checks.all_good() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Options> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        Options::parse(&words)
    }

    #[test]
    fn a_binary_and_a_half_can_be_named() {
        let options = parse(&["--only", "kafka", "--binary", "target/debug/kgauge"]).unwrap();
        assert_eq!(options.binary, Some("target/debug/kgauge".into()));
        assert!(options.wants(Half::Kafka) && !options.wants(Half::Embedded));
        assert!(Options::default().wants(Half::Embedded));
    }

    #[test]
    fn what_it_does_not_know_is_refused() {
        for words in [&["--only"][..], &["--only", "x"], &["--quick"]] {
            assert!(parse(words).is_err(), "{words:?}");
        }
    }
}
