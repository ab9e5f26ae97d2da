//! Clients and replicas while a trial ran, the brokers, and the machine: folded below the trial's own charts.

use std::collections::BTreeSet;

use kgauge_results::metrics::PanelSection;

use crate::chart::{Chart, text_bytes, write_figure};
use crate::format;
use crate::markup::Markup;
use crate::view::TrialView;

/// Notes of a trial at most.
const NOTES_MAX: usize = 20;

fn title(section: PanelSection) -> &'static str {
    match section {
        PanelSection::Traffic => {
            "Clients and replicas: batches, buffers, throttling, followers, logs"
        }
        PanelSection::Brokers => {
            "Brokers: requests, threads, queues, flushes, from their own metrics"
        }
        PanelSection::Machine => "Machine: disks, memory, network, waits",
    }
}

/// Shown instead of charts that would make the page too large.
fn omitted(section: PanelSection) -> &'static str {
    match section {
        PanelSection::Traffic => {
            "Client and replica charts are omitted to keep the page small. The run folder has all \
             their data."
        }
        PanelSection::Brokers => {
            "Broker charts are omitted to keep the page small. evidence.jsonl in the run folder \
             has all their data."
        }
        PanelSection::Machine => {
            "Machine charts are omitted to keep the page small. evidence.jsonl in the run folder \
             has all their data."
        }
    }
}

/// What a page has of a trial's machine, or of its clients and replicas.
#[derive(Default)]
pub(super) struct MachineSection {
    /// Short sentences above the charts.
    pub(super) notes: Vec<String>,
    /// `None` where the page would become too large.
    pub(super) charts: Option<Vec<Chart>>,
}

/// Writes the notes and the charts; nothing for a run without samples.
pub(super) fn write(
    page: &mut Markup,
    section: PanelSection,
    machine: &MachineSection,
    open: bool,
) {
    let charts = machine.charts.as_deref().unwrap_or_default();
    if !charts.is_empty() || !machine.notes.is_empty() {
        let mut attributes = vec![("class", "machine")];
        if open {
            attributes.push(("open", ""));
        }
        page.element("details", &attributes, |page| {
            page.leaf("summary", &[], title(section));
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
        page.leaf("p", &[("class", "note")], omitted(section));
    }
}

/// The notes of all repeats, each once.
pub(super) fn notes(trial: &TrialView, section: PanelSection) -> Vec<String> {
    let timelines = trial.timelines.iter();
    let all = timelines.flat_map(|timeline| &timeline.of(section).notes);
    let mut known = BTreeSet::new();
    let once: Vec<&String> = all.filter(|note| known.insert(note.as_str())).collect();
    let (shown, more) = once.split_at(once.len().min(NOTES_MAX));
    let mut notes: Vec<String> = shown.iter().map(|note| (*note).clone()).collect();
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
