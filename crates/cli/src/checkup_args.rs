//! The arguments of `kgauge checkup`.

use clap::Args;

use crate::conduct_args::ConductArgs;
use crate::help;

/// Check a cluster: facts, capacity, latency, and the three findings that matter most
#[derive(Debug, Args)]
#[command(after_help = help::CHECKUP)]
// A checkup leaves nothing on the cluster and uses only topics that it creates.
#[command(mut_arg("keep", |keep| keep.hide(true)))]
#[command(mut_arg("allow_existing", |topic| topic.hide(true)))]
pub(crate) struct CheckupArgs {
    /// Cluster to check, as in `kgauge run` [default: the environment variable KGAUGE_TARGET, or else
    /// embedded]
    #[arg(long = "target", value_name = "TARGET")]
    pub(crate) target: Option<String>,

    /// Goal of the capacity search, as in `kgauge capacity` [default: p99 <= 20 ms]
    #[arg(
        long,
        value_name = "GOAL",
        default_value = "p99 <= 20 ms",
        hide_default_value = true
    )]
    pub(crate) goal: String,

    /// Time of the whole checkup; parts that do not fit are left out [default: 15 min]
    #[arg(
        long,
        value_name = "TIME",
        default_value = "15 min",
        hide_default_value = true
    )]
    pub(crate) budget: String,

    /// Highest rate to try, such as `50k/s` [default: what disks and quotas allow]
    #[arg(long, value_name = "RATE")]
    pub(crate) max_rate: Option<String>,

    /// Maximum bytes on the brokers' disks at any time, replicas included [default: a fifth of the free
    /// space, or 10 GB if brokers do not report it]
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_disk: Option<String>,

    /// Size of each record's value [default: 1 kB]
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "1 kB",
        hide_default_value = true
    )]
    pub(crate) record_size: String,

    /// Number of producers
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) producers: u32,

    /// Read the facts of an existing cluster and show what the checkup would write, without load
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) conduct: ConductArgs,
}
