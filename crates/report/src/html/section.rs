//! Sections of a page, each with a link to itself.

use crate::markup::Markup;

/// A section with its heading, which links to it.
pub(super) fn write_section(
    page: &mut Markup,
    id: &str,
    class: &str,
    title: &str,
    content: impl FnOnce(&mut Markup),
) {
    let attributes = [("id", id), ("class", class), ("aria-label", title)];
    page.element("section", &attributes, |page| {
        page.element("h2", &[], |page| {
            page.text(title);
            write_anchor(page, id);
        });
        content(page);
    });
    page.line();
}

/// A link to a part, in its heading.
pub(super) fn write_anchor(page: &mut Markup, id: &str) {
    page.text(" ");
    let href = format!("#{id}");
    let attributes = [
        ("class", "anchor"),
        ("href", &*href),
        ("aria-label", "Link to this part"),
    ];
    page.leaf("a", &attributes, "#");
}
