//! The arguments of `kgauge capacity`.

use std::path::PathBuf;

use clap::Args;

use crate::built_in_args::BuiltInArgs;
use crate::conduct_args::ConductArgs;
use crate::help;

/// Find the highest rate that keeps its goals
#[derive(Debug, Args)]
#[command(after_help = help::CAPACITY)]
#[command(mut_arg("rate", |rate| rate.hide(true)))]
#[command(mut_arg("duration", |duration| duration.help(help::DURATION_OF_SEARCH)))]
#[command(mut_arg("goals", |goals| goals.help(help::GOAL_OF_SEARCH).help_heading(None)))]
pub(crate) struct CapacityArgs {
    /// Built-in scenario, or scenario file; a file may have its own `search` [default: latency]
    #[arg(value_name = "SCENARIO|FILE")]
    pub(crate) what: Option<String>,

    /// Cluster to test, as in `kgauge run` [default: the environment variable KGAUGE_TARGET, or else
    /// embedded]
    #[arg(long = "target", value_name = "TARGET")]
    pub(crate) target: Option<String>,

    /// Stop when the two bounds are this close, such as `2 %` [default: 2 %]
    #[arg(long, value_name = "PERCENT")]
    pub(crate) width: Option<String>,

    /// How long a rate is held before its goals are judged [default: 10 s]
    #[arg(long, value_name = "TIME")]
    pub(crate) window: Option<String>,

    /// Stop after this time with the best bounds so far, such as `15 min` [default: no limit]
    #[arg(long, value_name = "TIME")]
    pub(crate) budget: Option<String>,

    /// Highest rate to try, such as `500k/s` [default: no limit]
    #[arg(long, value_name = "RATE")]
    pub(crate) max_rate: Option<String>,

    /// Search with shorter windows and a width of 4 %
    #[arg(long)]
    pub(crate) quick: bool,

    /// Override one scenario value, as in `kgauge run`; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,

    /// Number of searches; several give a confidence interval [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeat: Option<u32>,

    /// Resume an interrupted search
    #[arg(long, value_name = "DIR", conflicts_with_all = ["what", "out", "name", "seed", "quick", "set", "repeat", "width", "window", "budget", "max_rate"])]
    pub(crate) resume: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) conduct: ConductArgs,

    #[command(flatten)]
    pub(crate) built_in: BuiltInArgs,
}
