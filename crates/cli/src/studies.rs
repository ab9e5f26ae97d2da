//! `kgauge studies`: what ships.

use kgauge_scenario::Studies as Shipped;
use serde::Serialize;

use crate::args::Studies;
use crate::exit::ExitStatus;

#[derive(Serialize)]
struct Listed<'a> {
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

/// Prints the studies, with the question that each answers.
#[allow(clippy::print_stdout)]
pub(crate) fn list(arguments: &Studies) -> anyhow::Result<ExitStatus> {
    let studies = Shipped::list();
    if arguments.json {
        let listed: Vec<Listed<'_>> = studies
            .iter()
            .map(|study| Listed {
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
        println!("{}", serde_json::to_string_pretty(&listed)?);
        return Ok(ExitStatus::Good);
    }
    for study in &studies {
        println!("{}\n  {}\n  {}\n", study.name, study.title, study.question);
        for scenario in &study.scenarios {
            println!("    {:<24} {}", scenario.name(), scenario.question());
        }
        println!("\n  kgauge run {} --quick", study.name);
        if let Some(target) = &study.target {
            println!("  kgauge run {} --quick --target {target}", study.name);
        }
        println!();
    }
    Ok(ExitStatus::Good)
}
