//! `kgauge ceiling`: the rate that this machine can generate without a broker.

use kgauge_report::render_ceiling_terminal;
use kgauge_runner::{CeilingMeasurement, read_settings};
use kgauge_scenario::format::seconds;

use crate::args::CeilingArgs;
use crate::exit::ExitStatus;
use crate::interrupt;
use crate::print;

/// Measures, and prints a table.
pub(crate) fn ceiling(arguments: &CeilingArgs) -> anyhow::Result<ExitStatus> {
    let measurement = CeilingMeasurement::new(&read_settings(&arguments.set)?)?;
    let stopping = interrupt::listen("stopping")?;
    print::remark(&format!(
        "measuring the generator's ceiling, about {}",
        seconds(measurement.planned())
    ));
    let ceilings = measurement.measure(&std::env::temp_dir(), &stopping)?;
    match arguments.json {
        true => print::json(&ceilings)?,
        false => print::result(&render_ceiling_terminal(&ceilings)),
    }
    Ok(ExitStatus::Good)
}
