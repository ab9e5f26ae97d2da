//! The machine while a trial ran: folded below the trial's own charts.

use crate::chart::{Chart, write_figure};
use crate::markup::Markup;
use crate::view::Trial;

/// Said instead of charts that would make the page too large.
const LEFT_OUT: &str = "The charts of the machine are left out here to keep the page small. evidence.jsonl in the \
    run folder has all of their data.";

/// Writes the charts and what is to be said of them; nothing of a run that did not look.
pub(super) fn write(page: &mut Markup, trial: &Trial, charts: Option<&[Chart]>, open: bool) {
    let Some(charts) = charts else {
        return page.leaf("p", &[("class", "note")], LEFT_OUT);
    };
    let notes = notes(trial);
    if charts.is_empty() && notes.is_empty() {
        return;
    }
    let mut attributes = vec![("class", "machine")];
    if open {
        attributes.push(("open", ""));
    }
    page.element("details", &attributes, |page| {
        let what = "The machine meanwhile: disks, memory, network, waits";
        page.leaf("summary", &[], what);
        for note in notes {
            page.leaf("p", &[("class", "note")], note);
        }
        page.element("div", &[("class", "charts")], |page| {
            charts.iter().for_each(|chart| write_figure(page, chart));
        });
    });
    page.line();
}

/// What is said of any repeat, once.
fn notes(trial: &Trial) -> Vec<&str> {
    let mut once: Vec<&str> = Vec::new();
    for note in trial
        .timelines
        .iter()
        .flat_map(|timeline| &timeline.machine.notes)
    {
        if !once.contains(&note.as_str()) {
            once.push(note);
        }
    }
    once
}
