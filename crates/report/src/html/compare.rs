//! The page of a comparison: each run against the baseline, then all figures.

use super::contents::Contents;
use super::figures::cell;
use super::head::{PageHead, write_head};
use super::section::write_section;
use super::{STYLE, ratios};
use crate::compare::{
    self, AgainstView, CellView, CompareView, FlowRows, RowView, RunAnswer, Sentence, Tone,
    TrialRows,
};
use crate::format;
use crate::markup::Markup;
use crate::view::Severity;

/// What this page has beyond a report's style.
const COMPARE_STYLE: &str = include_str!("compare.css");

/// Further cells are omitted, with a note: nobody reads a longer page, and each cell adds about 300
/// bytes.
const CELLS_MAX: usize = 5_000;

/// The whole page.
pub(crate) fn page(view: &CompareView) -> String {
    let mut page = Markup::new();
    page.own("<!DOCTYPE html>\n");
    page.element("html", &[("lang", "en")], |page| {
        let head = PageHead {
            title: &format!("{} · kgauge", view.title),
            version: env!("CARGO_PKG_VERSION"),
            styles: vec![STYLE, COMPARE_STYLE],
            script: None,
            asks: false,
        };
        write_head(page, &head);
        page.element("body", &[], |page| write_body(page, view));
    });
    page.line();
    page.finish()
}

fn write_body(page: &mut Markup, view: &CompareView) {
    page.line();
    let skip = [("class", "skip"), ("href", "#figures")];
    page.leaf("a", &skip, "Skip to the figures");
    page.element("div", &[("class", "frame")], |page| {
        let scenarios = shown_scenarios(view);
        let names = scenarios.groups.iter().filter_map(|groups| groups.first());
        let names: Vec<&str> = names.map(|group| group.scenario.as_str()).collect();
        Contents::of_comparison(&names).write(page);
        page.element("div", &[("class", "column")], |page| {
            page.element("main", &[], |page| {
                write_answer(page, view);
                write_notices(page, &view.sentences, |level| level != Severity::Grave);
                write_figures(page, view, &scenarios);
                write_reading(page, view);
                write_runs(page, view);
            });
            let made = format!("kgauge {}", env!("CARGO_PKG_VERSION"));
            page.leaf("footer", &[], &made);
        });
    });
    page.line();
}

/// The first screen: who is compared with whom, the result in a sentence, and what must be known; then each figure.
fn write_answer(page: &mut Markup, view: &CompareView) {
    let attributes = [
        ("id", "answer"),
        ("class", "first"),
        ("aria-label", "Answer"),
    ];
    page.element("section", &attributes, |page| {
        page.element("header", &[("class", "top")], |page| {
            page.leaf("p", &[("class", "meta")], &view.title);
            page.leaf("h1", &[], &head_line(view));
        });
        for decision in &view.decisions {
            page.prose("p", &[("class", "answer")], decision);
        }
        for sentence in &view.counts {
            match sentence.level {
                Severity::Note => page.leaf("p", &[("class", "note")], &sentence.words),
                Severity::Caution | Severity::Grave => write_notice(page, sentence),
            }
        }
        write_notices(page, &view.sentences, |level| level == Severity::Grave);
        write_notices(page, &view.differing, |_| true);
        write_answers(page, &view.answers);
        if !view.between_runs.is_empty() {
            page.leaf("p", &[("class", "note")], &view.between_runs);
        }
    });
    page.line();
}

/// What was found about each figure. Of several runs it is folded away: the sentences above decide.
fn write_answers(page: &mut Markup, answers: &[RunAnswer]) {
    for answer in answers {
        let write_list = |page: &mut Markup| {
            page.element("ul", &[("class", "answers")], |page| {
                for figure in &answer.figures {
                    page.leaf("li", &[], figure);
                }
            });
        };
        if answers.len() == 1 {
            write_list(page);
            continue;
        }
        page.element("details", &[], |page| {
            page.leaf("summary", &[], &answer.head);
            write_list(page);
        });
    }
}

/// `after against before`, or all of several runs.
fn head_line(view: &CompareView) -> String {
    let base = view.heads.get(view.baseline);
    let heads = view.heads.iter().enumerate();
    let others = heads.filter(|(index, _)| *index != view.baseline);
    let others: Vec<&str> = others.map(|(_, head)| head.label.as_str()).collect();
    match (base, others.as_slice()) {
        (Some(base), [other]) => format!("{other} against {}", base.label),
        (Some(base), others) => format!("{} · {}", base.label, others.join(" · ")),
        (None, others) => others.join(" · "),
    }
}

fn write_notices(page: &mut Markup, sentences: &[Sentence], of: impl Fn(Severity) -> bool) {
    let shown = sentences.iter().filter(|sentence| of(sentence.level));
    shown.for_each(|sentence| write_notice(page, sentence));
}

fn write_notice(page: &mut Markup, sentence: &Sentence) {
    let (class, word) = match sentence.level {
        Severity::Note => ("notice note-box", "Note"),
        Severity::Caution => ("notice caution", "Caution"),
        Severity::Grave => ("notice grave", "Important"),
    };
    page.element("p", &[("class", class)], |page| {
        page.leaf("span", &[("class", "notice-word")], word);
        page.text(" ");
        page.text(&sentence.words);
    });
    page.line();
}

/// The scenarios of a page, each with the trials that fit.
struct ShownScenarios<'a> {
    groups: Vec<&'a [TrialRows]>,
    /// Trials that do not fit.
    left_out: usize,
}

fn shown_scenarios(view: &CompareView) -> ShownScenarios<'_> {
    let mut shown = ShownScenarios {
        groups: Vec::new(),
        left_out: 0,
    };
    let mut room = CELLS_MAX;
    let mut groups = view.groups.as_slice();
    while let Some(first) = groups.first() {
        let same = groups
            .iter()
            .take_while(|group| group.scenario == first.scenario);
        let (scenario, rest) = groups.split_at(same.count());
        groups = rest;
        let fitting = scenario.iter().take_while(|group| {
            let cells = cells_of(group);
            let fits = cells <= room;
            room = if fits { room - cells } else { 0 };
            fits
        });
        let (fitting, others) = scenario.split_at(fitting.count());
        shown.left_out += others.len();
        if !fitting.is_empty() {
            shown.groups.push(fitting);
        }
    }
    shown
}

/// The scenarios with their charts and tables.
fn write_figures(page: &mut Markup, view: &CompareView, scenarios: &ShownScenarios<'_>) {
    page.element("div", &[("id", "figures")], |page| {
        for (index, groups) in scenarios.groups.iter().enumerate() {
            write_scenario(page, view, index, groups);
        }
        if scenarios.left_out > 0 {
            let trials = format::plural(scenarios.left_out as u64, "trial is", "trials are");
            let text = format!("{trials} omitted to keep the page small.");
            page.leaf("p", &[("class", "missing")], &text);
        }
    });
}

fn cells_of(group: &TrialRows) -> usize {
    let rows = group.parts.iter().flat_map(|part| &part.rows);
    rows.map(|row| row.cells.len() + 1).sum()
}

fn write_scenario(page: &mut Markup, view: &CompareView, index: usize, groups: &[TrialRows]) {
    let Some(first) = groups.first() else { return };
    let id = super::scenario_id(index);
    write_section(page, &id, "scenario", &first.scenario, |page| {
        page.leaf("p", &[("class", "lead")], &first.question);
        page.element("div", &[("class", "charts")], |page| {
            let groups = groups.iter();
            groups.for_each(|group| ratios::write_figure(page, view, group));
        });
        page.line();
        page.element("div", &[("class", "side-by-side")], |page| {
            page.element("table", &[("class", "figures stack")], |page| {
                write_heads(page, view, groups);
                groups
                    .iter()
                    .for_each(|group| write_group(page, view, groups, group));
            });
        });
        page.line();
        write_words(page, view, groups);
    });
}

fn has_published(groups: &[TrialRows]) -> bool {
    let parts = groups.iter().flat_map(|group| &group.parts);
    let mut rows = parts.flat_map(|part| &part.rows);
    rows.any(|row| row.published.is_some())
}

fn write_heads(page: &mut Markup, view: &CompareView, groups: &[TrialRows]) {
    page.element("thead", &[], |page| {
        page.element("tr", &[], |page| {
            page.leaf("th", &[("scope", "col")], "");
            for (index, head) in view.heads.iter().enumerate() {
                page.element("th", &[("scope", "col")], |page| {
                    page.text(&head.label);
                    if index == view.baseline {
                        page.leaf("span", &[("class", "small block")], "baseline");
                    }
                });
            }
            if has_published(groups) {
                page.leaf("th", &[("scope", "col")], "published");
            }
        });
    });
}

fn write_group(page: &mut Markup, view: &CompareView, groups: &[TrialRows], group: &TrialRows) {
    let with_published = has_published(groups);
    let span = (view.heads.len() + 1 + usize::from(with_published)).to_string();
    let head = |page: &mut Markup, class: &str, text: &str| {
        page.element("tr", &[("class", class)], |page| {
            let attributes = [("colspan", &*span), ("scope", "rowgroup")];
            page.leaf("th", &attributes, text);
        });
    };
    page.element("tbody", &[("class", "grouped")], |page| {
        if groups.len() > 1 {
            head(page, "group", &group.title);
        }
        for part in &group.parts {
            let name = part.flow.as_deref().unwrap_or("per record, whole trial");
            head(page, "group flow", name);
            for row in &part.rows {
                write_row(page, view, row, with_published);
            }
        }
    });
    page.line();
}

fn write_row(page: &mut Markup, view: &CompareView, row: &RowView, with_published: bool) {
    page.element("tr", &[], |page| {
        page.leaf("th", &[("scope", "row")], row.name);
        for (head, found) in view.heads.iter().zip(&row.cells) {
            cell(page, &head.label, |page| write_cell(page, found));
        }
        match &row.published {
            Some(published) => cell(page, "published", |page| {
                page.leaf("span", &[("class", "number")], &published.figure);
                page.leaf("span", &[("class", "small block")], &published.source);
            }),
            None if with_published => page.leaf("td", &[("class", "none")], ""),
            None => {}
        }
    });
    page.line();
}

fn write_cell(page: &mut Markup, cell: &CellView) {
    // The marks inside, so that no line breaks between them and their figure.
    page.element("span", &[("class", "number")], |page| {
        page.text(&cell.figure);
        let signs = compare::signs(&cell.marks);
        if !signs.is_empty() {
            page.leaf("span", &[("class", "signs")], &signs);
        }
    });
    if !cell.spread.is_empty() {
        page.leaf("span", &[("class", "small spread block")], &cell.spread);
    }
    if let Some(against) = &cell.against {
        write_against(page, against);
    }
    if let Some(ratio) = cell.beside_published {
        let text = format!("{}× published", format::short(ratio));
        page.leaf("span", &[("class", "small block")], &text);
    }
}

fn write_against(page: &mut Markup, against: &AgainstView) {
    let class = match against.tone {
        Tone::Better => "badge good block",
        Tone::Worse => "badge bad block",
        Tone::Same | Tone::Open | Tone::Silent => "small block",
    };
    let text = match (against.ratio.as_str(), against.word) {
        (_, kgauge_analyze::compare::DifferenceVerdict::NotJudged) => return,
        ("", _) => against.name.to_owned(),
        (ratio, _) => format!("{ratio}× {}", against.name),
    };
    page.leaf("span", &[("class", class)], &text);
    if let Some(interval) = &against.interval_words() {
        page.leaf("span", &[("class", "small spread block")], interval);
    }
}

/// Every comparison with its interval, folded.
fn write_words(page: &mut Markup, view: &CompareView, groups: &[TrialRows]) {
    page.element("details", &[("class", "words")], |page| {
        page.leaf("summary", &[], "Comparison details");
        page.element("ul", &[], |page| {
            for group in groups {
                for part in &group.parts {
                    part.rows
                        .iter()
                        .for_each(|row| write_row_words(page, view, group, part, row));
                }
            }
        });
    });
}

fn write_row_words(
    page: &mut Markup,
    view: &CompareView,
    group: &TrialRows,
    part: &FlowRows,
    row: &RowView,
) {
    for (head, cell) in view.heads.iter().zip(&row.cells) {
        let Some(against) = cell.against.as_ref().filter(|found| !found.why.is_empty()) else {
            continue;
        };
        page.element("li", &[], |page| {
            let flow = part
                .flow
                .as_deref()
                .map_or(String::new(), |flow| format!("{flow} "));
            let place = format!("{}, {flow}{}, {}", group.title, row.name, head.label);
            page.leaf("strong", &[], &place);
            page.text(": ");
            page.text(&against.why);
        });
    }
}

/// The meaning of the marks and the method of the verdicts.
fn write_reading(page: &mut Markup, view: &CompareView) {
    write_section(page, "reading", "words", "How to read this page", |page| {
        page.leaf(
            "p",
            &[],
            "Mean of the repeats with its 95 % confidence interval, hold stage only. Percentiles \
             are over all samples. CPU is CPU time per record.",
        );
        page.leaf("p", &[], &view.method);
        page.element("ul", &[], |page| {
            for (mark, words) in &view.marks {
                let sign = match compare::mark_sign(*mark) {
                    "" => "n=1",
                    sign => sign,
                };
                page.element("li", &[], |page| {
                    page.leaf("span", &[("class", "signs")], sign);
                    page.text(": ");
                    page.text(words);
                });
            }
        });
    });
}

fn write_runs(page: &mut Markup, view: &CompareView) {
    write_section(page, "runs", "part", "The runs", |page| {
        page.element("div", &[("class", "columns")], |page| {
            for head in &view.heads {
                page.element("div", &[], |page| {
                    page.leaf("h3", &[], &head.label);
                    page.element("dl", &[("class", "facts")], |page| {
                        for (name, value) in &head.facts {
                            page.element("div", &[], |page| {
                                page.leaf("dt", &[], name);
                                page.leaf("dd", &[], value);
                            });
                        }
                    });
                });
            }
        });
    });
}
