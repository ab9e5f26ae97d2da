//! Distributions of times in the summary. Percentiles come from merged histograms, never from
//! other percentiles.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::series::{CurvePoint, curve_quantiles};
use crate::statistics::{Interval, Spread};
use kgauge_results::{Quantile, TimeKind};

/// The distributions of a flow's hold stage, by kind; without those that were not measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latencies(BTreeMap<TimeKind, LatencySummary>);

impl Latencies {
    /// One of the distributions.
    pub fn get(&self, kind: TimeKind) -> Option<&LatencySummary> {
        self.0.get(&kind)
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, kind: TimeKind) -> Option<&mut LatencySummary> {
        self.0.get_mut(&kind)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (TimeKind, &LatencySummary)> {
        self.0.iter().map(|(kind, times)| (*kind, times))
    }
}

impl FromIterator<(TimeKind, LatencySummary)> for Latencies {
    fn from_iter<T: IntoIterator<Item = (TimeKind, LatencySummary)>>(times: T) -> Latencies {
        Latencies(times.into_iter().collect())
    }
}

/// A field for each kind. Those of most flows are null where nothing was measured, the others are then absent.
impl Serialize for Latencies {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for kind in TimeKind::summarised() {
            let times = self.get(kind);
            if times.is_some() || kind <= TimeKind::BufferWait {
                map.serialize_entry(&kind.field(), &times)?;
            }
        }
        map.end()
    }
}

impl JsonSchema for Latencies {
    fn schema_name() -> Cow<'static, str> {
        "Latencies".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let properties = TimeKind::summarised().map(|kind| {
            let mut times = generator.subschema_for::<Option<LatencySummary>>();
            times.insert("description".to_owned(), kind.meaning().into());
            (kind.field(), times.into())
        });
        let properties: serde_json::Map<String, serde_json::Value> = properties.collect();
        json_schema!({
            "type": "object",
            "properties": properties,
        })
    }
}

/// One distribution over all repeats of a trial. Times are nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LatencySummary {
    /// How many times were counted: every one.
    pub count: u64,
    /// Smallest, exact.
    pub min_ns: u64,
    /// Mean, from the exact sum.
    pub mean_ns: f64,
    /// The mean of each repeat, their spread, and the interval of `mean_ns`.
    pub mean_over_repeats: Option<Spread>,
    /// p50, p90, p95, p99, p99.9, p99.99.
    pub percentiles: Vec<Percentile>,
    /// Largest, exact.
    pub max_ns: u64,
    /// When the largest was.
    pub max_at: MaxAt,
    /// The percentile curve: the times at 0 %, 1 %, ... 90 %, then at twentieths of what remains to 100 %: 90.5 %,
    /// 91 %, ... 99 %, 99.05 %, ... 99.9 %, and so on to 99.999 %. It ends where no sample lies beyond. Absent in
    /// summaries of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve_ns: Vec<u64>,
}

/// When something was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MaxAt {
    /// In which repeat, from 0.
    pub repeat: u32,
    /// Nanoseconds since the start of that repeat; of records the intended time.
    pub at_ns: u64,
}

/// A percentile of the merged histogram.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Percentile {
    /// `p99.9`
    pub name: String,
    /// 999,000 for p99.9.
    pub millionths: u32,
    /// The time that this part does not exceed, at most 0.1 % too high.
    pub value_ns: u64,
    /// How many samples lie beyond it.
    pub samples_beyond: u64,
    /// True when those are fewer than 100: then the percentile is a guess.
    pub few: bool,
    /// The same percentile of each repeat, their spread, and the interval of `value_ns`.
    pub over_repeats: Option<Spread>,
}

impl LatencySummary {
    /// One of [`Quantile::SUMMARISED`].
    pub fn percentile(&self, quantile: Quantile) -> Option<&Percentile> {
        let mut percentiles = self.percentiles.iter();
        percentiles.find(|found| found.millionths == quantile.millionths())
    }

    /// The percentile curve, ascending.
    pub fn curve(&self) -> impl DoubleEndedIterator<Item = CurvePoint> {
        let quantiles = curve_quantiles(self.count);
        let points = quantiles.into_iter().zip(self.curve_ns.iter().copied());
        points.map(|(quantile, value_ns)| CurvePoint {
            quantile,
            value_ns,
            samples_beyond: quantile.samples_beyond(self.count),
        })
    }

    /// 95 % confidence interval of the mean, over the repeats.
    pub fn mean_interval(&self) -> Option<Interval> {
        self.mean_over_repeats.as_ref()?.ci95
    }
}

impl Percentile {
    /// 95 % confidence interval of `value_ns`, over the repeats; `None` with one.
    pub fn interval(&self) -> Option<Interval> {
        self.over_repeats.as_ref()?.ci95
    }
}
