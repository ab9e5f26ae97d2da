//! `kgauge init`: a scenario file to start from.

use std::path::Path;

use kgauge_runner::OrRunError;
use kgauge_scenario::{BuiltIn, SCENARIO_TEMPLATE};
use kgauge_tools::translate_command;

use crate::args::InitArgs;
use crate::exit::ExitStatus;
use crate::{new_file, print};

/// Writes the commented scenario, or the translation of a command line.
pub(crate) fn init(arguments: &InitArgs) -> anyhow::Result<ExitStatus> {
    let text = match &arguments.from_perf_test {
        Some(line) => translate_command(line).or_bad_input()?,
        None => SCENARIO_TEMPLATE.to_owned(),
    };
    let file = arguments.file.as_path();
    if file == Path::new("-") {
        print::result(&text);
        return Ok(ExitStatus::Good);
    }
    if let Some(built_in) = file.to_str().and_then(BuiltIn::named) {
        let name = built_in.name();
        anyhow::bail!(
            "`{name}` is a built-in scenario; name the file {name}.yaml, or write that scenario \
             with `kgauge run {name} --write-scenario {name}.yaml`"
        );
    }
    let fix = (!arguments.force).then_some("use --force to overwrite it");
    new_file::write(file, &text, fix)?;
    let file = file.display();
    print::remark(&format!(
        "wrote {file}; `kgauge check {file}` shows its plan, `kgauge run {file}` runs it"
    ));
    Ok(ExitStatus::Good)
}
