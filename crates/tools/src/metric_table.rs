//! The table of `--print-metrics`.

use crate::java::fixed;

/// Names and values in columns, sorted, under a header. All metrics belong to one group and one client.
pub(crate) fn metric_table(group: &str, client_id: &str, metrics: &[(&str, f64)]) -> Vec<String> {
    let row = |(name, value): &(&str, f64)| {
        let name = format!("{group}:{name}:{{client-id={client_id}}}");
        (name, fixed(*value, 3))
    };
    let mut rows: Vec<(String, String)> = metrics.iter().map(row).collect();
    rows.sort();
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let header = format!("{:<width$}   Value", "Metric Name");
    let lines = rows
        .into_iter()
        .map(|(name, value)| format!("{name:<width$} : {value}"));
    [String::new(), header].into_iter().chain(lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_sorted_and_aligned() {
        let table = metric_table("g", "c", &[("rate-total", 1.0), ("a", 2.0)]);
        assert_eq!(
            table,
            [
                "",
                "Metric Name                  Value",
                "g:a:{client-id=c}          : 2.000",
                "g:rate-total:{client-id=c} : 1.000"
            ]
        );
    }
}
