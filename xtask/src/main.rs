//! Project scripts: `cargo xtask <command>`. One module a command.

mod bench;
mod browser;
mod built;
mod codegen;
mod compare_check;
mod crashes;
mod golden_batches;
mod golden_messages;
mod interop;
mod kafka;
mod kgauge;
mod many_partitions;
mod matrix;
mod maven;
mod outside_suites;
mod picture;
mod published;
mod say;
mod stop;
mod truth_repeat;

use std::process::ExitCode;

use anyhow::{Result, bail};

/// What `cargo xtask` says when it is asked nothing, or something that it does not know.
const USAGE: &str = "\
cargo xtask <command>

  codegen [--check]   write crates/wire's messages from Kafka's own definitions;
                      --check: only say whether the checked-in files are the same
  golden [--check]    remake crates/wire/tests/golden with Kafka's own Java classes
  golden-batches [--check | --read]
                      remake crates/wire/tests/golden_batches with Kafka's own Java classes;
                      --read: have those classes read what crates/wire writes
  golden-messages [--check | --read]
                      the same for crates/wire/tests/golden_messages, with the classes of old releases
  interop [--binary PATH] [--only embedded|kafka] [--client NAME]... [--require-all]
                      real clients against kgauge's embedded cluster, then kgauge against a real
                      Kafka; --binary: a kgauge that is built already; --client: only this one;
                      --require-all: none may be missing
  outside-suites [kgo] [librdkafka] [--binary PATH] [--source DIR] [--records N] [--only PART]
                      the test suites of franz-go and librdkafka against embedded:3; what fails must be on the
                      list of missing features. Go, npm and a C++ compiler are needed; --source: librdkafka's
                      source, instead of the one that npm fetches; --records: of each large test of kgo (50000);
                      --only: tests with this in their names
  picture [--binary PATH]
                      docs/pictures, which README shows, from a real run
  published [--divide N] [--release V]... [--binary PATH]
                      command lines of published studies, run by kgauge under the tools' names and by the
                      tools of their release; --divide: so many times fewer records (100)
  compare-check [--pairs N] [--side RUNS] [--only NAME] [--target kafka:V] [--gate N] [--record PATH] [--binary PATH]
                      pairs of runs with and without a difference: does kgauge compare find the one, and nothing
                      in the other? And what do equal runs differ by? Some 20 minutes on a machine with nothing
                      else to do; --side: runs of a side, of these pairs (3; 0: none); --only: capped, full or
                      plain; --gate: only how often a gate of 10 % finds planted drops of 3, 5, 10 and 20 %, by N pairs
                      each; --record: keeps what was found as Markdown
  crashes [--seconds N] [--seed N] [--acks all|1] [--producers kgauge|kafka] [--binary PATH]
                      nodes of the embedded cluster crash while producers write; what became of
                      every acknowledged record; --binary: the example, built already
  many-partitions [--seconds N] [--partitions N] [--topics N] [--loaded N] [--data DIR] [--binary PATH]
                      the embedded cluster with 10,000 partitions on three nodes: longest waits, elections
                      and the time to stop; --seconds: half of it idle, half under load on some partitions (60)
  matrix [--trials N] [--only PART]... [--keep DIR] [--binary PATH]
                      causes that are known because they were put there, and what kgauge's verdict says
                      of each: table of right and wrong; --only: cells with this in their names;
                      --only blame: dead, paused, slow and unreachable brokers, generators without a
                      processor, neighbours: whom kgauge blames, and with which sentence
  truth-repeat [--runs N] [--beside PERCENT] [--quick] [--tries N] [--keep DIR] [--binary PATH]
                      kgauge truth again and again (10), alone or beside a program that takes a part of the machine's
                      processors: how often its figures passed, failed and were inconclusive. A run takes four minutes,
                      with --quick one, and up to --tries times as long beside others
  browser [--binary PATH] [--studies] [--live] [PAGE...]
                      reports and comparisons in Debian's Chromium: values under pointer and keys, zoom, phones,
                      the dark, paper, no script, no request, and a run while it goes on; --studies: also of all
                      five studies, quick; --live: only the run that goes on
  bench [--quick] [--rounds N] [--records N] [--record]
                      what a record costs kgauge's engine and Kafka's own tool, in alternating
                      runs against a real Kafka; --record: keep it in proof/
  bench speed [--quick] [--rounds N] [--records N] [--record]
                      what the load engine must reach: CPU, rates, lateness and memory, beside Kafka's
                      tools, franz-go and librdkafka
  bench brokers [--quick] [--rounds N] [--records N]
                      what a record costs the embedded cluster's nodes and Apache Kafka's brokers, in
                      alternating runs of the same load; and an embedded cluster with nothing to do";

/// Runs a command. What went wrong is told in words: exit status 2.
fn main() -> ExitCode {
    run().unwrap_or_else(|error| {
        say::remark(&format!("error: {error:#}"));
        ExitCode::from(2)
    })
}

fn run() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match arguments.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("", &[][..]),
    };
    match command {
        "codegen" => codegen::run(rest)?,
        "golden" => codegen::golden::run(rest)?,
        "golden-batches" => golden_batches::run(rest)?,
        "golden-messages" => golden_messages::run(rest)?,
        "bench" => return bench::run(rest),
        // The other processes of `bench speed`.
        "bare" => bench::bare(rest)?,
        "browser" => return browser::run(rest),
        "compare-check" => return compare_check::run(rest),
        "crashes" => return crashes::run(rest),
        "many-partitions" => return many_partitions::run(rest),
        "matrix" => return matrix::run(rest),
        "interop" => return interop::run(rest),
        "outside-suites" => return outside_suites::run(rest),
        "picture" => return picture::run(rest),
        "published" => return published::run(rest),
        "truth-repeat" => return truth_repeat::run(rest),
        _ => bail!("{USAGE}"),
    }
    Ok(ExitCode::SUCCESS)
}
