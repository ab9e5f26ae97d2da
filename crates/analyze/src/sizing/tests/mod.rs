//! Sizing with costs that are known: 2 ns for a byte in, 1 ns for one replicated or sent, 20 µs for a batch.

mod made;
mod missing;
mod paper;
mod published;

use super::*;
use made::facts;
pub(super) use made::need;

const GIB: f64 = 1_073_741_824.0;

/// 1 kB records in batches of 10 kB.
fn trial(in_bytes: f64, replication: u32, fan_out: f64) -> TrialFacts {
    let batches = in_bytes / 10_000.0;
    let replicated = in_bytes * f64::from(replication - 1);
    let out_bytes = in_bytes * fan_out;
    TrialFacts {
        setup: format!("{in_bytes} {replication} {fan_out}"),
        replication,
        logical_bytes_repeats: vec![in_bytes],
        out_bytes,
        read_bytes_repeats: vec![out_bytes],
        fetch_requests: out_bytes / 100_000.0,
        cpu_cores: Some(2e-9 * in_bytes + 1e-9 * (replicated + out_bytes) + 20e-6 * batches),
        has_kept_rate: true,
        ..facts(in_bytes, batches)
    }
}

/// Also batches of other sizes, so that bytes and batches can be told apart.
fn trials() -> Vec<TrialFacts> {
    let mut trials = vec![
        trial(10e6, 1, 0.0),
        trial(40e6, 3, 0.0),
        trial(80e6, 3, 1.0),
        trial(20e6, 2, 2.0),
        trial(60e6, 1, 1.0),
        trial(30e6, 3, 3.0),
    ];
    for factor in [4.0, 0.5] {
        let mut other = trial(50e6, 3, 1.0);
        let more = 20e-6 * other.batches * (factor - 1.0);
        other.cpu_cores = other.cpu_cores.map(|cores| cores + more);
        other.batches *= factor;
        other.produce_requests *= factor;
        other.setup = format!("batches {factor}");
        other.record_bytes = Some(1_200.0);
        trials.push(other);
    }
    trials
}

fn machine(vcpus: f64) -> MachineType {
    MachineType {
        name: "one".to_owned(),
        vcpus,
        memory_bytes: 64.0 * GIB,
        network_bytes_per_s: Some(10e9 / 8.0),
        disk_bytes_per_s: Some(500e6),
        disk_bytes: None,
        price_per_hour: Some(1.0),
        disk_price_per_gb_month: Some(0.1),
        zone_price_per_gb: Some(0.02),
    }
}

fn resource(answer: &SizeAnswer, resource: SizingResource) -> ResourceNeed {
    let mut needs = answer.choices[0].resources.iter();
    *needs
        .find(|need| need.resource == resource)
        .expect("the resource")
}

fn brokers_for(answer: &SizeAnswer, of: SizingResource) -> u32 {
    resource(answer, of).brokers.expect("a number")
}

#[track_caller]
fn near(found: f64, truth: f64) {
    assert!(
        (found - truth).abs() <= 1e-6 * truth.abs(),
        "{found} is not {truth}"
    );
}
