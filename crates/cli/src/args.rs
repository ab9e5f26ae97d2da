//! What can be typed. `--help` is made of the sentences here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::with::With;

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
  kgauge truth                                     known answers, put to kgauge itself
  kgauge audit run.log                             what another tool's figures are worth

Kafka's own tools, by their names, with the flags and the lines of every release:
  kafka-producer-perf-test, kafka-consumer-perf-test, kafka-e2e-latency, kafka-topics,
  kafka-verifiable-producer, kafka-verifiable-consumer, kafka-run-class CLASS

Exit status:
  0 good, 1 a goal or a send failed, 2 bad input, 3 the target failed, 130 interrupted";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs a study, a scenario file or a saved plan, and reports
    Run(Box<Run>),
    /// Lists the studies that ship, and the question that each answers
    Studies(Studies),
    /// Starts and ends clusters to play with: embedded, or Apache Kafka of any release
    Cluster(Cluster),
    /// Makes the report of a run folder again
    Report(Report),
    /// Sets two or more runs side by side, and says where they differ
    Compare(Compare),
    /// Reads what other tools print, and says what it is worth
    Audit(Audit),
    /// Proves that kgauge's figures are true: known answers, put to kgauge itself
    Truth(Truth),
    /// Measures what this machine can generate when nothing holds it back
    Ceiling(Ceiling),
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
  kgauge run my-scenario.yaml --target b1:9092 --metrics http://b1:9404/metrics,http://b2:9404/metrics --yes
  kgauge run my-scenario.yaml --target b1:9092 --network-speed eth0=10Gbit --yes
  kgauge run my-scenario.yaml --set stages.hold='60 s' --repeat 5
  kgauge run my-scenario.yaml --driver kgauge --driver java --driver librdkafka
  kgauge run my-scenario.yaml --target small:9092 --price 0.69 --target large:9092 --price 2.75 --yes
  kgauge run kgauge-runs/RUN/plan.json             the same run once more
  kgauge run --resume kgauge-runs/RUN              what an interrupted run has left undone
  kgauge run my-scenario.yaml --serve 0            with a page to watch it in a browser

The table goes to stdout, everything else to stderr. Ctrl-C ends the run within a second, deletes
its topics and still writes the report; Ctrl-C again ends it without waiting for answers.";

/// Runs a study, a scenario file or a saved plan, and reports
#[derive(Debug, Args)]
#[command(after_help = RUN_HELP)]
pub(crate) struct Run {
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
pub(crate) struct Studies {
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const REPORT_HELP: &str = "\
Examples:
  kgauge report kgauge-runs/RUN                    the table; summary.json and report.html anew
  kgauge report kgauge-runs/RUN --as markdown      for the comment of a pull request
  kgauge report kgauge-runs/RUN --as csv --out figures.csv
                                                   a row for each trial, flow and repeat
  kgauge report kgauge-runs/RUN --as hdr --out logs
                                                   interval logs for HdrHistogram's tools

With --as nothing is written into the run folder. The exit status is the run's, whatever the form:
0 good, 1 a goal or a send failed, 3 the target failed, 130 interrupted. It is also 1 where the report
cannot be written, and 2 for arguments that are wrong.";

/// Makes the report of a run folder again
#[derive(Debug, Args)]
#[command(after_help = REPORT_HELP)]
pub(crate) struct Report {
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

const CEILING_HELP: &str = "\
Examples:
  kgauge ceiling                                   100 B records, batches of 128 KiB and of 16 KiB
  kgauge ceiling --set writers.record.size='1 kB' --set writers.settings.compression.type=lz4
  kgauge ceiling --set stages.hold='5 s' --json

Records are made, batched, compressed, checksummed and timed as in any run. In the process they are
thrown away then; over loopback they go to a thread that answers at once and keeps nothing. Each
run measures the same for its own flows and says in its report how much of it was used.";

/// Measures what this machine can generate when nothing holds it back
#[derive(Debug, Args)]
#[command(after_help = CEILING_HELP)]
pub(crate) struct Ceiling {
    /// Changes one thing of the two flows `writers` and `readers`, as in `kgauge run`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,

    /// Prints JSON instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

const AUDIT_HELP: &str = "\
Examples:
  kafka-producer-perf-test.sh ... | kgauge audit -
  kgauge audit run.log notes.md --buffer-memory 64MiB
  kgauge audit blog.md --nic 1G --brokers 3 --replication 3
  kgauge audit runs/*.log --as-of 1.0.2 --partitions 10 --json
  kgauge audit omb-result.json

Reads lines of kafka-producer-perf-test and kafka-consumer-perf-test of any release, inside of logs, Markdown
or prose, lines of rdkafka_performance, and results of OpenMessaging Benchmark. Exit status 1 when
figures contradict each other.";

/// Reads what other tools print, and says what it is worth
#[derive(Debug, Args)]
#[command(after_help = AUDIT_HELP)]
pub(crate) struct Audit {
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

const TRUTH_HELP: &str = "\
Examples:
  kgauge truth                                     all checks, about four minutes
  kgauge truth --quick                             shorter holds, about a minute
  kgauge truth --only stall,recorder               these checks and no others
  kgauge truth --again kgauge-runs/truth-RUN       judges what was run before once more
  kgauge truth --again DIR --doubt recorder        with a recorder that is wrong: it must fail

Checks: stall, stalls, capacity, delay, counts, little, recorder, slices, kafka-tool. Each is a scenario
with faults on the embedded cluster, whose figures follow from arithmetic; docs/guide/truth.md says how.
Exit status 0 when every figure is what it must be, 1 when one is not.";

/// Proves that kgauge's figures are true: known answers, put to kgauge itself
#[derive(Debug, Args)]
#[command(after_help = TRUTH_HELP)]
pub(crate) struct Truth {
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

const COMPARE_HELP: &str = "\
Examples:
  kgauge compare kgauge-runs/A kgauge-runs/B
  kgauge compare --baseline 2 A B C
  kgauge compare A1 A2 A3 --with B1 B2 B3          three runs of each: their spread is measured
  kgauge compare A B --between-runs 5              on a machine on which equal runs differ by 5 %
  kgauge compare A B --out before-and-after        comparison.html and comparison.json go there
  kgauge compare A B --as markdown                 for a comment of a pull request
  kgauge compare A B --fail-if-worse               exit status 1 if anything is worse than in A
  kgauge compare A B --fail-if-worse=5%            only if it is worse by 5 % or more

Exit status 0 whether they differ or not, unless --fail-if-worse is given: then 1 if a figure is worse, and 2
if no figure of the runs could be judged.";

/// Sets two or more runs side by side, and says where they differ
#[derive(Debug, Args)]
#[command(after_help = COMPARE_HELP)]
pub(crate) struct Compare {
    /// Two or more run folders; with `--with` the runs of the first side
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

    /// In which form [default: the table; comparison.html and comparison.json are written too]
    #[arg(long = "as", value_name = "FORM", conflicts_with = "json")]
    pub(crate) form: Option<CompareForm>,

    /// Where comparison.html and comparison.json go; by default a new folder under `kgauge-runs`. With `--as`
    /// the file of that form, or `-` for standard output, which is the default then
    #[arg(short, long, value_name = "DIR|FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Ends with status 1 if a figure is worse than in the baseline, and not by chance; with a part such as
    /// `5%` only if it is worse by so much
    #[arg(long, value_name = "PART", num_args = 0..=1, require_equals = true, default_missing_value = "0",
          value_parser = part)]
    pub(crate) fail_if_worse: Option<f64>,

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

/// `5%`, `5 %`, `0.05`: a part of one.
fn part(text: &str) -> Result<f64, String> {
    let (number, divisor) = match text.trim().strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    let part = number.trim().parse::<f64>().map(|part| part / divisor);
    match part {
        Ok(part) if (0.0..1.0).contains(&part) => Ok(part),
        _ => Err("wanted is a part such as 5% or 0.05".to_owned()),
    }
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
