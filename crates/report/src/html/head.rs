//! The head: policy, style, title.

use super::{SCRIPT, STYLE, digest};
use crate::markup::Markup;
use crate::view::View;

/// Writes `<head>`. The policy allows this page's own style and script by their digests and nothing
/// else: no network, no other script, no frame, no form.
pub(super) fn write(page: &mut Markup, view: &View) {
    let policy = format!(
        "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        digest::source(STYLE),
        digest::source(SCRIPT)
    );
    page.element("head", &[], |page| {
        page.line();
        page.void("meta", &[("charset", "utf-8")]);
        page.line();
        let meta = [
            ("http-equiv", "Content-Security-Policy"),
            ("content", &*policy),
        ];
        page.void("meta", &meta);
        page.line();
        let width = "width=device-width, initial-scale=1";
        page.void("meta", &[("name", "viewport"), ("content", width)]);
        page.line();
        page.void(
            "meta",
            &[("name", "color-scheme"), ("content", "light dark")],
        );
        page.line();
        page.void("meta", &[("name", "referrer"), ("content", "no-referrer")]);
        page.line();
        let generator = format!("kgauge {}", view.run.version);
        page.void("meta", &[("name", "generator"), ("content", &generator)]);
        page.line();
        page.leaf(
            "title",
            &[],
            &format!("{} on {} · kgauge", view.title, view.target.name),
        );
        page.line();
        page.element("style", &[], |page| page.own(STYLE));
        page.line();
    });
    page.line();
}
