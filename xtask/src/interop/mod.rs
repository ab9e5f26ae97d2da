//! `cargo xtask interop`: real clients against the embedded cluster, and kgauge against a real Kafka.

mod actions;
mod checks;
mod clients;
mod cluster;
mod configs;
mod console;
pub(crate) mod drop_in;
mod embedded;
mod following;
mod groups;
mod kcat;
mod latency;
mod performance;
mod quotas;
mod real;
mod replicas;
mod scripts;
mod security;
mod stopped;
mod table;
mod topics;
mod verifiable;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::codegen::root;
use crate::kafka::{RELEASE, ReleaseJars};
use crate::say::print_line;
use crate::{built, stop};
use actions::InteropClient;
use checks::{Checks, MissingTool};

/// What was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    /// A kgauge that is there already.
    binary: Option<PathBuf>,
    /// Only this half.
    only: Option<Half>,
    /// Only these clients against the embedded cluster; all when there is none.
    clients: Vec<InteropClient>,
    /// A client that is not installed is a failure.
    require_all: bool,
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
            if argument == "--require-all" {
                options.require_all = true;
                continue;
            }
            let value = arguments.next().map(String::as_str);
            match (argument.as_str(), value) {
                ("--binary", Some(path)) => options.binary = Some(path.into()),
                ("--only", Some("embedded")) => options.only = Some(Half::Embedded),
                ("--only", Some("kafka")) => options.only = Some(Half::Kafka),
                ("--client", Some(word)) => options.clients.push(client(word)?),
                _ => bail!(
                    "interop takes --binary PATH, --only embedded|kafka, --client NAME and \
                     --require-all, not {argument:?}"
                ),
            }
        }
        Ok(options)
    }

    fn wants(&self, half: Half) -> bool {
        self.only.is_none_or(|only| only == half)
    }

    fn wants_client(&self, column: InteropClient) -> bool {
        self.clients.is_empty() || self.clients.contains(&column)
    }
}

fn client(word: &str) -> Result<InteropClient> {
    InteropClient::named(word).with_context(|| {
        let names = InteropClient::ALL.map(InteropClient::short).join(", ");
        format!("--client takes one of {names}, not {word:?}")
    })
}

/// Runs the command with what stood after its name.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let options = Options::parse(arguments)?;
    stop::listen()?;
    let binary = match &options.binary {
        Some(path) => {
            fs::canonicalize(path).with_context(|| format!("there is no {}", path.display()))?
        }
        None => built::kgauge()?,
    };
    let release = ReleaseJars::fetch()?;
    let folder = root().join("target/interop");
    fs::create_dir_all(&folder)?;
    let output = folder.join("output");
    let missing = match options.require_all {
        true => MissingTool::Fails,
        false => MissingTool::Skips,
    };
    let mut checks = Checks::new(output.clone(), missing)?;
    print_line(&format!(
        "Kafka {RELEASE}'s tools, {}; what they say is kept in {}",
        binary.display(),
        output.display()
    ));
    check(&mut checks, &options, &release, &binary, &folder)?;
    print_line(&format!("\n{}", checks.table()));
    if options.wants(Half::Embedded) {
        let table = checks.client_table();
        fs::write(folder.join("table.md"), &table)?;
        print_line(&table);
    }
    print_line(&checks.totals());
    Ok(if checks.all_good() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn check(
    checks: &mut Checks,
    options: &Options,
    release: &ReleaseJars,
    binary: &Path,
    folder: &Path,
) -> Result<()> {
    let work = tempfile::Builder::new()
        .prefix("work-")
        .tempdir_in(folder)?;
    if options.wants(Half::Embedded) {
        checks.against("embedded cluster");
        let parts = embedded::EmbeddedHalf {
            release,
            binary,
            work: &work.path().join("embedded"),
            installed: folder,
            wants: &|column| options.wants_client(column),
        };
        embedded::run(checks, &parts)?;
    }
    if options.wants(Half::Kafka) {
        checks.against("Apache Kafka");
        real::run(checks, release, binary, &work.path().join("kafka"))?;
    }
    Ok(())
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
    fn clients_can_be_named_one_by_one() {
        let options = parse(&["--client", "go", "--require-all", "--client", "kcat"]).unwrap();
        assert!(options.require_all);
        assert!(
            options.wants_client(InteropClient::Go) && options.wants_client(InteropClient::Kcat)
        );
        assert!(!options.wants_client(InteropClient::Python));
        assert!(Options::default().wants_client(InteropClient::Python));
    }

    #[test]
    fn what_it_does_not_know_is_refused() {
        let wrong = [
            &["--only"][..],
            &["--only", "x"],
            &["--quick"],
            &["--client", "x"],
        ];
        for words in wrong {
            assert!(parse(words).is_err(), "{words:?}");
        }
    }
}
