//! Project scripts: `cargo xtask <command>`. One module per command.

mod ab_check;
mod agents;
mod backtest;
mod bench;
mod browser;
mod built;
mod checkup_check;
mod codegen;
mod compare_check;
mod crashes;
mod folders;
mod golden_files;
mod interop;
mod kafka;
mod kgauge;
mod kubernetes;
mod many_partitions;
mod matrix;
mod outside_suites;
mod picture;
mod processes;
mod published;
mod say;
mod search_check;
mod session_time;
mod stop;
mod truth_repeat;
mod tune_check;
mod verify;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

/// Project scripts.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
enum Command {
    /// Write the messages of crates/wire from Kafka's own definitions
    Codegen(codegen::CheckOptions),
    /// Remake crates/wire/tests/golden with Kafka's own Java classes
    Golden(codegen::CheckOptions),
    /// Remake crates/wire/tests/golden_batches with Kafka's own Java classes
    GoldenBatches(golden_files::GoldenOptions),
    /// Remake crates/wire/tests/golden_messages with the classes of old releases
    GoldenMessages(golden_files::GoldenOptions),
    /// Real clients against the embedded cluster, then kgauge against a real Kafka
    Interop(interop::InteropOptions),
    /// The test suites of franz-go and librdkafka against embedded:3; what fails must be on the list of missing
    /// features. Needs Go, npm and a C++ compiler
    OutsideSuites(outside_suites::SuiteOptions),
    /// Make docs/pictures, which README shows, from a real run
    Picture(built::ProgramOption),
    /// Command lines of published studies, run by kgauge under the tools' names and by the tools of their release
    Published(published::PublishedOptions),
    /// Pairs of runs with and without a difference: does kgauge compare find the one, and nothing in the other? Also
    /// how much equal runs differ. Some 20 minutes on an otherwise idle machine
    CompareCheck(compare_check::CompareOptions),
    /// A/B tests with and without a difference: does kgauge ab find the one, and nothing in the other? Some 30 minutes
    /// on an otherwise idle machine
    AbCheck(ab_check::AbCheckOptions),
    /// Searches for settings with a planted winner and without one: does kgauge tune find the one, and nothing in the
    /// other? Some four hours on the embedded cluster and seven on Apache Kafka, in parts: --only, --seeds or --minutes
    /// limit one, and what was answered before is not measured again
    TuneCheck(tune_check::TuneCheckOptions),
    /// kgauge checkup on Apache Kafka with a slow broker, a quota and a default replication of 1: each must be found.
    /// Then a broker stops, which must end the load, and Ctrl-C at random moments: nothing may be left.
    /// Some 15 minutes
    CheckupCheck(checkup_check::CheckupOptions),
    /// Capacities of 45 clusters, a third of them fitted and the others predicted by the code of kgauge size. Some six
    /// hours on an otherwise idle machine, in parts: --only or --minutes limit one, and what was measured before is not
    /// measured again
    Backtest(backtest::BacktestOptions),
    /// Loads from several processes: equal records and sums, clocks within their bounds, every loss noticed in
    /// time, the cost of merging. Some 15 minutes; the clocks need root
    Agents(agents::AgentsOptions),
    /// Nodes of the embedded cluster crash while producers write: what became of every acknowledged record
    Crashes(crashes::CrashOptions),
    /// The embedded cluster with 10,000 partitions on three nodes: longest waits, elections and the time to stop
    ManyPartitions(many_partitions::PartitionOptions),
    /// Known causes of a bottleneck, and kgauge's verdict on each. With --only blame: dead, paused, slow and
    /// unreachable brokers, generators without a processor, neighbours, and whom kgauge blames
    Matrix(matrix::MatrixOptions),
    /// kgauge truth again and again, alone or beside a program that takes processors: how often its figures passed,
    /// failed and were inconclusive
    TruthRepeat(truth_repeat::RepeatOptions),
    /// Verification of every record: broken rules of the simulated cluster and none, its cost, a billion records, and
    /// Apache Kafka with random faults and every client. Some three hours on an otherwise idle machine; --only makes a
    /// part of it
    Verify(verify::VerifyOptions),
    /// Searches of kgauge capacity where the capacity is known. With --only classification in seconds, all parts in
    /// some ten hours
    SearchCheck(search_check::CheckedSearches),
    /// Reports, comparisons and the live page in Debian's Chromium: values under pointer and keys, zoom, phones, dark
    /// mode, paper, no script, no request
    Browser(browser::BrowserOptions),
    /// Kubernetes objects against Kubernetes' API definitions, and the Helm chart against the manifest. Needs Go
    #[command(name = "k8s")]
    Kubernetes(kubernetes::KubernetesOptions),
    /// kgauge's pods in a real Kubernetes: API server, controller manager and scheduler, with nodes whose pods are
    /// processes. Needs root and Go; the first build takes minutes
    #[command(name = "k8s-cluster")]
    KubernetesCluster(kubernetes::ClusterCheckOptions),
    /// The part of `k8s-cluster` that runs in its own namespaces
    #[command(name = "k8s-inside", hide = true)]
    KubernetesInside(kubernetes::InsideOptions),
    /// What a record costs kgauge's engine and Kafka's own tool, in alternating runs against a real Kafka
    Bench(bench::BenchOptions),
    /// The other processes of `bench speed`
    #[command(hide = true)]
    Bare { arguments: Vec<String> },
}

/// Runs a command. The exit status is 1 when a check failed. An error is printed, and the exit status is 2 then.
fn main() -> ExitCode {
    match run(Command::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say::remark(&format!("error: {error:#}"));
            ExitCode::from(2)
        }
    }
}

impl Command {
    /// Whether signals end it at once: it starts nothing that runs on, or another command ends it.
    fn ends_at_once(&self) -> bool {
        matches!(
            self,
            Command::Codegen(_)
                | Command::Golden(_)
                | Command::GoldenBatches(_)
                | Command::GoldenMessages(_)
                | Command::KubernetesInside(_)
                | Command::Bare { .. }
        )
    }
}

/// Returns false when a check failed.
fn run(command: Command) -> Result<bool> {
    if !command.ends_at_once() {
        stop::listen()?;
    }
    match command {
        Command::Codegen(options) => codegen::run(&options)?,
        Command::Golden(options) => codegen::golden::run(&options)?,
        Command::GoldenBatches(options) => golden_files::BATCHES.run(&options)?,
        Command::GoldenMessages(options) => golden_files::MESSAGES.run(&options)?,
        Command::Bench(options) => bench::run(&options)?,
        Command::Bare { arguments } => bench::bare(&arguments)?,
        Command::Picture(program) => picture::run(&program)?,
        Command::Browser(options) => return browser::run(&options),
        Command::CheckupCheck(options) => return checkup_check::run(&options),
        Command::CompareCheck(options) => return compare_check::run(&options),
        Command::AbCheck(options) => return ab_check::run(&options),
        Command::Agents(options) => return agents::run(&options),
        Command::Backtest(options) => return backtest::run(&options),
        Command::TuneCheck(options) => return tune_check::run(&options),
        Command::Crashes(options) => return crashes::run(&options),
        Command::ManyPartitions(options) => return many_partitions::run(&options),
        Command::Matrix(options) => return matrix::run(&options),
        Command::Kubernetes(options) => return kubernetes::run(&options),
        Command::KubernetesCluster(options) => return kubernetes::check_cluster(&options),
        Command::KubernetesInside(options) => return kubernetes::check_inside(&options),
        Command::Interop(options) => return interop::run(&options),
        Command::OutsideSuites(options) => return outside_suites::run(&options),
        Command::Published(options) => return published::run(&options),
        Command::SearchCheck(options) => return search_check::run(&options),
        Command::TruthRepeat(options) => return truth_repeat::run(&options),
        Command::Verify(options) => return verify::run(&options),
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Command::command().debug_assert();
    }
}
