//! Shapes: a flow's rate over time, and the traces that some come from.

use crate::files::Files;
use crate::keys::{BURST, RAMP, REPLAY, SHAPE, STEP, WAVE};
use crate::plan::Stages;
use crate::reader::{Fields, ValueReader};
use crate::schedule::{RATE_MAX, RATE_MIN};
use crate::shape::{RateStep, Shape, Trace};
use crate::tree::{Value, YamlNode};
use crate::units;

/// More steps than this are a trace: `replay`.
const STEPS_MAX: usize = 1_000;

/// Whether a rate may be none at all.
#[derive(Clone, Copy, PartialEq)]
enum Zero {
    Allowed,
    Refused,
}

/// Reads a shape. What lasts for the hold needs the stages.
pub(super) fn shape(
    reader: &mut ValueReader<'_>,
    node: &YamlNode,
    stages: Option<Stages>,
) -> Option<Shape> {
    if let Some(text) = node.as_text() {
        if SHAPE.key(text).is_some() {
            let needed = match text {
                "constant" | "poisson" => "a rate",
                _ => "parameters",
            };
            let what = format!("`{text}` needs {needed}");
            reader.problem(node.place, what, format!("write `{}`", example(text)));
            return None;
        }
        return reader.choice(node, &[("max", ())]).map(|()| Shape::Max);
    }
    let fields = reader.map(node, &SHAPE)?;
    let written: Vec<&'static str> = fields.names().collect();
    match written.as_slice() {
        [] => {
            if matches!(&node.value, Value::Map(entries) if entries.is_empty()) {
                let cure = "write `max` or `{constant: 50k/s}`";
                reader.problem(node.place, "the shape is empty", cure);
            }
            None
        }
        [one] => one_shape(reader, &fields, one, stages),
        _ => {
            reader.problem(node.place, "a flow has only one shape", "keep one of them");
            None
        }
    }
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

fn one_shape(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    name: &str,
    stages: Option<Stages>,
) -> Option<Shape> {
    match name {
        "constant" => Some(Shape::Constant {
            per_second: rate(reader, fields, "constant", Zero::Refused)?,
        }),
        "poisson" => Some(Shape::Poisson {
            per_second: rate(reader, fields, "poisson", Zero::Refused)?,
        }),
        "ramp" => reader.field(fields, "ramp", |reader, node| ramp(reader, node, stages)),
        "step" => reader.field(fields, "step", step),
        "wave" => reader.field(fields, "wave", wave),
        "burst" => reader.field(fields, "burst", burst),
        _ => reader.field(fields, "replay", replay),
    }
}

fn ramp(reader: &mut ValueReader<'_>, node: &YamlNode, stages: Option<Stages>) -> Option<Shape> {
    let fields = reader.map(node, &RAMP)?;
    let from = rate(reader, &fields, "from", Zero::Allowed);
    let to = rate(reader, &fields, "to", Zero::Allowed);
    let over = match (fields.has("over"), stages.map(|stages| stages.hold_ns)) {
        (true, _) => time(reader, &fields, "over"),
        (false, Some(Some(hold_ns))) => Some(hold_ns),
        (false, Some(None)) => {
            let what = "without a hold, the duration of the ramp is unknown";
            reader.problem(node.place, what, "add `over`, such as `over: 1 min`");
            None
        }
        // What is wrong with the stages has been noted.
        (false, None) => None,
    };
    let (from, to) = (from?, to?);
    if from == to {
        let what = "the ramp has the same rate at both ends";
        reader.problem(node.place, what, "write another rate, or `constant`");
        return None;
    }
    Some(Shape::Ramp {
        from_per_second: from,
        to_per_second: to,
        over_ns: over?,
    })
}

fn step(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<Shape> {
    if let Value::List(items) = &node.value
        && items.len() > STEPS_MAX
    {
        let what = format!("{} steps", items.len());
        let cure = format!("write at most {STEPS_MAX}, or `replay` with a file of rates");
        reader.problem(node.place, what, cure);
        return None;
    }
    let mut wrong = false;
    let steps = reader.list(node, |reader, item| {
        let step = reader.map(item, &STEP).and_then(|fields| {
            let per_second = rate(reader, &fields, "rate", Zero::Allowed);
            let length_ns = time(reader, &fields, "for");
            Some(RateStep {
                per_second: per_second?,
                length_ns: length_ns?,
            })
        });
        wrong |= step.is_none();
        step
    })?;
    if wrong || steps.is_empty() {
        return None;
    }
    if steps.iter().all(|step| step.per_second == 0.0) {
        reader.problem(node.place, "every rate is 0", "give one step a rate");
        return None;
    }
    Some(Shape::Step { steps })
}

fn wave(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<Shape> {
    let fields = reader.map(node, &WAVE)?;
    let mean = rate(reader, &fields, "mean", Zero::Refused);
    let amplitude = rate(reader, &fields, "amplitude", Zero::Refused);
    let period = time(reader, &fields, "period");
    let (mean, amplitude) = (mean?, amplitude?);
    if amplitude > mean {
        let what = "the amplitude is more than the mean: the rate would fall below 0";
        reader.problem_at(&fields, "amplitude", what, "write at most the mean");
        return None;
    }
    Some(Shape::Wave {
        per_second: mean,
        amplitude_per_second: amplitude,
        period_ns: period?,
    })
}

fn burst(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<Shape> {
    let fields = reader.map(node, &BURST)?;
    let base = rate(reader, &fields, "base", Zero::Allowed);
    let burst = rate(reader, &fields, "burst", Zero::Refused);
    let every = time(reader, &fields, "every");
    let length = time(reader, &fields, "for");
    let (every, length) = (every?, length?);
    if length >= every {
        let what = "the burst is not shorter than its interval";
        reader.problem_at(&fields, "for", what, "make it shorter than `every`");
        return None;
    }
    Some(Shape::Burst {
        per_second: base?,
        burst_per_second: burst?,
        every_ns: every,
        burst_ns: length,
    })
}

fn replay(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<Shape> {
    type Find = fn(&Files, &str) -> Result<Trace, String>;
    let fields = reader.map(node, &REPLAY)?;
    let (name, find): (_, Find) = match (fields.has("times"), fields.has("rates")) {
        (true, false) => ("times", Files::times),
        (false, true) => ("rates", Files::rates),
        (both, _) => {
            let what = match both {
                true => "`times` and `rates` exclude each other",
                false => "the trace is missing",
            };
            let cure = "write `{times: FILE}` or `{rates: FILE}`";
            reader.problem(node.place, what, cure);
            return None;
        }
    };
    reader.field(&fields, name, |reader, node| {
        let file = reader.text(node)?;
        match find(&reader.sources.files, &file) {
            Ok(trace) => Some(Shape::Replay { file, trace }),
            Err(why) => {
                let what = format!("cannot use `{}`: {why}", crate::reader::shorten(&file));
                let cure = "write the path of a trace, relative to the scenario's folder";
                reader.problem(node.place, what, cure);
                None
            }
        }
    })
}

fn time(reader: &mut ValueReader<'_>, fields: &Fields<'_>, key: &str) -> Option<u64> {
    reader.field(fields, key, |reader, node| {
        reader.time_ns(node, 1..=super::DAY_NS)
    })
}

fn rate(reader: &mut ValueReader<'_>, fields: &Fields<'_>, key: &str, zero: Zero) -> Option<f64> {
    reader.field(fields, key, |reader, node| {
        let per_second = reader.quantity(node, "a rate, such as `50k/s`", units::rate)?;
        let is_good = (RATE_MIN..=RATE_MAX).contains(&per_second);
        if is_good || (per_second == 0.0 && zero == Zero::Allowed) {
            return Some(per_second);
        }
        let what = format!("{per_second} records per second is out of range");
        reader.problem(node.place, what, "write 0.001/s to 1G/s");
        None
    })
}
