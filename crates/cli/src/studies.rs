//! `kgauge studies`: lists the built-in studies.

use kgauge_scenario::{BuiltIn, Studies as Shipped};
use serde::Serialize;

use crate::args::StudiesArgs;
use crate::exit::ExitStatus;
use crate::print;

#[derive(Serialize)]
struct StudyListing<'a> {
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

/// Prints the studies with their questions.
pub(crate) fn list(arguments: &StudiesArgs) -> anyhow::Result<ExitStatus> {
    let studies = Shipped::list();
    if arguments.json {
        let listed: Vec<StudyListing<'_>> = studies
            .iter()
            .map(|study| StudyListing {
                name: &study.name,
                title: &study.title,
                question: &study.question,
                target: study.target.as_deref(),
                scenarios: study
                    .scenarios
                    .iter()
                    .map(|one| ListedScenario {
                        name: one.name(),
                        question: one.question(),
                    })
                    .collect(),
            })
            .collect();
        print::json(&listed)?;
        return Ok(ExitStatus::Good);
    }
    print::line("Built-in scenarios, for any cluster\n");
    for built_in in BuiltIn::ALL {
        print::line(&format!(
            "    {:<24} {}",
            built_in.name(),
            built_in.summary()
        ));
    }
    print::line("\n  kgauge run latency --target HOST:9092 --rate 20k/s\n");
    for study in &studies {
        print::line(&format!(
            "{}\n  {}\n  {}\n",
            study.name, study.title, study.question
        ));
        for scenario in &study.scenarios {
            print::line(&format!(
                "    {:<24} {}",
                scenario.name(),
                scenario.question()
            ));
        }
        print::line(&format!("\n  kgauge run {} --quick", study.name));
        if let Some(target) = &study.target {
            print::line(&format!(
                "  kgauge run {} --quick --target {target}",
                study.name
            ));
        }
        print::line("");
    }
    Ok(ExitStatus::Good)
}
