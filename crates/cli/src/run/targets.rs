//! The targets of a run: what `--target` says, and the broker settings that the scenarios want.

use std::collections::BTreeMap;

use kgauge_client::Cluster;
use kgauge_client::admin::ConfigResource;
use kgauge_scenario::FaultPlan;
use kgauge_target::{TargetSpec, refusals};

use super::question::Question;
use super::start::size;
use crate::args::Run;
use crate::exit::{ExitStatus, OrStop, stop};

/// A target, as typed and as understood.
pub(super) struct NamedTarget {
    pub(super) text: String,
    pub(super) spec: TargetSpec,
    /// What the scenarios want the brokers to be set to.
    pub(super) wanted: BTreeMap<String, String>,
}

#[allow(clippy::print_stderr)]
/// Reads all targets, so that a slip in the last one is found before the first one starts.
pub(super) fn read(arguments: &Run, question: &Question) -> anyhow::Result<Vec<NamedTarget>> {
    let wanted = question.broker_config(size(arguments))?;
    let brokers = question.brokers_needed(size(arguments));
    let faults = question.faults(size(arguments));
    let mut is_home_used = false;
    let mut targets = Vec::new();
    for text in &arguments.targets {
        let mut spec = TargetSpec::parse(text).or_bad_input()?;
        if let TargetSpec::Existing(config) = &spec {
            for note in &config.notes {
                eprintln!("kgauge: {note}");
            }
        }
        spec.configure(&wanted).or_bad_input()?;
        spec.suit(brokers);
        check_faults(text, &spec, &faults)?;
        if let Some(home) = &arguments.kafka_home {
            is_home_used |= spec.set_kafka_home(home);
        }
        if arguments.allow_existing.is_some() && !matches!(spec, TargetSpec::Existing(_)) {
            let words = format!("--allow-existing: {text} starts empty, so it has no such topic");
            return Err(stop(ExitStatus::BadInput, words));
        }
        targets.push(NamedTarget {
            text: text.clone(),
            spec,
            wanted: wanted.clone(),
        });
    }
    if arguments.kafka_home.is_some() && !is_home_used {
        let words = "--kafka-home belongs to a target that starts with kafka:";
        return Err(stop(ExitStatus::BadInput, words));
    }
    Ok(targets)
}

/// A fault that the target cannot have is refused before anything starts.
fn check_faults(text: &str, spec: &TargetSpec, faults: &[FaultPlan]) -> anyhow::Result<()> {
    let mut words = refusals(spec, faults);
    words.dedup();
    match words.is_empty() {
        true => Ok(()),
        false => {
            let words = format!(
                "target {text} cannot have these faults:\n  {}",
                words.join("\n  ")
            );
            Err(stop(ExitStatus::BadInput, words))
        }
    }
}

impl NamedTarget {
    /// Its name for a folder: letters, digits, dots and single dashes.
    pub(super) fn slug(&self) -> String {
        /// Enough to tell targets apart; the folder's number does the rest.
        const CHARS_MAX: usize = 40;
        let mut slug = String::new();
        for c in self.text.chars() {
            let fits = c.is_ascii_alphanumeric() || c == '.';
            match fits {
                true => slug.push(c),
                false if !slug.ends_with('-') => slug.push('-'),
                false => {}
            }
            if slug.len() >= CHARS_MAX {
                break;
            }
        }
        slug.trim_matches(['-', '.']).to_owned()
    }

    /// Whether the brokers of an existing cluster are set to what the scenarios want: kgauge does
    /// not change them.
    pub(super) fn check_existing(&self, cluster: &mut Cluster) -> anyhow::Result<()> {
        let is_existing = matches!(self.spec, TargetSpec::Existing(_));
        if !is_existing || self.wanted.is_empty() {
            return Ok(());
        }
        let brokers: Vec<i32> = cluster.metadata().brokers.iter().map(|b| b.id).collect();
        let mut differs = Vec::new();
        for id in brokers {
            let found = cluster
                .describe_configs(ConfigResource::Broker(id))
                .or_target_failed("remove the broker settings from the scenario, or from --set")?;
            for (key, wanted) in &self.wanted {
                let entry = found.iter().find(|entry| entry.name == *key);
                let value = entry.and_then(|entry| entry.value.as_deref());
                if value != Some(wanted) {
                    let value = value.unwrap_or("not told");
                    differs.push(format!(
                        "  broker {id}: {key} is {value}, wanted is {wanted}"
                    ));
                }
            }
        }
        if differs.is_empty() {
            return Ok(());
        }
        let words = format!(
            "the cluster is not set to what the scenarios want:\n{}\n  kgauge changes no settings \
             of an existing cluster: set them there, or take them out of the scenarios",
            differs.join("\n")
        );
        Err(stop(ExitStatus::BadInput, words))
    }
}
