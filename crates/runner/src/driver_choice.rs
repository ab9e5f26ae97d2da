//! Other clients that send in place of kgauge's engine, as the user chooses them for a scenario.

use kgauge_scenario::{FlowPlan, Scenario, Size};

use crate::error::{OrRunError, RunError};

/// Applies `--driver` to the scenarios: to the one produce flow of each.
pub(crate) fn vary(scenarios: &mut [Scenario], names: &[String]) -> Result<(), RunError> {
    if names.is_empty() {
        return Ok(());
    }
    let values: Vec<String> = names.iter().map(|name| value(name)).collect();
    let mut is_used = false;
    for scenario in scenarios {
        let flows = produce_flows(scenario);
        match flows.as_slice() {
            [] => continue,
            [flow] => scenario
                .vary(&format!("{flow}.driver"), &values)
                .or_bad_input()?,
            several => {
                let words = format!(
                    "--driver: scenario {} has {} produce flows\n  choose one: --set \
                     {}.driver=java, or `vary` in the file",
                    scenario.name(),
                    several.len(),
                    several[0]
                );
                return Err(RunError::input(words));
            }
        }
        is_used = true;
    }
    match is_used {
        true => Ok(()),
        false => Err(RunError::input("--driver: no flow produces")),
    }
}

/// `java:3.9.1` as a scenario writes it.
fn value(name: &str) -> String {
    match name.split_once(':') {
        Some(("java", version)) => format!("{{java: {version}}}"),
        _ => name.to_owned(),
    }
}

fn produce_flows(scenario: &Scenario) -> Vec<String> {
    let first = scenario.trials(Size::Default).into_iter().next();
    let flows = first.into_iter().flat_map(|trial| trial.flows);
    let produce = flows.filter(|flow| matches!(flow, FlowPlan::Produce(_)));
    produce.map(|flow| flow.name().to_owned()).collect()
}
