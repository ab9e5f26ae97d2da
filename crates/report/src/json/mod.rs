//! Summary and comparison as JSON: the typed values, with the texts about them beside them.

mod tree;

use kgauge_analyze::answer::{CountCheck, SummaryFile};
use kgauge_analyze::summary::{TrialSummary, Warning};
use kgauge_analyze::{Comparison, Summary};
use serde_json::{Value, json};

pub use tree::JsonTree;

use crate::text;

/// `summary.json`: the summary with its texts. Its schema is that of [`summary_schema`].
pub fn summary_json(summary: &Summary) -> serde_json::Result<JsonTree> {
    let file = SummaryFile::of(summary);
    let mut root = JsonTree::of(&file)?;
    for (tree, answer) in root.items("answers").zip(file.answers()) {
        // The ordinary intervals of its trials do not hold for a test that stops when they are clear.
        let of_test = text::ab::answer_of_scenario(summary);
        let of_test = of_test.or_else(|| text::tune::answer_of_scenario(summary));
        let sentence = of_test.unwrap_or_else(|| text::answer::sentence(answer, summary));
        tree.put("text", sentence);
        put_count(tree.get("counts"), answer.facts.counts(), summary);
    }
    put_count(root.get("count_check"), file.count_check(), summary);
    if let (Some(tree), Some(check)) = (root.get("verification"), file.verification()) {
        tree.put("text", text::verification::sentence(check));
    }
    if let Some(tree) = root.get("target") {
        tree.put("words", text::target::sentence(&summary.target));
    }
    put_warnings(&mut root, &summary.warnings, None);
    for (tree, trial) in root.items("trials").zip(&summary.trials) {
        put_trial(tree, trial, summary);
    }
    for (tree, capacity) in root.items("capacities").zip(&summary.capacities) {
        for (tree, search) in tree.items("searches").zip(&capacity.searches) {
            tree.put("answer", text::capacity::answer(capacity, search));
        }
    }
    if let (Some(tree), Some(test)) = (root.get("ab"), &summary.ab) {
        tree.put("answer", text::ab::answer(test));
    }
    if let (Some(tree), Some(search)) = (root.get("tune"), &summary.tune) {
        tree.put("answer", text::tune::answer(search));
    }
    if let (Some(tree), Some(checkup)) = (root.get("checkup"), &summary.checkup) {
        for (tree, finding) in tree.items("findings").zip(&checkup.findings) {
            tree.put("text", text::checkup::finding(&finding.fact).line());
        }
    }
    for (tree, compared) in root.items("drivers").zip(&summary.drivers) {
        tree.put("sentences", text::driver::sentences(compared));
    }
    if let (Some(tree), Some(needed)) = (root.get("partitions_needed"), &summary.partitions_needed)
    {
        tree.put("sentence", text::partitions::sentence(needed));
    }
    Ok(root)
}

fn put_count(tree: Option<&mut JsonTree>, check: Option<&CountCheck>, summary: &Summary) {
    if let (Some(tree), Some(check)) = (tree, check) {
        tree.put("text", text::count_check::sentence(check, summary));
    }
}

fn put_warnings(tree: &mut JsonTree, warnings: &[Warning], trial: Option<&TrialSummary>) {
    for (tree, warning) in tree.items("warnings").zip(warnings) {
        tree.put("text", text::warning::with_flow(warning, trial));
        tree.put("remedy", text::warning::remedy(&warning.finding));
    }
}

fn put_trial(tree: &mut JsonTree, trial: &TrialSummary, summary: &Summary) {
    put_warnings(tree, &trial.warnings, Some(trial));
    if let Some(tree) = tree.get("generator") {
        tree.put("evidence", text::generator::evidence(trial));
    }
    if let (Some(tree), Some(headroom)) = (tree.get("headroom"), &trial.headroom) {
        tree.put("sentence", text::generator::headroom(headroom));
    }
    if let (Some(tree), Some(limit)) = (tree.get("limit"), &trial.limit) {
        tree.put("sentence", text::bottleneck::sentence(limit, trial));
        tree.put("evidence", text::bottleneck::evidence(limit, trial));
    }
    for (tree, goal) in tree.items("goals").zip(&trial.goals) {
        tree.put("why", text::goal::goal(goal));
    }
    let target = text::target::sentence(&summary.target);
    for (tree, published) in tree.items("published").zip(&trial.published) {
        let why = text::goal::published(published, &target);
        tree.put("why", why);
    }
    for (tree, flow) in tree.items("flows").zip(&trial.flows) {
        tree.put("shape", flow.shape.as_ref().map(text::flow::shape));
        if let (Some(tree), Some(law)) = (tree.get("little"), &flow.little) {
            tree.put("sentence", text::flow::little(law, flow.closed_loop));
        }
        if let (Some(tree), Some(ack)) = (tree.get("ack"), &flow.ack) {
            let (promise, followers) = text::flow::ack(ack);
            tree.put("flush", text::flow::flush(&ack.flush));
            tree.put("sentence", format!("{promise} {followers}"));
        }
        for (name, sentence) in [
            ("group", text::flow::group(flow)),
            ("transactions", text::flow::transactions(flow)),
            ("mirror", text::flow::mirror(flow)),
        ] {
            if let (Some(tree), Some(sentence)) = (tree.get(name), sentence) {
                tree.put("sentence", sentence);
            }
        }
    }
}

/// The texts of `summary.json`: the type that each is beside, its name, and what it is.
const SUMMARY_TEXTS: [(&str, &str, TextForm, &str); 25] = [
    (
        "AbSummary",
        "answer",
        TextForm::One,
        "The answer as a sentence.",
    ),
    (
        "AckMeaning",
        "flush",
        TextForm::One,
        "When the brokers flush to disk, as text.",
    ),
    (
        "AckMeaning",
        "sentence",
        TextForm::One,
        "All of this as a sentence.",
    ),
    (
        "CapacitySearch",
        "answer",
        TextForm::One,
        "The answer as a sentence.",
    ),
    (
        "CheckupFinding",
        "text",
        TextForm::One,
        "The finding, its evidence and what to try.",
    ),
    (
        "CountCheck",
        "text",
        TextForm::One,
        "The result in a sentence.",
    ),
    (
        "Verification",
        "text",
        TextForm::One,
        "The result in sentences.",
    ),
    (
        "DriverComparison",
        "sentences",
        TextForm::List,
        "A comparison of each client with kgauge's engine; empty without a trial of the latter.",
    ),
    (
        "FlowSummary",
        "shape",
        TextForm::OneOrNull,
        "Its rate as text, such as `max` or `constant, 50,000 records/s`; null for what has none.",
    ),
    (
        "GeneratorVerdict",
        "evidence",
        TextForm::List,
        "The evidence, one sentence per number.",
    ),
    (
        "GoalVerdict",
        "why",
        TextForm::One,
        "The reason, as a sentence.",
    ),
    (
        "GroupSummary",
        "sentence",
        TextForm::One,
        "The same in words.",
    ),
    ("Headroom", "sentence", TextForm::One, "All of it in words."),
    (
        "LimitVerdict",
        "evidence",
        TextForm::List,
        "The facts, a sentence each.",
    ),
    (
        "LimitVerdict",
        "sentence",
        TextForm::One,
        "The verdict in a sentence.",
    ),
    (
        "LittlesLaw",
        "sentence",
        TextForm::One,
        "What must be shown next to the latency.",
    ),
    (
        "MirrorSummary",
        "sentence",
        TextForm::One,
        "The same in words.",
    ),
    (
        "PartitionsNeeded",
        "sentence",
        TextForm::One,
        "All of it in a sentence.",
    ),
    (
        "PublishedComparison",
        "why",
        TextForm::One,
        "Why, in a sentence that names the target.",
    ),
    (
        "ScenarioAnswer",
        "text",
        TextForm::One,
        "The answer in a sentence or two.",
    ),
    ("TargetSummary", "words", TextForm::One, "Its description."),
    (
        "TransactionSummary",
        "sentence",
        TextForm::One,
        "All of this as a sentence.",
    ),
    (
        "TuneSummary",
        "answer",
        TextForm::One,
        "The answer as a sentence.",
    ),
    ("Warning", "remedy", TextForm::One, "The fix."),
    ("Warning", "text", TextForm::One, "The warning, as text."),
];

/// What a text is in JSON.
#[derive(Clone, Copy)]
enum TextForm {
    One,
    OneOrNull,
    List,
}

/// The JSON Schema (draft 2020-12) of `summary.json`.
pub fn summary_schema() -> Value {
    let mut schema = SummaryFile::schema();
    add_texts(&mut schema, &SUMMARY_TEXTS);
    schema
}

/// A comparison with its texts. Its schema is that of [`comparison_schema`].
pub fn comparison_json(comparison: &Comparison) -> serde_json::Result<JsonTree> {
    let mut root = JsonTree::of(comparison)?;
    for (tree, run) in root.items("runs").zip(&comparison.runs) {
        tree.put("target", text::target::sentence(&run.target));
    }
    for (tree, found) in root.items("differences").zip(&comparison.differences) {
        tree.put("words", text::comparison::difference(found));
    }
    if let Some(method) = root.get("method") {
        method.put("words", text::comparison::method(comparison));
        if let Some(tree) = method.get("between_runs") {
            let words = text::comparison::between_runs(&comparison.method.between_runs);
            tree.put("words", words);
        }
    }
    for (tree, row) in root.items("rows").zip(&comparison.rows) {
        for (tree, cell) in tree.items("cells").zip(&row.cells) {
            if let (Some(tree), Some(against)) = (tree.get("against"), &cell.against) {
                tree.put("why", text::comparison::reason(against));
            }
        }
    }
    Ok(root)
}

/// The texts of a comparison, as those of `summary.json`.
const COMPARISON_TEXTS: [(&str, &str, TextForm, &str); 5] = [
    (
        "Against",
        "why",
        TextForm::One,
        "The reason, as a sentence.",
    ),
    ("Method", "words", TextForm::One, "In sentences."),
    (
        "RunColumn",
        "target",
        TextForm::One,
        "The sentence that names the target.",
    ),
    ("RunDifference", "words", TextForm::One, "In a sentence."),
    (
        "RunSpreadRecord",
        "words",
        TextForm::One,
        "In one sentence; empty where no comparison was decided.",
    ),
];

/// The JSON Schema (draft 2020-12) of a comparison.
pub fn comparison_schema() -> Value {
    let mut schema = Comparison::schema();
    add_texts(&mut schema, &COMPARISON_TEXTS);
    schema
}

fn add_texts(schema: &mut Value, texts: &[(&str, &str, TextForm, &str)]) {
    for (of, name, form, description) in texts {
        let Some(of) = schema.pointer_mut(&format!("/$defs/{of}")) else {
            continue;
        };
        of["properties"][*name] = match form {
            TextForm::One => json!({"description": description, "type": "string"}),
            TextForm::OneOrNull => {
                json!({"description": description, "type": ["string", "null"]})
            }
            TextForm::List => {
                json!({"description": description, "type": "array", "items": {"type": "string"}})
            }
        };
        let required = &mut of["required"];
        if required.is_null() {
            *required = json!([]);
        }
        if let Some(required) = required.as_array_mut() {
            required.push(json!(name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_beside_a_type_of_its_schema() {
        for (schema, texts) in [
            (SummaryFile::schema(), SUMMARY_TEXTS.as_slice()),
            (Comparison::schema(), COMPARISON_TEXTS.as_slice()),
        ] {
            for (of, ..) in texts {
                assert!(schema["$defs"][of].is_object(), "{of}");
            }
        }
    }
}
