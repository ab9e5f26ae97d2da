//! `kgauge ceiling`: the rate that this machine can generate without a broker.

use std::time::Duration;

use kgauge_load::{Ceiling, CeilingError, CeilingPath, CeilingSetup};
use kgauge_results::run::{BuildRecord, MachineRecord};
use kgauge_runner::fresh_number;
use kgauge_scenario::format::{compact, seconds};
use kgauge_scenario::{
    ClusterFacts, FlowPlan, Plan, PlanRequest, Scenario, Size, Stripe, TargetKind, Trial,
};
use serde::Serialize;

use crate::args;
use crate::exit::{ExitStatus, OrStop, stop};
use crate::interrupt::{self, StopRequests};
use crate::print;
use crate::run::settings_of;

/// The measured flows, which `--set` changes.
const SCENARIO: &str = include_str!("ceiling.yaml");

/// The output of `--json`.
#[derive(Debug, Serialize)]
struct CeilingJson {
    format: u32,
    kgauge: BuildRecord,
    machine: MachineRecord,
    rows: Vec<Row>,
}

/// The result of one flow, one path and one number of clients.
#[derive(Debug, Serialize)]
struct Row {
    /// The varied settings.
    trial: String,
    flow: String,
    path: &'static str,
    threads: u32,
    records_per_s: f64,
    logical_bytes_per_s: f64,
    cpu_ns_per_record: f64,
    records_per_s_core: f64,
}

/// Measures, and prints a table.
pub(crate) fn ceiling(arguments: &args::CeilingArgs) -> anyhow::Result<ExitStatus> {
    let plan = plan(arguments)?;
    let stopping = interrupt::listen("stopping")?;
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let cores = u32::try_from(cores).unwrap_or(1);
    announce(&plan, cores);
    let mut rows = Vec::new();
    for trial in &plan.trials {
        for flow in 0..trial.flows.len() {
            for path in [CeilingPath::InProcess, CeilingPath::Loopback] {
                for clients in clients(cores) {
                    let found = measured(&plan, trial, flow, (path, clients), &stopping)?;
                    rows.push(row(trial, flow, path, &found));
                }
            }
        }
    }
    let ceilings = CeilingJson {
        format: 1,
        kgauge: BuildRecord::this(),
        machine: kgauge_observe::machine_record(&std::env::temp_dir()),
        rows,
    };
    if arguments.json {
        print::json(&ceilings)?;
    } else {
        print::result(&table(&ceilings));
    }
    Ok(ExitStatus::Good)
}

fn plan(arguments: &args::CeilingArgs) -> anyhow::Result<Plan> {
    let mut scenario = Scenario::parse("ceiling", SCENARIO).or_bad_input()?;
    scenario
        .set_all(&settings_of(&arguments.set)?)
        .or_bad_input()?;
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
    Plan::new(request, &[scenario]).or_bad_input()
}

/// One client, and one per core.
fn clients(cores: u32) -> Vec<u32> {
    let mut clients = vec![1, cores];
    clients.dedup();
    clients
}

fn spans(trial: &Trial) -> (Duration, Duration) {
    let hold_ns = trial.stages.hold_ns.unwrap_or(1_000_000_000);
    (
        Duration::from_nanos(trial.stages.warm_up_ns),
        Duration::from_nanos(hold_ns),
    )
}

fn announce(plan: &Plan, cores: u32) {
    let ways = 2 * clients(cores).len();
    let each = plan.trials.iter().map(|trial| {
        let (warm_up, hold) = spans(trial);
        (warm_up + hold) * u32::try_from(trial.flows.len() * ways).unwrap_or(1)
    });
    print::message(&format!(
        "kgauge: measuring the generator's ceiling, about {}",
        seconds(each.sum())
    ));
}

fn measured(
    plan: &Plan,
    trial: &Trial,
    flow: usize,
    (path, clients): (CeilingPath, u32),
    stopping: &StopRequests,
) -> anyhow::Result<Ceiling> {
    let share = plan.share(trial.index, 0, Stripe::WHOLE);
    let share = share.ok_or_else(|| stop(ExitStatus::BadInput, "the plan has no such trial"))?;
    let (warm_up, hold) = spans(trial);
    let setup = CeilingSetup {
        share: &share,
        flow,
        clients,
        warm_up,
        hold,
        interrupt: &stopping.load,
    };
    kgauge_load::ceiling(&setup, path).map_err(|error| match error {
        _ if stopping.is_wanted() => stop(ExitStatus::Interrupted, "stopped by the user"),
        CeilingError::Prepare(error) => stop(ExitStatus::BadInput, error),
        error => stop(ExitStatus::Failed, error),
    })
}

fn row(trial: &Trial, flow: usize, path: CeilingPath, found: &Ceiling) -> Row {
    Row {
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

fn table(ceilings: &CeilingJson) -> String {
    let machine = &ceilings.machine;
    let cpus = machine
        .cpu_count
        .map_or_else(String::new, |cpus| format!("{cpus} x "));
    let model = machine.cpu_model.as_deref().unwrap_or("a processor");
    let mut text = format!("{cpus}{model}, kgauge {}\n", ceilings.kgauge.version);
    if ceilings.kgauge.debug {
        text.push_str("This kgauge was built without optimisation: build with --release.\n");
    }
    let mut trial = None;
    for row in &ceilings.rows {
        if trial != Some(&row.trial) {
            trial = Some(&row.trial);
            text.push_str(&format!(
                "\n{}\n{:<24}  {:>7}  {:>9}  {:>7}  {:>6}  {:>8}\n",
                row.trial, "", "threads", "records/s", "MB/s", "CPU ns", "per core"
            ));
        }
        text.push_str(&format!(
            "  {:<8} {:<13}  {:>7}  {:>9}  {:>7.0}  {:>6.1}  {:>8}\n",
            row.flow,
            row.path,
            row.threads,
            compact(row.records_per_s),
            row.logical_bytes_per_s / 1e6,
            row.cpu_ns_per_record,
            compact(row.records_per_s_core),
        ));
    }
    text.push_str(
        "\nCPU ns: CPU time of the load threads per record. Per core: records per second\nof a core \
         that does nothing else. Over loopback, the receiver uses CPU as well.\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scenario_that_ships_is_two_trials_of_two_flows() {
        let arguments = args::CeilingArgs {
            set: Vec::new(),
            json: false,
        };
        let plan = plan(&arguments).unwrap();
        let sizes: Vec<&str> = plan
            .trials
            .iter()
            .map(|trial| trial.name.as_str())
            .collect();
        assert_eq!(sizes.len(), 2, "{sizes:?}");
        assert!(plan.trials.iter().all(|trial| trial.flows.len() == 2));
    }
}
