//! The rate that this machine can generate without a broker, for each flow of a scenario.

use std::path::Path;
use std::time::Duration;

use kgauge_load::{Ceiling, CeilingError, CeilingPath, CeilingSetup};
use kgauge_report::{CeilingReport, CeilingRow};
use kgauge_results::run::BuildRecord;
use kgauge_scenario::{
    ClusterFacts, FlowPlan, Plan, PlanRequest, Scenario, Size, Stripe, TargetKind, Trial,
};

use crate::error::{OrRunError, RunError};
use crate::ids::fresh_number;
use crate::stop::StopRequests;

/// The measured flows, which the user's settings change.
const SCENARIO: &str = include_str!("ceiling.yaml");

/// A measurement of this machine's ceilings, ready to begin.
#[derive(Debug)]
pub struct CeilingMeasurement {
    plan: Plan,
    cores: u32,
}

impl CeilingMeasurement {
    /// Plans it. `settings` are paths and values of the flows `writers` and `readers`.
    ///
    /// # Errors
    /// A setting cannot be used.
    pub fn new(settings: &[(String, String)]) -> Result<Self, RunError> {
        let mut scenario = Scenario::parse("ceiling", SCENARIO).or_bad_input()?;
        scenario.set_all(settings).or_bad_input()?;
        let request = PlanRequest {
            run_id: "ceiling".to_owned(),
            seed: fresh_number(),
            size: Size::Default,
            study: None,
            cluster: ClusterFacts {
                cluster_id: String::new(),
                brokers: 1,
                kind: TargetKind::Embedded,
                version: None,
            },
        };
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        Ok(Self {
            plan: Plan::new(request, &[scenario]).or_bad_input()?,
            cores: u32::try_from(cores).unwrap_or(1),
        })
    }

    /// How long it takes.
    pub fn planned(&self) -> Duration {
        let ways = 2 * self.clients().len();
        let each = self.plan.trials.iter().map(|trial| {
            let (warm_up, hold) = spans(trial);
            (warm_up + hold) * u32::try_from(trial.flows.len() * ways).unwrap_or(1)
        });
        each.sum()
    }

    /// Measures each flow in the process and over loopback, with one client and with one per core. `dir` is a folder
    /// of the disk that the machine's facts name.
    ///
    /// # Errors
    /// A flow cannot be generated, the load failed, or the user stopped it.
    pub fn measure(&self, dir: &Path, stop: &StopRequests) -> Result<CeilingReport, RunError> {
        let mut rows = Vec::new();
        for trial in &self.plan.trials {
            for flow in 0..trial.flows.len() {
                for path in [CeilingPath::InProcess, CeilingPath::Loopback] {
                    for clients in self.clients() {
                        let found = self.measure_flow(trial, flow, (path, clients), stop)?;
                        rows.push(row(trial, flow, path, &found));
                    }
                }
            }
        }
        Ok(CeilingReport {
            format: 1,
            kgauge: BuildRecord::this(),
            machine: kgauge_observe::machine_record(dir),
            rows,
        })
    }

    /// One client, and one per core.
    fn clients(&self) -> Vec<u32> {
        let mut clients = vec![1, self.cores];
        clients.dedup();
        clients
    }

    fn measure_flow(
        &self,
        trial: &Trial,
        flow: usize,
        (path, clients): (CeilingPath, u32),
        stop: &StopRequests,
    ) -> Result<Ceiling, RunError> {
        let share = self.plan.share(trial.index, 0, Stripe::WHOLE);
        let share = share.ok_or_else(|| RunError::input("the plan has no such trial"))?;
        let (warm_up, hold) = spans(trial);
        let setup = CeilingSetup {
            share: &share,
            flow,
            clients,
            warm_up,
            hold,
            interrupt: &stop.load,
        };
        kgauge_load::ceiling(&setup, path).map_err(|error| match error {
            _ if stop.is_wanted() => RunError::interrupted("stopped by the user"),
            CeilingError::Prepare(error) => RunError::input(error),
            error => RunError::Load(error.to_string()),
        })
    }
}

fn spans(trial: &Trial) -> (Duration, Duration) {
    let hold_ns = trial.stages.hold_ns.unwrap_or(1_000_000_000);
    (
        Duration::from_nanos(trial.stages.warm_up_ns),
        Duration::from_nanos(hold_ns),
    )
}

fn row(trial: &Trial, flow: usize, path: CeilingPath, found: &Ceiling) -> CeilingRow {
    CeilingRow {
        trial: trial.name.clone(),
        flow: trial.flows.get(flow).map_or("", FlowPlan::name).to_owned(),
        path: match path {
            CeilingPath::InProcess => "in the process",
            CeilingPath::Loopback => "over loopback",
        },
        threads: found.threads,
        records_per_s: found.records_per_s(),
        logical_bytes_per_s: found.logical_bytes_per_s(),
        cpu_ns_per_record: found.cpu_ns_per_record(),
        records_per_s_core: found.records_per_s_core(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn the_scenario_that_ships_is_two_trials_of_two_flows() {
        let measurement = CeilingMeasurement::new(&[]).unwrap();
        let trials = &measurement.plan.trials;
        assert_eq!(trials.len(), 2, "{trials:?}");
        assert!(trials.iter().all(|trial| trial.flows.len() == 2));
        // 200 ms and 1 s for two trials of two flows, on two paths, with one client and with one per core.
        let ways = if measurement.cores == 1 { 2 } else { 4 };
        assert_eq!(
            measurement.planned(),
            Duration::from_millis(1_200) * 4 * ways
        );
    }
}
