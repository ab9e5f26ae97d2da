//! Makes the plan of a search for better settings out of what the user typed.

use crate::ab::AbMetric;
use crate::ab_planning::{AbError, budget_ns, check_metric, metric, width};
use crate::figure::{FigureName, Goal, Metric, Statistic, ValueUnit};
use crate::keys::figures::split_goal;
use crate::keys::flow::{FlowPlan, ProduceFlow};
use crate::plan::Trial;
use crate::shape::{Arrivals, Shape};
use crate::tune::{SettingScope, TuneGoal, TunePlan, TunePreset, TuneSetting, TuneValue, joined};
use crate::units::{self, UnitError};

/// A search for better settings as the user typed it; what is missing has a default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TuneOptions {
    /// What is to become better.
    pub goal: Option<TuneGoal>,
    /// A figure in place of the goal's own: `writers.latency.p99.9`.
    pub metric: Option<String>,
    /// Conditions such as `writers.latency.p99 <= 20 ms`.
    pub keep: Vec<String>,
    /// `3 %`.
    pub width: Option<String>,
    /// `30 min`.
    pub budget: Option<String>,
    /// Where settings may change; everywhere if empty.
    pub scopes: Vec<SettingScope>,
    /// Settings that decide what an ack means may change too.
    pub durability_may_change: bool,
    /// A bundle in place of a search.
    pub preset: Option<TunePreset>,
    /// The user's own candidates: paths and values that change together.
    pub candidates: Vec<Vec<(String, String)>>,
    /// What `--set` changes in the scenario: paths and values.
    pub set: Vec<(String, String)>,
}

/// More settings are not screened at once.
const CANDIDATES_MAX: usize = 11;
/// More conditions are not judged.
const KEEP_MAX: usize = 20;

fn refused(option: &'static str, reason: impl Into<String>) -> AbError {
    let reason = reason.into();
    AbError::Value { option, reason }
}

impl TunePlan {
    /// Makes the search for better settings of a trial.
    ///
    /// # Errors
    /// When an option cannot be read, the figure does not fit the scenario, or a candidate is protected.
    pub fn new(options: &TuneOptions, trial: &Trial) -> Result<TunePlan, AbError> {
        let goal = options.goal.unwrap_or(match options.preset {
            Some(TunePreset::Latency) => TuneGoal::Latency,
            _ if is_closed(trial) => TuneGoal::Throughput,
            _ => TuneGoal::Latency,
        });
        if options.keep.len() > KEEP_MAX {
            return Err(refused("keep", format!("at most {KEEP_MAX} conditions")));
        }
        let keep = options.keep.iter().map(|text| goal_of(text, trial));
        Ok(TunePlan {
            goal,
            metric: metric_of(goal, options.metric.as_deref(), trial)?,
            width: width(options.width.as_deref())?,
            budget_ns: budget_ns(options.budget.as_deref())?,
            keep: keep.collect::<Result<_, _>>()?,
            scopes: match options.scopes.is_empty() {
                true => vec![
                    SettingScope::Client,
                    SettingScope::Topic,
                    SettingScope::Broker,
                ],
                false => options.scopes.clone(),
            },
            durability_may_change: options.durability_may_change,
            preset: preset(options)?,
            own: own(options)?,
            set: options.set.clone(),
            folder: None,
        })
    }

    /// Gives the whole search another time: `30 min`, or the default.
    ///
    /// # Errors
    /// When the text is no time.
    pub fn set_budget(&mut self, text: Option<&str>) -> Result<(), AbError> {
        self.budget_ns = budget_ns(text)?;
        Ok(())
    }
}

/// A bundle that changes what an ack means needs the user's consent.
fn preset(options: &TuneOptions) -> Result<Option<TunePreset>, AbError> {
    if options.preset.is_some() && !options.candidates.is_empty() {
        return Err(refused(
            "preset",
            "a preset has its own settings; remove --candidate",
        ));
    }
    match options.preset {
        Some(TunePreset::Durability | TunePreset::Availability)
            if !options.durability_may_change =>
        {
            Err(refused(
                "preset",
                "this preset changes what an ack means; add --durability-may-change to measure it",
            ))
        }
        preset => Ok(preset),
    }
}

/// The user's own candidates.
fn own(options: &TuneOptions) -> Result<Vec<TuneSetting>, AbError> {
    let mut settings: Vec<TuneSetting> = Vec::new();
    for changes in &options.candidates {
        let Some((first, _)) = changes.first() else {
            return Err(refused("candidate", "write it as PATH=VALUE"));
        };
        let protected = changes
            .iter()
            .find(|(path, _)| TuneSetting::is_of_durability(path));
        if let Some((path, _)) = protected.filter(|_| !options.durability_may_change) {
            let reason =
                format!("{path} decides what an ack means; add --durability-may-change to try it");
            return Err(refused("candidate", reason));
        }
        let names = changes
            .iter()
            .map(|(path, _)| TuneSetting::place_of(path).1);
        let name = joined(names.collect());
        let value = TuneValue::of(changes.clone());
        match settings.iter_mut().find(|known| known.name == name) {
            Some(known) => known.values.push(value),
            None => settings.push(TuneSetting {
                name,
                scope: TuneSetting::place_of(first).0,
                today: None,
                values: vec![value],
            }),
        }
    }
    if settings.len() > CANDIDATES_MAX {
        let reason = format!("at most {CANDIDATES_MAX} settings can be screened at once");
        return Err(refused("candidate", reason));
    }
    Ok(settings)
}

/// Whether the trial's first sending flow runs at full speed.
fn is_closed(trial: &Trial) -> bool {
    let mut sends = trial.flows.iter().filter_map(FlowPlan::produces);
    sends.next().is_some_and(|flow| flow.shape == Shape::Max)
}

/// The figure of a goal: that of the first flow that sends, unless the user names one.
fn metric_of(goal: TuneGoal, text: Option<&str>, trial: &Trial) -> Result<AbMetric, AbError> {
    let default = match goal {
        TuneGoal::Throughput => "throughput",
        TuneGoal::Latency => "p99",
        TuneGoal::Cost => "target-cpu",
    };
    let chosen = metric(Some(text.unwrap_or(default)), trial)?;
    check_metric(&chosen, trial)?;
    let fits = match (&chosen, goal) {
        (AbMetric::OfFlow(figure), TuneGoal::Throughput) => !figure.metric.is_time(),
        (AbMetric::OfFlow(figure), TuneGoal::Latency) => figure.metric.is_time(),
        (AbMetric::TargetCpu | AbMetric::GeneratorCpu, TuneGoal::Cost) => true,
        _ => false,
    };
    match fits {
        true => Ok(chosen),
        false => Err(AbError::Metric {
            metric: chosen.to_string(),
            reason: "does not belong to the goal; leave --metric out, or change --goal".to_owned(),
        }),
    }
}

/// A condition: `p99 <= 20 ms`, or with the flow's name before the figure.
fn goal_of(text: &str, trial: &Trial) -> Result<Goal, AbError> {
    let write = "write a figure, one of < <= >= >, and a value: 'writers.latency.p99 <= 20 ms'";
    let Some((name, comparison, bound)) = split_goal(text) else {
        return Err(refused(
            "keep",
            format!("`{text}` is not a condition; {write}"),
        ));
    };
    let first = trial.flows.iter().find(|flow| flow.produces().is_some());
    let first = first.or(trial.flows.first());
    let figure = match Statistic::parse(name) {
        Some(statistic) => FigureName {
            flow: first.map_or("", FlowPlan::name).to_owned(),
            metric: match first {
                Some(FlowPlan::Echo(_)) => Metric::EndToEnd(statistic),
                _ => Metric::Latency(statistic),
            },
        },
        None => FigureName::parse(name).map_err(|error| refused("keep", error.to_string()))?,
    };
    let flow = trial.flows.iter().find(|flow| flow.name() == figure.flow);
    let Some(flow) = flow else {
        let names: Vec<&str> = trial.flows.iter().map(FlowPlan::name).collect();
        let reason = format!(
            "no flow is called `{}`; the flows are {}",
            figure.flow,
            names.join(", ")
        );
        return Err(refused("keep", reason));
    };
    if figure.metric.needs_produce() && flow.produces().is_none() {
        return Err(refused(
            "keep",
            format!("`{}` does not send; use throughput", figure.flow),
        ));
    }
    if matches!(figure.metric, Metric::EndToEnd(_)) && !matches!(flow, FlowPlan::Echo(_)) {
        return Err(refused(
            "keep",
            format!("`{}` is not an echo flow; use latency.p99", figure.flow),
        ));
    }
    let value = match figure.metric.unit() {
        ValueUnit::RecordsPerSecond => units::rate(bound),
        ValueUnit::BytesPerSecond => units::byte_rate(bound),
        ValueUnit::Nanoseconds => units::time_ns(bound).map(|ns| ns as f64),
        ValueUnit::Records => units::count(bound).map(|count| count as f64),
    };
    let value =
        value.map_err(|UnitError { what, cure }| refused("keep", format!("{what}; {cure}")))?;
    Ok(Goal {
        text: format!("{figure} {comparison} {bound}"),
        figure,
        comparison,
        value,
    })
}

impl Trial {
    /// Whether a figure is one of a flow at full speed whose value is time in the flow's own buffer, so that it has to
    /// be judged at a fixed rate.
    pub fn is_buffer_time(&self, figure: &FigureName) -> bool {
        let mut flows = self.flows.iter().filter_map(FlowPlan::produces);
        let flow = flows.find(|flow| flow.name == figure.flow);
        figure.metric.is_time() && flow.is_some_and(|flow| flow.shape == Shape::Max)
    }

    /// The same trial with its flows at full speed at a fixed rate, `per_second` of all of them together; or, if it has
    /// none, with all sending flows at full speed.
    pub fn at_other_load(&self, per_second: f64) -> Trial {
        let mut trial = self.clone();
        let is_full = |flow: &ProduceFlow| flow.shape == Shape::Max;
        let sends = self.flows.iter().filter_map(FlowPlan::produces);
        let count = sends.filter(|flow| is_full(flow)).count();
        // Without an end by time, the number of records is the only one.
        let ends_by_time = trial.stages.hold_ns.is_some();
        for flow in trial.flows.iter_mut().filter_map(FlowPlan::produces_mut) {
            flow.shape = match (count, is_full(flow)) {
                (0, _) => Shape::Max,
                (_, true) => Shape::Constant {
                    per_second: per_second / count as f64,
                },
                (_, false) => continue,
            };
            flow.arrivals = Arrivals::Even;
            if ends_by_time {
                flow.records_max = None;
            }
        }
        trial
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::{BuiltIn, BuiltInOptions, Scenario, Size};

    fn trial(built_in: BuiltIn) -> Trial {
        let text = built_in.text(&BuiltInOptions::default()).unwrap();
        let scenario = Scenario::parse("s.yaml", &text).unwrap();
        scenario.trials(Size::Default).remove(0)
    }

    fn refusal(built_in: BuiltIn, options: &TuneOptions) -> String {
        let plan = TunePlan::new(options, &trial(built_in));
        plan.unwrap_err().to_string()
    }

    #[test]
    fn the_goal_follows_the_load() {
        let plan = TunePlan::new(&TuneOptions::default(), &trial(BuiltIn::Throughput)).unwrap();
        assert_eq!(
            (plan.goal, plan.metric.to_string()),
            (TuneGoal::Throughput, "writers.throughput".to_owned())
        );
        let plan = TunePlan::new(&TuneOptions::default(), &trial(BuiltIn::Latency)).unwrap();
        assert_eq!(
            (plan.goal, plan.metric.to_string()),
            (TuneGoal::Latency, "writers.latency.p99".to_owned())
        );
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<TunePlan>(&text).unwrap(), plan);
        assert!(plan.sound().is_ok());
    }

    #[test]
    fn a_goal_that_the_load_cannot_show_is_refused_with_a_way_out() {
        let of = |goal| TuneOptions {
            goal: Some(goal),
            ..TuneOptions::default()
        };
        assert!(refusal(BuiltIn::Latency, &of(TuneGoal::Throughput)).contains("shape=max"));
        assert!(refusal(BuiltIn::Throughput, &of(TuneGoal::Latency)).contains("own buffer"));
        let other = TuneOptions {
            metric: Some("target-cpu".to_owned()),
            ..of(TuneGoal::Throughput)
        };
        assert!(refusal(BuiltIn::Throughput, &other).contains("--goal"));
    }

    #[test]
    fn conditions_are_goals() {
        let keep = |text: &str| TuneOptions {
            keep: vec![text.to_owned()],
            ..TuneOptions::default()
        };
        let plan = TunePlan::new(&keep("p99 <= 20 ms"), &trial(BuiltIn::Latency)).unwrap();
        assert_eq!(plan.keep[0].text, "writers.latency.p99 <= 20 ms");
        assert!((plan.keep[0].value - 2e7).abs() < 1e-3);
        let plan = TunePlan::new(&keep("p99 <= 20 ms"), &trial(BuiltIn::EndToEnd)).unwrap();
        assert!(plan.keep[0].text.contains(".end-to-end.p99 <= 20 ms"));
        for (text, words) in [
            ("p99", "not a condition"),
            ("p99 <= 20", "unit"),
            ("readers.throughput >= 1k/s", "the flows are writers"),
            ("writers.end-to-end.p99 <= 1 ms", "not an echo flow"),
        ] {
            let error = refusal(BuiltIn::Latency, &keep(text));
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn what_an_ack_means_stays_without_the_users_consent() {
        let acks = vec![("acks".to_owned(), "1".to_owned())];
        let mut options = TuneOptions {
            candidates: vec![acks],
            ..TuneOptions::default()
        };
        assert!(refusal(BuiltIn::Throughput, &options).contains("--durability-may-change"));
        options.durability_may_change = true;
        let plan = TunePlan::new(&options, &trial(BuiltIn::Throughput)).unwrap();
        assert_eq!(
            (
                plan.own[0].name.as_str(),
                plan.own[0].values[0].text.as_str()
            ),
            ("acks", "1")
        );
        let preset = TuneOptions {
            preset: Some(TunePreset::Durability),
            ..TuneOptions::default()
        };
        assert!(refusal(BuiltIn::Throughput, &preset).contains("--durability-may-change"));
    }

    #[test]
    fn values_of_one_setting_belong_together() {
        let one = |value: &str| vec![("linger.ms".to_owned(), value.to_owned())];
        let pair = ["send", "receive"].map(|way| {
            (
                format!("broker.socket.{way}.buffer.bytes"),
                "1048576".to_owned(),
            )
        });
        let options = TuneOptions {
            candidates: vec![one("0"), one("20"), pair.to_vec()],
            ..TuneOptions::default()
        };
        let plan = TunePlan::new(&options, &trial(BuiltIn::Throughput)).unwrap();
        assert_eq!((plan.own.len(), plan.own[0].values.len()), (2, 2));
        assert_eq!(
            plan.own[1].name,
            "socket.send.buffer.bytes, socket.receive.buffer.bytes"
        );
        assert_eq!(
            (plan.own[1].scope, plan.own[1].values[0].text.as_str()),
            (SettingScope::Broker, "1048576")
        );
    }

    #[test]
    fn the_other_load_of_full_speed_is_a_rate_and_of_a_rate_full_speed() {
        let full = trial(BuiltIn::Throughput);
        let figure = FigureName::parse("writers.latency.p99").unwrap();
        assert!(full.is_buffer_time(&figure));
        let rate = full.at_other_load(5_000.0);
        let shape = |trial: &Trial| trial.flows[0].produces().unwrap().shape.clone();
        assert_eq!(
            shape(&rate),
            Shape::Constant {
                per_second: 5_000.0
            }
        );
        assert!(!rate.is_buffer_time(&figure));
        assert_eq!(shape(&rate.at_other_load(0.0)), Shape::Max);
        let mut counted = full.clone();
        counted.stages.hold_ns = None;
        counted.flows[0].produces_mut().unwrap().records_max = Some(1_000);
        let rate = counted.at_other_load(5_000.0);
        assert_eq!(rate.flows[0].produces().unwrap().records_max, Some(1_000));
    }
}
