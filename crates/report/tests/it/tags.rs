//! Reads a page as far as its tags.

/// Tag names in the order of the page, start tags as `p`, end tags as `/p`; void elements and the
/// content of `style` and `script` left out. Panics where a `<` starts no tag.
fn tags(page: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let mut rest = page
        .strip_prefix("<!DOCTYPE html>")
        .expect("a page starts with its type");
    while let Some(start) = rest.find('<') {
        let after = &rest[start + 1..];
        let end = after.find('>').expect("every tag ends");
        let tag = &after[..end];
        let is_name = |c: &char| c.is_ascii_alphanumeric() || *c == '/' || *c == '-';
        let name: String = tag.chars().take_while(is_name).collect();
        assert!(
            !name.trim_matches('/').is_empty(),
            "a stray < before {tag:.40}"
        );
        rest = &after[end + 1..];
        if name == "script" || name == "style" {
            let close = format!("</{name}>");
            let end = rest.find(&close).expect("raw text ends");
            rest = &rest[end + close.len()..];
        } else if !tag.ends_with('/') && name != "meta" {
            tags.push(name);
        }
    }
    tags
}

/// Panics unless each end tag closes the element that was opened last, and all are closed.
pub(crate) fn assert_balanced(page: &str) {
    let mut open: Vec<String> = Vec::new();
    for tag in tags(page) {
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop().as_deref(), Some(name), "closes what is open"),
            None => open.push(tag),
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
}
