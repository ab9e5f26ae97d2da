//! The faults that a target does not support, reported before anything starts.

use kgauge_faults::Fault;
use kgauge_scenario::{FaultPlan, TRANSACTION_APIS};

use crate::spec::TargetSpec;

/// One sentence for each fault that this kind of target does not support.
pub fn refusals(spec: &TargetSpec, faults: &[FaultPlan]) -> Vec<String> {
    let refused = |check: fn(&Fault) -> Result<(), String>| {
        let words = |fault: &FaultPlan| {
            let why = check(&fault.kind).err()?;
            Some(format!("\"{fault}\": {why}"))
        };
        faults.iter().filter_map(words).collect()
    };
    match spec {
        TargetSpec::Embedded(_) => refused(check_embedded),
        TargetSpec::Kafka(_) => refused(|fault| {
            let means = fault.kafka_means().map(drop);
            means.map_err(|why| format!("not on Apache Kafka: {why}"))
        }),
        TargetSpec::Existing(_) => {
            let words = |fault: &FaultPlan| {
                format!("\"{fault}\": kgauge injects faults only into clusters that it started")
            };
            faults.iter().map(words).collect()
        }
    }
}

/// The embedded cluster serves no transactions, and has fewer faults of a machine.
fn check_embedded(fault: &Fault) -> Result<(), String> {
    fault.check_embedded()?;
    match fault {
        Fault::Requests { api: Some(api), .. } if TRANSACTION_APIS.contains(&api.as_str()) => {
            Err(format!("the embedded cluster does not serve {api}"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
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
