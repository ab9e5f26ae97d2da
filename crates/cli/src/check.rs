//! `kgauge check`: what scenarios would do, without load and without a target.

use kgauge_runner::RunPreview;

use crate::args::CheckArgs;
use crate::exit::{self, ExitStatus};
use crate::print;
use crate::run::{changes_of, question_of};

/// Shows the plan of each file. A mistake in one file does not hide the others.
pub(crate) fn check(arguments: &CheckArgs) -> anyhow::Result<ExitStatus> {
    let changes = changes_of(&arguments.changes)?;
    let preview = |what: &String| -> anyhow::Result<RunPreview> {
        let question = question_of(what, &arguments.built_in, &changes)?;
        Ok(question.preview(arguments.seed)?)
    };
    let mut statuses = Vec::new();
    let mut listed = Vec::new();
    for (index, what) in arguments.files.iter().enumerate() {
        match preview(what) {
            Ok(preview) if arguments.json => listed.push(preview.json()),
            Ok(preview) => {
                let gap = if index > 0 { "\n" } else { "" };
                print::result(&format!("{gap}{preview}"));
            }
            Err(error) => statuses.push(exit::report(Err(error))),
        }
    }
    if arguments.json {
        print::json(&listed)?;
    }
    Ok(ExitStatus::gravest(&statuses))
}
