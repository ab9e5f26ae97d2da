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
  kgauge run linkedin-2014 --target host:9092      the same study on an existing cluster
  kgauge run my-scenario.yaml --repeat 5           a scenario of your own
  kgauge report kgauge-runs/RUN                    the report of a run, made again

Exit status:
  0 good, 1 a goal or a send failed, 2 bad input, 3 the target failed, 130 interrupted";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs a study, a scenario file or a saved plan, and reports
    Run(Run),
    /// Lists the studies that ship, and the question that each answers
    Studies(Studies),
    /// Starts a cluster to play with; it runs until it is stopped
    Cluster(Cluster),
    /// Makes the report of a run folder again
    Report(Report),
    /// Serves the embedded cluster to a parent process
    #[command(hide = true)]
    EmbeddedCluster,
}

const RUN_HELP: &str = "\
Examples:
  kgauge run linkedin-2014 --quick
  kgauge run linkedin-2014 --target 10.0.0.1:9092,10.0.0.2:9092
  kgauge run linkedin-2014 --target client.properties --set writers.settings.acks=all
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

    /// What is tested: `embedded`, `embedded:NODES`, `HOST:PORT[,HOST:PORT]`, or a file of Kafka
    /// client properties with `bootstrap.servers`
    #[arg(long, value_name = "TARGET", default_value = "embedded")]
    pub(crate) target: String,

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

    /// Prints summary.json instead of the table
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

/// Starts a cluster to play with; it runs until it is stopped
#[derive(Debug, Args)]
pub(crate) struct Cluster {
    #[command(subcommand)]
    pub(crate) action: ClusterAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClusterAction {
    /// Starts an embedded cluster, prints its bootstrap servers and serves until Ctrl-C
    Up(ClusterUp),
}

const CLUSTER_HELP: &str = "\
Examples:
  kgauge cluster up                                one node, data removed at the end
  kgauge cluster up embedded:3 --data ./data       three nodes that keep their data
  kgauge cluster up --port 9092                    on a port of your choice (node n: port + n)";

/// Starts an embedded cluster, prints its bootstrap servers and serves until Ctrl-C
#[derive(Debug, Args)]
#[command(after_help = CLUSTER_HELP)]
pub(crate) struct ClusterUp {
    /// `embedded` or `embedded:NODES`
    #[arg(value_name = "TARGET", default_value = "embedded")]
    pub(crate) target: String,

    /// Where the data lies and stays; without it in a temporary folder, removed at the end
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,

    /// The first node's port; by default free ones are taken
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
}
