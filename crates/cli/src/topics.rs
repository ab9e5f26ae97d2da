//! `kgauge help` and `kgauge schema`: pages of the guide and schemas from inside the program.

use clap::{CommandFactory, Parser};
use kgauge_report::{comparison_schema, render_guide, summary_schema};
use kgauge_scenario::reference;

use crate::args::{Arguments, SchemaKind};
use crate::exit::{self, ExitStatus};
use crate::print;
use crate::style::terminal_style;

/// The pages: a name, the text, and the heading of the section that is shown; empty for the whole page.
const TOPICS: [(&str, &str, &str); 5] = [
    (
        "scenario",
        include_str!("../../../docs/guide/scenario.md"),
        "",
    ),
    (
        "marks",
        include_str!("../../../docs/guide/report.md"),
        "## The latencies\n",
    ),
    (
        "targets",
        include_str!("../../../docs/guide/targets.md"),
        "",
    ),
    (
        "kubernetes",
        include_str!("../../../docs/guide/kubernetes.md"),
        "",
    ),
    (
        "exit-codes",
        include_str!("../../../docs/guide/exit-codes.md"),
        "",
    ),
];

/// Prints a page, or what `--help` of a command prints.
pub(crate) fn help(words: &[String]) -> anyhow::Result<ExitStatus> {
    let first = words.first().map(String::as_str);
    if let Some((_, page, heading)) = TOPICS.iter().find(|(name, ..)| Some(*name) == first) {
        let page = section(page, heading);
        print::result(&render_guide(page, terminal_style().width.min(100)));
        return Ok(ExitStatus::Good);
    }
    if let Some(unknown) = first.filter(|name| Arguments::command().find_subcommand(name).is_none())
    {
        let topics = TOPICS.map(|(name, ..)| name).join(", ");
        anyhow::bail!("there is no topic or command `{unknown}`; topics: {topics}");
    }
    let words = words.iter().map(String::as_str);
    let call = ["kgauge"].into_iter().chain(words).chain(["--help"]);
    match Arguments::try_parse_from(call) {
        Ok(_) => Ok(ExitStatus::Good),
        Err(answer) => Ok(exit::report_usage(&answer)),
    }
}

/// From a heading to the next one of its level.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let start = page.find(heading).unwrap_or_default();
    let section = &page[start..];
    let end = section[heading.len()..].find("\n## ");
    match end {
        Some(end) if !heading.is_empty() => &section[..heading.len() + end + 1],
        _ => section,
    }
}

/// Prints a schema.
pub(crate) fn schema(kind: SchemaKind) -> anyhow::Result<ExitStatus> {
    print::json(&match kind {
        SchemaKind::Scenario => reference::schema(),
        SchemaKind::Summary => summary_schema(),
        SchemaKind::Comparison => comparison_schema(),
    })?;
    Ok(ExitStatus::Good)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_has_its_text() {
        for ((name, page, heading), words) in TOPICS.iter().zip([
            "A scenario asks one question",
            "| `*`, closed loop |",
            "`--target` selects",
            "kgauge calls the `kubectl`",
            "| 130 |",
        ]) {
            assert!(section(page, heading).contains(words), "{name}");
        }
        let (_, page, heading) = TOPICS[1];
        assert!(!section(page, heading).contains("\n## "));
    }
}
