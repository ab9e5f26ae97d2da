//! `cargo xtask bench`: what a record costs kgauge's engine and what it costs Kafka's own tool, in
//! alternating runs against the same real Kafka; `cargo xtask bench brokers`: the same for brokers.

mod brokers;
mod compare;
mod contender;
mod cpu;
mod figures;
mod machine;
mod proof;
mod speed;

use std::fs;
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};

use crate::codegen::root;
use crate::kafka::{KafkaBroker, RELEASE, ReleaseJars, Tools};
use crate::say::{print_line, remark};
use crate::{built, stop};
use compare::BenchPlan;
use contender::Contenders;

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Options {
    plan: BenchPlan,
    record: bool,
    /// The brokers are compared, not the generators.
    of_brokers: bool,
    /// Every mark of the load engine.
    of_speed: bool,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Options> {
        let is_quick = arguments.iter().any(|argument| argument == "--quick");
        let mut options = Options {
            plan: if is_quick {
                BenchPlan::QUICK
            } else {
                BenchPlan::DEFAULT
            },
            record: false,
            of_brokers: false,
            of_speed: false,
        };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--quick" => {}
                "brokers" => options.of_brokers = true,
                "speed" => options.of_speed = true,
                "--record" => options.record = true,
                "--rounds" => options.plan.rounds = count(argument, arguments.next())?,
                "--records" => options.plan.records = count(argument, arguments.next())?,
                _ => bail!(
                    "bench takes brokers, speed, --quick, --rounds N, --records N and --record, not {argument:?}"
                ),
            }
        }
        Ok(options)
    }
}

fn count(name: &str, value: Option<&String>) -> Result<u64> {
    let count = value.and_then(|value| value.parse().ok());
    let count = count.with_context(|| format!("{name} wants a number"))?;
    ensure!(count > 0, "{name} wants at least 1");
    Ok(count)
}

/// The processes that [`speed`] measures the kernel with.
pub(crate) fn bare(arguments: &[String]) -> Result<()> {
    speed::bare::run(arguments)
}

/// Runs the command with what stood after its name.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let options = Options::parse(arguments)?;
    if options.of_brokers {
        brokers::run(&options)?;
        return Ok(ExitCode::SUCCESS);
    }
    if options.of_speed {
        speed::run(&options)?;
        return Ok(ExitCode::SUCCESS);
    }
    stop::listen()?;
    let engine = built::example("kgauge-load", "produce")?;
    let release = ReleaseJars::fetch()?;
    let machine = machine::facts()?;
    if machine.is_busy() {
        remark(&format!(
            "others use this machine (load average {:.1} on {} processors): the figures will be \
             wide apart",
            machine.load_average, machine.processors
        ));
    }
    let folder = root().join("target/bench");
    fs::create_dir_all(&folder)?;
    let work = tempfile::Builder::new()
        .prefix("work-")
        .tempdir_in(&folder)?;
    let broker = KafkaBroker::start(&release, &work.path().join("broker"))?;
    let tools = Tools {
        release: &release,
        servers: broker.servers(),
        alive: &|| broker.check(),
    };
    let contenders = Contenders::new(&engine, &tools, work.path())?;
    let measured = compare::run(&contenders, options.plan)?;
    let summary = figures::summary(&measured, options.plan);
    let printed = format!("Kafka {RELEASE} on the same machine; {machine}\n\n{summary}");
    print_line(&printed);
    if options.record {
        let folder = proof::write(&machine, options.plan, &measured, &printed)?;
        print_line(&format!("recorded in {}", folder.display()));
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Options> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        Options::parse(&words)
    }

    #[test]
    fn what_is_named_outdoes_quick_in_any_order() {
        let options = parse(&["--rounds", "2", "--quick"]).unwrap();
        assert_eq!(options.plan.rounds, 2);
        assert_eq!(options.plan.records, BenchPlan::QUICK.records);
        assert!(!options.record && parse(&["--record"]).unwrap().record);
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for words in [&["--rounds"][..], &["--rounds", "0"], &["--records", "x"]] {
            assert!(parse(words).is_err(), "{words:?}");
        }
    }
}
