//! Capacities in a terminal: the answer, the curve as a table, and what it took.

use kgauge_analyze::summary::{CapacityLoad, CapacitySearch, CapacitySummary};

use super::Writer;
use super::figures::write_table;
use super::style::Ink;
use super::table::{Alignment, Column, TableRow, TextTable};
use crate::format;
use crate::text::{bottleneck, capacity as words};

/// Loads of the curve in the table, as shares of the lower bound.
const SHARES: [(f64, &str); 4] = [(0.1, "10 %"), (0.5, "50 %"), (0.75, "75 %"), (0.9, "90 %")];

/// All capacities of a run: of one setting in full, of several side by side.
pub(super) fn write(writer: &mut Writer, capacities: &[CapacitySummary]) {
    match capacities {
        [one] => write_one(writer, one),
        several => write_settings(writer, several),
    }
}

fn write_one(writer: &mut Writer, capacity: &CapacitySummary) {
    writer.sentence(Some(Ink::Soft), &words::setup(capacity), "", "  ");
    if let Some(sentence) = words::over_searches(capacity) {
        writer.gap();
        writer.sentence(Some(Ink::Strong), &sentence, "", "  ");
    }
    for search in &capacity.searches {
        writer.gap();
        let answer = words::answer(capacity, search);
        writer.sentence(Some(Ink::Strong), &answer, "", "  ");
        let more = [words::typical(search), words::limit(search)];
        for sentence in more.into_iter().flatten() {
            writer.sentence(None, &sentence, "", "  ");
        }
        write_curve(writer, capacity, search);
        writer.gap();
        writer.sentence(
            Some(Ink::Soft),
            &words::cost(capacity, search, true),
            "",
            "  ",
        );
    }
    if capacity.searches.len() == 1 {
        let advice = "Use --repeat 3 for a confidence interval.";
        writer.sentence(Some(Ink::Soft), advice, "", "  ");
    }
}

/// The loads below the lower bound and both bounds, one column each.
fn write_curve(writer: &mut Writer, capacity: &CapacitySummary, search: &CapacitySearch) {
    let below = |part: f64| {
        let lower = search.strict.lower?;
        let is_near = |load: &&CapacityLoad| (load.rate / (part * lower) - 1.0).abs() < 1e-3;
        search.loads.iter().find(is_near)
    };
    let bound = |rate: Option<f64>| search.load_at(rate?);
    let shares = SHARES.iter().map(|(part, name)| (*name, below(*part)));
    let bounds = [
        ("lower", bound(search.strict.lower)),
        ("upper", bound(search.strict.upper)),
    ];
    let loads = shares.chain(bounds);
    let loads: Vec<(&'static str, &CapacityLoad)> = loads
        .filter_map(|(name, load)| Some((name, load?)))
        .collect();
    if loads.len() < 2 {
        return;
    }
    let row = |name: &str, cell: fn(&CapacityLoad) -> String| {
        let cells = loads.iter().map(|(_, load)| cell(load));
        TableRow::Cells(std::iter::once(name.to_owned()).chain(cells).collect())
    };
    let mut rows = vec![row("records/s", |load| format::thousands(load.rate))];
    if let Some(name) = words::figure_name(capacity) {
        rows.push(row(name, words::value));
    }
    let windows = |load: &CapacityLoad| {
        let kept = load.windows.len() - load.broken();
        format!("{kept} of {}", load.windows.len())
    };
    rows.push(row("windows kept", windows));
    let heads = std::iter::once("load").chain(loads.iter().map(|(name, _)| *name));
    let columns = heads.enumerate().map(|(index, head)| match index {
        0 => Column::new(head, Alignment::Left, 0),
        _ => Column::new(head, Alignment::Right, 0),
    });
    writer.gap();
    let table = TextTable {
        columns: columns.collect(),
        rows,
    };
    write_table(writer, &table);
}

/// One row for each setting and search.
fn write_settings(writer: &mut Writer, capacities: &[CapacitySummary]) {
    const HEADS: [&str; 6] = [
        "setting",
        "sustains",
        "breaks at",
        "typical",
        "MB/s",
        "bottleneck",
    ];
    if let Some(first) = capacities.first() {
        writer.gap();
        let goals = format!("Records per second with {}", words::goals(first));
        writer.sentence(Some(Ink::Strong), &goals, "", "  ");
    }
    let rows = capacities.iter().flat_map(|capacity| {
        capacity.searches.iter().map(move |search| {
            let rate =
                |rate: Option<f64>| rate.map_or_else(|| format::NOTHING.to_owned(), format::figure);
            let name = match capacity.name.as_str() {
                "" => &capacity.scenario,
                name => name,
            };
            let bytes = search.strict.lower.zip(capacity.record_bytes);
            let megabytes = bytes.map(|(rate, bytes)| format::short(rate * bytes / 1e6));
            TableRow::Cells(vec![
                name.to_owned(),
                rate(search.strict.lower),
                rate(search.strict.upper),
                rate(search.typical.lower),
                megabytes.unwrap_or_else(|| format::NOTHING.to_owned()),
                search
                    .bottleneck
                    .map_or_else(String::new, |word| bottleneck::name(word).to_owned()),
            ])
        })
    });
    let columns = HEADS.into_iter().enumerate().map(|(index, head)| {
        let side = match index {
            0 | 5 => Alignment::Left,
            _ => Alignment::Right,
        };
        Column::new(head, side, u8::from(index > 2))
    });
    let table = TextTable {
        columns: columns.collect(),
        rows: rows.collect(),
    };
    writer.gap();
    write_table(writer, &table);
    writer.gap();
    for capacity in capacities {
        let first = match capacity.name.as_str() {
            "" => String::new(),
            name => format!("{name}: "),
        };
        if let Some(sentence) = words::over_searches(capacity) {
            writer.sentence(Some(Ink::Strong), &sentence, &first, "  ");
        }
        for search in &capacity.searches {
            // The table has no bounds to show, or does not show what is wrong with them.
            let bounds = search.strict.lower.zip(search.strict.upper);
            if bounds.is_none() || words::contradiction(capacity, search).is_some() {
                let answer = words::answer(capacity, search);
                writer.sentence(None, &answer, &first, "  ");
            }
            let cost = words::cost(capacity, search, true);
            writer.sentence(Some(Ink::Soft), &cost, &first, "  ");
        }
    }
}

#[cfg(test)]
mod tests {
    use kgauge_analyze::statistics::Spread;

    use super::*;
    use crate::TerminalStyle;
    use crate::text::capacity::tests::capacity;

    fn text(capacities: &[CapacitySummary]) -> String {
        let mut writer = Writer::new(TerminalStyle::default());
        write(&mut writer, capacities);
        writer.text()
    }

    #[test]
    fn one_search_fits_on_a_screen_with_its_curve() {
        let text = text(&[capacity()]);
        assert!(text.lines().count() <= 20, "{text}");
        let row = |name: &str| text.lines().find(|line| line.starts_with(name));
        let p99 = row("p99").unwrap_or_default();
        assert!(
            p99.contains("3.10 ms") && p99.ends_with("38.0 ms ✗"),
            "{text}"
        );
        let rates = row("records/s").unwrap_or_default();
        assert!(
            rates.contains("41.2 k") && rates.ends_with("420 k"),
            "{text}"
        );
    }

    #[test]
    fn settings_are_side_by_side() {
        let of = |name: &str| CapacitySummary {
            name: name.to_owned(),
            ..capacity()
        };
        let text = text(&[of("linger.ms=0"), of("linger.ms=5")]);
        let is_row = |line: &&str| line.starts_with("linger.ms=") && line.contains("412,000");
        assert_eq!(text.lines().filter(is_row).count(), 2, "{text}");
    }

    #[test]
    fn each_setting_has_its_interval_over_searches_and_names_a_missing_bound() {
        let mut repeated = CapacitySummary {
            name: "linger.ms=0".to_owned(),
            over_searches: Spread::of(&[410_000.0, 412_000.0, 414_000.0]),
            ..capacity()
        };
        let search = repeated.searches[0].clone();
        repeated.searches = vec![search; 3];
        let mut open = CapacitySummary {
            name: "linger.ms=5".to_owned(),
            ..capacity()
        };
        open.searches[0].strict.upper = None;
        let text = text(&[repeated, open]);
        // The mean, and 4.303 (Student, 2 degrees of freedom) standard errors of 2,000 / sqrt(3).
        let interval = "linger.ms=0: 3 searches: 412,000 records/s (95 % interval 407,000 to";
        assert!(text.contains(interval), "{text}");
        assert!(text.contains("linger.ms=5: Sustains 412,000"), "{text}");
        assert!(!text.contains("linger.ms=0: Sustains"), "{text}");
    }
}
