//! What can be typed. `--help` is made of the sentences here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Finds out what a Kafka cluster can really do, and proves that its own numbers are true.
#[derive(Debug, Parser)]
#[command(name = "kgauge", version, arg_required_else_help = true, after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  kgauge run linkedin-2014 --quick                 the first study, on the embedded cluster
  kgauge run linkedin-2014 --target kafka:4.3.1    the same study on Apache Kafka 4.3.1
  kgauge run linkedin-2014 --target host:9092      the same study on an existing cluster
  kgauge run my-scenario.yaml --repeat 5           a scenario of your own
  kgauge report kgauge-runs/RUN                    the report of a run, made again

Kafka's own tools, by their names, with the flags and the lines of every release:
  kafka-producer-perf-test, kafka-consumer-perf-test, kafka-e2e-latency, kafka-topics,
  kafka-verifiable-producer, kafka-verifiable-consumer, kafka-run-class CLASS

Exit status:
  0 good, 1 a goal or a send failed, 2 bad input, 3 the target failed, 130 interrupted";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs a study, a scenario file or a saved plan, and reports
    Run(Run),
    /// Lists the studies that ship, and the question that each answers
    Studies(Studies),
    /// Starts and ends clusters to play with: embedded, or Apache Kafka of any release
    Cluster(Cluster),
    /// Makes the report of a run folder again
    Report(Report),
    /// Sets two or more runs side by side, and says where they differ
    Compare(Compare),
    /// Serves the embedded cluster to a parent process
    #[command(hide = true)]
    EmbeddedCluster,
}

const RUN_HELP: &str = "\
Examples:
  kgauge run linkedin-2014 --quick
  kgauge run linkedin-2014 --target kafka:4.3.1,brokers=3
  kgauge run linkedin-2014 --quick --target kafka:0.8.2.2 --target kafka:4.3.1
  kgauge run linkedin-2014 --target 10.0.0.1:9092,10.0.0.2:9092 --yes
  kgauge run linkedin-2014 --target client.properties --set writers.settings.acks=all
  kgauge run my-scenario.yaml --target kafka:4.3.1 --set broker.num.network.threads=4
  kgauge run my-scenario.yaml --set stages.hold='60 s' --repeat 5
  kgauge run kgauge-runs/RUN/plan.json             the same run once more

The table goes to stdout, everything else to stderr. Ctrl-C ends the run within a second, deletes
its topics and still writes the report; Ctrl-C again ends it without waiting for answers.";

/// Runs a study, a scenario file or a saved plan, and reports
#[derive(Debug, Args)]
#[command(after_help = RUN_HELP)]
pub(crate) struct Run {
    /// A study's name (see `kgauge studies`) or folder, a scenario file, or a saved plan.json
    #[arg(value_name = "STUDY|FILE")]
    pub(crate) what: String,

    /// What is tested: `embedded[:NODES][,security=KIND][,KEY=VALUE]`,
    /// `kafka:VERSION[,brokers=N][,security=KIND][,KEY=VALUE]`, `HOST:PORT[,HOST:PORT]`, or a file
    /// of Kafka client properties with `bootstrap.servers`. Given more than once, the run is made on each in turn, and they are compared
    #[arg(long = "target", value_name = "TARGET", default_value = "embedded")]
    pub(crate) targets: Vec<String>,

    /// A first look: about a minute and a half for a study
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,

    /// As published: the authors' record counts; takes time and disk
    #[arg(long)]
    pub(crate) full: bool,

    /// Changes one thing of the scenarios, such as `writers.settings.linger.ms=0` or `stages.hold='5 s'`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,

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
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Keeps what the run wrote: topics, and the data of an embedded cluster
    #[arg(long)]
    pub(crate) keep: bool,

    /// Begins on an existing cluster without asking
    #[arg(long)]
    pub(crate) yes: bool,

    /// Uses this topic of an existing cluster, as it is, instead of making one; it is not deleted
    #[arg(long, value_name = "TOPIC")]
    pub(crate) allow_existing: Option<String>,

    /// Takes Apache Kafka from an unpacked release instead of Maven, for `kafka:` targets
    #[arg(long, value_name = "DIR")]
    pub(crate) kafka_home: Option<PathBuf>,

    /// Prints summary.json (of several targets: comparison.json) instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

/// Lists the studies that ship, and the question that each answers
#[derive(Debug, Args)]
pub(crate) struct Studies {
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Makes the report of a run folder again
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  kgauge report kgauge-runs/linkedin-2014-20261120-101500-5f3a")]
pub(crate) struct Report {
    /// The run folder; one whose run was killed is read as far as it goes
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,

    /// Prints summary.json instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

const COMPARE_HELP: &str = "\
Examples:
  kgauge compare kgauge-runs/A kgauge-runs/B
  kgauge compare --baseline 2 A B C
  kgauge compare A B --out before-and-after        comparison.html and comparison.json go there

Exit status 0 whether they differ or not.";

/// Sets two or more runs side by side, and says where they differ
#[derive(Debug, Args)]
#[command(after_help = COMPARE_HELP)]
pub(crate) struct Compare {
    /// Two or more run folders
    #[arg(value_name = "DIR", required = true, num_args = 1..)]
    pub(crate) dirs: Vec<PathBuf>,

    /// Which of the folders the others are compared with, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) baseline: usize,

    /// Where comparison.html and comparison.json go; by default a new folder under `kgauge-runs`
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Prints comparison.json instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

/// Starts and ends clusters to play with: embedded, or Apache Kafka of any release
#[derive(Debug, Args)]
pub(crate) struct Cluster {
    #[command(subcommand)]
    pub(crate) action: ClusterAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClusterAction {
    /// Starts a cluster, prints its bootstrap servers and serves until Ctrl-C
    Up(ClusterUp),
    /// Ends clusters that still run: detached ones, and what a killed kgauge left behind
    Down(ClusterDown),
    /// Lists the Apache Kafka clusters that kgauge started and that still run
    Status(ClusterStatus),
    /// Lists the releases of Apache Kafka that are known, cached and checked, and the Java they need
    Versions(ClusterVersions),
}

const CLUSTER_HELP: &str = "\
Examples:
  kgauge cluster up                                one node, data removed at the end
  kgauge cluster up embedded:3 --data ./data       three nodes that keep their data
  kgauge cluster up embedded:3,security=mtls       with certificates made for it
  kgauge cluster up embedded,log.flush.interval.messages=1
                                                   every record is on disk when it is acked
  kgauge cluster up --port 9092                    on a port of your choice (node n: port + n)
  kgauge cluster up kafka:4.3.1,brokers=3          Apache Kafka, three brokers
  kgauge cluster up kafka:0.8.2.2 --detach         an old one; `kgauge cluster down` ends it
  kgauge cluster up kafka:4.3.1,security=mtls      with certificates made for it";

/// Starts a cluster, prints its bootstrap servers and serves until Ctrl-C
#[derive(Debug, Args)]
#[command(after_help = CLUSTER_HELP)]
pub(crate) struct ClusterUp {
    /// `embedded[:NODES][,security=KIND][,KEY=VALUE]`, or
    /// `kafka:VERSION[,brokers=N][,security=KIND][,KEY=VALUE]`
    #[arg(value_name = "TARGET", default_value = "embedded")]
    pub(crate) target: String,

    /// Where the data of an embedded cluster lies and stays; without it in a temporary folder, removed at the end
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,

    /// The first node's port of an embedded cluster; by default free ones are taken
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,

    /// Leaves an Apache Kafka cluster running and returns
    #[arg(long)]
    pub(crate) detach: bool,

    /// Takes Apache Kafka from an unpacked release instead of Maven
    #[arg(long, value_name = "DIR")]
    pub(crate) kafka_home: Option<PathBuf>,
}

/// Ends clusters that still run: detached ones, and what a killed kgauge left behind
#[derive(Debug, Args)]
pub(crate) struct ClusterDown {
    /// Names of clusters, see `kgauge cluster status`; without one, every cluster that no running
    /// kgauge holds
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
}

/// Lists the Apache Kafka clusters that kgauge started and that still run
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
