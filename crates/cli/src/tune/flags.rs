//! The arguments of `kgauge tune`.

use std::path::PathBuf;

use clap::Args;

use crate::built_in_args::BuiltInArgs;
use crate::conduct_args::ConductArgs;
use crate::help;

/// Find settings that help, and prove them against the settings in force
#[derive(Debug, Default, Args)]
#[command(
    after_help = help::TUNE,
    mut_arg("keep", |arg| arg.long("keep-data")),
    // `--goal` is that of the search.
    mut_arg("goals", |arg| arg.long("scenario-goal").hide(true)),
    mut_arg("duration", |arg| arg.help(help::DURATION_OF_PAIRS))
)]
pub(crate) struct TuneArgs {
    /// Built-in scenario, study or scenario file with one trial [default: latency for the goal of that
    /// name, otherwise throughput]
    #[arg(value_name = "SCENARIO|STUDY|FILE")]
    pub(crate) what: Option<String>,

    /// Cluster to test, as in `kgauge run` [default: the environment variable KGAUGE_TARGET, or else
    /// embedded]
    #[arg(long = "target", value_name = "TARGET")]
    pub(crate) target: Option<String>,

    /// What to improve: `throughput` at full speed, `latency` at a fixed rate, or `cost`, the brokers'
    /// CPU time per record [default: throughput at full speed, otherwise latency]
    #[arg(long, value_name = "GOAL", value_parser = ["throughput", "latency", "cost"])]
    pub(crate) goal: Option<String>,

    /// Another figure of the same goal, such as `p99.9` or `generator-cpu` [default: throughput, p99 or
    /// target-cpu]
    #[arg(long, value_name = "FIGURE")]
    pub(crate) metric: Option<String>,

    /// Condition that every recommendation must keep, such as `p99 <= 20 ms`; may be repeated
    #[arg(id = "condition", long = "keep", value_name = "CONDITION")]
    pub(crate) conditions: Vec<String>,

    /// Only try settings of these places, separated by commas [default: all three]
    #[arg(long = "try", value_name = "WHERE", value_delimiter = ',', value_parser = ["client", "topic", "broker"])]
    pub(crate) scopes: Vec<String>,

    /// Try this setting instead of those that kgauge knows, in the form of `--set`; may be repeated.
    /// Settings separated by commas change together
    #[arg(long = "candidate", value_name = "PATH=VALUE")]
    pub(crate) candidates: Vec<String>,

    /// Measure a bundle of settings for one design goal instead of searching
    #[arg(long, value_name = "NAME", value_parser = ["throughput", "latency", "durability", "availability"])]
    pub(crate) preset: Option<String>,

    /// Also try settings that decide what an ack means, such as `acks`
    #[arg(long)]
    pub(crate) durability_may_change: bool,

    /// Gains below this count as none, such as `3 %` [default: 3 %]
    #[arg(long, value_name = "PERCENT")]
    pub(crate) width: Option<String>,

    /// Time of the whole search, such as `30 min` [default: 30 min]
    #[arg(long, value_name = "TIME")]
    pub(crate) budget: Option<String>,

    /// Resume a search that was interrupted or had no time left; `--budget` is then the new time of
    /// the whole search
    #[arg(long, value_name = "DIR", conflicts_with_all = ["what", "goal", "metric", "condition", "scopes", "candidates", "preset", "durability_may_change", "width", "quick", "only", "set", "out", "name", "seed"])]
    pub(crate) resume: Option<PathBuf>,

    /// Use this scenario of a study
    #[arg(long, value_name = "SCENARIO", value_delimiter = ',')]
    pub(crate) only: Vec<String>,

    /// Use the short version of the scenario
    #[arg(long)]
    pub(crate) quick: bool,

    /// Override one scenario value, as in `kgauge run`; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,

    #[command(flatten)]
    pub(crate) conduct: ConductArgs,

    #[command(flatten)]
    pub(crate) built_in: BuiltInArgs,
}
