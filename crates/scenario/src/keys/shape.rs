//! The keys of shapes: a flow's rate over time, and the traces that some come from.

use crate::files::Files;
use crate::key_definition::ValueForm;
use crate::key_map::key_map;
use crate::reader::{Fields, KeyMap, ValueReader};
use crate::shape::{RATE_MAX, RATE_MIN, RateStep, Shape, Trace};
use crate::suggest::shorten;
use crate::tree::{Value, YamlNode};
use crate::units;
use crate::value_kind::{ValueKind, length, map, whole_list};

/// More steps than this are a trace: `replay`.
const STEPS_MAX: usize = 1_000;

key_map! {
    one_of ShapeKeys, "Shape" -> Shape, otherwise not_one_shape {
        /// Equal gaps. Record n is due at exactly n / rate, however long the run is.
        "constant" => rate().map(|per_second| Shape::Constant { per_second });
        /// Independent, exponentially distributed gaps with this mean rate, as from many independent sources. Equal
        /// seeds give equal gaps on every machine.
        "poisson" => rate().map(|per_second| Shape::Poisson { per_second });
        /// A linear change from one rate to another.
        "ramp" => map::<RampKeys>();
        /// A sequence of rates. The last one continues.
        "step" => steps();
        /// A sine around a mean: a daily cycle, for instance. It starts at the mean, rising.
        "wave" => map::<WaveKeys>();
        /// A base rate, with a higher rate at the end of each period.
        "burst" => map::<BurstKeys>();
        /// A recording from a file. The flow ends with the file.
        "replay" => map::<ReplayKeys>();
    }
}

key_map! {
    map RampKeys, "Ramp" -> Shape, made by ramp {
        /// The rate at the start, also in the warm-up. May be `0/s`.
        let from: f64 = "from" [required], rate_or_zero();
        /// The rate at the end and afterwards. May be `0/s`.
        let to: f64 = "to" [required], rate_or_zero();
        /// The duration of the change.
        let over: Option<u64> = "over" [optional "the hold"], length();
    }
}

key_map! {
    map StepKeys, "Step" -> RateStep, made by step {
        /// The rate; the first one is also used in the warm-up. May be `0/s`.
        let rate: f64 = "rate" [required], rate_or_zero();
        /// The duration.
        let length: u64 = "for" [required], length();
    }
}

key_map! {
    map WaveKeys, "Wave" -> Shape, made by wave {
        /// The mean rate, also used in the warm-up.
        let mean: f64 = "mean" [required], rate();
        /// The deviation from the mean in both directions; at most the mean.
        let amplitude: f64 = "amplitude" [required], rate();
        /// The time from crest to crest.
        let period: u64 = "period" [required], length();
    }
}

key_map! {
    map BurstKeys, "Burst" -> Shape, made by burst {
        /// The rate between bursts, also in the warm-up. May be `0/s`.
        let base: f64 = "base" [required], rate_or_zero();
        /// The rate during a burst.
        let burst: f64 = "burst" [required], rate();
        /// The time from the end of one burst to the end of the next.
        let every: u64 = "every" [required], length();
        /// The duration of a burst; less than `every`.
        let length: u64 = "for" [required], length();
    }
}

key_map! {
    one_of ReplayKeys, "Replay" -> Shape, otherwise not_one_trace {
        /// A file with the time of each record, one per line, in ascending order: `0.25` (seconds) or `250 ms` after
        /// the start of the hold. Nothing is sent in the warm-up.
        "times" => trace(Files::times);
        /// A file with the rate of each second, one per line: `250` or `2.5k/s`. The warm-up uses the first rate.
        "rates" => trace(Files::rates);
    }
}

/// A word, or a map with one shape.
pub(super) fn shape() -> ValueKind<Shape> {
    let forms = vec![
        ValueForm::Words(vec!["max"]),
        ValueForm::Map(ShapeKeys::KEYS),
    ];
    ValueKind::new(ValueForm::Any(forms), |reader, node| {
        let Some(text) = node.as_text() else {
            return ShapeKeys::read_map(reader, node);
        };
        if ShapeKeys::KEYS.key(text).is_some() {
            let needed = match text {
                "constant" | "poisson" => "a rate",
                _ => "parameters",
            };
            let what = format!("`{text}` needs {needed}");
            return reader.refuse(node.place, what, format!("write `{}`", example(text)));
        }
        reader.choice(node, &[("max", ())]).map(|()| Shape::Max)
    })
}

/// How a shape is written.
fn example(shape: &str) -> &'static str {
    match shape {
        "poisson" => "{poisson: 50k/s}",
        "ramp" => "{ramp: {from: 0/s, to: 50k/s}}",
        "step" => "{step: [{rate: 10k/s, for: 10 s}, {rate: 20k/s, for: 10 s}]}",
        "wave" => "{wave: {mean: 50k/s, amplitude: 20k/s, period: 1 min}}",
        "burst" => "{burst: {base: 10k/s, burst: 100k/s, every: 10 s, for: 1 s}}",
        "replay" => "{replay: {rates: rates.txt}}",
        _ => "{constant: 50k/s}",
    }
}

fn not_one_shape(reader: &mut ValueReader<'_>, fields: &Fields<'_>) {
    if fields.names().next().is_some() {
        reader.problem(
            fields.map_place,
            "a flow has only one shape",
            "keep one of them",
        );
    } else if fields.is_empty {
        let cure = "write `max` or `{constant: 50k/s}`";
        reader.problem(fields.map_place, "the shape is empty", cure);
    }
}

fn not_one_trace(reader: &mut ValueReader<'_>, fields: &Fields<'_>) {
    let what = match fields.has("times") {
        true => "`times` and `rates` exclude each other",
        false => "the trace is missing",
    };
    let cure = "write `{times: FILE}` or `{rates: FILE}`";
    reader.problem(fields.map_place, what, cure);
}

pub(super) fn rate() -> ValueKind<f64> {
    limited_rate(false)
}

fn rate_or_zero() -> ValueKind<f64> {
    limited_rate(true)
}

fn limited_rate(may_be_zero: bool) -> ValueKind<f64> {
    ValueKind::new(ValueForm::Rate, move |reader, node| {
        let per_second = reader.quantity(node, "a rate, such as `50k/s`", units::rate)?;
        let is_good = (RATE_MIN..=RATE_MAX).contains(&per_second);
        if is_good || (per_second == 0.0 && may_be_zero) {
            return Some(per_second);
        }
        let what = format!("{per_second} records per second is out of range");
        reader.refuse(node.place, what, "write 0.001/s to 1G/s")
    })
}

fn ramp(reader: &mut ValueReader<'_>, fields: &Fields<'_>, read: RampKeys) -> Option<Shape> {
    let over_ns = match (read.over?, reader.scope.hold_ns) {
        (Some(over_ns), _) => Some(over_ns),
        (None, Some(None)) => {
            let what = "without a hold, the duration of the ramp is unknown";
            reader.refuse(fields.map_place, what, "add `over`, such as `over: 1 min`")
        }
        // What is wrong with the stages has been reported.
        (None, hold_ns) => hold_ns.flatten(),
    };
    let (from_per_second, to_per_second) = (read.from?, read.to?);
    if from_per_second == to_per_second {
        let what = "the ramp has the same rate at both ends";
        return reader.refuse(fields.map_place, what, "write another rate, or `constant`");
    }
    let over_ns = over_ns?;
    Some(Shape::Ramp {
        from_per_second,
        to_per_second,
        over_ns,
    })
}

fn step(_: &mut ValueReader<'_>, _: &Fields<'_>, read: StepKeys) -> Option<RateStep> {
    Some(RateStep {
        per_second: read.rate?,
        length_ns: read.length?,
    })
}

fn steps() -> ValueKind<Shape> {
    let list = whole_list(map::<StepKeys>());
    ValueKind::new(list.form.clone(), move |reader, node| {
        if let Value::List(items) = &node.value
            && items.len() > STEPS_MAX
        {
            let what = format!("{} steps", items.len());
            let cure = format!("write at most {STEPS_MAX}, or `replay` with a file of rates");
            return reader.refuse(node.place, what, cure);
        }
        let steps = list.read(reader, node)?;
        if steps.iter().all(|step| step.per_second == 0.0) {
            return reader.refuse(node.place, "every rate is 0", "give one step a rate");
        }
        Some(Shape::Step { steps })
    })
}

fn wave(reader: &mut ValueReader<'_>, fields: &Fields<'_>, read: WaveKeys) -> Option<Shape> {
    let (per_second, amplitude_per_second) = (read.mean?, read.amplitude?);
    if amplitude_per_second > per_second {
        let what = "the amplitude is more than the mean: the rate would fall below 0";
        reader.problem_at(fields, "amplitude", what, "write at most the mean");
        return None;
    }
    let period_ns = read.period?;
    Some(Shape::Wave {
        per_second,
        amplitude_per_second,
        period_ns,
    })
}

fn burst(reader: &mut ValueReader<'_>, fields: &Fields<'_>, read: BurstKeys) -> Option<Shape> {
    let (every_ns, burst_ns) = (read.every?, read.length?);
    if burst_ns >= every_ns {
        let what = "the burst is not shorter than its interval";
        reader.problem_at(fields, "for", what, "make it shorter than `every`");
        return None;
    }
    Some(Shape::Burst {
        per_second: read.base?,
        burst_per_second: read.burst?,
        every_ns,
        burst_ns,
    })
}

fn trace(find: fn(&Files, &str) -> Result<Trace, String>) -> ValueKind<Shape> {
    ValueKind::new(
        ValueForm::File,
        move |reader: &mut ValueReader<'_>, node: &YamlNode| {
            let file = reader.text(node)?;
            match find(&reader.sources.files, &file) {
                Ok(trace) => Some(Shape::Replay { file, trace }),
                Err(why) => {
                    let what = format!("cannot use `{}`: {why}", shorten(&file));
                    let cure = "write the path of a trace, relative to the scenario's folder";
                    reader.refuse(node.place, what, cure)
                }
            }
        },
    )
}
