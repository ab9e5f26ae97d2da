//! The targets of a run: what `--target` says, and the broker settings that the scenarios want.

use std::collections::BTreeSet;

use kgauge_client::admin::AdminConfigResource;
use kgauge_client::{Cluster, shown};
use kgauge_observe::UserSpeed;
use kgauge_results::RunRead;
use kgauge_scenario::{ClusterNeeds, MirrorNeeds, Replicator, Trial};
use kgauge_target::{TargetSpec, refusals};

use super::metrics::{self, MetricsAddress};
use super::question::Question;
use super::speeds;
use super::start::size;
use crate::args::RunArgs;
use crate::exit::{ExitStatus, OrStop, stop};
use crate::print;

/// The target of a run that names none.
const EMBEDDED: &str = "embedded";

/// A target, as typed and as understood.
#[derive(Clone)]
pub(super) struct NamedTarget {
    pub(super) text: String,
    /// Without what single trials want of it.
    pub(super) spec: TargetSpec,
    /// What it costs in an hour.
    pub(super) price_per_hour: Option<f64>,
    /// The second cluster of trials with a mirror, where the user names one.
    pub(super) destination: Option<TargetSpec>,
    /// Where its brokers tell their metrics, if it is a cluster that is there.
    pub(super) metrics: Vec<MetricsAddress>,
    /// How fast this machine's network interfaces are, where the user says it.
    pub(super) speeds: Vec<UserSpeed>,
}

/// Reads all targets, so that a slip in the last one is found before the first one starts.
pub(super) fn read(arguments: &RunArgs, question: &Question) -> anyhow::Result<Vec<NamedTarget>> {
    let brokers = question.brokers_needed(size(arguments));
    let trials = question.trials(size(arguments));
    let mut destination = destination(arguments, &trials)?;
    let mut is_home_used = false;
    let mut targets = Vec::new();
    let texts = texts(arguments)?;
    // One folder holds one release: that of the target, if that is to come from a folder.

    check_prices(arguments, texts.len())?;
    let metrics = metrics::read(&arguments.metrics)?;
    let speeds = speeds::read(arguments)?;
    if arguments.resume.is_some() && texts.len() > 1 {
        let words = "--resume goes on with one run, on one target\n  each target of a comparison has a run folder of its own";
        return Err(stop(ExitStatus::BadInput, words));
    }
    for (index, text) in texts.iter().enumerate() {
        let mut spec = parse(text)?;
        if let TargetSpec::Existing(config) = &spec {
            for note in &config.notes {
                print::message(&format!("kgauge: {note}"));
            }
        }
        spec.fit_to(brokers);
        if let Some(home) = &arguments.kafka_home {
            is_home_used |= spec.set_kafka_home(home);
        }
        let is_there = matches!(spec, TargetSpec::Existing(_));
        let is_one_there = is_there && texts.len() == 1;
        if !metrics.is_empty() && !is_one_there {
            let words = "--metrics: it tells of one cluster that is there; brokers that kgauge starts are asked without it";
            return Err(stop(ExitStatus::BadInput, words));
        }
        if arguments.allow_existing.is_some() && !is_there {
            let words = format!("--allow-existing: {text} starts empty, so it has no such topic");
            return Err(stop(ExitStatus::BadInput, words));
        }
        let has_mirror = trials.iter().any(|trial| trial.cluster.mirror.is_some());
        if arguments.allow_existing.is_some() && has_mirror {
            let words = "--allow-existing: a mirror needs a topic that the run makes, to know which records are its own";
            return Err(stop(ExitStatus::BadInput, words));
        }
        let target = NamedTarget {
            text: text.clone(),
            spec,
            price_per_hour: arguments.prices.get(index).copied(),
            destination: destination.clone(),
            metrics: metrics.clone(),
            speeds: speeds.clone(),
        };
        target.check_trials(&trials)?;
        let served = |trial: &Trial| target.can_serve(trial).is_ok();
        target.check_clusters(&clusters(trials.iter().filter(|trial| served(trial))))?;
        targets.push(target);
    }
    // One folder holds one release: that of the target, if that is to come from a folder.
    if let (Some(home), Some(spec), false) = (&arguments.kafka_home, &mut destination, is_home_used)
    {
        is_home_used = spec.set_kafka_home(home);
        for target in &mut targets {
            target.destination.clone_from(&destination);
        }
    }
    if arguments.kafka_home.is_some() && !is_home_used {
        let words = "--kafka-home needs a target that starts with kafka:";
        return Err(stop(ExitStatus::BadInput, words));
    }
    Ok(targets)
}

/// The clusters that trials want, each once, with a trial that wants it.
fn clusters<'a>(trials: impl Iterator<Item = &'a Trial>) -> Vec<(String, &'a ClusterNeeds)> {
    let mut wanted: Vec<(String, &ClusterNeeds)> = Vec::new();
    for trial in trials {
        if !wanted
            .iter()
            .any(|(_, known)| known.shares_with(&trial.cluster))
        {
            let name = format!("{} {}", trial.scenario, trial.name);
            wanted.push((name.trim().to_owned(), &trial.cluster));
        }
    }
    wanted
}

/// The second cluster, if the user names one.
fn destination(arguments: &RunArgs, trials: &[Trial]) -> anyhow::Result<Option<TargetSpec>> {
    let before = match &arguments.resume {
        Some(dir) => Some(RunRead::head(dir).or_bad_input()?.destination),
        None => None,
    };
    let text = match (&arguments.destination, before) {
        (Some(text), Some(before)) if before.as_ref() != Some(text) => {
            let was = before.as_deref().unwrap_or("one like the target");
            let words = format!(
                "the second cluster of this run was {was}, and --destination is {text}\n  use the \
                 same one, or start a new run"
            );
            return Err(stop(ExitStatus::BadInput, words));
        }
        (Some(text), _) => text.clone(),
        (None, Some(Some(before))) => before,
        (None, _) => return Ok(None),
    };
    if trials.iter().all(|trial| trial.cluster.mirror.is_none()) {
        let words = "--destination: none of the scenarios has a mirror (target.mirror), so there is nothing for a second \
                     cluster to do";
        return Err(stop(ExitStatus::BadInput, words));
    }
    Ok(Some(parse(&text)?))
}

/// Reads a target that a run can use.
fn parse(text: &str) -> anyhow::Result<TargetSpec> {
    let spec = TargetSpec::parse(text).or_bad_input()?;
    match spec.check_for_run() {
        Ok(()) => Ok(spec),
        Err(words) => Err(stop(
            ExitStatus::BadInput,
            format!("target {text}: {words}"),
        )),
    }
}

/// What `--target` says, or what the run that goes on was made on, or the embedded cluster.
fn texts(arguments: &RunArgs) -> anyhow::Result<Vec<String>> {
    if !arguments.targets.is_empty() {
        return Ok(arguments.targets.clone());
    }
    let before = match &arguments.resume {
        Some(dir) => RunRead::head(dir).or_bad_input()?.target,
        None => None,
    };
    Ok(vec![before.unwrap_or_else(|| EMBEDDED.to_owned())])
}

/// A price for each target or for none, each one that can be divided by.
fn check_prices(arguments: &RunArgs, targets: usize) -> anyhow::Result<()> {
    let prices = &arguments.prices;
    if !prices.is_empty() && prices.len() != targets {
        let words = format!(
            "the numbers of prices ({}) and targets ({targets}) differ\n  give --price once for each --target, in \
             their order",
            prices.len()
        );
        return Err(stop(ExitStatus::BadInput, words));
    }
    match prices
        .iter()
        .find(|price| !(price.is_finite() && **price > 0.0))
    {
        Some(price) => {
            let words = format!("--price {price}: give the target's cost per hour, such as 0.916");
            Err(stop(ExitStatus::BadInput, words))
        }
        None => Ok(()),
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

    /// Whether it can be what each trial wants.
    fn check_clusters(&self, clusters: &[(String, &ClusterNeeds)]) -> anyhow::Result<()> {
        if let (TargetSpec::Existing(_), [(first, _), (other, _), ..]) = (&self.spec, clusters) {
            let words = format!(
                "{first} and {other} want different clusters, and {} is one that is there\n  run them one by \
                 one (--only, --set target.brokers=N, --set broker.KEY=VALUE), or let kgauge start the \
                 clusters: --target kafka:VERSION",
                self.text
            );
            return Err(stop(ExitStatus::BadInput, words));
        }
        let keys = clusters.iter().flat_map(|(_, needs)| needs.config.keys());
        for key in keys.filter(|key| self.spec.sets(key)) {
            let values = clusters.iter().map(|(_, needs)| needs.config.get(key));
            if values.collect::<BTreeSet<_>>().len() > 1 {
                let words = format!("target {} sets {key}, which the scenarios vary", self.text);
                return Err(stop(ExitStatus::BadInput, words));
            }
        }
        Ok(())
    }

    /// Trials that it cannot serve are left out; a target that can serve none is refused.
    fn check_trials(&self, trials: &[Trial]) -> anyhow::Result<()> {
        let mut refused = trials.iter().map(|trial| self.can_serve(trial));
        match refused.all(|can| can.is_err()) {
            false => Ok(()),
            true => trials.first().map_or(Ok(()), |trial| self.can_serve(trial)),
        }
    }

    /// Whether it can be what a trial wants, and have done to it what the trial does.
    pub(super) fn can_serve(&self, trial: &Trial) -> anyhow::Result<()> {
        self.spec_for(&trial.cluster)?;
        if let Some(mirror) = &trial.cluster.mirror {
            self.destination_for(mirror, &trial.cluster)?;
        }
        let mut words = refusals(&self.spec, &trial.faults);
        words.dedup();
        match words.is_empty() {
            true => Ok(()),
            false => {
                let words = format!(
                    "target {} cannot have these faults:\n  {}",
                    self.text,
                    words.join("\n  ")
                );
                Err(stop(ExitStatus::BadInput, words))
            }
        }
    }

    /// What is to be started for a trial.
    pub(super) fn spec_for(&self, needs: &ClusterNeeds) -> anyhow::Result<TargetSpec> {
        let mut spec = self.spec.clone();
        spec.configure(&needs.config).map_err(|error| {
            stop(
                ExitStatus::BadInput,
                format!("target {}: {error}", self.text),
            )
        })?;
        if let Some(bytes) = needs.memory_bytes {
            spec.limit_memory(bytes).map_err(|words| {
                stop(
                    ExitStatus::BadInput,
                    format!("target {}: {words}", self.text),
                )
            })?;
        }
        if let Some(wanted) = &needs.security {
            spec.secure(wanted).map_err(|words| {
                stop(
                    ExitStatus::BadInput,
                    format!("target {}: {words}", self.text),
                )
            })?;
        }
        if let Some(brokers) = needs.brokers_exactly()
            && !matches!(spec, TargetSpec::Existing(_))
            && !spec.set_brokers(brokers)
        {
            let words = format!("target {} cannot have {brokers} brokers", self.text);
            return Err(stop(ExitStatus::BadInput, words));
        }
        Ok(spec)
    }

    /// What the second cluster is: the one that the user names, or one like the target.
    pub(super) fn destination_for(
        &self,
        needs: &MirrorNeeds,
        of_target: &ClusterNeeds,
    ) -> anyhow::Result<TargetSpec> {
        let refused = |words: String| Err(stop(ExitStatus::BadInput, words));
        let is_there = |spec: &TargetSpec| matches!(spec, TargetSpec::Existing(_));
        let mut spec = match &self.destination {
            Some(spec) => spec.clone(),
            None if is_there(&self.spec) => {
                return refused(format!(
                    "the scenario copies from {} to a second cluster\n  say which: --destination TARGET",
                    self.text
                ));
            }
            None => self.spec_for(of_target)?,
        };
        let are_there = is_there(&self.spec) && is_there(&spec);
        match needs.replicator {
            Replicator::None if !are_there => {
                return refused(
                    "target.mirror.replicator is none, and nobody would copy between clusters that kgauge starts\n  \
                     start both clusters and your replicator, and name them: --target and --destination"
                        .to_owned(),
                );
            }
            Replicator::MirrorMaker2 if is_there(&self.spec) || is_there(&spec) => {
                return refused(
                    "MirrorMaker 2 makes topics of its own on both clusters, so kgauge starts it only between clusters \
                     that it starts too\n  run it yourself, and say so: --set target.mirror.replicator=none"
                        .to_owned(),
                );
            }
            Replicator::None | Replicator::MirrorMaker2 => {}
        }
        match &self.destination {
            Some(_) => spec.fit_to(needs.brokers),
            // Like the target but for the number of brokers.
            None => {
                if !spec.set_brokers(needs.brokers) {
                    let words = format!("the destination cannot have {} brokers", needs.brokers);
                    return refused(words);
                }
            }
        }
        Ok(spec)
    }

    /// Whether an existing cluster is what the trials want: kgauge does not change it.
    pub(super) fn check_existing(
        &self,
        cluster: &mut Cluster,
        needs: &ClusterNeeds,
    ) -> anyhow::Result<()> {
        if !matches!(self.spec, TargetSpec::Existing(_)) {
            return Ok(());
        }
        let brokers: Vec<i32> = cluster.metadata().brokers.iter().map(|b| b.id).collect();
        if let Some(wanted) = needs
            .brokers_exactly()
            .filter(|n| *n as usize != brokers.len())
        {
            let words = format!(
                "the cluster has {} brokers, but the scenario wants {wanted}",
                brokers.len()
            );
            return Err(stop(ExitStatus::BadInput, words));
        }
        let mut differs = Vec::new();
        for id in brokers.into_iter().filter(|_| !needs.config.is_empty()) {
            let found = cluster
                .describe_configs(AdminConfigResource::Broker(id))
                .or_target_failed("remove the broker settings from the scenario, or from --set")?;
            for (key, wanted) in &needs.config {
                let entry = found.iter().find(|entry| entry.name == *key);
                let value = entry.and_then(|entry| entry.value.as_deref());
                if value != Some(wanted) {
                    let value = value.map_or_else(|| "not told".to_owned(), shown);
                    differs.push(format!(
                        "  broker {id}: {key} is {value}, expected {wanted}"
                    ));
                }
            }
        }
        if differs.is_empty() {
            return Ok(());
        }
        let words = format!(
            "the cluster's settings differ from the scenarios':\n{}\n  kgauge changes no settings \
             of an existing cluster: set them there, or remove them from the scenarios",
            differs.join("\n")
        );
        Err(stop(ExitStatus::BadInput, words))
    }
}
