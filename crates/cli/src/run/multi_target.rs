//! The same run on several targets, one after another, and their comparison.

use std::path::{Path, PathBuf};

use kgauge_runner::{
    COMPARISON_PAGE, FolderChoice, RunTarget, SummarizedRun, compare_runs, parent_dir,
    remove_unused, write_results,
};

use super::{RunJob, ended_status, show};
use crate::compare::keep;
use crate::exit::{self, ExitStatus};
use crate::print;

impl RunJob<'_> {
    /// Runs on each target with the same seed. A target that fails does not end the others.
    pub(super) fn run_all(&self, targets: &[RunTarget]) -> anyhow::Result<ExitStatus> {
        let conduct = &self.arguments.conduct;
        let (out, name) = (conduct.out.as_deref(), conduct.name.as_deref());
        let (parent, seed) = parent_dir(out, name, &self.question.name, conduct.seed)?;
        let mut compared: Vec<SummarizedRun> = Vec::new();
        let mut names = Vec::new();
        let mut statuses = Vec::new();
        for (index, target) in targets.iter().enumerate() {
            if self.stopping.is_wanted() {
                break;
            }
            let of = (index + 1, targets.len());
            if !conduct.detail.quiet {
                print::remark(&format!("target {} of {}: {}", of.0, of.1, target.text));
            }
            let dir = parent.join(format!("{}-{}", of.0, target.slug()));
            self.stopping.let_next_begin();
            let (found, status) = self.run_one_of(target, of, dir, seed);
            match (&found, &self.observed) {
                (Some(found), _) => self.publish(&target.text, &found.read.dir),
                (None, Some(state)) => state.trouble(&format!(
                    "No run started on {}; kgauge's terminal output has the reason.",
                    target.text
                )),
                (None, None) => {}
            }
            if let Some(found) = found {
                compared.push(found);
                names.push(target.text.clone());
            }
            statuses.push(status);
        }
        if self.stopping.is_wanted() {
            statuses.push(ExitStatus::Interrupted);
        }
        // Those that kgauge started have better names: their releases.
        if !targets.iter().any(RunTarget::is_existing) {
            names.clear();
        }
        let ended = self.finish(&parent, compared, &names, &statuses);
        self.serve_file("The comparison", &parent.join(COMPARISON_PAGE));
        ended
    }

    /// One target's run, if it began. What went wrong is printed here.
    fn run_one_of(
        &self,
        target: &RunTarget,
        of: (usize, usize),
        dir: PathBuf,
        seed: u64,
    ) -> (Option<SummarizedRun>, ExitStatus) {
        let measured = self.measure(target, Some(of), FolderChoice::New(dir), Some(seed));
        let made = measured.and_then(|finished| {
            let made = write_results(&finished.dir)?;
            Ok((made, finished.ended))
        });
        let ((read, summary), ended) = match made {
            Ok(made) => made,
            Err(error) => return (None, exit::report(Err(error))),
        };
        let status = ended_status(ended, &summary);
        (Some(SummarizedRun { read, summary }), status)
    }

    /// The comparison of what there is, and the gravest status.
    fn finish(
        &self,
        parent: &Path,
        compared: Vec<SummarizedRun>,
        names: &[String],
        statuses: &[ExitStatus],
    ) -> anyhow::Result<ExitStatus> {
        let (json, detail) = (self.arguments.conduct.json, self.arguments.conduct.detail);
        match compared.as_slice() {
            [] => remove_unused(parent),
            [one] => {
                print::remark("only one target was measured, so there is nothing to compare");
                show(&one.read, &one.summary, json, detail)?;
            }
            _ => keep(&compare_runs(compared, names)?, parent, json, detail)?,
        }
        Ok(ExitStatus::gravest(statuses))
    }
}
