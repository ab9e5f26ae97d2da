//! The faults that a target does not support, reported before anything starts.

use kgauge_scenario::FaultPlan;

use crate::spec::TargetSpec;

/// One sentence for each fault that this kind of target does not support.
pub fn refusals(spec: &TargetSpec, faults: &[FaultPlan]) -> Vec<String> {
    match spec {
        TargetSpec::Embedded(_) => Vec::new(),
        TargetSpec::Kafka(_) => {
            let unsuited = faults.iter().filter(|fault| !fault.kind.is_for_kafka());
            let words = |fault: &FaultPlan| {
                format!(
                    "\"{fault}\": Apache Kafka brokers can only be stopped, killed, restarted and \
                     paused; use the embedded cluster for other faults"
                )
            };
            unsuited.map(words).collect()
        }
        TargetSpec::Existing(_) => {
            let words = |fault: &FaultPlan| {
                format!("\"{fault}\": kgauge injects faults only into clusters that it started")
            };
            faults.iter().map(words).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use kgauge_scenario::{Fault, FaultNode, FaultStart};

    use super::*;

    #[test]
    fn each_kind_of_target_refuses_what_it_cannot_have() {
        let fault = |kind| FaultPlan {
            at: FaultStart::Hold(1_000_000_000),
            every_ns: None,
            node: FaultNode::Number(1),
            kind,
            for_ns: None,
        };
        let faults = [fault(Fault::Kill), fault(Fault::Crash)];
        let of = |text: &str| refusals(&TargetSpec::parse(text).unwrap(), &faults);
        assert!(of("embedded:3").is_empty());
        let kafka = of("kafka:4.3.1");
        assert_eq!(kafka.len(), 1);
        assert!(
            kafka[0].starts_with("\"at 1 s, node 1: crash\": Apache Kafka brokers can only be")
        );
        let existing = of("somewhere:9092");
        assert_eq!(existing.len(), 2);
        assert!(existing[0].contains("that it started"), "{}", existing[0]);
    }
}
