//! Clients and replicas while a trial ran, the brokers, and the machine: folded below the trial's own charts.

use std::collections::BTreeSet;

use crate::chart::{Chart, text_bytes, write_figure};
use crate::format;
use crate::markup::Markup;
use crate::view::{MachineTimeline, Timeline, TrialView};

/// Notes of a trial at most.
const NOTES_MAX: usize = 20;

/// What a section shows.
#[derive(Clone, Copy)]
pub(super) enum SectionContent {
    /// Clients and replicas.
    Traffic,
    /// What brokers told of themselves.
    Brokers,
    /// The machine.
    Machine,
}

impl SectionContent {
    fn title(self) -> &'static str {
        match self {
            SectionContent::Traffic => {
                "Clients and replicas: batches, buffers, throttling, followers, logs"
            }
            SectionContent::Brokers => {
                "Brokers: requests, threads, queues, flushes, from their own metrics"
            }
            SectionContent::Machine => "Machine: disks, memory, network, waits",
        }
    }

    /// Said instead of charts that would make the page too large.
    fn left_out(self) -> &'static str {
        match self {
            SectionContent::Traffic => {
                "Client and replica charts are omitted to keep the page small. The run folder has \
                 all their data."
            }
            SectionContent::Brokers => {
                "Broker charts are omitted to keep the page small. evidence.jsonl in the run \
                 folder has all their data."
            }
            SectionContent::Machine => {
                "Machine charts are omitted to keep the page small. evidence.jsonl in the run \
                 folder has all their data."
            }
        }
    }

    fn of(self, timeline: &Timeline) -> &MachineTimeline {
        match self {
            SectionContent::Traffic => &timeline.traffic,
            SectionContent::Brokers => &timeline.brokers,
            SectionContent::Machine => &timeline.machine,
        }
    }
}

/// What a page has of a trial's machine, or of its clients and replicas.
#[derive(Default)]
pub(super) struct MachineSection {
    /// What is said of it, in short sentences.
    pub(super) notes: Vec<String>,
    /// `None` where the page would become too large.
    pub(super) charts: Option<Vec<Chart>>,
}

/// Writes the charts and what is to be said of them; nothing of a run that did not look.
pub(super) fn write(
    page: &mut Markup,
    shown: SectionContent,
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
            page.leaf("summary", &[], shown.title());
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
        page.leaf("p", &[("class", "note")], shown.left_out());
    }
}

/// What is said of any repeat, once.
pub(super) fn notes(trial: &TrialView, shown: SectionContent) -> Vec<String> {
    let timelines = trial.timelines.iter();
    let all = timelines.flat_map(|timeline| &shown.of(timeline).notes);
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
