//! The first screen: question, answer, one picture, bottleneck, count check and severe caveats. A study has its
//! questions with their answers, and a checkup its findings.

use kgauge_analyze::summary::GoalStatus;

use super::bars::{self, BarScale};
use super::charts::{PageCharts, opens_with_chart};
use super::{checkup, scenario_id, top};
use crate::chart;
use crate::markup::{Markup, unbroken};
use crate::text;
use crate::view::{
    AnswerBar, AnswerPicture, BriefAnswer, GoalView, PARTITIONS, ReportView, ScenarioView,
};

/// Writes it.
pub(super) fn write(page: &mut Markup, view: &ReportView, charts: &PageCharts) {
    let attributes = [
        ("id", "answer"),
        ("class", "first"),
        ("aria-label", "Answer"),
    ];
    page.element("section", &attributes, |page| {
        write_head(page, view);
        match view.scenarios.as_slice() {
            _ if let Some(summary) = view.checkup => {
                checkup::write_findings(page, summary);
                write_verdicts(page, view);
                write_caveats(page, view);
            }
            [only] => {
                page.prose("p", &[("class", "answer")], &only.answer);
                write_picture(page, view, only, charts);
                if let Some(sentence) = &view.partitions {
                    page.leaf("p", &[("class", "small")], PARTITIONS);
                    page.prose("p", &[], sentence);
                }
                write_verdicts(page, view);
                write_caveats(page, view);
            }
            scenarios => {
                if let Some(test) = view.ab {
                    page.prose("p", &[("class", "answer")], &text::ab::answer(test));
                }
                if let Some(chart) = charts.ab.first() {
                    chart::write_figure(page, chart);
                }
                write_verdicts(page, view);
                write_caveats(page, view);
                write_questions(page, view, scenarios);
            }
        }
    });
    page.line();
}

/// Where and when, and the question: of a study its title too.
fn write_head(page: &mut Markup, view: &ReportView) {
    page.element("header", &[("class", "top")], |page| {
        page.element("p", &[("class", "meta")], |page| {
            page.leaf("strong", &[], &view.title);
            let took = view.run.took.as_deref().unwrap_or("not finished");
            let conditions = view.run.conditions.iter().map(String::as_str);
            let facts = [&*view.target.name, &*view.run.started].into_iter();
            for fact in facts.chain(conditions).chain([took]) {
                page.text(" · ");
                page.text(&unbroken(fact));
            }
        });
        let (head, rest) = match (view.scenarios.as_slice(), view.about.split_first()) {
            _ if view.checkup.is_some() => (&view.title, &[][..]),
            ([only], _) if !only.question.is_empty() => (&only.question, &view.about[..]),
            (_, Some((first, rest))) => (first, rest),
            ([only], None) => (&only.name, &[][..]),
            (_, None) => (&view.title, &[][..]),
        };
        page.prose("h1", &[], head);
        for sentence in rest {
            page.prose("p", &[("class", "about")], sentence);
        }
    });
    page.line();
}

fn write_picture(
    page: &mut Markup,
    view: &ReportView,
    scenario: &ScenarioView,
    charts: &PageCharts,
) {
    if let Some(chart) = charts.search_picture(view) {
        chart::write_figure(page, chart);
    } else if opens_with_chart(scenario) {
        let mut pictures = charts.pictures.iter().flatten();
        if let Some(chart) = pictures.next() {
            chart::write_figure(page, chart);
        }
    } else if let AnswerPicture::Bars { title, unit, bars } = &scenario.picture {
        bars::write_figure(page, title, unit, bars);
    }
}

/// Bottleneck, count check and goals, a line each.
fn write_verdicts(page: &mut Markup, view: &ReportView) {
    let trials = view.scenarios.iter().flat_map(|scenario| &scenario.trials);
    let limits = text::bottlenecks::overview(trials.map(|trial| trial.summary));
    page.element("dl", &[("class", "verdict")], |page| {
        let row = |page: &mut Markup, name: &str, content: &dyn Fn(&mut Markup)| {
            page.element("div", &[], |page| {
                page.leaf("dt", &[], name);
                page.element("dd", &[], |page| content(page));
            });
        };
        if let Some(limits) = &limits {
            row(page, "Bottleneck", &|page| {
                page.text(&unbroken(limits));
                if !view.limits.is_empty() {
                    page.text(" ");
                    let attributes = [("class", "small"), ("href", "#limits")];
                    page.leaf("a", &attributes, "evidence");
                }
            });
        }
        let count_check = view
            .count_check
            .as_ref()
            .map(|check| ("Count check", check));
        let verification = view.verification.as_ref();
        let verification = verification.map(|check| ("Verification", check));
        for (name, check) in count_check.into_iter().chain(verification) {
            row(page, name, &|page| {
                let (class, sign) = match check.is_good {
                    true => ("check good", "✓"),
                    false => ("check bad", "✗"),
                };
                page.leaf("span", &[("class", class)], sign);
                page.text(" ");
                page.text(&unbroken(&check.text));
            });
        }
        if !view.verdicts.is_empty() {
            row(page, "Goals", &|page| write_goals(page, &view.verdicts));
        }
    });
    page.line();
}

/// The one goal, or how many of several have which result.
fn write_goals(page: &mut Markup, goals: &[GoalView]) {
    if let [goal] = goals {
        return top::write_goal(page, goal);
    }
    let all = [
        GoalStatus::NotHeld,
        GoalStatus::NotMeasured,
        GoalStatus::Undecided,
        GoalStatus::Held,
    ];
    for status in all {
        let count = goals.iter().filter(|goal| goal.word == status).count();
        if count > 0 {
            let (class, word) = top::goal_badge(status);
            page.leaf("span", &[("class", class)], &format!("{count} {word}"));
            page.text(" ");
        }
    }
    page.leaf("a", &[("class", "small"), ("href", "#goals")], "details");
}

/// What must be known before any figure, a line each.
fn write_caveats(page: &mut Markup, view: &ReportView) {
    let caution = &view.target.caution;
    if view.notices.is_empty() && caution.is_empty() {
        return;
    }
    page.element("ul", &[("class", "caveats")], |page| {
        for (index, notice) in view.notices.iter().enumerate() {
            page.element("li", &[("class", "severe")], |page| {
                page.text(&unbroken(&notice.short));
                page.text(" ");
                let link = format!("#{}", top::matter_id(index));
                page.leaf("a", &[("class", "small"), ("href", &link)], "why");
            });
        }
        if !caution.is_empty() {
            page.prose("li", &[], caution);
        }
    });
    page.line();
}

/// The bar that represents a scenario: the best, or the first one that others are not compared with.
fn main_bar<'v>(scenario: &'v ScenarioView) -> Option<(&'v str, &'v AnswerBar)> {
    let AnswerPicture::Bars { unit, bars, .. } = &scenario.picture else {
        return None;
    };
    let best = bars.iter().find(|bar| bar.is_best);
    let other = || bars.iter().find(|bar| !bar.is_base);
    Some((unit, best.or_else(other)?))
}

/// A scenario in the list of questions.
struct QuestionRow<'v> {
    index: usize,
    scenario: &'v ScenarioView<'v>,
    /// The bar of its main figure.
    bar: Option<&'v AnswerBar>,
}

/// A line for each question: with its answer, and with the bar of its main figure where others have the same unit.
/// Questions that the figures do not answer follow, each reason once.
fn write_questions(page: &mut Markup, view: &ReportView, scenarios: &[ScenarioView]) {
    let bars = scenarios.iter().filter_map(main_bar);
    let unit = bars.clone().map(|(unit, _)| unit).next();
    let of_unit = bars.filter(|(found, _)| Some(*found) == unit);
    let of_unit: Vec<&AnswerBar> = of_unit.map(|(_, bar)| bar).collect();
    let scale = BarScale::of(&of_unit).filter(|_| of_unit.len() > 1);
    let rows = scenarios.iter().enumerate().map(|(index, scenario)| {
        let bar = main_bar(scenario).filter(|(found, _)| Some(*found) == unit);
        QuestionRow {
            index,
            scenario,
            bar: bar.map(|(_, bar)| bar),
        }
    });
    let rows: Vec<QuestionRow<'_>> = rows.collect();
    let scale = scale.as_ref().zip(unit);
    let is_answered =
        |row: &QuestionRow<'_>| matches!(row.scenario.brief, BriefAnswer::Sentences(_));
    if rows.iter().any(is_answered) || view.partitions.is_some() {
        page.element("ul", &[("class", "questions")], |page| {
            for row in &rows {
                if let BriefAnswer::Sentences(answer) = &row.scenario.brief {
                    row.write(page, Some(answer.as_str()), scale);
                }
            }
            if let Some(sentence) = &view.partitions {
                page.element("li", &[], |page| {
                    page.leaf("span", &[("class", "question")], PARTITIONS);
                    page.prose("p", &[], sentence);
                });
            }
        });
        page.line();
    }
    write_open_questions(page, &rows, scale);
    if let Some((_, unit)) = scale {
        page.leaf("p", &[("class", "note")], &bars::legend(unit, &of_unit));
        page.line();
    }
}

/// The questions that the figures do not answer, each reason once.
fn write_open_questions(
    page: &mut Markup,
    rows: &[QuestionRow<'_>],
    scale: Option<(&BarScale, &str)>,
) {
    let mut reasons: Vec<(&str, Vec<&QuestionRow<'_>>)> = Vec::new();
    for row in rows {
        let BriefAnswer::Doubt(reason) = row.scenario.brief else {
            continue;
        };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, of_reason)) => of_reason.push(row),
            None => reasons.push((reason, vec![row])),
        }
    }
    for (reason, of_reason) in reasons {
        let head = text::answer::inconclusive(reason);
        page.leaf("p", &[("class", "open-questions")], &head);
        page.element("ul", &[("class", "questions")], |page| {
            let rows = of_reason.iter();
            rows.for_each(|row| row.write(page, None, scale));
        });
        page.line();
    }
}

impl QuestionRow<'_> {
    fn write(&self, page: &mut Markup, answer: Option<&str>, scale: Option<(&BarScale, &str)>) {
        let scenario = self.scenario;
        page.element("li", &[], |page| {
            let question = match scenario.question.is_empty() {
                true => &scenario.name,
                false => &scenario.question,
            };
            let href = format!("#{}", scenario_id(self.index));
            page.leaf("a", &[("href", &href)], question);
            if let Some(answer) = answer {
                page.prose("p", &[], answer);
            }
            if let (Some((scale, unit)), Some(bar)) = (scale, self.bar) {
                bars::write_row(page, scale, unit, "", bar);
            }
        });
    }
}
