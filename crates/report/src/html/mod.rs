//! `report.html`: one file that needs no network, complete without script.

mod audit;
mod bars;
mod capacity;
pub(crate) mod compare;
mod digest;
mod drivers;
mod figures;
mod head;
mod latency;
mod live;
mod machine;
mod ratio;
mod setup;
mod top;
mod trial;
mod words;

use crate::chart::heat::{Heat, data::HeatData};
use crate::chart::{Chart, data::ChartData};
use crate::curves;
use crate::markup::Markup;
use crate::view::{ReportView, TrialView};
use kgauge_results::metrics::PanelSection;
use machine::MachineSection;

pub(crate) use figures::{cell, write_figure};
pub(crate) use live::{LiveHead, live_page, live_policy, write_live_trial};

/// The script that reacts to pointer and keys. The page is complete without it.
const SCRIPT: &str = include_str!("script.js");
/// The only style sheet.
const STYLE: &str = include_str!("style.css");

/// The charts of the whole page, made once: the page draws them and the script reads their numbers.
struct Charts {
    /// Per search.
    searches: Vec<Vec<Chart>>,
    /// Per scenario.
    sweeps: Vec<Vec<Chart>>,
    /// Per scenario and trial; `None` where the page would become too large.
    trials: Vec<Vec<Option<TrialCharts>>>,
}

/// The charts of one trial.
struct TrialCharts {
    lines: Vec<Chart>,
    traffic: MachineSection,
    machine: MachineSection,
    brokers: MachineSection,
    /// `None` where the page would become too large.
    heat: Option<Vec<Heat>>,
}

/// One picture's numbers.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum Numbers<'a> {
    Lines(ChartData<'a>),
    Heat(HeatData<'a>),
}

/// Bytes that charts may take, so that the whole page stays below 2 MiB.
const CHART_BYTES_MAX: usize = 1_500_000;
/// Bytes of them that are kept for heat maps, however many curves there are.
const HEAT_BYTES_MIN: usize = 200_000;
/// Further bytes for notes about machines whose charts may be omitted.
const NOTES_BYTES_MAX: usize = 100_000;

/// Bytes that are left for something.
struct ByteBudget {
    bytes: usize,
}

impl ByteBudget {
    /// Takes `bytes`, if as many are left.
    fn take(&mut self, bytes: usize) -> bool {
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.unwrap_or(self.bytes);
        left.is_some()
    }
}

impl Charts {
    fn of(view: &ReportView) -> Self {
        let sweeps = view.scenarios.iter().enumerate().map(|(index, scenario)| {
            let id = format!("sweep-{}", index + 1);
            scenario
                .sweep
                .as_ref()
                .map_or_else(Vec::new, |sweep| curves::of_sweep(sweep, &id))
        });
        let sweeps: Vec<Vec<Chart>> = sweeps.collect();
        let searches = capacity::charts(view);
        let first = searches.iter().chain(&sweeps).flatten();
        let sweep_bytes: usize = first.map(Chart::bytes_about).sum();
        let mut room = ByteBudget {
            bytes: (CHART_BYTES_MAX - HEAT_BYTES_MIN).saturating_sub(sweep_bytes),
        };
        let mut lines = |trial: &TrialView| {
            let lines = curves::of_trial(trial);
            let bytes = lines.iter().map(Chart::bytes_about).sum();
            room.take(bytes).then(|| TrialCharts {
                lines,
                heat: None,
                traffic: MachineSection::default(),
                machine: MachineSection::default(),
                brokers: MachineSection::default(),
            })
        };
        let scenarios = view.scenarios.iter();
        let mut trials: Vec<Vec<Option<TrialCharts>>> = scenarios
            .map(|scenario| scenario.trials.iter().map(&mut lines).collect())
            .collect();
        room.bytes += HEAT_BYTES_MIN;
        fill_room(view, &mut trials, room);
        Self {
            searches,
            sweeps,
            trials,
        }
    }

    /// The numbers of all charts, in the order of the page.
    fn numbers(&self) -> Vec<Numbers<'_>> {
        let sweeps = self.searches.iter().chain(&self.sweeps).flatten();
        let lines = |chart| Numbers::Lines(ChartData::of(chart));
        let mut numbers: Vec<Numbers<'_>> = sweeps.map(lines).collect();
        for trial in self.trials.iter().flatten().flatten() {
            numbers.extend(trial.numbers());
        }
        numbers
    }
}

impl TrialCharts {
    fn numbers(&self) -> Vec<Numbers<'_>> {
        let lines = |chart| Numbers::Lines(ChartData::of(chart));
        let mut numbers: Vec<Numbers<'_>> = self.lines.iter().map(lines).collect();
        let heat = self.heat.iter().flatten();
        numbers.extend(heat.map(|heat| Numbers::Heat(HeatData::of(heat))));
        for folded in [&self.traffic, &self.brokers, &self.machine] {
            numbers.extend(folded.charts.iter().flatten().map(lines));
        }
        numbers
    }
}

/// Heat maps into the room that curves have left, and then the charts of clients, replicas and machines into what these
/// leave: trial by trial, where there is any.
fn fill_room(view: &ReportView, trials: &mut [Vec<Option<TrialCharts>>], mut room: ByteBudget) {
    let all = || view.scenarios.iter().flat_map(|scenario| &scenario.trials);
    for (trial, charts) in all().zip(trials.iter_mut().flatten()) {
        let Some(charts) = charts else { continue };
        let heat = curves::heat_of_trial(trial);
        let bytes = heat.iter().map(Heat::bytes_about).sum();
        charts.heat = room.take(bytes).then_some(heat);
    }
    let mut notes_room = ByteBudget {
        bytes: NOTES_BYTES_MAX,
    };
    let mut fold = |trial: &TrialView, section: PanelSection| {
        let charts = curves::of_section(trial, section);
        let notes = machine::notes(trial, section);
        let has_room = notes_room.take(machine::notes_bytes(&notes));
        let bytes = charts.iter().map(Chart::bytes_about).sum();
        MachineSection {
            notes: if has_room { notes } else { Vec::new() },
            charts: room.take(bytes).then_some(charts),
        }
    };
    for (trial, charts) in all().zip(trials.iter_mut().flatten()) {
        let Some(charts) = charts else { continue };
        charts.traffic = fold(trial, PanelSection::Traffic);
        charts.brokers = fold(trial, PanelSection::Brokers);
        charts.machine = fold(trial, PanelSection::Machine);
    }
}

/// The whole page.
pub(crate) fn page(view: &ReportView) -> String {
    let charts = Charts::of(view);
    let mut page = Markup::new();
    page.own("<!DOCTYPE html>\n");
    page.element("html", &[("lang", "en")], |page| {
        head::write(page, view);
        page.element("body", &[], |page| write_body(page, view, &charts));
    });
    page.line();
    page.finish()
}

fn write_body(page: &mut Markup, view: &ReportView, charts: &Charts) {
    page.line();
    page.leaf(
        "a",
        &[("class", "skip"), ("href", "#figures")],
        "Skip to the figures",
    );
    top::write_header(page, view);
    page.element("main", &[], |page| {
        top::write_notices(page, view);
        top::write_short(page, view);
        capacity::write(page, view, &charts.searches);
        top::write_warnings(page, view);
        figures::write(page, view);
        latency::write(page, view);
        drivers::write(page, view);
        write_curves(page, view, charts);
        words::write(page, view);
        setup::write(page, view);
    });
    setup::write_footer(page, view);
    write_numbers(page, &charts.numbers());
    page.element("script", &[], |page| page.own(SCRIPT));
    page.line();
}

/// The numbers for the script. Finite numbers and strings always serialise; an empty block only costs the values under
/// the pointer.
fn write_numbers(page: &mut Markup, numbers: &[Numbers<'_>]) {
    let json = serde_json::to_string(numbers).unwrap_or_else(|_| "[]".to_owned());
    page.json_block("chart-data", &json);
    page.line();
}

/// The charts: for each scenario the sweep first, then trial by trial.
fn write_curves(page: &mut Markup, view: &ReportView, charts: &Charts) {
    let rows = view
        .scenarios
        .iter()
        .zip(&charts.sweeps)
        .zip(&charts.trials);
    for (index, ((scenario, sweep), trials)) in rows.enumerate() {
        let id = scenario_id(index);
        page.element("section", &[("id", &id), ("class", "scenario")], |page| {
            trial::write_scenario(page, scenario, sweep, trials);
        });
        page.line();
    }
}

/// The anchor of a scenario's charts.
fn scenario_id(index: usize) -> String {
    format!("scenario-{}", index + 1)
}
