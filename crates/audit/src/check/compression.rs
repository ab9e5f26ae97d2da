//! Compression of identical records.
//!
//! Until KAFKA-12611 (April 2021, released with 3.0) every record of the tool had the same bytes. lz4
//! compresses a batch of 380 identical records of 250 bytes to 1/44, and does not compress random letters.

use crate::finding::{AuditRule, Finding, FindingSeverity};
use crate::line::AuditedLine;
use crate::options::Options;

/// The first release whose records differ.
const DIFFERENT: (u32, u32) = (3, 0);

pub(super) fn check(lines: &[AuditedLine], options: &Options) -> Vec<Finding> {
    if options.as_of.is_some_and(|version| version >= DIFFERENT) {
        return Vec::new();
    }
    let guess = match options.as_of {
        Some(_) => "",
        None => ", assuming an older tool (set --as-of)",
    };
    // One finding per command, for all its lines.
    let mut found: Vec<(usize, Finding)> = Vec::new();
    for line in lines.iter().filter(|line| line.summary().is_some()) {
        let Some(context) = line.context().filter(|context| !context.has_payload_file) else {
            continue;
        };
        let Some(codec) = &context.codec else {
            continue;
        };
        let place = line.place.clone();
        let same = found
            .iter_mut()
            .find(|(of, finding)| *of == context.line && finding.places[0].file == place.file);
        match same {
            Some((_, finding)) => finding.places.push(place),
            None => found.push((
                context.line,
                Finding {
                    level: FindingSeverity::Artefact,
                    check: AuditRule::Compression,
                    text: format!(
                        "{codec} compressed identical records: before 3.0, all records of the \
                         tool have the same bytes{guess}. Network traffic may be as low as 1/40 \
                         of the printed rate. The command is in line {}.",
                        context.line
                    ),
                    places: vec![place],
                },
            )),
        }
    }
    found.into_iter().map(|(_, finding)| finding).collect()
}
