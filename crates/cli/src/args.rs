//! What can be typed. `--help` is made of the sentences here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use kgauge_results::compare::{FigureKind, GateChoice};

use crate::help;
use crate::with::With;

/// Finds out what a Kafka cluster can really do, and proves that its own numbers are true.
#[derive(Debug, Parser)]
#[command(name = "kgauge", version, arg_required_else_help = true, after_help = help::KGAUGE)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs a study, a scenario file or a saved plan, and reports
    Run(Box<RunArgs>),
    /// Lists the studies that ship, and the question that each answers
    Studies(StudiesArgs),
    /// Starts and ends clusters to play with: embedded, or Apache Kafka of any release
    Cluster(ClusterArgs),
    /// Makes the report of a run folder again
    Report(ReportArgs),
    /// Sets two or more runs side by side, and says where they differ
    Compare(Compare),
    /// Reads what other tools print, and says what it is worth
    Audit(AuditArgs),
    /// Proves that kgauge's figures are true: known answers, put to kgauge itself
    Truth(TruthArgs),
    /// Measures what this machine can generate when nothing holds it back
    Ceiling(CeilingArgs),
    /// Serves the embedded cluster to a parent process
    #[command(hide = true)]
    EmbeddedCluster,
}

/// Runs a study, a scenario file or a saved plan, and reports
#[derive(Debug, Args)]
#[command(after_help = help::RUN)]
pub(crate) struct RunArgs {
    /// A study's name (see `kgauge studies`) or folder, a scenario file, or a saved plan.json
    #[arg(value_name = "STUDY|FILE", required_unless_present = "resume")]
    pub(crate) what: Option<String>,

    /// What is tested: `embedded[:NODES][,security=KIND][,KEY=VALUE]`,
    /// `kafka:VERSION[,brokers=N][,security=KIND][,KEY=VALUE]`, `HOST:PORT[,HOST:PORT]`, or a file
    /// of Kafka client properties with `bootstrap.servers`. Given more than once, the run is made on each in turn, and they are compared
    /// [default: embedded]
    #[arg(long = "target", value_name = "TARGET")]
    pub(crate) targets: Vec<String>,

    /// What a target costs in an hour, in any currency: once for each `--target`, in their order. The comparison then says
    /// how many records each gets through for a unit of money
    #[arg(long = "price", value_name = "PER-HOUR")]
    pub(crate) prices: Vec<f64>,

    /// Where the brokers of a cluster that is there tell their own metrics: a Jolokia agent or Prometheus's text format (jmx_exporter), as
    /// `URL` or `ID=URL`, several with commas between. Of Apache Kafka that kgauge starts it asks by itself
    #[arg(long, value_name = "[ID=]URL")]
    pub(crate) metrics: Vec<String>,

    /// A first look: about two minutes for a study
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,

    /// As published: the authors' record counts; takes time and disk
    #[arg(long)]
    pub(crate) full: bool,

    /// The second cluster of scenarios with a mirror, written as a target; without it kgauge starts one like the target
    #[arg(long, value_name = "TARGET")]
    pub(crate) destination: Option<String>,

    /// Changes one thing of the scenarios, such as `writers.settings.linger.ms=0` or `stages.hold='5 s'`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,

    /// The client that sends: `kgauge`, `java` (kafka-clients 4.3.1), `java:RELEASE` or `librdkafka`. Given more than once, a trial each,
    /// and they are compared
    #[arg(long = "driver", value_name = "NAME")]
    pub(crate) drivers: Vec<String>,

    /// Runs only these scenarios of a study
    #[arg(long = "only", value_name = "SCENARIO", value_delimiter = ',')]
    pub(crate) only: Vec<String>,

    /// How often each trial runs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeat: Option<u32>,

    /// Where all randomness comes from; without it a new one is drawn, and printed
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// The run folder, which must not exist or be empty; by default a new one under `kgauge-runs`
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Goes on with the run of this folder, which was interrupted or in which trials failed: on the same target
    /// unless another is named, with what is not done yet
    #[arg(long, value_name = "DIR", conflicts_with_all = ["what", "out", "seed", "quick", "full", "set", "drivers", "only", "repeat", "prices"])]
    pub(crate) resume: Option<PathBuf>,

    /// Keeps what the run wrote: topics, and the data of an embedded cluster
    #[arg(long)]
    pub(crate) keep: bool,

    /// Begins on an existing cluster without asking
    #[arg(long)]
    pub(crate) yes: bool,

    /// Uses this topic of an existing cluster, as it is, instead of making one; it is not deleted
    #[arg(long, value_name = "TOPIC")]
    pub(crate) allow_existing: Option<String>,

    /// Asks the brokers nothing while a trial runs. By default they are asked once a second, over connections of their own,
    /// about the run's topic: leaders, replicas in sync, how far followers are behind, sizes, committed offsets
    #[arg(long)]
    pub(crate) no_wire_evidence: bool,

    /// How fast a network interface of this machine is, where its driver does not tell it or tells it wrong, as in `eth0=10Gbit`:
    /// Kbit, Mbit or Gbit a second. May be given more than once. With it the report can say that a network card was the limit
    #[arg(long = "network-speed", value_name = "IF=SPEED")]
    pub(crate) network_speeds: Vec<String>,

    /// Takes Apache Kafka from an unpacked release instead of Maven, for `kafka:` targets
    #[arg(long, value_name = "DIR")]
    pub(crate) kafka_home: Option<PathBuf>,

    /// Prints summary.json (of several targets: comparison.json) instead of the table
    #[arg(long)]
    pub(crate) json: bool,

    /// Serves a page on which a browser can watch the run, and its numbers for Prometheus under /metrics: `HOST:PORT`, or a
    /// port of this machine alone; 0 takes a free one, which is printed
    #[arg(long, value_name = "ADDR")]
    pub(crate) serve: Option<String>,
}

/// Lists the studies that ship, and the question that each answers
#[derive(Debug, Args)]
pub(crate) struct StudiesArgs {
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Makes the report of a run folder again
#[derive(Debug, Args)]
#[command(after_help = help::REPORT)]
pub(crate) struct ReportArgs {
    /// The run folder; one whose run was killed is read as far as it goes
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,

    /// In which form [default: the table; summary.json and report.html are made again too]
    #[arg(long = "as", value_name = "FORM", conflicts_with = "json")]
    pub(crate) form: Option<ReportForm>,

    /// Where it goes: a file, a folder for `hdr`, or `-` for standard output, which is the default. What
    /// stands there under the same name is replaced
    #[arg(short, long, value_name = "FILE|DIR", requires = "form")]
    pub(crate) out: Option<PathBuf>,

    /// Prints summary.json instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

/// In which form a report is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ReportForm {
    /// The text of the terminal
    Table,
    /// The page
    Html,
    /// The summary, as in summary.json
    Json,
    /// Answers, goals and figures as a comment of a pull request: below 65,536 characters
    Markdown,
    /// The figures of every trial, flow and repeat, for spreadsheets and notebooks
    Csv,
    /// Interval logs in HdrHistogram's format, one for each trial, flow and kind of time
    Hdr,
}

/// Measures what this machine can generate when nothing holds it back
#[derive(Debug, Args)]
#[command(after_help = help::CEILING)]
pub(crate) struct CeilingArgs {
    /// Changes one thing of the two flows `writers` and `readers`, as in `kgauge run`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,

    /// Prints JSON instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads what other tools print, and says what it is worth
#[derive(Debug, Args)]
#[command(after_help = help::AUDIT)]
pub(crate) struct AuditArgs {
    /// What they have printed; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,

    /// The producers' buffer.memory; by default that of the nearest command in the text, or Kafka's 32 MiB
    #[arg(long, value_name = "BYTES")]
    pub(crate) buffer_memory: Option<String>,

    /// What the network card of a broker carries, in bits a second: 1G
    #[arg(long, value_name = "RATE")]
    pub(crate) nic: Option<String>,

    /// How many brokers share the load
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) brokers: Option<u32>,

    /// Replicas of each partition [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) replication: Option<u32>,

    /// Partitions of the topic
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) partitions: Option<u64>,

    /// The release of Kafka's tool
    #[arg(long, value_name = "VERSION")]
    pub(crate) as_of: Option<String>,

    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Proves that kgauge's figures are true: known answers, put to kgauge itself
#[derive(Debug, Args)]
#[command(after_help = help::TRUTH)]
pub(crate) struct TruthArgs {
    /// Where scenarios and run folders go, which must not exist or be empty; by default a new folder
    /// under `kgauge-runs`
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Judges the runs of an earlier suite once more, and runs nothing
    #[arg(long, value_name = "DIR", conflicts_with_all = ["out", "quick"])]
    pub(crate) again: Option<PathBuf>,

    /// Only these checks
    #[arg(long = "only", value_name = "CHECK", value_delimiter = ',')]
    pub(crate) only: Vec<String>,

    /// Shorter holds
    #[arg(long)]
    pub(crate) quick: bool,

    /// Where all randomness comes from; without it each run draws a new one
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// How often a check is measured at most: again while a figure is inconclusive because other programs used the machine
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=10), conflicts_with = "again")]
    pub(crate) tries: u32,

    /// Puts the suite itself to the test: with a recorder that starts when a record was really sent, or
    /// with figures expected 5 % higher than they are. It has to fail
    #[arg(long, value_name = "WHAT")]
    pub(crate) doubt: Option<Doubt>,

    /// Prints truth.json instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is made wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Doubt {
    /// The recorder of the stalls.
    Recorder,
    /// Every expected figure.
    Figures,
}

/// Sets two or more runs side by side, and says where they differ
#[derive(Debug, Args)]
#[command(after_help = help::COMPARE)]
pub(crate) struct Compare {
    /// Two or more run folders; with `--with` the runs of the first side. `NAME=DIR` gives one a name
    #[arg(value_name = "DIR", required = true, num_args = 1..)]
    pub(crate) dirs: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) with: With,

    /// What equal runs are taken to differ by (their standard deviation in percent) beyond what the repeats of each show, where
    /// several runs of both sides do not show it; 0: by nothing [default: by kind of figure, from pairs of equal runs]
    #[arg(long, value_name = "PERCENT", value_parser = percent, allow_negative_numbers = true)]
    pub(crate) between_runs: Option<f64>,

    /// Which of the folders (or sides) the others are compared with, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) baseline: usize,

    /// In which form [default: the table]
    #[arg(long = "as", value_name = "FORM", conflicts_with = "json")]
    pub(crate) form: Option<CompareForm>,

    /// Writes comparison.html and comparison.json into this folder; without it nothing is written. With `--as`
    /// the file of that form, or `-` for standard output, which is the default then
    #[arg(short, long, value_name = "DIR|FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Ends with status 1 if a figure is worse than in the baseline by this much or more (`10%`, `10` or `0.1`), and
    /// with status 2 if the runs cannot tell. stderr says the smallest change that each figure would have shown
    #[arg(long, value_name = "PERCENT", value_parser = allowed)]
    pub(crate) fail_if_worse: Option<f64>,

    /// The figures that --fail-if-worse looks at, each with a limit of its own if needed: records/s, p50, p99, p99.9,
    /// latency, loss, cpu, generator-cpu, target-cpu, bytes, price [default: records/s,p50,p99,loss]
    #[arg(long, value_name = "FIGURE[=PERCENT]", value_delimiter = ',', value_parser = metric, requires = "fail_if_worse")]
    pub(crate) metric: Vec<Vec<GateChoice>>,

    /// Sets the embedded cluster beside other targets: figures without ratios
    #[arg(long)]
    pub(crate) allow_unlike: bool,

    /// Prints comparison.json instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

/// In which form a comparison is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CompareForm {
    /// The text of the terminal
    Table,
    /// The page
    Html,
    /// All of it, as in comparison.json
    Json,
    /// What differs and every figure, as a comment of a pull request: below 65,536 characters
    Markdown,
}

/// `1.5`, `1.5%`: percent, as a part of one.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    match number.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("wanted are percent from 0 to 100, such as 1.5".to_owned()),
    }
}

/// `10%`, `10 %`, `10`, `0.1`: what is below 1 without a sign is a fraction.
fn allowed(text: &str) -> Result<f64, String> {
    let (number, is_percent) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim(), true),
        None => (text.trim(), false),
    };
    let fraction = number
        .parse::<f64>()
        .map(|number| match is_percent || number >= 1.0 {
            true => number / 100.0,
            false => number,
        });
    match fraction {
        Ok(fraction) if fraction > 0.0 && fraction < 1.0 => Ok(fraction),
        _ => Err("give a percentage above 0 and below 100, such as 10%".to_owned()),
    }
}

/// `p99`, `p99=30%`; a name may mean several figures.
fn metric(text: &str) -> Result<Vec<GateChoice>, String> {
    let (name, limit) = match text.split_once('=') {
        Some((name, limit)) => (name.trim(), Some(allowed(limit)?)),
        None => (text.trim(), None),
    };
    let figures = FigureKind::named(name);
    if figures.is_empty() {
        return Err(format!(
            "no such figure; there are {}",
            FigureKind::NAMES.join(", ")
        ));
    }
    let choice = |figure: &FigureKind| GateChoice {
        figure: *figure,
        allowed: limit,
    };
    Ok(figures.iter().map(choice).collect())
}

/// Starts and ends clusters to play with: embedded, or Apache Kafka of any release
#[derive(Debug, Args)]
pub(crate) struct ClusterArgs {
    #[command(subcommand)]
    pub(crate) action: ClusterAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClusterAction {
    /// Starts a cluster, prints its bootstrap servers and serves until Ctrl-C
    Up(ClusterUp),
    /// Ends detached clusters, and removes what a killed kgauge left behind: processes, data, keys
    Down(ClusterDown),
    /// Lists the clusters that kgauge started: those that run, and those of which something is left
    Status(ClusterStatus),
    /// Lists the releases of Apache Kafka that are known, cached and checked, and the Java they need
    Versions(ClusterVersions),
}

/// Starts a cluster, prints its bootstrap servers and serves until Ctrl-C
#[derive(Debug, Args)]
#[command(after_help = help::CLUSTER_UP)]
pub(crate) struct ClusterUp {
    /// `embedded[:NODES][,security=KIND][,KEY=VALUE]`, or
    /// `kafka:VERSION[,brokers=N][,security=KIND][,KEY=VALUE]`
    #[arg(value_name = "TARGET", default_value = "embedded")]
    pub(crate) target: String,

    /// Where the data of an embedded cluster lies and stays; without it in a temporary folder, removed at the end
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,

    /// The first node's port of an embedded cluster; node 2 gets the next one, and so on [default: free ports]
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,

    /// The address that an embedded cluster's nodes listen on, such as 0.0.0.0 for all of this machine's [default: 127.0.0.1]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,

    /// The host that an embedded cluster gives its clients to connect to [default: the address it listens on]
    #[arg(long, value_name = "HOST")]
    pub(crate) advertise: Option<String>,

    /// A server.properties of Kafka for an embedded cluster: its settings apply, and those that change nothing here are
    /// named and ignored
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Leaves an Apache Kafka cluster running and returns
    #[arg(long)]
    pub(crate) detach: bool,

    /// Takes Apache Kafka from an unpacked release instead of Maven
    #[arg(long, value_name = "DIR")]
    pub(crate) kafka_home: Option<PathBuf>,
}

/// Ends detached clusters, and removes what a killed kgauge left behind: processes, data, keys
#[derive(Debug, Args)]
pub(crate) struct ClusterDown {
    /// Clusters to end, as listed by `kgauge cluster status`. May be left out if only one runs that no
    /// kgauge holds
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,

    /// Ends every cluster that no running kgauge holds
    #[arg(long, conflicts_with = "names")]
    pub(crate) all: bool,
}

/// Lists the clusters that kgauge started: those that run, and those of which something is left
#[derive(Debug, Args)]
pub(crate) struct ClusterStatus {
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Lists the releases of Apache Kafka that are known, cached and checked, and the Java they need
#[derive(Debug, Args)]
pub(crate) struct ClusterVersions {
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}
