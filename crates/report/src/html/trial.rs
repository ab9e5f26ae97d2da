//! A scenario: what shows its answer, then trial by trial its charts, with the diagnostics folded.

use super::charts::{ChartGroup, TrialCharts, TrialSection};
use super::{bars, section};
use crate::chart::{Chart, heat, write_figure};
use crate::format;
use crate::markup::Markup;
use crate::view::{AnswerPicture, ScenarioView, TrialView};

/// A scenario as the page shows it.
pub(super) struct ScenarioPart<'a> {
    pub(super) scenario: &'a ScenarioView<'a>,
    /// Whether the report has no other: then the first screen has question and answer.
    pub(super) is_only: bool,
    /// The charts that show its answer, without one on the first screen.
    pub(super) pictures: &'a [Chart],
    /// In the order of the trials.
    pub(super) trials: &'a [TrialCharts],
}

impl ScenarioPart<'_> {
    /// Writes it, below its heading.
    pub(super) fn write(&self, page: &mut Markup) {
        let scenario = self.scenario;
        if !self.is_only {
            if !scenario.question.is_empty() {
                page.prose("p", &[("class", "lead")], &scenario.question);
            }
            page.prose("p", &[("class", "answer")], &scenario.answer);
            if let AnswerPicture::Bars { title, unit, bars } = &scenario.picture
                && self.pictures.is_empty()
                && bars.len() > 1
            {
                bars::write_figure(page, title, unit, bars);
            }
        }
        if !self.pictures.is_empty() {
            page.element("div", &[("class", "charts")], |page| {
                let pictures = self.pictures.iter();
                pictures.for_each(|chart| write_figure(page, chart));
            });
        }
        let is_alone = scenario.trials.len() == 1;
        for (index, (trial, charts)) in scenario.trials.iter().zip(self.trials).enumerate() {
            let name = if is_alone {
                "Charts"
            } else {
                trial.name.as_str()
            };
            write_trial(page, trial, charts, name, self.is_only && index == 0);
        }
    }
}

fn write_trial(page: &mut Markup, trial: &TrialView, charts: &TrialCharts, name: &str, open: bool) {
    let mut attributes = vec![("class", "trial"), ("id", trial.id.as_str())];
    let write_head = |page: &mut Markup| {
        page.leaf("h3", &[], name);
        page.text(" ");
        page.leaf("span", &[("class", "small")], &line(trial));
        section::write_anchor(page, &trial.id);
    };
    let is_empty = charts.is_empty() && trial.missing.is_none() && trial.summary.changes.is_empty();
    if is_empty {
        page.element("div", &attributes, write_head);
        return page.line();
    }
    if open {
        attributes.push(("open", ""));
    }
    page.element("details", &attributes, |page| {
        page.element("summary", &[], write_head);
        write_body(page, trial, charts, false);
    });
    page.line();
}

/// The charts of a trial, and its diagnostics in folds.
pub(super) fn write_body(
    page: &mut Markup,
    trial: &TrialView,
    charts: &TrialCharts,
    are_folds_open: bool,
) {
    let changes = trial.summary.changes.iter();
    let changes: Vec<String> = changes
        .map(|change| format!("{} = {}", change.path, change.value))
        .collect();
    if !changes.is_empty() {
        page.leaf("p", &[("class", "small")], &changes.join(", "));
    }
    if let Some(reason) = &trial.missing {
        page.prose("p", &[("class", "missing")], reason);
    }
    write_group(page, charts.group(TrialSection::Main));
    for section in TrialSection::FOLDED {
        let group = charts.group(section);
        if group.is_empty() {
            continue;
        }
        let mut attributes = vec![("class", "machine")];
        if are_folds_open {
            attributes.push(("open", ""));
        }
        page.element("details", &attributes, |page| {
            page.leaf("summary", &[], section.title());
            write_group(page, group);
        });
        page.line();
    }
}

/// Notes, then sentences in place of charts, then the charts.
fn write_group(page: &mut Markup, group: &ChartGroup) {
    for note in &group.notes {
        page.leaf("p", &[("class", "note")], note);
    }
    if !group.texts.is_empty() {
        page.element("ul", &[("class", "numbers")], |page| {
            for text in &group.texts {
                page.element("li", &[], |page| {
                    page.leaf("strong", &[], &text.title);
                    page.text(": ");
                    page.text(&text.words);
                });
            }
        });
    }
    if !group.charts.is_empty() || !group.heat.is_empty() {
        page.element("div", &[("class", "charts")], |page| {
            let lines = group.charts.iter();
            lines.for_each(|chart| write_figure(page, chart));
            let heat_maps = group.heat.iter();
            heat_maps.for_each(|map| heat::write_figure(page, map));
        });
    }
}

/// `3 repeats · 1,284,000 records/s`.
fn line(trial: &TrialView) -> String {
    let mut parts = vec![format::counted(
        trial.summary.repeats_measured.into(),
        "repeat",
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
