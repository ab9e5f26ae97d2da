//! The machine and the brokers while a trial ran: folded below the trial's own charts.

use std::collections::BTreeSet;

use crate::chart::{Chart, text_bytes, write_figure};
use crate::format;
use crate::markup::Markup;
use crate::view::Trial;

/// Notes of a trial at most.
const NOTES_MAX: usize = 20;

/// Whose charts they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// The machine's.
    Machine,
    /// What brokers told of themselves.
    Brokers,
}

impl Of {
    fn summary(self) -> &'static str {
        match self {
            Of::Machine => "The machine meanwhile: disks, memory, network, waits",
            Of::Brokers => {
                "The brokers meanwhile: requests, threads, queues, flushes, as they tell it themselves"
            }
        }
    }

    /// Said instead of charts that would make the page too large.
    fn left_out(self) -> &'static str {
        match self {
            Of::Machine => {
                "The charts of the machine are left out here to keep the page small. evidence.jsonl in the run folder \
                 has all of their data."
            }
            Of::Brokers => {
                "The charts of the brokers are left out here to keep the page small. evidence.jsonl in the run folder \
                 has all of their data."
            }
        }
    }
}

/// What a page has of a trial's machine.
#[derive(Default)]
pub(super) struct Machine {
    /// What is said of it, in short sentences.
    pub(super) notes: Vec<String>,
    /// `None` where the page would become too large.
    pub(super) charts: Option<Vec<Chart>>,
}

/// Writes the charts and what is to be said of them; nothing of a run that did not look.
pub(super) fn write(page: &mut Markup, machine: &Machine, of: Of, open: bool) {
    let charts = machine.charts.as_deref().unwrap_or_default();
    if !charts.is_empty() || !machine.notes.is_empty() {
        let mut attributes = vec![("class", "machine")];
        if open {
            attributes.push(("open", ""));
        }
        page.element("details", &attributes, |page| {
            page.leaf("summary", &[], of.summary());
            for note in &machine.notes {
                page.leaf("p", &[("class", "note")], note);
            }
            page.element("div", &[("class", "charts")], |page| {
                charts.iter().for_each(|chart| write_figure(page, chart));
            });
        });
        page.line();
    }
    if machine.charts.is_none() {
        page.leaf("p", &[("class", "note")], of.left_out());
    }
}

/// What is said of any repeat, once.
pub(super) fn notes(trial: &Trial, of: Of) -> Vec<String> {
    let timelines = trial.timelines.iter();
    let all = timelines.flat_map(|timeline| match of {
        Of::Machine => &timeline.machine.notes,
        Of::Brokers => &timeline.brokers.notes,
    });
    let mut known = BTreeSet::new();
    let once: Vec<&String> = all.filter(|note| known.insert(note.as_str())).collect();
    let (said, more) = once.split_at(once.len().min(NOTES_MAX));
    let mut notes: Vec<String> = said.iter().map(|note| (*note).clone()).collect();
    if !more.is_empty() {
        notes.push(format!("And {} more.", format::count(more.len() as u64)));
    }
    notes
}

/// About how many bytes of a page notes take.
pub(super) fn notes_bytes(notes: &[String]) -> usize {
    /// `<p class="note">` and its end.
    const NOTE: usize = 24;
    notes.iter().map(|note| NOTE + text_bytes(note)).sum()
}
