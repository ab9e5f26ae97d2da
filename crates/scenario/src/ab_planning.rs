//! Makes an A/B test out of what the user typed and the trials of its sides.

use crate::ab::{AbKind, AbMetric, AbPlan, AbSidePlan, GENERATOR_CPU, TARGET_CPU, WIDTHS};
use crate::figure::{FigureName, Metric, Statistic};
use crate::keys::flow::{FlowPlan, ProduceFlow};
use crate::plan::Trial;
use crate::shape::Shape;
use crate::units::{self, UnitError};

/// An A/B test as the user typed it; what is missing has a default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AbOptions {
    /// `throughput`, `p99`, `writers.latency.p99.9`, `target-cpu`.
    pub metric: Option<String>,
    /// `3 %`.
    pub width: Option<String>,
    /// `30 min`.
    pub budget: Option<String>,
    /// The number of blocks after which it ends.
    pub blocks_max: Option<u32>,
    /// Both sides at the same time.
    pub is_duet: bool,
}

/// Why an A/B test or a search for better settings cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AbError {
    /// An option's value cannot be read.
    #[error("--{option}: {reason}")]
    Value {
        /// The option's name.
        option: &'static str,
        /// What is wrong with it, and what to write.
        reason: String,
    },
    /// The figure does not fit the scenario.
    #[error("--metric {metric}: {reason}")]
    Metric {
        /// As typed, or the figure's name.
        metric: String,
        /// What is wrong with it, and what to write.
        reason: String,
    },
}

/// The smallest difference of interest by default.
const WIDTH: f64 = 0.03;
/// Half an hour, by default.
const BUDGET_NS: u64 = 30 * 60 * 1_000_000_000;
/// Enough to see a difference of 1 % under noise of 3 %.
const BLOCKS_MAX: u32 = 200;
/// Enough to know the noise.
const BLOCKS_OF_SAME: u32 = 40;

impl AbPlan {
    /// Makes the test of two trials, which may be the same.
    ///
    /// # Errors
    /// When an option cannot be read, or the figure does not exist on both sides.
    pub fn new(
        options: &AbOptions,
        kind: AbKind,
        sides: [AbSidePlan; 2],
        trials: [&Trial; 2],
    ) -> Result<AbPlan, AbError> {
        let width = width(options.width.as_deref())?;
        let budget_ns = budget_ns(options.budget.as_deref())?;
        let metric = metric(options.metric.as_deref(), trials[0])?;
        for trial in trials {
            check_metric(&metric, trial)?;
        }
        let blocks_max = match kind {
            AbKind::Same => BLOCKS_OF_SAME,
            AbKind::Settings | AbKind::Scenarios | AbKind::Targets => BLOCKS_MAX,
        };
        Ok(AbPlan {
            kind,
            sides,
            metric,
            width,
            budget_ns: Some(budget_ns),
            blocks_max: options.blocks_max.unwrap_or(blocks_max).max(1),
            is_duet: options.is_duet,
        })
    }
}

/// The smallest difference of interest, as a share.
pub(crate) fn width(text: Option<&str>) -> Result<f64, AbError> {
    let Some(text) = text else {
        return Ok(WIDTH);
    };
    let width = units::part(text).ok();
    let width = width.filter(|width| WIDTHS.contains(width));
    width.ok_or_else(|| AbError::Value {
        option: "width",
        reason: format!("`{text}` is not a percentage from 0.1 % to 100 %; write 3 %"),
    })
}

/// The time of a test or a search.
pub(crate) fn budget_ns(text: Option<&str>) -> Result<u64, AbError> {
    let time = text.map(units::time_ns).transpose();
    let time = time.map_err(|UnitError { what, cure }| AbError::Value {
        option: "budget",
        reason: format!("{what}; {cure}"),
    })?;
    Ok(time.unwrap_or(BUDGET_NS).max(1))
}

/// The figure that the user names, or the one that the scenario is about: throughput at full speed, else p99.
pub(crate) fn metric(text: Option<&str>, trial: &Trial) -> Result<AbMetric, AbError> {
    let sends = trial.flows.iter().find(|flow| flow.produces().is_some());
    let Some(flow) = sends.or(trial.flows.first()) else {
        return Err(refused("", "the scenario has no flow"));
    };
    let time = |statistic: Statistic| match flow {
        FlowPlan::Echo(_) => Metric::EndToEnd(statistic),
        FlowPlan::Produce(_) | FlowPlan::Consume(_) => Metric::Latency(statistic),
    };
    let of_flow = |metric: Metric| {
        AbMetric::OfFlow(FigureName {
            flow: flow.name().to_owned(),
            metric,
        })
    };
    let Some(text) = text else {
        let is_open = flow.produces().is_some_and(|flow| flow.shape != Shape::Max);
        return Ok(of_flow(match is_open {
            true => time(Statistic::Quantile(990_000)),
            false => Metric::Throughput,
        }));
    };
    match text {
        "records/s" => return Ok(of_flow(Metric::Throughput)),
        "cpu" | TARGET_CPU => return Ok(AbMetric::TargetCpu),
        GENERATOR_CPU => return Ok(AbMetric::GeneratorCpu),
        _ => {}
    }
    if let Some(statistic) = Statistic::parse(text) {
        return Ok(of_flow(time(statistic)));
    }
    match Metric::parse(text) {
        Ok(metric) => Ok(of_flow(metric)),
        Err(_) => match FigureName::parse(text) {
            Ok(figure) => Ok(AbMetric::OfFlow(figure)),
            Err(_) => Err(refused(
                text,
                "not a figure; write throughput, p99, target-cpu, generator-cpu or FLOW.FIGURE, \
                 such as writers.latency.p99.9",
            )),
        },
    }
}

fn refused(metric: &str, reason: impl Into<String>) -> AbError {
    AbError::Metric {
        metric: metric.to_owned(),
        reason: reason.into(),
    }
}

/// A figure that a flow of the trial has, and whose ratio means something.
pub(crate) fn check_metric(metric: &AbMetric, trial: &Trial) -> Result<(), AbError> {
    let AbMetric::OfFlow(figure) = metric else {
        return Ok(());
    };
    let reject = |reason: String| Err(refused(&figure.to_string(), reason));
    let flow = trial.flows.iter().find(|flow| flow.name() == figure.flow);
    let Some(flow) = flow else {
        let names: Vec<&str> = trial.flows.iter().map(FlowPlan::name).collect();
        return reject(format!("no such flow; the flows are {}", names.join(", ")));
    };
    let sends: Option<&ProduceFlow> = flow.produces();
    let is_closed = sends.is_some_and(|flow| flow.shape == Shape::Max);
    let is_echo = matches!(flow, FlowPlan::Echo(_));
    match figure.metric {
        Metric::Failed | Metric::Skipped => {
            reject("a number of records has no ratio; use throughput or p99".to_owned())
        }
        Metric::Throughput | Metric::ThroughputBytes if sends.is_some() && !is_closed => {
            reject(format!(
                "the scenario sets the rate of `{0}`; use p99, or --set {0}.shape=max",
                figure.flow
            ))
        }
        metric if metric.needs_produce() && sends.is_none() => {
            reject(format!("`{}` does not send; use throughput", figure.flow))
        }
        Metric::EndToEnd(_) if !is_echo => reject(format!(
            "`{}` is not an echo flow; use latency.p99",
            figure.flow
        )),
        metric if metric.is_time() && is_closed => reject(format!(
            "`{0}` sends at full speed, so its latency is time in its own buffer; use throughput, \
             or --set '{0}.shape={{constant: 10k/s}}'",
            figure.flow
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::ab::AbSide;
    use crate::{BuiltIn, BuiltInOptions, Scenario, Size};

    fn trial(built_in: BuiltIn) -> Trial {
        let text = built_in.text(&BuiltInOptions::default()).unwrap();
        let scenario = Scenario::parse("s.yaml", &text).unwrap();
        scenario.trials(Size::Default).remove(0)
    }

    fn plan(built_in: BuiltIn, options: &AbOptions) -> Result<AbPlan, AbError> {
        let trial = trial(built_in);
        let side = |name: &str, trial| AbSidePlan {
            name: name.to_owned(),
            trial: Some(trial),
            folder: None,
        };
        let sides = [side("linger.ms=0", 0), side("linger.ms=5", 1)];
        AbPlan::new(options, AbKind::Settings, sides, [&trial, &trial])
    }

    fn with_metric(built_in: BuiltIn, metric: &str) -> Result<AbPlan, AbError> {
        let options = AbOptions {
            metric: Some(metric.to_owned()),
            ..AbOptions::default()
        };
        plan(built_in, &options)
    }

    #[test]
    fn the_figure_is_what_the_scenario_is_about() {
        let of = |built_in| {
            plan(built_in, &AbOptions::default())
                .unwrap()
                .metric
                .to_string()
        };
        assert_eq!(of(BuiltIn::Throughput), "writers.throughput");
        assert_eq!(of(BuiltIn::Latency), "writers.latency.p99");
        assert_eq!(of(BuiltIn::EndToEnd), "echo.end-to-end.p99");
    }

    #[test]
    fn figures_have_short_names() {
        let of = |name| with_metric(BuiltIn::Latency, name).unwrap().metric;
        assert_eq!(of("p99.9").to_string(), "writers.latency.p99.9");
        assert_eq!(of("mean").to_string(), "writers.latency.mean");
        assert_eq!(of("service.p50").to_string(), "writers.service.p50");
        assert_eq!(of("writers.lag.p99").to_string(), "writers.lag.p99");
        assert_eq!(of("cpu"), AbMetric::TargetCpu);
        assert!(!of("cpu").more_is_better());
    }

    #[test]
    fn figures_without_meaning_are_refused_with_a_way_out() {
        for (built_in, metric, words) in [
            (BuiltIn::Latency, "throughput", "sets the rate"),
            (BuiltIn::Throughput, "p99", "own buffer"),
            (BuiltIn::Latency, "failed", "no ratio"),
            (
                BuiltIn::Latency,
                "readers.throughput",
                "the flows are writers",
            ),
            (BuiltIn::Latency, "end-to-end.p99", "not an echo flow"),
            (BuiltIn::FanOut, "readers.latency.p99", "does not send"),
            (BuiltIn::Latency, "speed", "write throughput"),
        ] {
            let error = with_metric(built_in, metric).unwrap_err().to_string();
            assert!(error.contains(words), "{metric}: {error}");
        }
    }

    #[test]
    fn options_have_units_and_limits() {
        let options = |width: &str, budget: &str| AbOptions {
            width: Some(width.to_owned()),
            budget: Some(budget.to_owned()),
            ..AbOptions::default()
        };
        let of = |options: &AbOptions| plan(BuiltIn::Throughput, options);
        let plan = of(&options("2 %", "15 min")).unwrap();
        assert_eq!((plan.width, plan.budget_ns), (0.02, Some(900_000_000_000)));
        let error = of(&options("0", "15 min")).unwrap_err().to_string();
        assert!(error.contains("--width"), "{error}");
        let error = of(&options("2 %", "15")).unwrap_err().to_string();
        assert!(error.contains("--budget"), "{error}");
    }

    #[test]
    fn a_plan_reads_back() {
        let plan = with_metric(BuiltIn::Latency, "p99").unwrap();
        let text = serde_json::to_string(&plan).unwrap();
        assert!(
            text.contains("\"metric\":\"writers.latency.p99\""),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<AbPlan>(&text).unwrap(), plan);
        assert_eq!(plan.own_sides(), [(AbSide::A, 0), (AbSide::B, 1)]);
        assert!(plan.sound(2).is_ok() && plan.sound(1).is_err());
    }
}
