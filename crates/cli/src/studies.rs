//! `kgauge studies`: lists the built-in studies.

use kgauge_report::{render_study_list, study_list_json};
use kgauge_scenario::Studies as Shipped;

use crate::args::StudiesArgs;
use crate::exit::ExitStatus;
use crate::print;

/// Prints the studies with their questions.
pub(crate) fn list(arguments: &StudiesArgs) -> anyhow::Result<ExitStatus> {
    let studies = Shipped::list();
    match arguments.json {
        true => print::json(&study_list_json(&studies))?,
        false => print::result(&render_study_list(&studies)),
    }
    Ok(ExitStatus::Good)
}
