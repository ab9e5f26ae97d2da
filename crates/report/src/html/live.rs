//! What the page of a run in progress shares with the report: style, script, charts.

use super::head::{PageHead, policy, write_head};
use super::{ByteBudget, CHART_BYTES_MAX, STYLE, TrialCharts, machine, trial, write_numbers};
use crate::chart::Chart;
use crate::chart::heat::Heat;
use crate::curves;
use crate::markup::Markup;
use crate::view::TrialView;
use kgauge_results::metrics::PanelSection;

/// What is the live page's own.
pub(crate) struct LiveHead<'a> {
    pub(crate) title: &'a str,
    pub(crate) version: &'a str,
    /// Beside the report's.
    pub(crate) style: &'static str,
    /// Instead of the report's, which is in it.
    pub(crate) script: &'static str,
}

/// A whole page around what `content` writes. Without script it reloads itself.
pub(crate) fn live_page(head: &LiveHead<'_>, content: impl FnOnce(&mut Markup)) -> String {
    let mut page = Markup::new();
    page.own("<!DOCTYPE html>\n");
    page.element("html", &[("lang", "en")], |page| {
        write_head(page, &head_of(head));
        page.element("body", &[], |page| {
            page.line();
            page.element("noscript", &[], |page| {
                page.void("meta", &[("http-equiv", "refresh"), ("content", "5")]);
            });
            page.leaf(
                "a",
                &[("class", "skip"), ("href", "#charts")],
                "Skip to the charts",
            );
            content(page);
            page.element("script", &[], |page| page.own(head.script));
            page.line();
        });
    });
    page.line();
    page.finish()
}

/// The content-security policy of such a page.
pub(crate) fn live_policy(style: &'static str, script: &'static str) -> String {
    let head = LiveHead {
        title: "",
        version: "",
        style,
        script,
    };
    format!("{}; frame-ancestors 'none'", policy(&head_of(&head)))
}

fn head_of<'a>(head: &LiveHead<'a>) -> PageHead<'a> {
    // The report's style, and the live page's own.
    PageHead {
        title: head.title,
        version: head.version,
        styles: vec![STYLE, head.style],
        script: Some(head.script),
        asks: true,
    }
}

/// The charts of one repeat with their numbers, within the bounds of a report.
pub(crate) fn write_live_trial(page: &mut Markup, shown: &TrialView) {
    let mut room = ByteBudget {
        bytes: CHART_BYTES_MAX,
    };
    let lines = curves::of_trial(shown);
    if !room.take(lines.iter().map(Chart::bytes_about).sum()) {
        return trial::write_charts(page, shown, None);
    }
    let heat = curves::heat_of_trial(shown);
    let heat = room
        .take(heat.iter().map(Heat::bytes_about).sum())
        .then_some(heat);
    let mut fold = |section: PanelSection| {
        let charts = curves::of_section(shown, section);
        let fits = room.take(charts.iter().map(Chart::bytes_about).sum());
        machine::MachineSection {
            notes: machine::notes(shown, section),
            charts: fits.then_some(charts),
        }
    };
    let charts = TrialCharts {
        lines,
        heat,
        traffic: fold(PanelSection::Traffic),
        brokers: fold(PanelSection::Brokers),
        machine: fold(PanelSection::Machine),
    };
    trial::write_charts(page, shown, Some(&charts));
    trial::write_machine(page, Some(&charts), true);
    write_numbers(page, &charts.numbers());
}
