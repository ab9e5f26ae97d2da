//! The keys of a search for the highest rate that keeps its goals.

use super::figures::{figure, split_goal, value};
use super::shape::rate;
use crate::figure::{FigureName, GoalComparison, Metric, Statistic};
use crate::key_definition::ValueForm;
use crate::key_map::key_map;
use crate::problem::SourceLocation;
use crate::reader::ValueReader;
use crate::search::{CONSUMERS_KEEP_UP, FOLLOWERS_KEEP_UP};
use crate::suggest::shorten;
use crate::value_kind::{
    DAY_NS, ListItem, ValueKind, fraction, length, name, placed_list, text, time,
};

/// Slices are one second long, and each belongs to one window.
const SLICE_NS: u64 = 1_000_000_000;
/// A smaller width is below what equal loads differ by.
const WIDTH_MIN: f64 = 0.001;
/// A larger width is a guess.
const WIDTH_MAX: f64 = 0.5;

key_map! {
    /// A search as written.
    #[derive(Clone, Debug)]
    pub(crate) struct WrittenSearch, SearchKeys, "Search" {
        /// The flow whose rate is searched, or several flows that are scaled together. Several flows keep the ratio of
        /// the rates in their shapes.
        pub flows: Vec<ListItem<String>> = "rate" [absent "all flows that write", |_| Vec::new()],
            flow_names();
        /// Conditions that every window has to keep, such as `p99 <= 20 ms` (response of produce flows, end to end of
        /// echo flows), `writers.latency.p99.9 <= 50 ms`, `failed <= 0`, `consumers keep up` or `followers keep up`.
        /// kgauge adds that no record fails or is skipped, that the offered rate is reached, and that consumers keep
        /// up.
        pub goals: Vec<ListItem<WrittenGoal>> = "goals"
            [absent "`goals` of the scenario", |_| Vec::new()], placed_list(search_goal());
        /// The distance of the two bounds at the end of the search, as a share of the upper one.
        pub width: f64 = "width" ["2 %"], width();
        /// The length of a window: goals are judged window by window.
        pub window_ns: u64 = "window" ["10 s"], window();
        /// How long a load at one of the bounds is measured in all, and how much longer to confirm it.
        pub duration_ns: u64 = "duration" ["60 s"], time(SLICE_NS..=DAY_NS);
        /// No load goes beyond this rate, all searched flows together.
        pub rate_max: Option<f64> = "max-rate" [optional "no limit"], rate();
        /// The time of all searches of a run. They share it equally, and each ends in time with the best bounds so far.
        pub budget_ns: Option<u64> = "budget" [optional "until the bounds are found"], length();
    }
}

/// A goal of a search as written.
#[derive(Clone, Debug)]
pub(crate) enum WrittenGoal {
    ConsumersKeepUp,
    FollowersKeepUp,
    Limit(WrittenLimit),
}

/// A figure and its limit.
#[derive(Clone, Debug)]
pub(crate) struct WrittenLimit {
    pub(crate) text: String,
    pub(crate) figure: GoalFigure,
    pub(crate) comparison: GoalComparison,
    pub(crate) value: f64,
}

/// Which figure a goal of a search limits.
#[derive(Clone, Debug)]
pub(crate) enum GoalFigure {
    /// That of one flow.
    OfFlow(FigureName),
    /// This metric of each searched flow.
    OfSearched(Metric),
    /// The headline time of each searched flow.
    Time(Statistic),
}

fn flow_names() -> ValueKind<Vec<ListItem<String>>> {
    let forms = vec![ValueForm::Name, ValueForm::List(Box::new(ValueForm::Name))];
    let (one, several) = (name(), placed_list(name()));
    ValueKind::new(ValueForm::Any(forms), move |reader, node| {
        match node.as_text() {
            Some(_) => one.read(reader, node).map(|item| {
                let place = node.place;
                vec![ListItem {
                    item,
                    place,
                    index: 0,
                }]
            }),
            None => several.read(reader, node),
        }
    })
}

fn width() -> ValueKind<f64> {
    fraction().then(|reader, place, width| {
        if (WIDTH_MIN..=WIDTH_MAX).contains(&width) {
            return Some(width);
        }
        let what = format!("{width} is out of range");
        reader.refuse(place, what, "write 0.1 % to 50 %")
    })
}

fn window() -> ValueKind<u64> {
    time(SLICE_NS..=DAY_NS).then(|reader, place, window_ns| {
        if window_ns.is_multiple_of(SLICE_NS) {
            return Some(window_ns);
        }
        let seconds = window_ns as f64 / SLICE_NS as f64;
        let what = format!("a window of {seconds} s ends within a second");
        reader.refuse(place, what, "write whole seconds, such as `2 s`")
    })
}

fn search_goal() -> ValueKind<WrittenGoal> {
    text().then(goal)
}

fn goal(reader: &mut ValueReader<'_>, place: SourceLocation, text: String) -> Option<WrittenGoal> {
    match text.as_str() {
        CONSUMERS_KEEP_UP => return Some(WrittenGoal::ConsumersKeepUp),
        FOLLOWERS_KEEP_UP => return Some(WrittenGoal::FollowersKeepUp),
        _ => {}
    }
    let Some((left, comparison, right)) = split_goal(&text) else {
        let what = format!("`{}` is not a goal", shorten(&text));
        let cure = "write a figure, `<=` and a value with its unit: `p99 <= 20 ms`; or `consumers \
                    keep up`, `followers keep up`";
        return reader.refuse(place, what, cure);
    };
    let figure = if let Some(statistic) = Statistic::parse(left) {
        GoalFigure::Time(statistic)
    } else if let Ok(metric) = Metric::parse(left) {
        GoalFigure::OfSearched(metric)
    } else {
        GoalFigure::OfFlow(figure(reader, place, left)?)
    };
    let of_flow = match &figure {
        GoalFigure::OfFlow(figure) => figure.clone(),
        GoalFigure::OfSearched(metric) => FigureName {
            flow: "writers".to_owned(),
            metric: *metric,
        },
        GoalFigure::Time(statistic) => FigureName {
            flow: "writers".to_owned(),
            metric: Metric::Latency(*statistic),
        },
    };
    let is_limit = matches!(
        comparison,
        GoalComparison::Less | GoalComparison::LessOrEqual
    );
    let is_rate = matches!(of_flow.metric, Metric::Throughput | Metric::ThroughputBytes);
    if is_rate || !is_limit {
        let what = format!("`{}` does not limit the rate", shorten(&text));
        let cure = "a search needs goals that too much load breaks: `p99 <= 20 ms`";
        return reader.refuse(place, what, cure);
    }
    let value = value(reader, place, &of_flow, right)?;
    Some(WrittenGoal::Limit(WrittenLimit {
        text,
        figure,
        comparison,
        value,
    }))
}
