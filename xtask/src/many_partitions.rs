//! `cargo xtask many-partitions`: how long requests to the embedded cluster wait, whether leaders change,
//! and how long stopping takes, with thousands of partitions.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::built;

/// Runs the command with what stood after its name.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let (binary, passed_on) = parse(arguments)?;
    let binary = match binary {
        Some(path) => path,
        None => built::example("kgauge-broker", "many_partitions")?,
    };
    let status = Command::new(&binary)
        .args(passed_on)
        .status()
        .with_context(|| format!("{} could not be started", binary.display()))?;
    Ok(match status.success() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// The example, built already, and what is meant for it.
fn parse(arguments: &[String]) -> Result<(Option<PathBuf>, Vec<&str>)> {
    let (mut binary, mut passed_on) = (None, Vec::new());
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match (argument.as_str(), arguments.next()) {
            ("--binary", Some(path)) => binary = Some(path.into()),
            (
                name @ ("--partitions" | "--topics" | "--seconds" | "--loaded" | "--data"),
                Some(value),
            ) => passed_on.extend([name, value]),
            _ => bail!(
                "many-partitions takes --seconds N, --partitions N, --topics N, --loaded N, \
                 --data DIR and --binary PATH, not {argument:?}"
            ),
        }
    }
    Ok((binary, passed_on))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_passed_on_and_others_refused() {
        let words = |words: &[&str]| {
            words
                .iter()
                .map(|&word| word.to_owned())
                .collect::<Vec<_>>()
        };
        let given = words(&["--seconds", "5", "--binary", "/b", "--topics", "9"]);
        let (binary, passed_on) = parse(&given).unwrap();
        assert_eq!(binary, Some("/b".into()));
        assert_eq!(passed_on, ["--seconds", "5", "--topics", "9"]);
        for refused in [&["--seconds"][..], &["--nodes", "5"]] {
            assert!(parse(&words(refused)).is_err(), "{refused:?}");
        }
    }
}
