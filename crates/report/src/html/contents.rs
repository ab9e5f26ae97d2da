//! The table of contents.

use super::scenario_id;
use crate::markup::Markup;
use crate::text::trial::value;
use crate::view::ReportView;

/// More trials of a single scenario are not listed.
const TRIALS_MAX: usize = 24;

/// What a page holds, in its order.
pub(super) struct Contents {
    entries: Vec<ContentsEntry>,
}

struct ContentsEntry {
    /// The id of the part.
    id: String,
    title: String,
    /// Whether it is a part of the entry before it.
    is_inner: bool,
}

impl Contents {
    /// Of a report.
    pub(super) fn of_report(view: &ReportView) -> Self {
        let mut contents = Self::empty();
        contents.add("answer", "Answer");
        if view.ab.is_some() {
            contents.add("ab", "A/B test");
        }
        if view.tune.is_some() {
            contents.add("tune", "Settings");
        }
        if view.checkup.is_some() {
            contents.add("checkup", "Checkup");
        }
        if !view.capacities.is_empty() {
            contents.add("capacity", "Capacity");
        }
        contents.add("figures", "Figures");
        if super::latency::is_shown(view) {
            contents.add("latency", "Latency");
        }
        if !view.drivers.is_empty() {
            contents.add("clients", "Clients");
        }
        if !view.limits.is_empty() {
            contents.add("limits", "Bottleneck");
        }
        if !view.verdicts.is_empty() {
            contents.add("goals", "Goals");
        }
        if super::top::has_warnings(view) {
            contents.add("caveats", "Caveats");
        }
        let is_only = view.scenarios.len() == 1;
        for (index, scenario) in view.scenarios.iter().enumerate() {
            contents.add(&scenario_id(index), &scenario.name);
            let has_list = (2..=TRIALS_MAX).contains(&scenario.trials.len());
            if is_only && has_list {
                for trial in &scenario.trials {
                    let values = trial.summary.factors.iter();
                    let values: Vec<&str> = values.map(value).collect();
                    contents.add_inner(&trial.id, &values.join(", "));
                }
            }
        }
        contents.add("method", "Method");
        contents.add("setup", "Setup");
        contents
    }

    /// Of a comparison.
    pub(super) fn of_comparison(scenarios: &[&str]) -> Self {
        let mut contents = Self::empty();
        contents.add("answer", "Answer");
        for (index, name) in scenarios.iter().enumerate() {
            contents.add(&scenario_id(index), name);
        }
        contents.add("reading", "How to read this page");
        contents.add("runs", "The runs");
        contents
    }

    fn empty() -> Self {
        Self {
            entries: Vec::new(),
        }
    }

    fn add(&mut self, id: &str, title: &str) {
        self.entries.push(ContentsEntry {
            id: id.to_owned(),
            title: title.to_owned(),
            is_inner: false,
        });
    }

    fn add_inner(&mut self, id: &str, title: &str) {
        self.add(id, title);
        if let Some(entry) = self.entries.last_mut() {
            entry.is_inner = true;
        }
    }

    /// Writes it: a column beside the page where there is space, a bar that unfolds where there is none.
    pub(super) fn write(&self, page: &mut Markup) {
        let attributes = [("class", "contents"), ("aria-label", "Contents")];
        page.element("nav", &attributes, |page| {
            page.element("details", &[("class", "contents-fold")], |page| {
                page.leaf("summary", &[], "Contents");
                page.element("ul", &[], |page| {
                    for entry in &self.entries {
                        let class = if entry.is_inner { "inner" } else { "outer" };
                        let href = format!("#{}", entry.id);
                        page.element("li", &[("class", class)], |page| {
                            page.leaf("a", &[("href", &href)], &entry.title);
                        });
                    }
                });
            });
        });
        page.line();
    }
}
