//! The target of a run: what the user names, and the broker settings that the scenarios need.

use std::collections::BTreeSet;

use kgauge_client::admin::AdminConfigResource;
use kgauge_client::{Cluster, shown};
use kgauge_observe::UserSpeed;
use kgauge_scenario::{ClusterNeeds, MirrorNeeds, Replicator, Trial};
use kgauge_target::{TargetSpec, refusals};

use crate::error::{OrRunError, RunError};
use crate::ids::slug;
use crate::metrics::MetricsAddress;
use crate::question::Question;
use crate::target_text::{ReadTarget, read_target};

/// A target, as text and as parsed.
#[derive(Debug, Clone)]
pub struct RunTarget {
    /// As the user writes it.
    pub text: String,
    /// What is started or used, before trials add their own needs.
    pub spec: TargetSpec,
    /// Its cost per hour.
    pub price_per_hour: Option<f64>,
    /// The second cluster of trials with a mirror, where the user names one.
    pub destination: Option<DestinationTarget>,
    /// The metrics endpoints of its brokers, if it is an existing cluster.
    pub metrics: Vec<MetricsAddress>,
    /// What was found about it on the way, for the user.
    pub remarks: Vec<String>,
    /// The speeds of this machine's network interfaces, where the user names them.
    pub speeds: Vec<UserSpeed>,
}

/// A second cluster that the user names.
#[derive(Debug, Clone)]
pub struct DestinationTarget {
    /// As the user writes it.
    pub text: String,
    /// What is started or used.
    pub spec: TargetSpec,
}

impl DestinationTarget {
    /// Reads it.
    pub fn parse(text: &str) -> Result<Self, RunError> {
        Ok(Self {
            text: text.to_owned(),
            spec: read_target(text)?.spec,
        })
    }
}

/// The clusters that trials need, each once, with a trial that needs it.
fn clusters<'a>(trials: impl Iterator<Item = &'a Trial>) -> Vec<(String, &'a ClusterNeeds)> {
    let mut clusters: Vec<(String, &ClusterNeeds)> = Vec::new();
    for trial in trials {
        if !clusters
            .iter()
            .any(|(_, known)| known.shares_with(&trial.cluster))
        {
            let name = format!("{} {}", trial.scenario, trial.name);
            clusters.push((name.trim().to_owned(), &trial.cluster));
        }
    }
    clusters
}

impl RunTarget {
    /// What a run uses if the user names no target.
    pub const DEFAULT: &'static str = "embedded";

    /// Reads a target, with as many brokers as a question needs.
    pub fn parse(text: &str, question: &Question) -> Result<Self, RunError> {
        let ReadTarget {
            mut spec,
            metrics,
            remarks,
        } = read_target(text)?;
        spec.fit_to(question.brokers_needed());
        let faults = question.trials.iter().flat_map(|trial| &trial.faults);
        spec.equip(faults.map(|fault| &fault.kind));
        Ok(Self {
            text: text.to_owned(),
            spec,
            price_per_hour: None,
            destination: None,
            metrics,
            remarks,
            speeds: Vec::new(),
        })
    }

    /// As [`RunTarget::parse`]; `remark` gets what the user should know about it.
    ///
    /// # Errors
    /// As [`RunTarget::parse`].
    pub fn read(text: &str, question: &Question, remark: &dyn Fn(&str)) -> Result<Self, RunError> {
        if text.starts_with("strimzi:") {
            // The login of kubectl may take a while.
            remark(&format!("asking kubectl for {text}"));
        }
        let target = Self::parse(text, question)?;
        if let TargetSpec::Existing(config) = &target.spec {
            for note in &config.notes {
                remark(&note.to_string());
            }
        }
        for found in &target.remarks {
            remark(found);
        }
        Ok(target)
    }

    /// Whether it can serve the question: trials that it cannot serve are left out, but not all of them.
    pub fn check(&self, question: &Question) -> Result<(), RunError> {
        let trials = &question.trials;
        self.check_trials(trials)?;
        let is_served = |trial: &&Trial| self.can_serve(trial).is_ok();
        self.check_clusters(&clusters(trials.iter().filter(is_served)))
    }

    /// Whether it is an existing cluster.
    pub fn is_existing(&self) -> bool {
        matches!(self.spec, TargetSpec::Existing(_))
    }

    /// Its name for a folder: letters, digits, dots and single dashes.
    pub fn slug(&self) -> String {
        /// Enough to tell targets apart; the folder's number does the rest.
        const CHARS_MAX: usize = 40;
        slug(&self.text, CHARS_MAX)
    }

    /// Whether it can provide the cluster that each trial needs.
    fn check_clusters(&self, clusters: &[(String, &ClusterNeeds)]) -> Result<(), RunError> {
        if let (true, [(first, _), (other, _), ..]) = (self.is_existing(), clusters) {
            let words = format!(
                "{first} and {other} need different clusters, but {} is an existing one\n  run \
                 them one by one (--only, --set target.brokers=N, --set broker.KEY=VALUE), or let \
                 kgauge start the clusters: --target kafka:VERSION",
                self.text
            );
            return Err(RunError::input(words));
        }
        let keys = clusters.iter().flat_map(|(_, needs)| needs.config.keys());
        for key in keys.filter(|key| self.spec.sets(key)) {
            let values = clusters.iter().map(|(_, needs)| needs.config.get(key));
            if values.collect::<BTreeSet<_>>().len() > 1 {
                let words = format!("target {} sets {key}, which the scenarios vary", self.text);
                return Err(RunError::input(words));
            }
        }
        Ok(())
    }

    fn check_trials(&self, trials: &[Trial]) -> Result<(), RunError> {
        let mut refused = trials.iter().map(|trial| self.can_serve(trial));
        match refused.all(|can| can.is_err()) {
            false => Ok(()),
            true => trials.first().map_or(Ok(()), |trial| self.can_serve(trial)),
        }
    }

    /// Whether it can provide the cluster that a trial needs, and supports the trial's faults.
    pub(crate) fn can_serve(&self, trial: &Trial) -> Result<(), RunError> {
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
                Err(RunError::input(words))
            }
        }
    }

    /// The cluster to start for a trial.
    pub(crate) fn spec_for(&self, needs: &ClusterNeeds) -> Result<TargetSpec, RunError> {
        let refused = |why: String| RunError::input(format!("target {}: {why}", self.text));
        let mut spec = self.spec.clone();
        if let Some(release) = &needs.release {
            spec.use_release(release).map_err(refused)?;
        }
        if let Some(controllers) = needs.controllers {
            spec.use_controllers(controllers);
        }
        spec.configure(&needs.config)
            .map_err(|error| refused(error.to_string()))?;
        if let Some(bytes) = needs.memory_bytes {
            spec.limit_memory(bytes).map_err(refused)?;
        }
        if let Some(security) = &needs.security {
            spec.secure(security).map_err(refused)?;
        }
        if let Some(brokers) = needs.brokers_exactly()
            && !self.is_existing()
            && !spec.set_brokers(brokers)
        {
            let words = format!("target {} cannot have {brokers} brokers", self.text);
            return Err(RunError::input(words));
        }
        Ok(spec)
    }

    /// The second cluster: the one that the user names, or one like the target.
    pub(crate) fn destination_for(
        &self,
        needs: &MirrorNeeds,
        of_target: &ClusterNeeds,
    ) -> Result<TargetSpec, RunError> {
        let refused = |words: String| Err(RunError::input(words));
        let is_there = |spec: &TargetSpec| matches!(spec, TargetSpec::Existing(_));
        let mut spec = match &self.destination {
            Some(destination) => destination.spec.clone(),
            None if self.is_existing() => {
                return refused(format!(
                    "the scenario copies from {} to a second cluster\n  name it with \
                     --destination TARGET",
                    self.text
                ));
            }
            None => self.spec_for(of_target)?,
        };
        let are_there = is_there(&self.spec) && is_there(&spec);
        match needs.replicator {
            Replicator::None if !are_there => {
                return refused(
                    "target.mirror.replicator is none, so nothing would copy between clusters \
                     that kgauge starts\n  start both clusters and your replicator yourself, and \
                     pass --target and --destination"
                        .to_owned(),
                );
            }
            Replicator::MirrorMaker2 if is_there(&self.spec) || is_there(&spec) => {
                return refused(
                    "MirrorMaker 2 creates its own topics on both clusters, so kgauge only starts \
                     it between clusters that it started\n  run it yourself, and pass --set \
                     target.mirror.replicator=none"
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

    /// Whether an existing cluster already has what the trials need, because kgauge does not change it.
    pub(crate) fn check_existing(
        &self,
        cluster: &mut Cluster,
        needs: &ClusterNeeds,
    ) -> Result<(), RunError> {
        if !self.is_existing() {
            return Ok(());
        }
        let brokers: Vec<i32> = cluster.metadata().brokers.iter().map(|b| b.id).collect();
        if let Some(required) = needs
            .brokers_exactly()
            .filter(|n| *n as usize != brokers.len())
        {
            let words = format!(
                "the scenario needs exactly {required} brokers; the cluster has {}",
                brokers.len()
            );
            return Err(RunError::input(words));
        }
        let mut differs = Vec::new();
        for id in brokers.into_iter().filter(|_| !needs.config.is_empty()) {
            let found = cluster
                .describe_configs(AdminConfigResource::Broker(id))
                .or_target_failed("remove the broker settings from the scenario, or from --set")?;
            for (key, expected) in &needs.config {
                let entry = found.iter().find(|entry| entry.name == *key);
                let value = entry.and_then(|entry| entry.value.as_deref());
                if value != Some(expected) {
                    let value = value.map_or_else(|| "not reported".to_owned(), shown);
                    differs.push(format!(
                        "  broker {id}: {key} is {value}, expected {expected}"
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
        Err(RunError::input(words))
    }
}
