//! `cargo xtask crashes`: nodes of the embedded cluster crash while producers write, and every record
//! that was acknowledged is looked for. The producers are ours, and Kafka's verifiable producer.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::built;
use crate::codegen::root;
use crate::kafka::{RELEASE, ReleaseJars};
use crate::say::{print_line, remark};

const VERIFIABLE_PRODUCER: &str = "org.apache.kafka.tools.VerifiableProducer";
/// How many of them run at once.
const PRODUCERS: &str = "2";
/// Records a second of each.
const THROUGHPUT: &str = "1000";

/// Whose producers write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Producers {
    Ours,
    Kafkas,
}

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    seconds: String,
    seed: String,
    acks: Vec<&'static str>,
    producers: Vec<Producers>,
    /// The example, built already.
    binary: Option<PathBuf>,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Options> {
        let mut options = Options {
            seconds: "300".to_owned(),
            seed: "1".to_owned(),
            acks: vec!["all", "1"],
            producers: vec![Producers::Ours, Producers::Kafkas],
            binary: None,
        };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let value = arguments.next().map(String::as_str);
            match (argument.as_str(), value) {
                ("--seconds", Some(number)) => number.clone_into(&mut options.seconds),
                ("--seed", Some(number)) => number.clone_into(&mut options.seed),
                ("--acks", Some("all")) => options.acks = vec!["all"],
                ("--acks", Some("1")) => options.acks = vec!["1"],
                ("--producers", Some("kgauge")) => options.producers = vec![Producers::Ours],
                ("--producers", Some("kafka")) => options.producers = vec![Producers::Kafkas],
                ("--binary", Some(path)) => options.binary = Some(path.into()),
                _ => bail!(
                    "crashes takes --seconds N, --seed N, --acks all|1, --producers kgauge|kafka \
                     and --binary PATH, not {argument:?}"
                ),
            }
        }
        Ok(options)
    }
}

/// Runs the command with what stood after its name.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let options = Options::parse(arguments)?;
    let binary = match &options.binary {
        Some(path) => path.clone(),
        None => built::example("kgauge-broker", "crashes")?,
    };
    let folder = tempfile::tempdir()?;
    let mut code = ExitCode::SUCCESS;
    for producers in &options.producers {
        for acks in &options.acks {
            let mut command = Command::new(&binary);
            command.args(["--seconds", &options.seconds, "--seed", &options.seed]);
            command.args(["--acks", acks]);
            match producers {
                Producers::Ours => print_line("kgauge's producers"),
                Producers::Kafkas => {
                    print_line(&format!(
                        "the verifiable producer of Apache Kafka {RELEASE}"
                    ));
                    command.args(["--producers", PRODUCERS]);
                    outside(&mut command, acks, folder.path())?;
                }
            }
            remark(&format!("for {} s", options.seconds));
            let status = command
                .status()
                .with_context(|| format!("{} could not be started", binary.display()))?;
            if !status.success() {
                code = ExitCode::FAILURE;
            }
        }
    }
    Ok(code)
}

/// Lets Kafka's producer write, configured as applications have it: the tool itself would not retry.
fn outside(command: &mut Command, acks: &str, folder: &Path) -> Result<()> {
    let idempotence = acks == "all";
    let config = format!(
        "enable.idempotence={idempotence}\nretries=2147483647\nrequest.timeout.ms=5000\n\
         delivery.timeout.ms=300000\nmax.block.ms=300000\nlinger.ms=5\n\
         reconnect.backoff.max.ms=200\nmetadata.max.age.ms=2000\n"
    );
    let file = folder.join(format!("producer-{acks}.properties"));
    fs::write(&file, config)?;
    let java = ReleaseJars::fetch()?.java(&["-Xmx256M"], VERIFIABLE_PRODUCER);
    command.arg("--outside").arg(java.get_program());
    command.args(java.get_args()).current_dir(root());
    command.args(["--bootstrap-server", "{servers}", "--topic", "{topic}"]);
    command.args(["--acks", "{acks}", "--value-prefix", "{number}"]);
    command.args(["--throughput", THROUGHPUT, "--command-config"]);
    command.arg(file);
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
    fn without_words_all_is_done_for_five_minutes() {
        let options = parse(&[]).unwrap();
        assert_eq!(options.seconds, "300");
        assert_eq!(options.acks, ["all", "1"]);
        assert_eq!(options.producers, [Producers::Ours, Producers::Kafkas]);
        let options = parse(&["--acks", "1", "--producers", "kafka"]).unwrap();
        assert_eq!(options.acks, ["1"]);
        assert_eq!(options.producers, [Producers::Kafkas]);
    }

    #[test]
    fn what_it_does_not_know_is_refused() {
        for words in [&["--acks", "0"][..], &["--seconds"], &["--quick", "1"]] {
            assert!(parse(words).is_err(), "{words:?}");
        }
    }
}
