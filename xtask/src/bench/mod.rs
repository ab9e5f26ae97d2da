//! `cargo xtask bench`: what a record costs kgauge's engine and what it costs Kafka's own tool, in
//! alternating runs against the same real Kafka; `cargo xtask bench brokers`: the same for brokers.

mod brokers;
mod compare;
mod contender;
mod figures;
mod machine;
mod proof;
mod speed;

use anyhow::Result;

use crate::built;
use crate::folders::{root, temporary_in};
use crate::kafka::{self, KafkaBroker, RELEASE, Tools};
use crate::say::{print_line, remark};
use compare::BenchPlan;
use contender::Contenders;

/// What is compared, and how often.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchOptions {
    #[command(subcommand)]
    what: Option<BenchKind>,
    /// Fewer rounds and records
    #[arg(long, global = true)]
    quick: bool,
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    rounds: Option<u64>,
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    records: Option<u64>,
    /// Keep the result in proof/
    #[arg(long, global = true)]
    record: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::Subcommand)]
enum BenchKind {
    /// What a record costs the embedded cluster's nodes and Apache Kafka's brokers, in alternating runs of the same
    /// load; and an idle embedded cluster
    Brokers,
    /// What the load engine must reach: CPU, rates, lateness and memory, beside Kafka's tools, franz-go and librdkafka
    Speed,
}

impl BenchOptions {
    fn plan(&self) -> BenchPlan {
        let plan = if self.quick {
            BenchPlan::QUICK
        } else {
            BenchPlan::DEFAULT
        };
        BenchPlan {
            rounds: self.rounds.unwrap_or(plan.rounds),
            records: self.records.unwrap_or(plan.records),
        }
    }
}

/// The processes that [`speed`] measures the kernel with.
pub(crate) fn bare(arguments: &[String]) -> Result<()> {
    speed::bare::run(arguments)
}

/// Runs the command.
pub(crate) fn run(options: &BenchOptions) -> Result<()> {
    match options.what {
        Some(BenchKind::Brokers) => brokers::run(options),
        Some(BenchKind::Speed) => speed::run(options),
        None => generators(options),
    }
}

fn generators(options: &BenchOptions) -> Result<()> {
    let plan = options.plan();
    let engine = built::example("kgauge-load", "produce")?;
    let release = kafka::tools(RELEASE)?;
    let machine = machine::facts()?;
    if machine.is_busy() {
        remark(&format!(
            "others use this machine (load average {:.1} on {} processors): the figures will be \
             wide apart",
            machine.load_average, machine.processors
        ));
    }
    let work = temporary_in(&root().join("target/bench"))?;
    let broker = KafkaBroker::start(&work.path().join("broker"))?;
    let tools = Tools {
        release: &release,
        servers: broker.servers(),
        alive: &|| broker.check(),
    };
    let contenders = Contenders::new(&engine, &tools, work.path())?;
    let measured = compare::run(&contenders, plan)?;
    let summary = figures::summary(&measured, plan);
    let printed = format!("Kafka {RELEASE} on the same machine; {machine}\n\n{summary}");
    print_line(&printed);
    if options.record {
        let folder = proof::write(&machine, plan, &measured, &printed)?;
        print_line(&format!("recorded in {}", folder.display()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Bench {
        #[command(flatten)]
        options: BenchOptions,
    }

    fn parse(words: &[&str]) -> Result<BenchOptions, clap::Error> {
        let words = ["bench"].iter().chain(words);
        Bench::try_parse_from(words).map(|bench| bench.options)
    }

    #[test]
    fn explicit_numbers_override_quick_in_any_order() {
        let options = parse(&["--rounds", "2", "speed", "--quick"]).unwrap();
        assert_eq!(options.plan().rounds, 2);
        assert_eq!(options.plan().records, BenchPlan::QUICK.records);
        assert_eq!(options.what, Some(BenchKind::Speed));
        assert!(!options.record && parse(&["--record"]).unwrap().record);
        assert!(parse(&["--rounds", "0"]).is_err());
    }
}
