//! Lines of `kafka-consumer-perf-test`: comma-separated figures of a whole run.
//!
//! `start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec`, and since 1.1 (KIP-177)
//! `rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec`. No check uses
//! these figures, so lines are only recognised.

/// The time format of the tool, `2018-08-13 18:55:38:126`, without its digits.
const TIME: &str = "####-##-## ##:##:##:###";

/// Whether a line of text has the tool's output.
pub(crate) fn is_one(text: &str) -> bool {
    let fields: Vec<&str> = text.split(", ").map(str::trim).collect();
    let Some(start) = fields.iter().position(|field| is_time(field)) else {
        return false;
    };
    let is_figure = |field: &&str| field.parse::<f64>().is_ok_and(f64::is_finite);
    match &fields[start + 1..] {
        [end, figures @ ..] if figures.len() >= 4 => {
            is_time(end) && figures[..4].iter().all(is_figure)
        }
        _ => false,
    }
}

fn is_time(field: &str) -> bool {
    // A log may put other text in front.
    let from = field.len().saturating_sub(TIME.len());
    let Some(field) = field.get(from..) else {
        return false;
    };
    let shape = field
        .chars()
        .map(|one| if one.is_ascii_digit() { '#' } else { one });
    shape.eq(TIME.chars())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_formats_are_recognised() {
        let old = "2018-08-13 18:55:38:126, 2018-08-13 18:55:50:637, 3576.2863, 285.8514, 15000032, 1198947.4063";
        assert!(is_one(old));
        assert!(is_one(&format!(
            "{old}, 3044, 9467, 377.7635, 1584454.6319"
        )));
        assert!(!is_one("start.time, end.time, data.consumed.in.MB"));
        assert!(!is_one(
            "2018-08-13 18:55:38:126, 2018-08-13 18:55:50:637, 3576"
        ));
    }
}
