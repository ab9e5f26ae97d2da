//! The page of a run that goes on: a shell that is complete by itself, and the part of it that a script replaces once a
//! second. Its charts are those of the report, drawn by the same code.

mod complete;
mod metrics;
mod now;

use kgauge_analyze::Summary;
use kgauge_results::RunRead;

use crate::html::{self, LiveHead};
use crate::markup::{Markup, SafeMarkup};
use crate::view::fill;

pub use metrics::{
    FlowMetrics, InterfaceMetrics, LiveMetrics, MetricsForm, ProcessMetrics, RunMetrics,
    render_metrics,
};
pub use now::{LiveFlowView, LiveNow, LivePhase, LiveReport, LiveStage, LiveTrial};

/// What the page's script does, around that of the report: it fetches the part that changes and puts it in place.
const SCRIPT: &str = concat!(
    // The report's script is called again for each picture. Its listeners for the whole page are left out, or each
    // second would add one.
    "const attach = ((addEventListener, location) => {",
    include_str!("../html/script.js"),
    "});\n",
    include_str!("live.js")
);
/// What its style adds to the report's.
const STYLE: &str = include_str!("live.css");

/// Everything that the page shows at one moment.
#[derive(Debug, Clone, Copy)]
pub struct LivePage<'a> {
    /// Where the run is.
    pub now: &'a LiveNow,
    /// The repeat in progress, as the only one of its run, and its summary.
    pub repeat: Option<(&'a RunRead, &'a Summary)>,
    /// What has ended.
    pub ended: Option<(&'a RunRead, &'a Summary)>,
    /// Names this moment; the script asks for what is newer.
    pub version: u64,
}

/// The whole page. It is complete without script; with it, it follows the run.
pub fn render_live_page(live: &LivePage<'_>) -> String {
    render_live_page_around(&live.now.title, &render_live_part(live))
}

/// The whole page around the part of it that changes, which [`render_live_part`] has made.
pub fn render_live_page_around(title: &str, part: &SafeMarkup) -> String {
    let head = LiveHead {
        title: &format!("{title} · kgauge, live"),
        version: env!("CARGO_PKG_VERSION"),
        style: STYLE,
        script: SCRIPT,
    };
    html::live_page(&head, |page| page.part(part))
}

/// The part of it that changes.
pub fn render_live_part(live: &LivePage<'_>) -> SafeMarkup {
    let mut page = Markup::new();
    write(&mut page, live);
    page.finish_part()
}

/// The content-security policy of the page, for a header.
pub fn live_policy() -> String {
    html::live_policy(STYLE, SCRIPT)
}

/// A report's page with a line above it that names its origin.
pub fn render_served_report(report: &str, words: &str) -> String {
    const BODY: &str = "<body>";
    let Some((head, body)) = report.split_once(BODY) else {
        return report.to_owned();
    };
    let mut line = Markup::new();
    line.element(
        "p",
        &[("class", "notice"), ("id", "served"), ("role", "status")],
        |line| line.text(words),
    );
    format!("{head}{BODY}\n{}{body}", line.finish())
}

fn write(page: &mut Markup, live: &LivePage<'_>) {
    let version = live.version.to_string();
    let attributes = [
        ("id", "live"),
        ("data-phase", live.now.phase.as_str()),
        ("data-version", &version),
    ];
    page.element("div", &attributes, |page| {
        now::write(page, live.now);
        page.element("main", &[], |page| {
            now::write_flows(page, live.now);
            if let Some((run, summary)) = live.repeat {
                write_charts(page, live.now, run, summary);
            }
            if let Some((run, summary)) = live.ended {
                complete::write(page, &fill::view(run, summary));
            }
        });
    });
    page.line();
}

fn write_charts(page: &mut Markup, now: &LiveNow, run: &RunRead, summary: &Summary) {
    let Some(mut trial) = now
        .trial
        .as_ref()
        .and_then(|at| fill::trial_of(run, summary, at.index))
    else {
        return;
    };
    // It has no figures yet: that is no failure.
    trial.missing = None;
    page.element(
        "section",
        &[("id", "charts"), ("aria-labelledby", "charts-head")],
        |page| {
            page.leaf("h2", &[("id", "charts-head")], "This repeat");
            page.leaf(
                "p",
                &[("class", "lead")],
                "Each second is drawn about one second after it ends, when every load thread has \
             reported it; its latencies follow once 99 % of its records are answered. Figures \
             here cover this repeat only; trial figures follow when its repeats end.",
            );
            html::write_live_trial(page, &trial);
        },
    );
    page.line();
}
