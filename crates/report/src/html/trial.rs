//! A scenario's charts: the sweep, then trial by trial.

use super::{TrialCharts, machine};
use crate::chart::{Chart, heat, write_figure};
use crate::format;
use crate::markup::Markup;
use crate::view::{ScenarioView, TrialView};
use kgauge_results::metrics::PanelSection;

/// With more trials than this only the first is unfolded, so that the page stays readable.
const OPEN_TRIALS_MAX: usize = 3;

/// Writes one scenario.
pub(super) fn write_scenario(
    page: &mut Markup,
    scenario: &ScenarioView,
    sweep: &[Chart],
    trials: &[Option<TrialCharts>],
) {
    page.leaf("h2", &[], &scenario.name);
    if !scenario.question.is_empty() {
        page.leaf("p", &[("class", "lead")], &scenario.question);
    }
    if !sweep.is_empty() {
        page.element("div", &[("class", "charts")], |page| {
            sweep.iter().for_each(|chart| write_figure(page, chart));
        });
    }
    if let ([trial], [charts]) = (scenario.trials.as_slice(), trials) {
        page.element("div", &[("class", "trial"), ("id", &trial.id)], |page| {
            page.leaf("p", &[("class", "small")], &line(trial));
            write_charts(page, trial, charts.as_ref());
            write_machine(page, charts.as_ref(), true);
        });
        return;
    }
    let all_open = scenario.trials.len() <= OPEN_TRIALS_MAX;
    for (index, (trial, charts)) in scenario.trials.iter().zip(trials).enumerate() {
        write_trial(page, trial, charts.as_ref(), all_open || index == 0);
    }
}

fn write_trial(page: &mut Markup, trial: &TrialView, charts: Option<&TrialCharts>, open: bool) {
    let mut attributes = vec![("class", "trial"), ("id", trial.id.as_str())];
    if open {
        attributes.push(("open", ""));
    }
    page.element("details", &attributes, |page| {
        page.element("summary", &[], |page| {
            page.leaf("h3", &[], &trial.name);
            page.text(" ");
            page.leaf("span", &[("class", "small")], &line(trial));
        });
        write_charts(page, trial, charts);
        write_machine(page, charts, false);
    });
    page.line();
}

/// Nothing where the trial's own charts are left out: a note says so already.
pub(super) fn write_machine(page: &mut Markup, charts: Option<&TrialCharts>, open: bool) {
    if let Some(charts) = charts {
        machine::write(page, PanelSection::Traffic, &charts.traffic, open);
        machine::write(page, PanelSection::Brokers, &charts.brokers, open);
        machine::write(page, PanelSection::Machine, &charts.machine, open);
    }
}

pub(super) fn write_charts(page: &mut Markup, trial: &TrialView, charts: Option<&TrialCharts>) {
    let changes = trial.summary.changes.iter();
    let changes: Vec<String> = changes
        .map(|change| format!("{} = {}", change.path, change.value))
        .collect();
    if !changes.is_empty() {
        page.leaf("p", &[("class", "small")], &changes.join(", "));
    }
    if let Some(reason) = &trial.missing {
        page.leaf("p", &[("class", "missing")], reason);
    }
    let Some(charts) = charts else {
        return page.leaf("p", &[("class", "note")], LEFT_OUT);
    };
    page.element("div", &[("class", "charts")], |page| {
        let lines = charts.lines.iter();
        lines.for_each(|chart| write_figure(page, chart));
        let heat_maps = charts.heat.iter().flatten();
        heat_maps.for_each(|map| heat::write_figure(page, map));
    });
    if charts.heat.is_none() {
        page.leaf("p", &[("class", "note")], HEAT_LEFT_OUT);
    }
}

/// Said instead of heat maps that would make the page too large.
const HEAT_LEFT_OUT: &str = "This trial's heat map is omitted to keep the page small. `kgauge \
                             report DIR --as hdr` writes its hold-stage latencies per second.";

/// Said instead of charts that would make the page too large to be opened on a phone.
const LEFT_OUT: &str = "This trial's charts are omitted to keep the page small. The run folder \
                        has all its data.";

/// `3 repeats · 1,284,000 records/s`.
fn line(trial: &TrialView) -> String {
    let mut parts = vec![format::plural(
        trial.summary.repeats_measured.into(),
        "repeat",
        "repeats",
    )];
    for flow in &trial.flows {
        if let Some(rate) = flow.rate() {
            let name = if trial.flows.len() > 1 {
                format!("{}: ", flow.name())
            } else {
                String::new()
            };
            parts.push(format!("{name}{} records/s", format::figure(rate.mean)));
        }
    }
    parts.join(" · ")
}
