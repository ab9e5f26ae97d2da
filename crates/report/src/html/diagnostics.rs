//! What was noted while a trial ran about its clients and replicas, its brokers and its machine.

use std::collections::BTreeSet;

use kgauge_results::metrics::PanelSection;

use crate::format;
use crate::view::TrialView;

/// Notes of a trial at most.
const NOTES_MAX: usize = 20;

/// The notes of all repeats, each once; none without panels.
pub(super) fn notes(trial: &TrialView, panels: Option<PanelSection>) -> Vec<String> {
    let Some(panels) = panels else {
        return Vec::new();
    };
    let timelines = trial.timelines.iter();
    let all = timelines.flat_map(|timeline| &timeline.of(panels).notes);
    let mut known = BTreeSet::new();
    let once: Vec<&String> = all.filter(|note| known.insert(note.as_str())).collect();
    let (shown, more) = once.split_at(once.len().min(NOTES_MAX));
    let mut notes: Vec<String> = shown.iter().map(|note| (*note).clone()).collect();
    if !more.is_empty() {
        notes.push(format!("And {} more.", format::count(more.len() as u64)));
    }
    notes
}
