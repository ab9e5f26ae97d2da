//! The heat maps of a page: every sample is in them, and none twice.

use kgauge_report::render_html;
use kgauge_results::TimeKind;
use serde_json::Value;

use crate::made::{CALM, End, make};
use crate::scenarios;
use crate::shared::complete;

/// The numbers of the heat maps in a page.
fn maps(page: &str) -> Vec<Value> {
    let (_, data) = page.split_once("id=\"chart-data\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    let data: Vec<Value> = serde_json::from_str(data).unwrap();
    data.into_iter()
        .filter(|chart| chart.get("cells").is_some())
        .collect()
}

fn count(column: &Value) -> u64 {
    let cells = column.as_array().unwrap();
    cells
        .iter()
        .skip(1)
        .map(|cell| cell.as_u64().unwrap())
        .sum()
}

#[test]
fn a_heat_map_holds_every_record_of_every_second() {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let (run, summary) = make(&dir, None, &scenarios::paced_long(), &CALM, End::Complete);
    let maps = maps(&render_html(&run, &summary));
    assert_eq!(maps.len(), 1);
    let columns = maps[0]["cells"].as_array().unwrap();
    let counts: Vec<u64> = columns.iter().map(count).collect();
    // 1,000 records a second, and each stands in the second in which it was due.
    assert_eq!(counts, [1_000; 8]);
    let response = summary.trials[0].flows[0].latencies.get(TimeKind::Response);
    assert_eq!(counts.iter().sum::<u64>(), response.unwrap().count);
}

#[test]
fn rows_are_even_on_a_log_axis_and_hold_the_times_that_lie_in_them() {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let (run, summary) = make(&dir, None, &scenarios::paced_long(), &CALM, End::Complete);
    let map = &maps(&render_html(&run, &summary))[0];
    let borders = map["borders"].as_array().unwrap().iter();
    let borders: Vec<f64> = borders.map(|border| border.as_f64().unwrap()).collect();
    for pair in borders.windows(2) {
        assert!((pair[1] / pair[0] - 1.2589).abs() < 0.001, "{pair:?}");
    }
    // All but some in two thousand take about a millisecond, the others about fifty.
    let row_of = |ns: f64| borders.iter().rposition(|border| *border <= ns).unwrap() as u64;
    for column in map["cells"].as_array().unwrap() {
        let cells = column.as_array().unwrap();
        let first = cells[0].as_u64().unwrap();
        let fast: u64 = cells
            .iter()
            .skip(1)
            .zip(first..)
            .filter(|(_, row)| (row_of(0.9e6)..=row_of(1.13e6)).contains(row))
            .map(|(cell, _)| cell.as_u64().unwrap())
            .sum();
        assert!(fast > 990, "{column}");
    }
}

#[test]
fn every_flow_of_a_trial_that_is_long_enough_has_its_map() {
    let page = render_html(&complete().run, &complete().summary);
    let maps = maps(&page);
    let flows = complete().summary.trials[0].flows.len();
    assert_eq!(
        maps.len(),
        flows,
        "the other trials have four seconds at most"
    );
    for map in &maps {
        let id = format!("id=\"{}\"", map["id"].as_str().unwrap());
        assert!(page.contains(&id), "{id}");
    }
    assert!(
        page.contains("<li><svg class=\"swatch\""),
        "the colours are explained"
    );
}
