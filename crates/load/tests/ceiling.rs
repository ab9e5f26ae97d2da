//! What a machine can generate at most: real records, counted as they are, into sinks that keep nothing.

#![allow(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::time::{Duration, Instant};

use kgauge_client::Interrupt;
use kgauge_load::{Ceiling, CeilingError, CeilingPath, CeilingSetup, ceiling};
use kgauge_scenario::{ClusterFacts, Plan, PlanRequest, Scenario, Share, Size, Stripe, TargetKind};

const PATHS: [CeilingPath; 2] = [CeilingPath::InProcess, CeilingPath::Loopback];

/// The share of a scenario with these flows.
fn share(flows: &str) -> Share {
    let text = format!(
        "kgauge: 1\nname: any\nquestion: How many?\ntopic: {{partitions: 3}}\nflows:\n{flows}"
    );
    let scenario = Scenario::parse("any", &text).unwrap();
    let request = PlanRequest {
        run_id: "any".to_owned(),
        seed: 1,
        size: Size::Default,
        study: None,
        cluster: ClusterFacts {
            cluster_id: String::new(),
            brokers: 1,
            kind: TargetKind::Embedded,
            version: None,
        },
    };
    let plan = Plan::new(request, &[scenario]).unwrap();
    plan.share(0, 0, Stripe::WHOLE).unwrap()
}

fn writers(settings: &str) -> String {
    format!(
        "  - {{name: writers, kind: produce, shape: {{constant: 7/s}}, record: {{size: 100 B}}, \
         settings: {{{settings}}}}}\n"
    )
}

fn measure(share: &Share, flow: usize, clients: u32, path: CeilingPath) -> Ceiling {
    let setup = CeilingSetup {
        share,
        flow,
        clients,
        warm_up: Duration::from_millis(20),
        hold: Duration::from_millis(100),
        interrupt: &Interrupt::new(),
    };
    ceiling(&setup, path).unwrap()
}

/// The ceiling far exceeds the flow's rate, each record has its 100 bytes, and the span is the requested one.
fn check(found: &Ceiling) {
    // Seven records a second would be none in a tenth of a second.
    assert!(found.records > 1_000, "{found:?}");
    assert_eq!(found.logical_bytes, found.records * 100, "{found:?}");
    assert!(found.cpu_ns > 0 && found.cpu_ns_per_record() > 0.0);
    assert!(found.span_ns >= 90_000_000, "{found:?}");
}

#[test]
fn producers_with_any_settings_run_at_full_speed() {
    for settings in [
        "",
        "compression.type: lz4",
        "acks: 0, enable.idempotence: false",
        "partitioner: {broker: 9}",
        "linger.ms: 0, batch.size: 2 KiB",
    ] {
        let share = share(&writers(settings));
        for path in PATHS {
            check(&measure(&share, 0, 1, path));
        }
    }
}

#[test]
fn consumers_read_what_the_trials_producers_write() {
    // Small answers: a slow build reads many of them in a tenth of a second, too.
    let readers = "  - {name: readers, kind: consume, group: true, settings: {max.partition.fetch.bytes: 8 KiB}}\n";
    let share = share(&(writers("batch.size: 4 KiB") + readers));
    for path in PATHS {
        let found = measure(&share, 1, 1, path);
        check(&found);
    }
}

#[test]
fn several_clients_use_several_threads() {
    let cores = std::thread::available_parallelism().unwrap().get();
    let share = share(&writers(""));
    for path in PATHS {
        let found = measure(&share, 0, 2, path);
        assert_eq!(found.threads as usize, cores.min(2));
        check(&found);
    }
}

#[test]
fn unknown_records_have_no_ceiling() {
    let flows = writers("") + "  - {name: readers, kind: consume}\n";
    let mut share = share(&flows);
    share.trial.flows.remove(0);
    let setup = CeilingSetup {
        share: &share,
        flow: 0,
        clients: 1,
        warm_up: Duration::ZERO,
        hold: Duration::from_millis(10),
        interrupt: &Interrupt::new(),
    };
    let ended = ceiling(&setup, CeilingPath::Loopback);
    assert!(matches!(ended, Err(CeilingError::NoBatch)), "{ended:?}");
}

#[test]
fn an_interrupt_ends_it_at_once() {
    let interrupt = Interrupt::new();
    interrupt.raise();
    let share = share(&writers(""));
    let setup = CeilingSetup {
        share: &share,
        flow: 0,
        clients: 1,
        warm_up: Duration::ZERO,
        hold: Duration::from_secs(3_600),
        interrupt: &interrupt,
    };
    let started = Instant::now();
    for path in PATHS {
        assert!(ceiling(&setup, path).is_err());
    }
    assert!(started.elapsed() < Duration::from_secs(60));
}
