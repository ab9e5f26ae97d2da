//! What a machine can generate, as a table and as a type for other programs.

use kgauge_results::run::{BuildRecord, MachineRecord};
use kgauge_scenario::format::compact;
use serde::Serialize;

/// The maximum load of a machine.
#[derive(Debug, Serialize)]
pub struct CeilingReport {
    /// The version of this form.
    pub format: u32,
    /// What measured it.
    pub kgauge: BuildRecord,
    /// The machine.
    pub machine: MachineRecord,
    /// The results, those of a trial one after another.
    pub rows: Vec<CeilingRow>,
}

/// The result of one flow, one path and one number of clients.
#[derive(Debug, Serialize)]
pub struct CeilingRow {
    /// The varied settings.
    pub trial: String,
    /// The flow.
    pub flow: String,
    /// Where records went: `in the process` or `over loopback`.
    pub path: &'static str,
    /// Load threads.
    pub threads: u32,
    /// Records per second.
    pub records_per_s: f64,
    /// Bytes per second of keys, values and headers.
    pub logical_bytes_per_s: f64,
    /// CPU time of the load threads per record, in nanoseconds.
    pub cpu_ns_per_record: f64,
    /// Records per second of a core that does nothing else.
    pub records_per_s_core: f64,
}

/// The table, ending with a line break.
pub(crate) fn text(ceilings: &CeilingReport) -> String {
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
                "\n{}\n{:<25}  {:>7}  {:>9}  {:>7}  {:>6}  {:>8}\n",
                row.trial, "", "threads", "records/s", "MB/s", "CPU ns", "per core"
            ));
        }
        text.push_str(&format!(
            "  {:<8} {:<14}  {:>7}  {:>9}  {:>7.0}  {:>6.1}  {:>8}\n",
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
