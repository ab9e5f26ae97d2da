//! The head: policy, style, title.

use super::{SCRIPT, STYLE, digest};
use crate::markup::Markup;
use crate::view::ReportView;

/// Writes `<head>` of a report.
pub(super) fn write(page: &mut Markup, view: &ReportView) {
    let head = PageHead {
        title: &format!("{} on {} · kgauge", view.title, view.target.name),
        version: &view.summary.kgauge.version,
        styles: vec![STYLE],
        script: Some(SCRIPT),
        asks: false,
    };
    write_head(page, &head);
}

/// The contents of a page's head.
pub(super) struct PageHead<'a> {
    pub(super) title: &'a str,
    /// Of the kgauge that it is about.
    pub(super) version: &'a str,
    pub(super) styles: Vec<&'static str>,
    /// The script that the body holds.
    pub(super) script: Option<&'static str>,
    /// Whether its script may ask the server that it came from.
    pub(super) asks: bool,
}

/// What a page allows itself.
pub(super) fn policy(head: &PageHead<'_>) -> String {
    let styles = head.styles.iter().map(|style| digest::source(style));
    let script = head
        .script
        .map_or_else(|| "'none'".to_owned(), digest::source);
    let connect = if head.asks {
        " connect-src 'self';"
    } else {
        ""
    };
    format!(
        "default-src 'none'; style-src {}; script-src {script};{connect} base-uri 'none'; form-action 'none'",
        styles.collect::<Vec<_>>().join(" "),
    )
}

/// Writes `<head>`. The policy allows this page's own styles and script by their digests and nothing
/// else: no network, no other script, no frame, no form.
pub(super) fn write_head(page: &mut Markup, head: &PageHead<'_>) {
    let policy = policy(head);
    let generator = format!("kgauge {}", head.version);
    let meta: [&[(&'static str, &str)]; 6] = [
        &[("charset", "utf-8")],
        &[
            ("http-equiv", "Content-Security-Policy"),
            ("content", &policy),
        ],
        &[
            ("name", "viewport"),
            ("content", "width=device-width, initial-scale=1"),
        ],
        &[("name", "color-scheme"), ("content", "light dark")],
        &[("name", "referrer"), ("content", "no-referrer")],
        &[("name", "generator"), ("content", &generator)],
    ];
    page.element("head", &[], |page| {
        page.line();
        for attributes in meta {
            page.void("meta", attributes);
            page.line();
        }
        page.leaf("title", &[], head.title);
        page.line();
        for style in &head.styles {
            page.element("style", &[], |page| page.own(style));
            page.line();
        }
    });
    page.line();
}
