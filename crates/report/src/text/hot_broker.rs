//! Where one broker did most of the work: part of the answer, since the figures are then those of that broker.

use kgauge_analyze::summary::{BrokerSkew, Factor, TrialSummary, WarningFinding};

use super::bottleneck;
use super::trial::{self, has_a_name};

/// Trials that are named; of more, only the number is given.
const NAMED_MAX: usize = 2;

/// A trial that was measured.
struct TrialLoad<'a> {
    name: String,
    factors: &'a [Factor],
    /// A broker that led more than its part.
    hot: Option<&'a BrokerSkew>,
}

/// In which trials of a scenario one broker led more than its part; `None` if in none.
pub(crate) fn sentence(trials: &[&TrialSummary]) -> Option<String> {
    let measured = trials.iter().filter(|trial| trial.repeats_measured > 0);
    let seen = measured.map(|trial| {
        let mut warnings = trial.warnings.iter();
        TrialLoad {
            name: trial::name(trial),
            factors: &trial.factors,
            hot: warnings.find_map(|warning| match &warning.finding {
                WarningFinding::BrokerSkew { skew } => Some(skew),
                _ => None,
            }),
        }
    });
    describe(&seen.collect::<Vec<_>>())
}

fn describe(trials: &[TrialLoad<'_>]) -> Option<String> {
    let (hot, even): (Vec<&TrialLoad<'_>>, Vec<&TrialLoad<'_>>) =
        trials.iter().partition(|trial| trial.hot.is_some());
    let skew = hot.first()?.hot?;
    if trials.len() == 1 {
        return Some(format!("{}.", bottleneck::led(skew)));
    }
    let place = match shared(&hot, &even) {
        _ if even.is_empty() => "in every trial".to_owned(),
        Some(factor) if has_a_name(&factor.path) => {
            format!("with {}, and only there", factor.value)
        }
        Some(factor) => format!("with {} = {}, and only there", factor.path, factor.value),
        None if hot.len() <= NAMED_MAX => {
            let names: Vec<&str> = hot.iter().map(|trial| trial.name.as_str()).collect();
            format!("in {}, and only there", names.join(" and "))
        }
        None => format!("in {} of {} trials", hot.len(), trials.len()),
    };
    Some(format!("One broker led far more than its share {place}."))
}

/// The setting that all of one group have, and nobody of the other.
fn shared<'a>(hot: &[&'a TrialLoad<'a>], even: &[&TrialLoad<'_>]) -> Option<&'a Factor> {
    let has = |trial: &&TrialLoad<'_>, factor: &Factor| trial.factors.contains(factor);
    hot.first()?.factors.iter().find(|factor| {
        hot.iter().all(|trial| has(trial, factor)) && !even.iter().any(|trial| has(trial, factor))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sentence for trials of (partitions, rate, whether one broker was hot).
    fn of(trials: &[(&str, &str, bool)]) -> Option<String> {
        let factor = |path: &str, value: &str| Factor {
            path: path.to_owned(),
            value: value.to_owned(),
        };
        let factors = trials.iter().map(|(partitions, rate, _)| {
            [
                factor("topic.partitions", partitions),
                factor("writers.shape", rate),
            ]
        });
        let factors: Vec<[Factor; 2]> = factors.collect();
        let skew = BrokerSkew {
            broker: 2,
            part: 1.0,
            brokers: 3,
            idle: 2,
            partitions: Some(1),
            replication: Some(1),
        };
        let seen = trials
            .iter()
            .zip(&factors)
            .map(|((partitions, rate, is_hot), factors)| TrialLoad {
                name: format!("{partitions} at {rate}"),
                factors,
                hot: is_hot.then_some(&skew),
            });
        describe(&seen.collect::<Vec<_>>())
    }

    #[test]
    fn the_setting_that_makes_a_broker_hot_is_named() {
        let all = [
            ("1", "10/s", true),
            ("1", "20/s", true),
            ("3", "10/s", false),
            ("3", "20/s", false),
        ];
        assert_eq!(
            of(&all).unwrap(),
            "One broker led far more than its share with topic.partitions = 1, and only there."
        );
        assert_eq!(
            of(&all[..2]).unwrap(),
            "One broker led far more than its share in every trial."
        );
        // No setting tells them apart by itself.
        let crossed = [
            ("1", "10/s", true),
            ("1", "20/s", false),
            ("3", "10/s", false),
        ];
        assert_eq!(
            of(&crossed).unwrap(),
            "One broker led far more than its share in 1 at 10/s, and only there."
        );
    }

    #[test]
    fn a_single_trial_names_its_broker_and_even_ones_say_nothing() {
        assert_eq!(
            of(&[("1", "10/s", true)]).unwrap(),
            "Broker 2 led 100 % of the records instead of an even 33 %."
        );
        assert_eq!(of(&[("3", "10/s", false)]), None);
        assert_eq!(of(&[]), None);
    }
}
