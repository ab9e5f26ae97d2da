//! What a page promises whatever is in it: well-formed, quiet, small, the same each time.

use super::page;
use crate::view::{View, fixture};

/// A name that tries everything: ending the element, the attribute, the script block, a comment.
const HOSTILE: &str =
    "x\"'><script>alert(1)</script><!--\u{202e}]]>&lt;</style><img src=x onerror=y>";

/// Tag names in the order of the page, start tags as `p`, end tags as `/p`; text and the content of
/// `style` and `script` left out. Panics where a `<` starts neither.
fn tags(page: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let mut rest = page
        .strip_prefix("<!DOCTYPE html>")
        .expect("a page starts with its type");
    while let Some(start) = rest.find('<') {
        let after = &rest[start + 1..];
        let end = after.find('>').expect("every tag ends");
        let tag = &after[..end];
        let name: String = tag
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '/' || *c == '-')
            .collect();
        assert!(
            !name.trim_matches('/').is_empty(),
            "a stray < before {:?}",
            &tag[..tag.len().min(40)]
        );
        rest = &after[end + 1..];
        if name == "script" || name == "style" {
            let close = format!("</{name}>");
            let end = rest.find(&close).expect("raw text ends");
            rest = &rest[end + close.len()..];
            continue;
        }
        if !tag.ends_with('/') && name != "meta" {
            tags.push(name);
        }
    }
    tags
}

fn assert_balanced(page: &str) {
    let mut open: Vec<String> = Vec::new();
    for tag in tags(page) {
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop().as_deref(), Some(name), "closes what is open"),
            None => open.push(tag),
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
}

/// The fixture with every text replaced by a hostile one.
fn hostile() -> View {
    let mut view = fixture::view();
    fixture::each_text(&mut view, &mut |text| *text = HOSTILE.to_owned());
    view
}

#[test]
fn every_tag_is_closed_by_its_like() {
    assert_balanced(&page(&fixture::view()));
    assert_balanced(&page(&View::default()));
}

#[test]
fn no_text_from_outside_becomes_markup() {
    let calm = page(&fixture::view());
    let page = page(&hostile());
    assert_balanced(&page);
    assert_eq!(
        page.matches("<script").count(),
        calm.matches("<script").count()
    );
    assert_eq!(
        page.matches("<style").count(),
        calm.matches("<style").count()
    );
    for forbidden in ["<img", "<!--", "\u{202e}", "onerror=y>"] {
        assert!(!page.contains(forbidden), "{forbidden} came through");
    }
    assert!(
        page.matches("alert(1)").count() > 20,
        "the names are shown all the same"
    );
}

#[test]
fn the_page_asks_the_network_for_nothing() {
    let page = page(&fixture::view());
    for forbidden in [
        "http://", "https://", "src=", "url(", "@import", "//cdn", "fetch(", "<link",
    ] {
        let found = page
            .replace("http://www.w3.org/2000/svg", "")
            .contains(forbidden);
        assert!(!found, "{forbidden} in the page");
    }
    assert!(
        page.contains(
            "default-src 'none'; style-src 'sha256-"
                .replace('\'', "&#39;")
                .as_str()
        )
    );
    assert!(
        !page.contains(" style="),
        "the policy forbids style attributes"
    );
}

#[test]
fn the_same_view_gives_the_same_bytes() {
    assert_eq!(page(&fixture::view()), page(&fixture::view()));
}

#[test]
fn the_page_of_a_whole_study_is_small() {
    let page = page(&fixture::view());
    assert!(page.len() < 1 << 20, "{} bytes", page.len());
}

#[test]
fn ids_are_unique_and_links_lead_somewhere() {
    let page = page(&fixture::view());
    let values = |attribute: &str| -> Vec<String> {
        let parts = page.split(attribute).skip(1);
        parts
            .filter_map(|part| Some(part.split_once('"')?.0.to_owned()))
            .collect()
    };
    let mut ids = values(" id=\"");
    for link in values(" href=\"#") {
        assert!(ids.contains(&link), "#{link} leads nowhere");
    }
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

#[test]
fn a_closed_loop_is_marked_wherever_its_latency_is_shown() {
    let page = page(&fixture::view());
    // Eight flows of the fixture run closed: six producers of the sweep and of the first scenario, one
    // beside a consumer.
    let closed = fixture::view()
        .scenarios
        .iter()
        .flat_map(|scenario| &scenario.trials)
        .flat_map(|trial| &trial.flows)
        .filter(|flow| flow.closed.is_some())
        .count();
    assert_eq!(
        page.matches("mark-closed\">closed loop</span>").count(),
        closed
    );
    assert_eq!(
        page.matches("residual 0.4 %").count(),
        2 * closed,
        "under its chart and in the words"
    );
}

#[test]
fn a_run_that_was_cut_short_says_so_before_any_figure() {
    let page = page(&fixture::view());
    let said = page.find("cut short").expect("it is said");
    assert!(said < page.find("1,284,000").expect("there are figures"));
}
