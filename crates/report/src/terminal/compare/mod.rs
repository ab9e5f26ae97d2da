//! A comparison in a terminal: a deciding sentence for each run, then the figures; then what is not comparable and why.

mod blocks;
mod pair;

use super::Writer;
use super::style::{Ink, TerminalDetail, TerminalStyle};
use crate::compare::{self, AgainstView, CellView, CompareView, RowView, Sentence, Tone};
use crate::view::Severity;
use kgauge_analyze::compare::{Caveat, DifferenceVerdict, FigureKind};

/// The whole text, ending with a line break.
pub(crate) fn text(view: &CompareView, style: TerminalStyle) -> String {
    let mut writer = Writer::new(style);
    let is_full = style.detail == TerminalDetail::Full;
    let is_brief = style.detail == TerminalDetail::Brief;
    writer.sentence(Some(Ink::Strong), &view.title, "", "  ");
    write_grave(&mut writer, view);
    writer.gap();
    for decision in &view.decisions {
        writer.sentence(Some(Ink::Strong), decision, "", "  ");
    }
    write_counts(&mut writer, view);
    if !is_brief {
        write_sentences(&mut writer, &view.differing);
    }
    let shown = shown(view, is_full);
    match shown.heads.len() {
        2 => pair::write(&mut writer, &shown),
        _ => blocks::write(&mut writer, &shown),
    }
    write_legend(&mut writer, &shown);
    if is_full {
        write_sentences(&mut writer, &view.sentences);
        write_answers(&mut writer, view);
    }
    if !is_brief && !view.between_runs.is_empty() {
        writer.gap();
        writer.sentence(None, &view.between_runs, "", "");
    }
    if is_full {
        writer.gap();
        writer.sentence(Some(Ink::Soft), &view.method, "", "");
    }
    writer.text()
}

fn write_grave(writer: &mut Writer, view: &CompareView) {
    for sentence in view
        .sentences
        .iter()
        .filter(|found| found.level == Severity::Grave)
    {
        writer.sentence(Some(Ink::Bad), &sentence.words, "IMPORTANT: ", "  ");
    }
}

/// Whether the acked records are on the brokers; `-q` shows only what is wrong or unknown.
fn write_counts(writer: &mut Writer, view: &CompareView) {
    let is_brief = writer.style.detail == TerminalDetail::Brief;
    for sentence in &view.counts {
        let (ink, mark) = match sentence.level {
            Severity::Note if is_brief => continue,
            Severity::Note => (Ink::Soft, ""),
            Severity::Caution => (Ink::Caution, "caution: "),
            Severity::Grave => (Ink::Bad, "IMPORTANT: "),
        };
        writer.sentence(Some(ink), &sentence.words, mark, "  ");
    }
}

fn write_sentences(writer: &mut Writer, sentences: &[Sentence]) {
    writer.gap();
    for sentence in sentences {
        let (ink, mark) = match sentence.level {
            Severity::Note => (Ink::Soft, "note: "),
            Severity::Caution => (Ink::Caution, "caution: "),
            Severity::Grave => continue,
        };
        writer.sentence(Some(ink), &sentence.words, mark, "  ");
    }
}

fn rows(view: &CompareView) -> impl Iterator<Item = &RowView> {
    let parts = view.groups.iter().flat_map(|group| &group.parts);
    parts.flat_map(|part| &part.rows)
}

/// Each kind of figure, and what could have been detected.
fn write_answers(writer: &mut Writer, view: &CompareView) {
    writer.gap();
    for answer in &view.answers {
        writer.sentence(Some(Ink::Strong), &answer.head, "", "  ");
        for figure in &answer.figures {
            writer.sentence(None, figure, "  ", "    ");
        }
    }
}

/// The comparison with the figures that are shown: all, or those that decide.
fn shown(view: &CompareView, is_full: bool) -> CompareView {
    let mut view = view.clone();
    for group in &mut view.groups {
        for part in &mut group.parts {
            part.rows.retain(|row| is_shown(row, is_full));
        }
        group.parts.retain(|part| !part.rows.is_empty());
    }
    view.groups.retain(|group| !group.parts.is_empty());
    view
}

/// Megabytes say what records say, unless somebody published them. Losses are shown where there are any.
fn is_shown(row: &RowView, is_full: bool) -> bool {
    match row.kind {
        FigureKind::Capacity
        | FigureKind::CapacityTypical
        | FigureKind::Throughput
        | FigureKind::PerPrice
        | FigureKind::TargetCpu => true,
        FigureKind::ThroughputBytes => row.published.is_some(),
        FigureKind::Lost => row.cells.iter().any(|cell| cell.value > Some(0.0)),
        FigureKind::LatencyP50 | FigureKind::LatencyP99 => is_full || !is_closed(row),
        FigureKind::LatencyP999 | FigureKind::GeneratorCpu | FigureKind::WireBytes => is_full,
    }
}

/// Whether it is a latency of closed loops, which has the same information as the throughput.
fn is_closed(row: &RowView) -> bool {
    let mut cells = row.cells.iter();
    cells.all(|cell| cell.value.is_none() || cell.marks.contains(&Caveat::ClosedLoop))
}

/// The figure with its marks.
fn figure_of(cell: &CellView) -> String {
    format!("{}{}", cell.figure, compare::signs(&cell.marks))
}

/// `+` better, `-` worse, `≈` no difference beyond a tenth, `?` inconclusive.
fn against_sign(tone: Tone) -> &'static str {
    match tone {
        Tone::Better => "+",
        Tone::Worse => "-",
        Tone::Same => "≈",
        Tone::Open | Tone::Silent => "?",
    }
}

/// `1.02–1.18`: columns are narrow.
fn interval(found: &AgainstView) -> String {
    match (found.tone, &found.interval) {
        (Tone::Silent, _) | (_, None) => String::new(),
        (_, Some(ends)) => format!("{}–{}", brief(ends.low), brief(ends.high)),
    }
}

/// Two decimals do for most ratios.
fn brief(ratio: f64) -> String {
    match ratio {
        usual if (0.1..9.995).contains(&usual) => format!("{usual:.2}"),
        other => crate::format::short(other),
    }
}

fn silent_word(found: &AgainstView) -> &'static str {
    match found.word {
        DifferenceVerdict::NotComparable => "n/c",
        DifferenceVerdict::Undecided => "?",
        _ => "",
    }
}

fn is_undecided(found: &AgainstView) -> bool {
    found.word == DifferenceVerdict::Undecided
}

fn write_legend(writer: &mut Writer, view: &CompareView) {
    writer.gap();
    let cells = || rows(view).flat_map(|row| &row.cells);
    let against = || cells().filter_map(|cell| cell.against.as_ref());
    let has = |tone: Tone| against().any(|found| found.tone == tone);
    let mut words: Vec<&str> = Vec::new();
    if has(Tone::Better) {
        words.push("+ better");
    }
    if has(Tone::Worse) {
        words.push("- worse");
    }
    if has(Tone::Same) {
        words.push("≈ no difference beyond 10 %");
    }
    if has(Tone::Open) || against().any(is_undecided) {
        words.push("? inconclusive");
    }
    if against().any(|found| silent_word(found) == "n/c") {
        words.push("n/c not comparable");
    }
    if !words.is_empty() {
        let text = format!("times the baseline: {}", words.join(", "));
        writer.sentence(Some(Ink::Soft), &text, "", "  ");
    }
    let marks = view
        .marks
        .iter()
        .filter(|(mark, _)| cells().any(|cell| cell.marks.contains(mark)));
    for (mark, words) in marks {
        let sign = match compare::mark_sign(*mark) {
            "" => "n=1",
            sign => sign,
        };
        writer.sentence(Some(Ink::Caution), words, &format!("{sign} "), "  ");
    }
}
