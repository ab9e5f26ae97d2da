//! The faults that a target does not support, reported before anything starts.

use kgauge_scenario::FaultPlan;

use crate::spec::TargetSpec;

/// One sentence for each fault that the target does not support.
pub fn refusals(spec: &TargetSpec, faults: &[FaultPlan]) -> Vec<String> {
    let refused = faults.iter().filter_map(|fault| {
        let why = spec.check_fault(&fault.kind).err()?;
        Some(format!("\"{fault}\": {why}"))
    });
    refused.collect()
}

#[cfg(test)]
mod tests {
    use kgauge_faults::Fault;
    use kgauge_scenario::{FaultNode, FaultStart, RequestFault};

    use super::*;

    const SECOND: std::time::Duration = std::time::Duration::from_secs(1);

    #[test]
    fn each_kind_of_target_refuses_what_it_cannot_have() {
        let fault = |kind| FaultPlan {
            at: FaultStart::Hold(1_000_000_000),
            every_ns: None,
            node: FaultNode::Number(1),
            kind,
            for_ns: None,
        };
        let requests = |api: &str, what| Fault::Requests {
            api: Some(api.to_owned()),
            times: None,
            what,
        };
        let faults = [
            fault(Fault::Crash),
            fault(requests(
                "produce",
                RequestFault::fail("UNKNOWN_SERVER_ERROR"),
            )),
            fault(requests("end-txn", RequestFault::stall(SECOND))),
        ];
        let of = |text: &str| refusals(&TargetSpec::parse(text).unwrap(), &faults);
        let embedded = of("embedded:3");
        assert_eq!(embedded.len(), 1);
        assert!(
            embedded[0].ends_with("does not serve end-txn"),
            "{embedded:?}"
        );
        let kafka = of("kafka:4.3.1");
        assert_eq!(
            kafka,
            [
                "\"at 1 s, node 1: produce requests fail with UNKNOWN_SERVER_ERROR\": not on \
                 Apache Kafka: Apache Kafka answers with its own errors"
            ]
        );
        let existing = of("somewhere:9092");
        assert_eq!(existing.len(), 3);
        assert!(existing[0].contains("that it started"), "{}", existing[0]);
    }
}
