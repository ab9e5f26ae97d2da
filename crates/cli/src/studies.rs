//! `kgauge studies`: lists the built-in studies.

use kgauge_report::render_study_list;
use kgauge_scenario::Studies as Shipped;
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
                name: &study.about.name,
                title: &study.about.title,
                question: &study.about.question,
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
    print::result(&render_study_list(&studies));
    Ok(ExitStatus::Good)
}
