//! The checks: arithmetic over lines.

mod bounds;
mod buffer;
mod compression;
mod network;
mod others;
mod rest;
mod sampling;
mod spread;

use crate::finding::Finding;
use crate::line::AuditedLine;
use crate::options::Options;

/// Whether producers' summaries of equal records follow each other.
pub(crate) fn has_repeats(lines: &[AuditedLine]) -> bool {
    spread::has_repeats(lines)
}

/// All findings, the most severe first, in the order of the text.
pub(crate) fn all(lines: &[AuditedLine], options: &Options) -> Vec<Finding> {
    let mut found = bounds::check(lines);
    found.extend(network::check(lines, options));
    found.extend(buffer::check(lines, options));
    found.extend(compression::check(lines, options));
    found.extend(sampling::check(lines, options));
    found.extend(spread::check(lines));
    found.extend(others::check(lines));
    found.extend(rest::check(lines));
    found.sort_by(|one, other| {
        let place = |finding: &Finding| finding.places.first().cloned();
        other
            .level
            .cmp(&one.level)
            .then(place(one).cmp(&place(other)))
    });
    found
}
