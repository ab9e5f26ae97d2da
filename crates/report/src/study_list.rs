//! The built-in scenarios and studies as a list for a terminal, and studies for other programs.

use kgauge_scenario::{BuiltIn, Study, StudyRef};
use serde::Serialize;

/// A study for other programs.
#[derive(Serialize)]
pub(crate) struct StudyListing<'a> {
    name: &'a str,
    title: &'a str,
    question: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'a str>,
    scenarios: Vec<ListedScenario<'a>>,
}

#[derive(Serialize)]
struct ListedScenario<'a> {
    name: &'a str,
    question: &'a str,
}

impl<'a> StudyListing<'a> {
    pub(crate) fn of(study: &'a Study) -> Self {
        let scenarios = study.scenarios.iter().map(|one| ListedScenario {
            name: one.name(),
            question: one.question(),
        });
        Self {
            name: &study.about.name,
            title: &study.about.title,
            question: &study.about.question,
            target: study.target.as_deref(),
            scenarios: scenarios.collect(),
        }
    }
}

/// The names, what each answers, and the commands that run them.
pub(crate) fn text(studies: &[Study]) -> String {
    let mut text = "Built-in scenarios, for any cluster\n\n".to_owned();
    for built_in in BuiltIn::ALL {
        text.push_str(&row(built_in.name(), built_in.summary()));
    }
    text.push_str("\n  kgauge run latency --target HOST:9092 --rate 20k/s\n\n");
    for study in studies {
        let StudyRef {
            name,
            title,
            question,
            ..
        } = &study.about;
        text.push_str(&format!("{name}\n  {title}\n  {question}\n\n"));
        for scenario in &study.scenarios {
            text.push_str(&row(scenario.name(), scenario.question()));
        }
        text.push_str(&format!("\n  kgauge run {name} --quick\n"));
        if let Some(target) = &study.target {
            text.push_str(&format!("  kgauge run {name} --quick --target {target}\n"));
        }
        text.push('\n');
    }
    text
}

fn row(name: &str, question: &str) -> String {
    format!("    {name:<24} {question}\n")
}
