//! The arguments of `kgauge ab`.

use std::path::PathBuf;

use clap::Args;

use crate::built_in_args::BuiltInArgs;
use crate::conduct_args::ConductArgs;
use crate::help;

/// Compare two settings, scenarios or targets in pairs until the answer is clear
#[derive(Debug, Default, Args)]
#[command(after_help = help::AB)]
#[command(mut_arg("goals", |goals| goals.hide(true)))]
#[command(mut_arg("duration", |duration| duration.help(help::DURATION_OF_PAIRS)))]
pub(crate) struct AbArgs {
    /// Built-in scenario or scenario file; two of them are compared with each other [default:
    /// throughput]
    #[arg(value_name = "SCENARIO|FILE", num_args = 0..=2)]
    pub(crate) what: Vec<String>,

    /// Settings of side A, in the form of `--set`; separate several with commas or repeat the flag
    /// [default: as in the scenario]
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) a: Vec<String>,

    /// Settings of side B, in the same form [default: as in the scenario]
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) b: Vec<String>,

    /// Cluster to test, as in `kgauge run`; give it twice to compare two targets [default: the
    /// environment variable KGAUGE_TARGET, or else embedded]
    #[arg(long = "target", value_name = "TARGET")]
    pub(crate) targets: Vec<String>,

    /// Measure the same settings on both sides. Shows how often a test on this machine finds a
    /// difference where there is none, and how many pairs a real difference needs
    #[arg(long, conflicts_with_all = ["a", "b", "duet"])]
    pub(crate) aa: bool,

    /// Measure two targets at the same time instead of in turn; needs equal hosts
    #[arg(long)]
    pub(crate) duet: bool,

    /// Figure to compare: `throughput`, `p99` and other statistics, `target-cpu`, `generator-cpu`, or
    /// FLOW.FIGURE as in goals [default: throughput at full speed, otherwise p99]
    #[arg(long, value_name = "FIGURE")]
    pub(crate) metric: Option<String>,

    /// Differences below this count as none, such as `3 %` [default: 3 %]
    #[arg(long, value_name = "PERCENT")]
    pub(crate) width: Option<String>,

    /// Stop after this time, even without an answer, such as `15 min` [default: 30 min]
    #[arg(long, value_name = "TIME")]
    pub(crate) budget: Option<String>,

    /// Stop after this number of pairs [default: 200, with --aa 40]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) pairs: Option<u32>,

    /// Use the short version of the scenario
    #[arg(long)]
    pub(crate) quick: bool,

    /// Override one scenario value on both sides, as in `kgauge run`; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,

    /// Resume a test that ended without an answer
    #[arg(long, value_name = "DIR", conflicts_with_all = ["what", "a", "b", "aa", "duet", "metric", "width", "budget", "pairs", "quick", "set", "out", "name", "seed"])]
    pub(crate) resume: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) conduct: ConductArgs,

    #[command(flatten)]
    pub(crate) built_in: BuiltInArgs,
}
