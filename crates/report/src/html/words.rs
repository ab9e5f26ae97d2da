//! What the figures mean: the target, the closed loops, an acknowledgement.

use kgauge_scenario::StudyRef;

use super::section::write_section;
use crate::markup::Markup;
use crate::view::{Fact, ReportView};

/// Writes the section: the target in a sentence, the rest folded.
pub(super) fn write(page: &mut Markup, view: &ReportView) {
    write_section(page, "method", "words", "Method", |page| {
        let target = view.target.words.trim_end_matches('.');
        page.leaf("p", &[], &format!("The target is {target}."));
        if !view.run.warmed.is_empty() {
            let warmed = format!("Broker warm-up: {}", view.run.warmed);
            page.prose("p", &[], &warmed);
        }
        if !view.target.facts.is_empty() {
            write_fold(page, "The target", |page| {
                write_facts(page, &view.target.facts)
            });
        }
        write_closed(page, view);
        write_list(page, "Consumer groups", &view.groups);
        write_list(page, "Transactions", &view.transactions);
        write_list(page, "Agents", &view.agents);
        write_list(page, "Copies on the target cluster", &view.mirrors);
        write_list(page, "Durability", &view.acked);
        if let Some(study) = view.study {
            write_fold(page, "The published figures", |page| {
                write_study(page, study)
            });
        }
        write_fold(page, "Terms", |page| {
            page.element("dl", &[("class", "facts")], |page| {
                for (word, meaning) in WORDS {
                    page.element("div", &[], |page| {
                        page.leaf("dt", &[], word);
                        page.leaf("dd", &[], meaning);
                    });
                }
            });
        });
    });
}

/// A folded part of a section.
pub(super) fn write_fold(page: &mut Markup, title: &str, content: impl FnOnce(&mut Markup)) {
    page.element("details", &[("class", "sheet")], |page| {
        page.element("summary", &[], |page| page.leaf("h3", &[], title));
        content(page);
    });
    page.line();
}

const WORDS: [(&str, &str); 5] = [
    ("response", "acked − intended: the latency a caller sees"),
    (
        "service",
        "acked − sent: excludes the time before the record was sent",
    ),
    ("lateness", "sent − intended: the generator's own delay"),
    (
        "closed loop",
        "full speed: each record is sent as soon as the buffer has space, so none is late",
    ),
    (
        "interval",
        "95 % confidence interval of the mean over the repeats (Student's t)",
    ),
];

fn write_list(page: &mut Markup, title: &str, sentences: &[String]) {
    if sentences.is_empty() {
        return;
    }
    write_fold(page, title, |page| {
        page.element("ul", &[], |page| {
            sentences
                .iter()
                .for_each(|sentence| page.prose("li", &[], sentence));
        });
    });
}

fn write_closed(page: &mut Markup, view: &ReportView) {
    let mut sentences: Vec<(String, String)> = Vec::new();
    for trial in view.scenarios.iter().flat_map(|scenario| &scenario.trials) {
        for flow in &trial.flows {
            if let Some(closed) = flow.closed() {
                sentences.push((format!("{}, {}", trial.name, flow.name()), closed));
            }
        }
    }
    if sentences.is_empty() {
        return;
    }
    // The first sentence is written once where all of them share it.
    let first = sentences
        .first()
        .map_or("", |(_, sentence)| sentence.as_str());
    let shared = first.find(". ").map_or("", |end| &first[..=end]);
    let shared = match sentences
        .iter()
        .all(|(_, sentence)| sentence.starts_with(shared))
    {
        true => shared,
        false => "",
    };
    write_fold(page, "Closed loops", |page| {
        page.leaf("p", &[], CLOSED);
        if !shared.is_empty() {
            page.leaf("p", &[], shared);
        }
        page.element("ul", &[], |page| {
            for (place, sentence) in &sentences {
                let own = sentence.strip_prefix(shared).unwrap_or(sentence);
                page.element("li", &[], |page| {
                    page.leaf("strong", &[], place);
                    page.text(": ");
                    page.text(own.trim_start());
                });
            }
        });
    });
}

const CLOSED: &str = "These flows ran at full speed and sent each record as soon as the buffer had \
                      space. By Little's law, their latency is records in flight ÷ throughput.";

fn write_study(page: &mut Markup, study: &StudyRef) {
    let source = &study.source;
    let address = source.address.as_ref();
    let address = address.map_or_else(String::new, |text| format!(", {text}"));
    let line = format!("{} ({}){address}", source.title, source.year);
    page.leaf("p", &[], &line);
    if !study.setup.is_empty() {
        page.prose("p", &[], &study.setup);
    }
    if let Some(found) = study.found.as_ref().filter(|found| !found.is_empty()) {
        page.prose("p", &[], found);
    }
    if !study.differs.is_empty() {
        page.leaf("p", &[], "Differences in this run:");
        page.element("ul", &[], |page| {
            study
                .differs
                .iter()
                .for_each(|sentence| page.prose("li", &[], sentence));
        });
    }
}

/// Names with their values.
pub(super) fn write_facts(page: &mut Markup, facts: &[Fact]) {
    if facts.is_empty() {
        return;
    }
    page.element("dl", &[("class", "facts")], |page| {
        for fact in facts {
            page.element("div", &[], |page| {
                page.leaf("dt", &[], &fact.name);
                page.leaf("dd", &[], &fact.value);
            });
        }
    });
}
