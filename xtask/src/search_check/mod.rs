//! `cargo xtask search-check`: does the search of `kgauge capacity` find what is known? Each part has targets whose
//! capacity is given, or another program's answer beside ours. Simulated targets are in `kgauge truth --only search`.

mod classification;
mod hidden;
mod kafka;
mod knee;
mod runs;

use std::num::NonZeroUsize;

use anyhow::Result;

use crate::built::ProgramOption;

/// What is checked.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckedSearches {
    /// Only this part
    #[arg(long, value_enum)]
    only: Option<SearchPart>,
    /// Searches of hidden capacities
    #[arg(long, value_name = "N", default_value_t = 100)]
    seeds: u32,
    /// Searches for the knee
    #[arg(long, value_name = "N", default_value_t = 20)]
    knees: u32,
    /// Searches at the same time; their loads are small
    #[arg(long, value_name = "N", default_value = "4")]
    jobs: NonZeroUsize,
    #[command(flatten)]
    program: ProgramOption,
}

/// A part of the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum SearchPart {
    /// 10,000 random loads, classified by the Python package MLRsearch and by kgauge. Seconds
    Classification,
    /// Nodes of the embedded cluster with a capacity that the search does not know. About three hours
    Hidden,
    /// The same with capacities that vary by 5 % from second to second. About five hours
    Noisy,
    /// A node that is an M/D/1 queue, where theory gives the rate at which p99 reaches the goal. About an hour
    Knee,
    /// Apache Kafka with half a core and with one. About 40 minutes
    Kafka,
}

impl SearchPart {
    const ALL: [SearchPart; 5] = [
        SearchPart::Classification,
        SearchPart::Hidden,
        SearchPart::Noisy,
        SearchPart::Knee,
        SearchPart::Kafka,
    ];
}

/// Runs the command. Returns false when a part failed.
pub(crate) fn run(options: &CheckedSearches) -> Result<bool> {
    let mut is_good = true;
    for part in SearchPart::ALL {
        if options.only.is_some_and(|only| only != part) {
            continue;
        }
        is_good &= match part {
            SearchPart::Classification => classification::check()?,
            SearchPart::Hidden => hidden::check(&hidden::STEADY, options)?,
            SearchPart::Noisy => hidden::check(&hidden::NOISY, options)?,
            SearchPart::Knee => knee::check(options)?,
            SearchPart::Kafka => kafka::check(options)?,
        };
    }
    Ok(is_good)
}
