//! What every row of the table has to have.

use std::collections::BTreeSet;

use super::*;

fn panels_of(row: &MetricRow) -> Vec<Panel> {
    let requests = || {
        RequestKind::SAMPLED
            .into_iter()
            .filter_map(Panel::of_requests)
    };
    match row.display {
        MetricDisplay::Line { panel, .. } => vec![panel],
        MetricDisplay::Phase { .. } => requests().map(|(phases, _)| phases).collect(),
        MetricDisplay::RequestTime => requests().map(|(_, time)| time).collect(),
        MetricDisplay::Evidence(_) => Vec::new(),
    }
}

#[test]
fn every_metric_is_shown_or_says_why_it_is_only_evidence() {
    for metric in MetricId::ALL {
        let is_marked =
            matches!(metric.row().display, MetricDisplay::Evidence(why) if !why.is_empty());
        assert!(
            is_marked || !panels_of(metric.row()).is_empty(),
            "{metric:?}"
        );
    }
}

#[test]
fn every_panel_of_brokers_and_hosts_shows_a_metric() {
    let rows = MetricId::ALL.iter().map(|metric| metric.row());
    let mut shown: BTreeSet<Panel> = rows.flat_map(panels_of).collect();
    // What processes hold comes with their CPU time, and the speed of interfaces is no metric.
    shown.extend([Panel::ProcessMemory, Panel::NetworkUse]);
    let brokers = Panel::of(PanelSection::Brokers);
    for panel in brokers.chain(Panel::of(PanelSection::Machine)) {
        assert!(shown.contains(&panel), "{panel:?}");
    }
}

#[test]
fn a_metrics_kind_fits_the_unit_of_its_panel() {
    for metric in MetricId::ALL {
        for panel in panels_of(metric.row()) {
            let unit = match metric.row().kind {
                MetricKind::BusyTime | MetricKind::Millionths => PanelUnit::Percent,
                MetricKind::TimeSum(_) => PanelUnit::Nanoseconds,
                MetricKind::Counter if metric.row().name.contains("bytes") => {
                    PanelUnit::MegabytesPerSecond
                }
                MetricKind::Gauge if metric.row().name.contains("bytes") => PanelUnit::Bytes,
                MetricKind::Counter | MetricKind::Gauge | MetricKind::Cores => PanelUnit::Plain,
            };
            assert_eq!(panel.row().unit, unit, "{metric:?}");
        }
    }
}

#[test]
fn names_are_unique_and_sums_of_times_have_their_counters() {
    let mut names = BTreeSet::new();
    for metric in MetricId::ALL {
        let row = metric.row();
        assert!(names.insert((row.group.key(), row.name)), "{metric:?}");
        assert_eq!(
            metric.events().is_some(),
            matches!(row.kind, MetricKind::TimeSum(_)),
            "{metric:?}"
        );
    }
}
