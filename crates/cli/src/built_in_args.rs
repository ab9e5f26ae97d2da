//! The flags of built-in scenarios.

use std::fs;
use std::path::PathBuf;

use anyhow::{bail, ensure};
use clap::Args;
use kgauge_runner::{OrRunError, ScenarioChanges};
use kgauge_scenario::{BuiltIn, BuiltInOptions, Scenario, SearchOptions};

use crate::{new_file, print};

/// Flags that fill in a built-in scenario.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Built-in scenarios (throughput, latency, end-to-end, fan-out)")]
pub(crate) struct BuiltInArgs {
    /// Size of each record's value [default: 1 kB]
    #[arg(long, value_name = "SIZE")]
    record_size: Option<String>,

    /// Records per second of all producers, such as `20k/s` [default: 10k/s; end-to-end: 1k/s]
    #[arg(long, value_name = "RATE")]
    rate: Option<String>,

    /// Acks that producers wait for: 0, 1 or all [default: all]
    #[arg(long, value_name = "ACKS")]
    acks: Option<String>,

    /// Codec: a value of `compression.type`, such as lz4. The generated values compress to a quarter of
    /// their size [default: none]
    #[arg(long, value_name = "CODEC")]
    compression: Option<String>,

    /// `linger.ms` of the producers [default: Kafka's, 5]
    #[arg(long, value_name = "MS")]
    linger: Option<String>,

    /// `batch.size` of the producers [default: Kafka's, 16384]
    #[arg(long, value_name = "SIZE")]
    batch_size: Option<String>,

    /// Number of producers [default: 1]
    #[arg(long, value_name = "N")]
    producers: Option<u32>,

    /// Number of consumers, per group for fan-out [default: 1]
    #[arg(long, value_name = "N")]
    consumers: Option<u32>,

    /// Number of consumer groups of fan-out [default: 3]
    #[arg(long, value_name = "N")]
    groups: Option<u32>,

    /// Number of partitions of the topic [default: 6]
    #[arg(long, value_name = "N")]
    partitions: Option<u32>,

    /// Number of replicas of the topic [default: 1]
    #[arg(long, value_name = "N")]
    replication: Option<u32>,

    /// How long the load is measured per repeat [default: 30 s, with --quick 5 s]
    #[arg(long, value_name = "TIME")]
    duration: Option<String>,

    /// Goal that decides the exit status, such as `p99 <= 20 ms`; may be repeated
    #[arg(long = "goal", value_name = "GOAL")]
    goals: Vec<String>,

    /// Also write the scenario to this new file, with --set, --repeat and --quick, to change and run it later
    #[arg(long, value_name = "FILE")]
    write_scenario: Option<PathBuf>,

    /// The search of `kgauge capacity`
    #[arg(skip)]
    pub(crate) search: Option<SearchOptions>,
}

impl BuiltInArgs {
    /// Shortens repeats, unless the user says how long they are: many short ones show more than few long ones.
    pub(crate) fn shorten_repeats(&mut self) {
        self.duration.get_or_insert_with(|| "10 s".to_owned());
    }

    /// The same flags for another scenario; the first one is the one that is written to a file.
    pub(crate) fn again(&self) -> BuiltInArgs {
        BuiltInArgs {
            write_scenario: None,
            ..self.clone()
        }
    }

    /// Refuses goals, which an A/B test does not judge.
    pub(crate) fn without_goals(&self) -> anyhow::Result<()> {
        ensure!(
            self.goals.is_empty(),
            "--goal: an A/B test judges no goals\n  use --metric to choose the figure to compare"
        );
        Ok(())
    }

    /// Takes out what a search decides: its goals, and how long a load at a bound is measured.
    pub(crate) fn take_search(&mut self) -> anyhow::Result<SearchOptions> {
        ensure!(
            self.rate.is_none(),
            "--rate: the search finds the rate; use --max-rate to limit it"
        );
        let duration = self.duration.take();
        Ok(SearchOptions {
            goals: std::mem::take(&mut self.goals),
            settings: duration
                .into_iter()
                .map(|time| ("duration", time))
                .collect(),
        })
    }

    /// The text of the built-in scenario that `what` names; `None` if it names something else.
    pub(crate) fn text(&self, what: &str) -> anyhow::Result<Option<String>> {
        let Some(built_in) = BuiltIn::named(what) else {
            if *self == BuiltInArgs::default() {
                return Ok(None);
            }
            let names = BuiltIn::ALL.map(BuiltIn::name).join(", ");
            bail!(
                "the flags of built-in scenarios apply to {names}\n  use --set PATH=VALUE to \
                 change `{what}`"
            );
        };
        Ok(Some(built_in.text(&self.options()).or_bad_input()?))
    }

    /// Writes the built-in scenario, with what other flags change in it, to the file that the user wants it in.
    pub(crate) fn keep(&self, what: &str, changes: &ScenarioChanges) -> anyhow::Result<()> {
        let Some(file) = &self.write_scenario else {
            return Ok(());
        };
        let Some(text) = self.text(what)? else {
            return Ok(());
        };
        ensure!(
            changes.drivers.is_empty(),
            "--write-scenario does not write --driver\n  use --set writers.driver=NAME"
        );
        let mut scenario = Scenario::parse(what, &text).or_bad_input()?;
        scenario.set_all(&changes.set).or_bad_input()?;
        let text = scenario.changed_text(changes.size);
        // The same command may follow, such as after a broker that refused the connection.
        let is_written =
            file.is_file() && fs::read(file).is_ok_and(|written| written == text.as_bytes());
        if !is_written {
            let fix = "choose another one with --write-scenario";
            new_file::write(file, &text, Some(fix))?;
        }
        print::remark(&format!("scenario written to {}", file.display()));
        Ok(())
    }

    fn options(&self) -> BuiltInOptions {
        BuiltInOptions {
            record_size: self.record_size.clone(),
            rate: self.rate.clone(),
            acks: self.acks.clone(),
            compression: self.compression.clone(),
            linger: self.linger.clone(),
            batch_size: self.batch_size.clone(),
            producers: self.producers,
            consumers: self.consumers,
            groups: self.groups,
            partitions: self.partitions,
            replication: self.replication,
            duration: self.duration.clone(),
            goals: self.goals.clone(),
            search: self.search.clone(),
        }
    }
}
