//! Checks: Kafka's end-to-end latency tool, which reads each record before it sends the next.

use anyhow::{Context, Result, ensure};

use super::actions::Action;
use super::checks::{Checks, Name};
use super::scripts::create;
use crate::kafka::{KafkaScript, Tools};

const TOPIC: &str = "interop-latency";
const RECORDS: &str = "2000";

pub(super) fn run(checks: &mut Checks, tools: &Tools<'_>) -> Result<()> {
    for acks in ["1", "all"] {
        let action = if acks == "1" { "acks=1" } else { "acks=all" };
        let name = Name::tool(KafkaScript::END_TO_END, action, Action::EndToEnd);
        checks.check(name, |log| {
            if acks == "1" {
                log.run(create(tools, TOPIC, 1)?)?;
            }
            let what = ["--topic", TOPIC, "--num-records", RECORDS];
            let how = ["--producer-acks", acks, "--record-size", "100"];
            let arguments = [what, how].concat();
            let millis = average(&log.run_tool(tools, KafkaScript::END_TO_END, &arguments)?)?;
            ensure!(millis < 1_000.0, "{millis} ms on average");
            Ok(format!(
                "{RECORDS} there and back, {millis:.2} ms on average"
            ))
        })?;
    }
    Ok(())
}

/// `Avg latency: 0.5641 ms`
fn average(stdout: &str) -> Result<f64> {
    let latency = stdout.lines().find_map(|line| {
        let millis = line.strip_prefix("Avg latency: ")?.strip_suffix(" ms")?;
        millis.parse().ok()
    });
    latency.context("it reports no average")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_is_found() {
        let text = "0\t127.68\nAvg latency: 4.8645 ms\n\nPercentiles: 50th = 3\n";
        assert!((average(text).unwrap() - 4.8645).abs() < 1e-9);
        assert!(average("0\t127.68\n").is_err());
    }
}
