//! Where a run is: its head, and what each flow did in the last second.

use std::time::Duration;

use crate::format::{self, NOTHING};
use crate::markup::Markup;

/// Where a run is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LiveNow {
    /// Study or scenario.
    pub title: String,
    /// The run's name; empty before it has one.
    pub run: String,
    /// The target as the user named it.
    pub target: String,
    /// Which of how many targets, where there are several.
    pub target_of: Option<(usize, usize)>,
    /// Whether it runs.
    pub phase: LivePhase,
    /// What is done now.
    pub doing: String,
    /// The trial, once one began.
    pub trial: Option<LiveTrial>,
    /// The stage, while there is load.
    pub stage: Option<LiveStage>,
    /// What the whole run is thought to take yet, in seconds.
    pub left_s: Option<u64>,
    /// The likely bottleneck, in a few words; `None` while nothing is known.
    pub suspicion: Option<String>,
    /// What each flow does.
    pub flows: Vec<LiveFlowView>,
    /// What went wrong so far, the last of it.
    pub troubles: Vec<String>,
    /// Reports that are there.
    pub reports: Vec<LiveReport>,
}

/// Whether a run is in progress.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LivePhase {
    /// There is no load: targets start, topics are made.
    #[default]
    Between,
    /// There is load.
    Load,
    /// The user wants to stop.
    Stopping,
    /// All is done.
    Over,
}

impl LivePhase {
    /// The name in the page and in `live.json`.
    pub fn as_str(self) -> &'static str {
        match self {
            LivePhase::Between => "between",
            LivePhase::Load => "load",
            LivePhase::Stopping => "stopping",
            LivePhase::Over => "over",
        }
    }
}

/// Which trial.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiveTrial {
    /// Position in the plan, from 0.
    pub index: u32,
    /// The scenario.
    pub scenario: String,
    /// What varies; may be empty.
    pub name: String,
    /// How many trials the plan has.
    pub of: usize,
    /// Which repeat, from 1.
    pub repeat: u32,
    /// How many it has.
    pub repeats: u32,
    /// Which step of what is to do, from 1, and how many there are.
    pub step: (usize, usize),
}

/// Which stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LiveStage {
    /// Its name.
    pub name: &'static str,
    /// Seconds since it began.
    pub done_s: f64,
    /// Seconds that it takes at most; `None` where a count of records ends it.
    pub of_s: Option<f64>,
}

/// What a flow does.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LiveFlowView {
    /// Its name.
    pub name: String,
    /// Records a second that were acked or read.
    pub rate: f64,
    /// Which time it is, where there is one.
    pub time: &'static str,
    /// Median of the last second, nanoseconds.
    pub p50_ns: Option<u64>,
    /// 99th percentile of it.
    pub p99_ns: Option<u64>,
    /// Whether the times are those of a closed loop.
    pub closed: bool,
    /// Records acked or read in this repeat.
    pub done: u64,
    /// Records that failed in it, those of unknown fate among them.
    pub failed: u64,
    /// Records that were too late to be sent.
    pub skipped: u64,
}

/// A report that can be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiveReport {
    /// Of what.
    pub name: String,
    /// Where the server has it.
    pub path: String,
    /// Where the file is.
    pub file: String,
}

/// The head of the page.
pub(super) fn write(page: &mut Markup, now: &LiveNow) {
    page.element("header", &[("class", "top"), ("id", "now")], |page| {
        page.element("p", &[("class", "brand")], |page| {
            page.text("kgauge live ");
            page.leaf(
                "span",
                &[("class", "badge"), ("id", "link"), ("hidden", "")],
                "",
            );
        });
        page.leaf("h1", &[("id", "title")], &heading(now));
        page.leaf(
            "p",
            &[("class", "about"), ("id", "phase"), ("role", "status")],
            &phase(now),
        );
        write_stage(page, now);
        page.element("dl", &[("class", "head-facts")], |page| {
            for (id, name, value) in facts(now)
                .into_iter()
                .filter(|(_, _, value)| !value.is_empty())
            {
                page.element("div", &[("id", id)], |page| {
                    page.leaf("dt", &[], name);
                    page.leaf("dd", &[], &value);
                });
            }
        });
    });
    page.line();
    for trouble in &now.troubles {
        page.element(
            "div",
            &[("class", "notice grave"), ("role", "alert")],
            |page| {
                page.leaf("span", &[("class", "notice-word")], "Problem");
                page.leaf("div", &[], trouble);
            },
        );
    }
    write_reports(page, now);
}

fn heading(now: &LiveNow) -> String {
    match &now.trial {
        Some(trial) if now.phase != LivePhase::Over => match trial.name.is_empty() {
            true => trial.scenario.clone(),
            false => format!("{}, {}", trial.scenario, trial.name),
        },
        _ => now.title.clone(),
    }
}

fn phase(now: &LiveNow) -> String {
    match now.phase {
        LivePhase::Over => match (now.reports.is_empty(), &now.trial) {
            (false, _) => "The run is over. kgauge serves the final report until it exits.",
            (true, Some(_)) => "The run ended without a report. kgauge has exited.",
            (true, None) => "kgauge exited before any load started.",
        }
        .to_owned(),
        LivePhase::Stopping => "Stopping the run and writing its report.".to_owned(),
        LivePhase::Between => format::capital(&now.doing),
        LivePhase::Load => now.trial.as_ref().map_or_else(String::new, |trial| {
            let (step, of) = trial.step;
            format!("Load running: step {step} of {of}")
        }),
    }
}

fn facts(now: &LiveNow) -> [(&'static str, &'static str, String); 7] {
    let target = match now.target_of {
        Some((at, of)) => format!("{} ({at} of {of})", now.target),
        None => now.target.clone(),
    };
    let trial = now.trial.as_ref().filter(|_| now.phase != LivePhase::Over);
    let is_load = now.phase == LivePhase::Load;
    let suspicion = match &now.suspicion {
        Some(words) => words.clone(),
        None => "none detected".to_owned(),
    };
    [
        ("target", "Target", target),
        (
            "trial",
            "Trial",
            trial.map_or_else(String::new, |at| format!("{} of {}", at.index + 1, at.of)),
        ),
        (
            "repeat",
            "Repeat",
            trial.map_or_else(String::new, |at| format!("{} of {}", at.repeat, at.repeats)),
        ),
        (
            "stage",
            "Stage",
            now.stage
                .filter(|_| is_load)
                .map_or_else(String::new, |stage| stage_words(&stage)),
        ),
        (
            "limit",
            "Bottleneck",
            if is_load { suspicion } else { String::new() },
        ),
        (
            "left",
            "Whole run",
            match (now.phase, now.left_s) {
                (LivePhase::Between | LivePhase::Load, Some(0)) => {
                    "over the estimated time".to_owned()
                }
                (LivePhase::Between | LivePhase::Load, Some(seconds)) => {
                    format!(
                        "about {} left",
                        format::seconds(Duration::from_secs(seconds))
                    )
                }
                _ => String::new(),
            },
        ),
        ("run", "Run", now.run.clone()),
    ]
}

fn stage_words(stage: &LiveStage) -> String {
    match stage.of_s {
        Some(of_s) => format!(
            "{}, {} left",
            stage.name,
            format::seconds(Duration::from_secs_f64((of_s - stage.done_s).max(0.0)))
        ),
        None => format!(
            "{}, {} so far",
            stage.name,
            format::seconds(Duration::from_secs(stage.done_s as u64))
        ),
    }
}

fn write_stage(page: &mut Markup, now: &LiveNow) {
    let Some(LiveStage {
        done_s,
        of_s: Some(of_s),
        ..
    }) = now.stage.filter(|_| now.phase == LivePhase::Load)
    else {
        return;
    };
    let (value, max) = (format!("{:.1}", done_s.min(of_s)), format!("{of_s:.1}"));
    page.leaf(
        "progress",
        &[
            ("id", "stage-progress"),
            ("aria-label", "this stage"),
            ("value", &value),
            ("max", &max),
        ],
        "",
    );
}

fn write_reports(page: &mut Markup, now: &LiveNow) {
    if now.reports.is_empty() {
        return;
    }
    page.element(
        "section",
        &[("id", "reports"), ("class", "notice")],
        |page| {
            page.leaf("span", &[("class", "notice-word")], "Reports");
            page.element("ul", &[], |page| {
                for report in &now.reports {
                    page.element("li", &[], |page| {
                        page.leaf("a", &[("href", &report.path)], &report.name);
                        page.text(" ");
                        page.leaf("span", &[("class", "small block")], &report.file);
                    });
                }
            });
        },
    );
    page.line();
}

/// What each flow does.
pub(super) fn write_flows(page: &mut Markup, now: &LiveNow) {
    if now.flows.is_empty() || now.phase == LivePhase::Over {
        return;
    }
    const COLUMNS: [&str; 6] = [
        "Flow",
        "Records/s",
        "p50",
        "p99",
        "Records so far",
        "Errors",
    ];
    page.element(
        "section",
        &[("id", "flows"), ("aria-labelledby", "flows-head")],
        |page| {
            page.leaf("h2", &[("id", "flows-head")], "Last second");
            page.leaf(
                "p",
                &[("class", "lead small")],
                "Rates cover the last second; latencies cover the last second whose records are \
                 answered, at least one second ago.",
            );
            page.element("table", &[("class", "figures stack")], |page| {
                page.table_head(COLUMNS);
                page.element("tbody", &[("class", "alone")], |page| {
                    now.flows
                        .iter()
                        .for_each(|flow| write_flow(page, flow, &COLUMNS));
                });
            });
        },
    );
    page.line();
}

fn write_flow(page: &mut Markup, flow: &LiveFlowView, columns: &[&str; 6]) {
    let ns = |ns: Option<u64>| {
        ns.map_or_else(|| NOTHING.to_owned(), |ns| format::nanoseconds(ns as f64))
    };
    page.element("tr", &[], |page| {
        page.element("th", &[("scope", "row")], |page| {
            page.text(&flow.name);
            if flow.p50_ns.is_some() {
                let loops = if flow.closed { ", closed loop" } else { "" };
                page.leaf(
                    "span",
                    &[("class", "small block")],
                    &format!("{}{loops}", flow.time),
                );
            }
        });
        let cells = [
            format::figure(flow.rate),
            ns(flow.p50_ns),
            ns(flow.p99_ns),
            format::count(flow.done),
        ];
        for (column, value) in columns[1..].iter().zip(&cells) {
            page.element("td", &[("data-column", column)], |page| {
                page.element("div", &[], |page| {
                    page.leaf("span", &[("class", "number")], value)
                });
            });
        }
        page.element("td", &[("data-column", columns[5])], |page| {
            page.element("div", &[], |page| {
                let bad = [(flow.failed, "failed"), (flow.skipped, "skipped")];
                for (count, word) in bad.iter().filter(|(count, _)| *count > 0) {
                    let text = format!("{} {word}", format::count(*count));
                    page.leaf("span", &[("class", "badge bad block")], &text);
                }
                if bad.iter().all(|(count, _)| *count == 0) {
                    page.text("nothing");
                }
            });
        });
    });
    page.line();
}
