//! Command-line arguments. clap builds `--help` from the doc comments here.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ColorChoice, Parser, Subcommand};
use kgauge_analyze::compare::GateChoice;
use kgauge_runner::CheckupRequest;

use crate::ab::AbArgs;
use crate::agent::AgentArgs;
use crate::built_in_args::BuiltInArgs;
use crate::capacity_args::CapacityArgs;
use crate::checkup_args::CheckupArgs;
use crate::compare_with::With;
use crate::conduct_args::ConductArgs;
use crate::help;
use crate::pods::AgentsCommand;
use crate::size_args::SizeArgs;
use crate::style::DetailArgs;
use crate::tune::TuneArgs;
use crate::value_parsers::{age, allowed, metric, percent};

/// Measures what a Kafka cluster can do, and proves that its own numbers are right.
#[derive(Debug, Parser)]
#[command(
    name = "kgauge",
    version,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
#[command(after_help = help::KGAUGE)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colours on stdout; `auto` means in a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", global = true, default_value_t = ColorChoice::Auto)]
    pub(crate) color: ColorChoice,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a built-in scenario, a study, a scenario file or a saved plan, and report the results
    Run(Box<RunArgs>),
    /// Write a scenario file to start from, also from a command line of Kafka's perf tools
    Init(InitArgs),
    /// Show what scenarios or studies would do, without load and without a target
    Check(Box<CheckArgs>),
    /// List run folders, or remove old ones
    Runs(RunsArgs),
    /// Generate load on this machine for a run that another machine leads
    Agent(AgentArgs),
    /// Print the Kubernetes objects of a run whose load comes from pods
    Agents(AgentsCommand),
    /// Find the highest rate that keeps its goals
    Capacity(Box<CapacityArgs>),
    /// Compare two settings, scenarios or targets in pairs until the answer is clear
    Ab(Box<AbArgs>),
    /// Find settings that help, and prove them against the settings in force
    Tune(Box<TuneArgs>),
    /// Check a cluster: facts, capacity, latency, and the three findings that matter most
    Checkup(Box<CheckupArgs>),
    /// Find how many machines a load needs, from measured runs
    Size(Box<SizeArgs>),
    /// List the built-in scenarios and studies, with the question that each answers
    Studies(StudiesArgs),
    /// Start and stop test clusters: embedded, or any release of Apache Kafka
    Cluster(ClusterArgs),
    /// Regenerate the report of a run
    Report(ReportArgs),
    /// Compare two or more runs
    Compare(Compare),
    /// Check results of other tools for arithmetic contradictions
    Audit(AuditArgs),
    /// Test kgauge itself against known answers
    Truth(TruthArgs),
    /// Measure the maximum load that this machine can generate
    Ceiling(CeilingArgs),
    /// Print a JSON Schema: for scenario files in editors, or for results
    Schema(SchemaArgs),
    /// Print a page of the guide, or the help of a command
    Help(HelpArgs),
    /// Serve the embedded cluster to a parent process
    #[command(hide = true)]
    EmbeddedCluster,
}

/// Run a built-in scenario, a study, a scenario file or a saved plan, and report the results
#[derive(Debug, Default, Args)]
#[command(after_help = help::RUN)]
#[command(mut_arg("json", |json| json.help(help::JSON_OF_RUN)))]
pub(crate) struct RunArgs {
    /// Built-in scenario (`throughput`, `latency`, `end-to-end`, `fan-out`), study name (see `kgauge
    /// studies`) or folder, scenario file, or saved plan.json
    #[arg(value_name = "SCENARIO|STUDY|FILE", required_unless_present = "resume")]
    pub(crate) what: Option<String>,

    /// Cluster to test; repeat to test several in turn and compare them [default: the environment
    /// variable KGAUGE_TARGET, or else embedded].
    /// `embedded[:NODES][,security=KIND][,KEY=VALUE]`,
    /// `kafka:VERSION[,brokers=N][,security=KIND][,KEY=VALUE]`, `HOST:PORT[,HOST:PORT]`, a Kafka
    /// client.properties file with `bootstrap.servers`, or
    /// `strimzi:NAMESPACE/CLUSTER[,listener=NAME][,user=NAME]` through kubectl; `kgauge help targets`
    /// has all keys
    #[arg(long = "target", value_name = "TARGET")]
    pub(crate) targets: Vec<String>,

    /// Cost of a target per hour, in any currency; once per `--target`, in the same order. The
    /// comparison then shows records per unit of money
    #[arg(long = "price", value_name = "PER-HOUR")]
    pub(crate) prices: Vec<f64>,

    #[command(flatten)]
    pub(crate) changes: ScenarioArgs,

    /// Second cluster for scenarios with a mirror [default: a new one like the target]
    #[arg(long, value_name = "TARGET")]
    pub(crate) destination: Option<String>,

    /// Resume an interrupted run or one with failed trials; only unfinished trials run. Uses the
    /// same target unless `--target` names another
    #[arg(long, value_name = "DIR", conflicts_with_all = ["what", "out", "name", "seed", "quick", "full", "set", "drivers", "only", "repeat", "prices"])]
    pub(crate) resume: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) conduct: ConductArgs,

    #[command(flatten)]
    pub(crate) built_in: BuiltInArgs,

    /// The checkup that the run makes
    #[arg(skip)]
    pub(crate) checkup: Option<CheckupRequest>,
}

/// Flags that change scenarios.
#[derive(Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct ScenarioArgs {
    /// Run the short version, if the scenario has one: minutes for a study that repeats a published one
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,

    /// Run the full version: of a study, the authors' record counts, which need much more time and disk
    #[arg(long)]
    pub(crate) full: bool,

    /// Override one scenario value: `writers.settings.linger.ms=0`, `stages.hold='5 s'`, or
    /// `linger.ms=0` if only one flow has this setting. May be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,

    /// Identify every record, read all of them back after the load, and compare them with their acks;
    /// the same as `verify: true` in the scenario
    #[arg(long)]
    pub(crate) verify: bool,

    /// Client that sends: `kgauge`, `java` (kafka-clients 4.3.1), `java:RELEASE` or `librdkafka`.
    /// Repeat to run one trial per client and compare them
    #[arg(long = "driver", value_name = "NAME")]
    pub(crate) drivers: Vec<String>,

    /// Run only these scenarios of a study, separated by commas
    #[arg(long = "only", value_name = "SCENARIO", value_delimiter = ',')]
    pub(crate) only: Vec<String>,

    /// Number of repeats per trial [default: `repeats` in the scenario]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeat: Option<u32>,
}

/// List the built-in scenarios and studies, with the question that each answers
#[derive(Debug, Args)]
#[command(after_help = help::STUDIES)]
pub(crate) struct StudiesArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Write a scenario file to start from, also from a command line of Kafka's perf tools
#[derive(Debug, Args)]
#[command(after_help = help::INIT)]
pub(crate) struct InitArgs {
    /// File to write, or `-` for stdout
    #[arg(value_name = "FILE", default_value = "scenario.yaml")]
    pub(crate) file: PathBuf,

    /// Translate this command line of kafka-producer-perf-test, kafka-consumer-perf-test or
    /// kafka-e2e-latency
    #[arg(long, value_name = "COMMAND LINE")]
    pub(crate) from_perf_test: Option<String>,

    /// Overwrite an existing file
    #[arg(long)]
    pub(crate) force: bool,
}

/// Show what scenarios or studies would do, without load and without a target
#[derive(Debug, Args)]
#[command(after_help = help::CHECK)]
pub(crate) struct CheckArgs {
    /// Scenario files, study folders, saved plans, or names of built-in scenarios and studies
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,

    #[command(flatten)]
    pub(crate) changes: ScenarioArgs,

    /// Show the order of the repeats that this seed gives
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// Print JSON: a list with an entry for each file
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) built_in: BuiltInArgs,
}

/// List run folders, or remove old ones
#[derive(Debug, Args)]
#[command(after_help = help::RUNS)]
pub(crate) struct RunsArgs {
    /// Folder with run folders
    #[arg(value_name = "DIR", default_value = kgauge_runner::RUNS)]
    pub(crate) dir: PathBuf,

    /// Remove finished runs; needs --older-than or --keep
    #[arg(long)]
    pub(crate) prune: bool,

    /// Remove runs that ended longer ago than this: `12h`, `30d` or `8w`
    #[arg(long, value_name = "TIME", value_parser = age, requires = "prune")]
    pub(crate) older_than: Option<Duration>,

    /// Keep the N newest finished runs
    #[arg(long, value_name = "N", requires = "prune")]
    pub(crate) keep: Option<usize>,

    /// Do not ask for confirmation before removing runs
    #[arg(long, requires = "prune")]
    pub(crate) yes: bool,

    /// Print JSON: all runs, or with --prune those that were removed
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print a JSON Schema: for scenario files in editors, or for results
#[derive(Debug, Args)]
#[command(after_help = help::SCHEMA)]
pub(crate) struct SchemaArgs {
    /// Kind of file
    #[arg(value_name = "KIND", default_value = "scenario")]
    pub(crate) kind: SchemaKind,
}

/// Files that have a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SchemaKind {
    /// Scenario file
    Scenario,
    /// summary.json of a run
    Summary,
    /// comparison.json
    Comparison,
}

/// Print a page of the guide, or the help of a command
#[derive(Debug, Args)]
#[command(after_help = help::HELP)]
pub(crate) struct HelpArgs {
    /// `scenario`, `marks`, `targets`, `kubernetes`, `exit-codes`, or a command
    #[arg(value_name = "TOPIC|COMMAND")]
    pub(crate) words: Vec<String>,
}

/// Regenerate the report of a run
#[derive(Debug, Args)]
#[command(after_help = help::REPORT)]
pub(crate) struct ReportArgs {
    /// Run folder; if the run was killed, kgauge reports what it had recorded
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,

    /// Report format [default: table; also rewrites summary.json and report.html]
    #[arg(long = "as", value_name = "FORMAT", conflicts_with = "json")]
    pub(crate) form: Option<ReportForm>,

    /// Output file, folder for `hdr`, or `-` for stdout; existing files are overwritten [default: -]
    #[arg(short, long, value_name = "FILE|DIR", requires = "form")]
    pub(crate) out: Option<PathBuf>,

    /// Print summary.json instead of the table
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) detail: DetailArgs,
}

/// Formats of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ReportForm {
    /// Terminal table
    Table,
    /// HTML page
    Html,
    /// Contents of summary.json
    Json,
    /// Pull request comment with answers, goals and figures, below 65,536 characters
    Markdown,
    /// One row per trial, flow and repeat, for spreadsheets and notebooks
    Csv,
    /// HdrHistogram interval logs, one per trial, flow and kind of time
    Hdr,
}

/// Measure the maximum load that this machine can generate
#[derive(Debug, Args)]
#[command(after_help = help::CEILING)]
pub(crate) struct CeilingArgs {
    /// Override one value of the flows `writers` and `readers`, as in `kgauge run`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,

    /// Print JSON instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

/// Check results of other tools for arithmetic contradictions
#[derive(Debug, Args)]
#[command(after_help = help::AUDIT)]
pub(crate) struct AuditArgs {
    /// Files with the output of the tools; `-` is stdin
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,

    /// buffer.memory of the producers [default: from the nearest command, or 32 MiB]
    #[arg(long, value_name = "BYTES")]
    pub(crate) buffer_memory: Option<String>,

    /// Network speed of each broker in bits per second, such as 1G
    #[arg(long, value_name = "RATE")]
    pub(crate) nic: Option<String>,

    /// Number of brokers that share the load [default: unknown; checks that need it are skipped]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) brokers: Option<u32>,

    /// Replicas of each partition [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) replication: Option<u32>,

    /// Partitions of the topic
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) partitions: Option<u64>,

    /// Kafka release of the tool [default: detected from the output]
    #[arg(long, value_name = "VERSION")]
    pub(crate) as_of: Option<String>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Test kgauge itself against known answers
#[derive(Debug, Args)]
#[command(after_help = help::TRUTH)]
pub(crate) struct TruthArgs {
    /// Folder for scenarios and run folders; must be empty or not exist [default: a new one under
    /// `kgauge-runs`]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Judge the runs of an earlier `kgauge truth` again, without running anything
    #[arg(long, value_name = "DIR", conflicts_with_all = ["out", "quick"])]
    pub(crate) again: Option<PathBuf>,

    /// Run only these checks, separated by commas
    #[arg(long = "only", value_name = "CHECK", value_delimiter = ',')]
    pub(crate) only: Vec<String>,

    /// Use shorter holds
    #[arg(long)]
    pub(crate) quick: bool,

    /// Random seed [default: random, a new one for each run]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// Maximum tries per check. kgauge retries while other programs on the machine make a figure
    /// inconclusive
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=10), conflicts_with = "again")]
    pub(crate) tries: u32,

    /// Test the suite with a deliberate error; it must fail. `recorder` starts latency at the actual
    /// send, `figures` raises the expected figures by 5 %
    #[arg(long, value_name = "WHAT")]
    pub(crate) doubt: Option<Doubt>,

    /// Print truth.json instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

/// Deliberate errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Doubt {
    /// Wrong start of latency in the stall checks
    Recorder,
    /// Wrong expected figures in all checks
    Figures,
}

/// Compare two or more runs
#[derive(Debug, Args)]
#[command(after_help = help::COMPARE)]
#[command(mut_arg("verbose", |verbose| verbose.help(help::VERBOSE_OF_COMPARE)))]
#[command(mut_arg("quiet", |quiet| quiet.help(help::QUIET_OF_COMPARE)))]
pub(crate) struct Compare {
    /// Two or more run folders; with `--with`, the runs of the first side. `NAME=DIR` sets a name
    #[arg(value_name = "DIR", required = true, num_args = 1..)]
    pub(crate) dirs: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) with: With,

    /// Assumed run-to-run standard deviation in percent; 0 for none [default: by kind of figure, from
    /// pairs of equal runs]. Ignored when both sides have several runs
    #[arg(long, value_name = "PERCENT", value_parser = percent, allow_negative_numbers = true)]
    pub(crate) between_runs: Option<f64>,

    /// Folder (or side) to compare the others with, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) baseline: usize,

    /// Output format [default: table]
    #[arg(long = "as", value_name = "FORMAT", conflicts_with = "json")]
    pub(crate) form: Option<CompareForm>,

    /// Write comparison.html and comparison.json to this folder [default: write no files]. With
    /// `--as`: the output file, or `-` for stdout [default: -]
    #[arg(short, long, value_name = "DIR|FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Exit with status 1 if a figure is worse than the baseline by this much (`10%`, `10` or `0.1`).
    /// Status 2: inconclusive; stderr shows the smallest change that the runs can detect
    #[arg(long, value_name = "PERCENT", value_parser = allowed)]
    pub(crate) fail_if_worse: Option<f64>,

    /// Figures for `--fail-if-worse`, each with an optional limit [default: capacity,records/s,p50,
    /// p99,loss]. Others: typical-capacity, p99.9, latency, cpu, generator-cpu, target-cpu, bytes,
    /// price
    #[arg(long, value_name = "FIGURE[=PERCENT]", value_delimiter = ',', value_parser = metric, requires = "fail_if_worse")]
    pub(crate) metric: Vec<Vec<GateChoice>>,

    /// Show the embedded cluster next to other targets, without ratios
    #[arg(long)]
    pub(crate) allow_unlike: bool,

    /// Print comparison.json instead of the table
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) detail: DetailArgs,
}

/// Formats of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CompareForm {
    /// Terminal table
    Table,
    /// HTML page
    Html,
    /// Contents of comparison.json
    Json,
    /// Pull request comment with differences and all figures, below 65,536 characters
    Markdown,
}

/// Start and stop test clusters: embedded, or any release of Apache Kafka
#[derive(Debug, Args)]
pub(crate) struct ClusterArgs {
    #[command(subcommand)]
    pub(crate) action: ClusterAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClusterAction {
    /// Start a cluster, print its bootstrap servers and keep it running until Ctrl-C
    Up(ClusterUp),
    /// Stop detached clusters, and clean up after a killed kgauge: processes, data, keys
    Down(ClusterDown),
    /// List running clusters that kgauge started, and the remains of killed ones
    Status(ClusterStatus),
    /// List Apache Kafka releases: known, cached and checked, with the Java they need
    Versions(ClusterVersions),
}

/// Start a cluster, print its bootstrap servers and keep it running until Ctrl-C
#[derive(Debug, Args)]
#[command(after_help = help::CLUSTER_UP)]
pub(crate) struct ClusterUp {
    /// Cluster to start: `embedded[:NODES][,security=KIND][,KEY=VALUE]` or
    /// `kafka:VERSION[,brokers=N][,security=KIND][,KEY=VALUE]`; `kgauge help targets` has all keys
    #[arg(value_name = "TARGET", default_value = "embedded")]
    pub(crate) target: String,

    /// Folder for an embedded cluster's data, kept at the end [default: temporary, removed]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,

    /// Port of an embedded cluster's first node; the others count up from it [default: free ports]
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,

    /// Address an embedded cluster listens on; 0.0.0.0 means all interfaces [default: 127.0.0.1]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,

    /// Host name an embedded cluster advertises to clients [default: the listen address; `localhost` for 0.0.0.0]
    #[arg(long, value_name = "HOST")]
    pub(crate) advertise: Option<String>,

    /// Kafka server.properties for an embedded cluster. kgauge lists the settings that have no effect
    /// and ignores them
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Leave an Apache Kafka cluster running and return
    #[arg(long)]
    pub(crate) detach: bool,

    /// Use an unpacked Kafka release instead of Maven
    #[arg(long, value_name = "DIR")]
    pub(crate) kafka_home: Option<PathBuf>,
}

/// Stop detached clusters, and clean up after a killed kgauge: processes, data, keys
#[derive(Debug, Args)]
pub(crate) struct ClusterDown {
    /// Clusters to stop, as listed by `kgauge cluster status` [default: the only one that no running
    /// kgauge uses; kgauge asks which if there are several]
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,

    /// Stop every cluster that no running kgauge uses
    #[arg(long, conflicts_with = "names")]
    pub(crate) all: bool,
}

/// List running clusters that kgauge started, and the remains of killed ones
#[derive(Debug, Args)]
pub(crate) struct ClusterStatus {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// List Apache Kafka releases: known, cached and checked, with the Java they need
#[derive(Debug, Args)]
pub(crate) struct ClusterVersions {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
