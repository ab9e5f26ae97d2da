//! A search for better settings in a terminal: the recommendation with its lines, the effects, what was not tried.

use kgauge_analyze::summary::{SettingLine, TuneSummary, TuneWinner};

use super::Writer;
use super::figures::write_table;
use super::style::Ink;
use super::table::{Alignment, Column, TableRow, TextTable};
use crate::format;
use crate::text::tune as words;

/// The search on one screen.
pub(super) fn write(writer: &mut Writer, search: &TuneSummary) {
    writer.gap();
    writer.sentence(Some(Ink::Soft), &words::setup(search), "", "  ");
    writer.gap();
    writer.sentence(Some(Ink::Strong), &words::answer(search), "", "  ");
    if let Some(winner) = &search.winner {
        if search.has_lines() {
            write_lines(writer, search, &winner.changes);
        }
        write_elsewhere(writer, winner);
    }
    if !search.settings.is_empty() {
        writer.gap();
        write_effects(writer, search);
    }
    if !search.race.is_empty() {
        writer.gap();
        write_race(writer, search);
    }
    let left_out = words::left_out(search);
    if !left_out.is_empty() {
        writer.gap();
        writer.sentence(None, "Not tried:", "", "  ");
        for line in left_out {
            writer.sentence(Some(Ink::Soft), &line, "  ", "    ");
        }
    }
    writer.gap();
    for sentence in words::details(search) {
        writer.sentence(None, &sentence, "", "  ");
    }
}

/// The winner as lines of properties files, each with its reason.
fn write_lines(writer: &mut Writer, search: &TuneSummary, changes: &[SettingLine]) {
    let mut place = "";
    for line in changes {
        let of_line = words::place(line.scope);
        if place != of_line {
            place = of_line;
            writer.gap();
            writer.sentence(None, &format!("{of_line}:"), "", "  ");
        }
        writer.sentence(
            Some(Ink::Soft),
            &format!("# {}", words::because(search, line)),
            "  ",
            "  # ",
        );
        for property in words::properties(line) {
            writer.sentence(Some(Ink::Strong), &property, "  ", "    ");
        }
    }
}

fn write_elsewhere(writer: &mut Writer, winner: &TuneWinner) {
    let lines = words::elsewhere(winner);
    if lines.is_empty() {
        return;
    }
    writer.gap();
    writer.sentence(None, "What else changes:", "", "  ");
    for line in lines {
        writer.sentence(None, &line, "  ", "    ");
    }
}

/// A row for each setting.
fn write_effects(writer: &mut Writer, search: &TuneSummary) {
    let columns = vec![
        Column::new("setting", Alignment::Left, 0),
        Column::new("in force", Alignment::Right, 2),
        Column::new("tried", Alignment::Right, 1),
        Column::new(words::figure_name(search), Alignment::Right, 0),
        Column::new("effect", Alignment::Left, 1),
    ];
    let rows = search.settings.iter().map(|one| {
        let nothing = || format::NOTHING.to_owned();
        TableRow::Cells(vec![
            one.name.clone(),
            one.today.clone().unwrap_or_else(nothing),
            one.value.clone(),
            one.ratio.map_or_else(nothing, words::changed),
            words::effect_word(search, one.effect),
        ])
    });
    let table = TextTable {
        columns,
        rows: rows.collect(),
    };
    write_table(writer, &table);
}

/// A row for each candidate.
fn write_race(writer: &mut Writer, search: &TuneSummary) {
    let columns = vec![
        Column::new("candidate", Alignment::Left, 0),
        Column::new(words::figure_name(search), Alignment::Right, 0),
        Column::new("race", Alignment::Left, 1),
    ];
    let rows = search.race.iter().map(|one| {
        let ratio = one.ratio.map(words::changed);
        TableRow::Cells(vec![
            words::names(&one.changes),
            ratio.unwrap_or_else(|| format::NOTHING.to_owned()),
            words::place_word(one.place).to_owned(),
        ])
    });
    let table = TextTable {
        columns,
        rows: rows.collect(),
    };
    write_table(writer, &table);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TerminalStyle;
    use crate::text::tune::tests::better;

    #[test]
    fn a_recommendation_can_be_pasted_into_properties() {
        let mut writer = Writer::new(TerminalStyle::default());
        write(&mut writer, &better());
        let text = writer.text();
        let has = |line: &str| text.lines().any(|one| one.trim() == line);
        assert!(
            has("client.properties:") && has("batch.size=131072"),
            "{text}"
        );
        assert!(text.contains("# was 16384"), "{text}");
        assert!(
            text.lines().all(|line| line.chars().count() <= 100),
            "{text}"
        );
    }
}
