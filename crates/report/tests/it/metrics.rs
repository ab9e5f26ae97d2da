//! `/metrics` as scrapers and linters read it: the rules of the two formats, and those of promtool's `check metrics`.

use std::collections::{BTreeMap, BTreeSet};

use kgauge_analyze::live::LiveRepeat;
use kgauge_report::{
    FlowMetrics, InterfaceMetrics, LiveMetrics, MetricsForm, ProcessMetrics, RunMetrics,
    render_metrics,
};
use kgauge_results::run::RepeatKey;
use kgauge_results::{Recorder, SliceSink, StageBorders};

/// A family as it was read.
#[derive(Default)]
struct Family {
    help: Option<String>,
    kind: Option<String>,
    samples: Vec<(String, BTreeMap<String, String>, f64)>,
}

/// The labels of `{a="b",c="d"}` and what follows it.
fn labels(text: &str) -> Result<(BTreeMap<String, String>, &str), String> {
    let mut labels = BTreeMap::new();
    let Some(mut rest) = text.strip_prefix('{') else {
        return Ok((labels, text));
    };
    loop {
        let (name, after) = rest.split_once("=\"").ok_or("a label without a value")?;
        let is_name = !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if !is_name {
            return Err(format!("{name:?} names no label"));
        }
        let mut value = String::new();
        let mut letters = after.char_indices();
        let end = loop {
            match letters.next().ok_or("a value without an end")? {
                (at, '"') => break at,
                (_, '\\') => match letters.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, letter @ ('\\' | '"'))) => value.push(letter),
                    other => return Err(format!("{other:?} is no escape")),
                },
                (_, letter) => value.push(letter),
            }
        };
        if labels.insert(name.to_owned(), value).is_some() {
            return Err(format!("{name} is there twice"));
        }
        rest = &after[end + 1..];
        match rest.strip_prefix(',') {
            Some(next) => rest = next,
            None => {
                let rest = rest.strip_prefix('}').ok_or("labels without an end")?;
                return Ok((labels, rest));
            }
        }
    }
}

/// The family that a sample's name belongs to, and whether it may.
fn belongs(sample: &str, family: &str, kind: &str, form: MetricsForm) -> bool {
    let suffixes: &[&str] = match (kind, form) {
        ("histogram", _) => &["_bucket", "_sum", "_count"],
        ("counter", MetricsForm::OpenMetrics) => &["_total"],
        ("info", MetricsForm::OpenMetrics) => &["_info"],
        _ => &[""],
    };
    suffixes
        .iter()
        .any(|suffix| sample == format!("{family}{suffix}"))
}

fn read(text: &str, form: MetricsForm) -> Result<BTreeMap<String, Family>, String> {
    let mut families = BTreeMap::<String, Family>::new();
    let mut current = String::new();
    let body = match form {
        MetricsForm::OpenMetrics => text.strip_suffix("# EOF\n").ok_or("no # EOF")?,
        MetricsForm::Prometheus => text,
    };
    if !body.ends_with('\n') || body.contains('\r') {
        return Err("lines end with a line feed".to_owned());
    }
    for line in body.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').ok_or("no help")?;
            current = name.to_owned();
            let family = Family {
                help: Some(help.to_owned()),
                ..Family::default()
            };
            if families.insert(current.clone(), family).is_some() {
                return Err(format!("{name} is there twice, or not in one piece"));
            }
            continue;
        }
        let family = families.get_mut(&current).ok_or("a line before any HELP")?;
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').ok_or("no type")?;
            if name != current || !family.samples.is_empty() || family.kind.is_some() {
                return Err(format!("TYPE of {name} at a wrong place"));
            }
            family.kind = Some(kind.to_owned());
            continue;
        }
        let end = line.find(['{', ' ']).ok_or("a line without a value")?;
        let (name, rest) = line.split_at(end);
        let (labels, value) = labels(rest)?;
        let value = value.strip_prefix(' ').ok_or("no space before the value")?;
        let value: f64 = value
            .parse()
            .map_err(|_| format!("{value:?} is no number"))?;
        let kind = family.kind.as_deref().ok_or("a sample before TYPE")?;
        if !belongs(name, &current, kind, form) {
            return Err(format!("{name} is none of {current}, a {kind}"));
        }
        family.samples.push((name.to_owned(), labels, value));
    }
    Ok(families)
}

/// What promtool's linter would say, and what scrapers refuse.
fn lint(text: &str, form: MetricsForm) -> Vec<String> {
    let families = match read(text, form) {
        Ok(families) => families,
        Err(words) => return vec![words],
    };
    let mut found = Vec::new();
    for (name, family) in &families {
        let mut say = |words: &str| found.push(format!("{name}: {words}"));
        let kind = family.kind.as_deref().unwrap_or("");
        if family.help.as_deref().is_none_or(|help| help.len() < 10) {
            say("no help text");
        }
        let is_name = name.starts_with("kgauge_")
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if !is_name || name.contains("__") || name.ends_with('_') {
            say("not a name in snake case under kgauge_");
        }
        let total = name.ends_with("_total");
        match (kind, form) {
            ("counter", MetricsForm::Prometheus) if !total => {
                say("a counter should end with _total")
            }
            ("counter", MetricsForm::Prometheus) => {}
            _ if total => say("only counters should end with _total"),
            _ => {}
        }
        let ends = ["_sum", "_count", "_bucket", "_created"];
        if ends.iter().any(|end| name.ends_with(end)) {
            say("its suffix is that of a histogram's sample");
        }
        let plain = name.trim_end_matches("_total").trim_end_matches("_info");
        for word in plain.split('_') {
            match word {
                "counter" | "gauge" | "histogram" | "summary" => say("its type is in its name"),
                "ms" | "ns" | "us" | "sec" | "secs" | "milliseconds" | "nanoseconds"
                | "minutes" | "hours" | "kb" | "mb" | "kilobytes" | "megabytes" | "percent" => {
                    say("units are base units, written out")
                }
                "seconds" | "bytes" if !plain.ends_with(word) => say("its unit is not at its end"),
                _ => {}
            }
        }
        let mut known = BTreeSet::new();
        for (sample, labels, value) in &family.samples {
            if !known.insert((sample, labels)) {
                say("the same series twice");
            }
            if labels.contains_key("le") != sample.ends_with("_bucket") {
                say("le is for buckets");
            }
            if !value.is_finite() || kind != "gauge" && *value < 0.0 {
                say("a value that cannot be");
            }
        }
        if kind == "histogram" {
            histogram(family).into_iter().for_each(say);
        }
    }
    found
}

/// What is wrong with the buckets of a histogram.
fn histogram(family: &Family) -> Vec<&'static str> {
    let mut found = Vec::new();
    let mut buckets = BTreeMap::<Vec<(String, String)>, Vec<(f64, f64)>>::new();
    for (sample, labels, value) in &family.samples {
        let key: Vec<_> = labels.clone().into_iter().collect();
        if !sample.ends_with("_bucket") {
            continue;
        }
        let le = labels.get("le").map(|le| le.parse::<f64>());
        let Some(Ok(le)) = le else {
            found.push("a bucket without a bound");
            continue;
        };
        let key = key.into_iter().filter(|(name, _)| name != "le").collect();
        buckets.entry(key).or_default().push((le, *value));
    }
    for (key, buckets) in &buckets {
        let rises = |pair: &[(f64, f64)]| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1;
        if !buckets.windows(2).all(rises) {
            found.push("buckets that do not rise");
        }
        let labels: BTreeMap<String, String> = key.iter().cloned().collect();
        let of = |end: &str| {
            let mut samples = family.samples.iter();
            let found = samples.find(|(name, of, _)| name.ends_with(end) && *of == labels);
            found.map(|(.., value)| *value)
        };
        let last = buckets.last().copied();
        if last.is_none_or(|(le, count)| le != f64::INFINITY || Some(count) != of("_count")) {
            found.push("its last bucket is not all of it");
        }
        if of("_sum").is_none() {
            found.push("no sum");
        }
    }
    found
}

/// A run with samples of every metric.
fn everything() -> LiveMetrics {
    let key = RepeatKey {
        trial: 0,
        repeat: 0,
    };
    let (sink, slices) = SliceSink::memory();
    let mut recorder = Recorder::new(0, StageBorders::open(0), sink);
    let mut live = LiveRepeat::new(key);
    recorder.scheduled(0, 3);
    recorder.acked(0, 5_000, 2_000_000, 3, 300);
    recorder.echoed(0, 90_000_000_000, 3);
    recorder.fetch(0, 500_000, 900, 3);
    let request = kgauge_results::recorder::AnsweredRequest {
        wire_bytes: 400,
        batches: 1,
        records: 3,
        round_trip_ns: Some(1_000_000),
    };
    recorder.request(0, request);
    recorder.throttled(0, 1_500_000_000);
    recorder.tick();
    slices.take().iter().for_each(|slice| live.add(slice));
    let run = |name: &str, going: bool| RunMetrics {
        run: name.to_owned(),
        target: "kafka:4.3.1 \"a\\b\"\n".to_owned(),
        is_going_on: going,
        at: Some(("s".to_owned(), "1".to_owned(), 2)),
        stage: going.then_some("hold"),
        trials: 3,
        repeats_ended: 4,
        repeats_planned: 9,
    };
    let flow = |run: &str, name: &str| FlowMetrics {
        run: run.to_owned(),
        scenario: "s".to_owned(),
        trial: "1".to_owned(),
        flow: name.to_owned(),
        totals: live.totals()[&0].clone(),
        in_flight: Some(2.5),
    };
    let process = |name: &str| ProcessMetrics {
        run: "r1".to_owned(),
        process: name.to_owned(),
        cpu_ns: 1_234_567_891,
        resident_bytes: Some(1 << 33),
    };
    LiveMetrics {
        runs: vec![run("r1", false), run("r2", true)],
        flows: vec![flow("r1", "w"), flow("r1", "r \"x\"\\"), flow("r2", "w")],
        processes: vec![process("generator"), process("broker 1")],
        interfaces: vec![InterfaceMetrics {
            run: "r2".to_owned(),
            interface: "eth0".to_owned(),
            bytes_per_s: 1.25e9,
            moved_bytes: Some((5_000, 7)),
        }],
    }
}

#[test]
fn a_linter_finds_nothing() {
    for form in [MetricsForm::Prometheus, MetricsForm::OpenMetrics] {
        let text = render_metrics(&everything(), form);
        assert_eq!(lint(&text, form), Vec::<String>::new(), "{text}");
        let families = read(&text, form).unwrap();
        // Runs 7, counters 17 and the pauses, records in flight, 6 histograms, processes 2, interfaces 3.
        assert_eq!(families.len(), 37);
        let acked = match form {
            MetricsForm::Prometheus => "kgauge_records_acked_total",
            MetricsForm::OpenMetrics => "kgauge_records_acked",
        };
        let (_, labels, value) = &families[acked].samples[1];
        assert_eq!((labels["flow"].as_str(), *value), ("r \"x\"\\", 3.0));
        let (name, labels, _) = match form {
            MetricsForm::Prometheus => &families["kgauge_run_info"].samples[0],
            MetricsForm::OpenMetrics => &families["kgauge_run"].samples[0],
        };
        assert_eq!(name, "kgauge_run_info");
        assert_eq!(labels["target"], "kafka:4.3.1 \"a\\b\"\n");
    }
}

#[test]
fn of_nothing_nothing_is_said() {
    let nothing = LiveMetrics::default();
    assert_eq!(render_metrics(&nothing, MetricsForm::Prometheus), "");
    assert_eq!(
        render_metrics(&nothing, MetricsForm::OpenMetrics),
        "# EOF\n"
    );
}

#[test]
fn the_linter_sees_what_is_wrong() {
    let good = "# HELP kgauge_a_total Help that helps.\n# TYPE kgauge_a_total counter\nkgauge_a_total{x=\"1\"} 2\n";
    assert_eq!(lint(good, MetricsForm::Prometheus), Vec::<String>::new());
    let twice = format!("{good}kgauge_a_total{{x=\"1\"}} 3\n");
    for (bad, words) in [
        (good.replace("Help that helps.", "?"), "no help text"),
        (good.replace("_total", ""), "should end with _total"),
        (good.replace("counter", "gauge"), "only counters"),
        (good.replace("_a_", "_ms_"), "base units"),
        (good.replace("_a_", "_seconds_of_a_"), "not at its end"),
        (good.replace("_a_", "_gauge_"), "type is in its name"),
        (good.replace("\"1\"", "\"\\1\""), "no escape"),
        (good.replace(" 2\n", " two\n"), "no number"),
        (good.replace(" 2\n", " -2\n"), "cannot be"),
        (format!("{good}{good}"), "twice"),
        (twice, "the same series twice"),
    ] {
        let found = lint(&bad, MetricsForm::Prometheus).join("; ");
        assert!(found.contains(words), "{words}: {found}\n{bad}");
    }
}
