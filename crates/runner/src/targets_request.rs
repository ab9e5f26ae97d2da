//! From what the user writes about targets to the targets of a run, all of them before the first one starts.

use std::path::{Path, PathBuf};

use kgauge_results::RunRead;
use kgauge_results::run::RunHead;

use crate::error::{OrRunError, RunError};
use crate::metrics::read_addresses;
use crate::question::Question;
use crate::run_target::{DestinationTarget, RunTarget};
use crate::speeds::read_speeds;

/// The targets of a run, as the user writes them.
#[derive(Debug, Clone, Default)]
pub struct TargetsRequest {
    /// The targets; without any it is that of the resumed run, or else the default.
    pub texts: Vec<String>,
    /// The default; without one it is [`RunTarget::DEFAULT`].
    pub default: Option<String>,
    /// What each target costs per hour; empty if unknown.
    pub prices: Vec<f64>,
    /// The second cluster of trials with a mirror.
    pub destination: Option<String>,
    /// The folder of the run that is resumed.
    pub resume: Option<PathBuf>,
    /// Metrics endpoints of an existing cluster: `URL` or `ID=URL`, separated by commas.
    pub metrics: Vec<String>,
    /// Speeds of network interfaces of this machine, such as `eth0=10Gbit`.
    pub speeds: Vec<String>,
    /// An unpacked release of Apache Kafka.
    pub kafka_home: Option<PathBuf>,
    /// Whether the run writes to a topic that is there already.
    pub uses_existing_topic: bool,
}

impl TargetsRequest {
    /// Reads and checks all targets, so that a mistake in the last one is found before the first one starts. `remark`
    /// gets what the user should know about them.
    ///
    /// # Errors
    /// A target cannot be read, cannot serve the question, or the other values do not fit to it.
    pub fn resolve(
        &self,
        question: &Question,
        remark: &dyn Fn(&str),
    ) -> Result<Vec<RunTarget>, RunError> {
        let earlier = self.resume.as_deref().map(RunRead::head);
        let earlier = earlier.transpose().or_bad_input()?;
        let texts = self.texts(earlier.as_ref());
        check_prices(&self.prices, texts.len())?;
        if self.resume.is_some() && texts.len() > 1 {
            return Err(RunError::input(
                "--resume continues one run on one target\n  each target of a comparison has its own \
                 run folder",
            ));
        }
        let destination = self.destination(question, earlier.as_ref())?;
        let metrics = read_addresses(&self.metrics)?;
        let speeds = read_speeds(&self.speeds, earlier.as_ref())?;
        let mut targets = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            let mut target = RunTarget::read(text, question, remark)?;
            let is_one_existing = target.is_existing() && texts.len() == 1;
            if !metrics.is_empty() && !is_one_existing {
                return Err(RunError::input(
                    "--metrics needs a single existing cluster; brokers that kgauge starts are polled \
                     automatically",
                ));
            }
            target.price_per_hour = self.prices.get(index).copied();
            target.destination.clone_from(&destination);
            if !metrics.is_empty() {
                target.metrics.clone_from(&metrics);
            }
            target.speeds.clone_from(&speeds);
            targets.push(target);
        }
        if let Some(home) = &self.kafka_home {
            set_kafka_home(home, &mut targets)?;
        }
        for target in &targets {
            self.check_existing_topic(question, target)?;
            target.check(question)?;
        }
        Ok(targets)
    }

    fn texts(&self, earlier: Option<&RunHead>) -> Vec<String> {
        if !self.texts.is_empty() {
            return self.texts.clone();
        }
        let earlier = earlier.and_then(|earlier| earlier.target.clone());
        let default = || self.default.clone();
        let text = earlier.or_else(default);
        vec![text.unwrap_or_else(|| RunTarget::DEFAULT.to_owned())]
    }

    fn check_existing_topic(
        &self,
        question: &Question,
        target: &RunTarget,
    ) -> Result<(), RunError> {
        if !self.uses_existing_topic {
            return Ok(());
        }
        if !target.is_existing() {
            return Err(RunError::input(format!(
                "--allow-existing: {} starts empty, so it has no such topic",
                target.text
            )));
        }
        match has_mirror(question) {
            true => Err(RunError::input(
                "--allow-existing: a mirror needs a topic created by the run, to recognise its records",
            )),
            false => Ok(()),
        }
    }

    /// The second cluster, if the user names one. A run that goes on keeps its own.
    fn destination(
        &self,
        question: &Question,
        earlier: Option<&RunHead>,
    ) -> Result<Option<DestinationTarget>, RunError> {
        let text = match (&self.destination, earlier) {
            (Some(text), Some(earlier)) if earlier.destination.as_ref() != Some(text) => {
                let was = earlier.destination.as_deref();
                return Err(RunError::input(format!(
                    "the second cluster of this run was {}, and --destination is {text}\n  use the \
                     same one, or start a new run",
                    was.unwrap_or("one like the target")
                )));
            }
            (Some(text), _) => Some(text),
            (None, earlier) => earlier.and_then(|earlier| earlier.destination.as_ref()),
        };
        let Some(text) = text else {
            return Ok(None);
        };
        if !has_mirror(question) {
            return Err(RunError::input(
                "--destination: none of the scenarios has a mirror (target.mirror), so a second \
                 cluster has no use",
            ));
        }
        DestinationTarget::parse(text).map(Some)
    }
}

fn has_mirror(question: &Question) -> bool {
    let mut trials = question.trials.iter();
    trials.any(|trial| trial.cluster.mirror.is_some())
}

/// One folder holds one release: that of the targets, or else that of the destination.
fn set_kafka_home(home: &Path, targets: &mut [RunTarget]) -> Result<(), RunError> {
    let mut is_used = false;
    for target in targets.iter_mut() {
        is_used |= target.spec.set_kafka_home(home);
    }
    if !is_used {
        let destinations = targets.iter_mut();
        for destination in destinations.filter_map(|target| target.destination.as_mut()) {
            is_used |= destination.spec.set_kafka_home(home);
        }
    }
    match is_used {
        true => Ok(()),
        false => Err(unused_kafka_home()),
    }
}

pub(crate) fn unused_kafka_home() -> RunError {
    RunError::input("--kafka-home needs a target that starts with kafka:")
}

/// A price for each target or for none, each one that can be divided by.
fn check_prices(prices: &[f64], targets: usize) -> Result<(), RunError> {
    if !prices.is_empty() && prices.len() != targets {
        return Err(RunError::input(format!(
            "the numbers of prices ({}) and targets ({targets}) differ\n  give --price once for each --target, in \
             their order",
            prices.len()
        )));
    }
    let is_sound = |price: &&f64| price.is_finite() && **price > 0.0;
    match prices.iter().find(|price| !is_sound(price)) {
        Some(price) => Err(RunError::input(format!(
            "--price {price}: give the target's cost per hour, such as 0.916"
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::question::ScenarioChanges;

    fn resolve(request: &TargetsRequest) -> Result<Vec<String>, String> {
        let question = Question::read("linkedin-2014", &ScenarioChanges::default()).unwrap();
        let targets = request.resolve(&question, &|_| {});
        let targets = targets.map_err(|error| error.to_string())?.into_iter();
        Ok(targets.map(|target| target.text).collect())
    }

    fn of(texts: &[&str]) -> TargetsRequest {
        TargetsRequest {
            texts: texts.iter().map(|&text| text.to_owned()).collect(),
            ..TargetsRequest::default()
        }
    }

    #[test]
    fn a_run_without_a_target_uses_the_default() {
        assert_eq!(resolve(&of(&[])).unwrap(), ["embedded"]);
        let default = TargetsRequest {
            default: Some("embedded:5".to_owned()),
            ..of(&[])
        };
        assert_eq!(resolve(&default).unwrap(), ["embedded:5"]);
    }

    #[test]
    fn values_that_do_not_fit_to_the_targets_are_refused() {
        let embedded = of(&["embedded", "embedded:5"]);
        let refused = |request: TargetsRequest| resolve(&request).unwrap_err();
        let prices = TargetsRequest {
            prices: vec![1.0],
            ..embedded.clone()
        };
        assert!(refused(prices).contains("differ"));
        let free = TargetsRequest {
            prices: vec![1.0, 0.0],
            ..embedded.clone()
        };
        assert!(refused(free).starts_with("--price 0: "));
        let home = TargetsRequest {
            kafka_home: Some("kafka".into()),
            ..embedded.clone()
        };
        assert!(refused(home).starts_with("--kafka-home needs"));
        let metrics = TargetsRequest {
            metrics: vec!["http://b1:9404/metrics".to_owned()],
            ..embedded.clone()
        };
        assert!(refused(metrics).starts_with("--metrics needs"));
        let topic = TargetsRequest {
            uses_existing_topic: true,
            ..embedded.clone()
        };
        assert!(refused(topic).contains("embedded starts empty"));
        let destination = TargetsRequest {
            destination: Some("embedded".to_owned()),
            ..embedded
        };
        assert!(refused(destination).starts_with("--destination: none"));
    }
}
