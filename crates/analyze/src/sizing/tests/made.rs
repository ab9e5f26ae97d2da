//! A trial and a need for tests, which change in them what they are about. The tests of the answer's text use them too.

use super::{SizingMachine, SizingNeed, TrialFacts};

/// Records of 1 kB in one batch per request, on three brokers that share one processor, with three replicas and without
/// readers. The CPU time is unknown.
pub(crate) fn facts(in_bytes: f64, batches: f64) -> TrialFacts {
    TrialFacts {
        run_id: "one".to_owned(),
        setup: format!("{in_bytes} {batches}"),
        machine: SizingMachine {
            processors: Some(1),
            ..SizingMachine::default()
        },
        brokers: 3,
        partitions: 12,
        replication: 3,
        record_bytes: Some(1_000.0),
        records: in_bytes / 1_000.0,
        logical_bytes: in_bytes,
        in_bytes,
        produce_requests: batches,
        batches,
        ..TrialFacts::default()
    }
}

pub(crate) fn need() -> SizingNeed {
    SizingNeed {
        rate_bytes_per_s: 50e6,
        record_bytes: 1_000.0,
        peak: 3.0,
        retention_s: 7.0 * 86_400.0,
        fan_out: 3.0,
        replication: 3,
        lose: 1,
        tls: false,
        compression: None,
        recompressed: false,
        latency_ns_p99: None,
        outage_s: 3_600.0,
        catch_up_s: 3_600.0,
        zones: 1,
        controllers: 0,
    }
}
