//! What the page of a run in progress shares with the report: style, script, charts.

use super::charts::TrialCharts;
use super::head::{PageHead, policy, write_head};
use super::{STYLE, trial, write_numbers};
use crate::markup::Markup;
use crate::view::TrialView;

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
    let charts = TrialCharts::of_live(shown);
    trial::write_body(page, shown, &charts, true);
    write_numbers(page, &charts.numbers());
}
