//! The events of a run as text.

use kgauge_results::RunRead;
use kgauge_results::run::Event;

use crate::format;
use crate::text;
use crate::view::EventView;

/// Events that are shown at most: the first and the last half of them.
const EVENTS_MAX: usize = 300;

/// What happened during the run.
pub(super) fn events(run: &RunRead) -> Vec<EventView> {
    let event = |event: &Event| {
        let since = event.at_unix_ms.saturating_sub(run.head.started_unix_ms);
        EventView {
            at: format!("+{:.1} s", since as f64 / 1e3),
            words: text::event::event(event),
        }
    };
    let left_out = run.events.len().saturating_sub(EVENTS_MAX);
    if left_out == 0 {
        return run.events.iter().map(event).collect();
    }
    let half = EVENTS_MAX / 2;
    let mut events: Vec<EventView> = run.events.iter().take(half).map(event).collect();
    events.push(EventView {
        at: "…".to_owned(),
        words: format!("{} more in events.jsonl", format::count(left_out as u64)),
    });
    events.extend(run.events.iter().skip(half + left_out).map(event));
    events
}
