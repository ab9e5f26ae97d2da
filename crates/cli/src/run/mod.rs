//! `kgauge run`: arguments, resolved, to one call of the runner per target.

mod multi_target;
mod resolve;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use kgauge_analyze::Summary;
use kgauge_live::{LiveRunState, LiveServer, TerminalObserver};
use kgauge_results::RunRead;
use kgauge_runner::{
    FinishedRun, FolderChoice, OrRunError, Question, RepeatEnd, RunError, RunRequest, RunTarget,
    name_slug, run as run_one, write_results,
};

use crate::args::RunArgs;
use crate::exit::{self, ExitStatus};
use crate::host::{command_line, env_target};
use crate::interrupt::{self, StopRequests};
use crate::print;
use crate::progress::{StderrTerminal, is_seen};
use crate::style::DetailArgs;

pub(crate) use resolve::{changes_of, check_run_folder, question, question_of, targets};

/// Runs a question that has been read from the arguments on every target, keeps everything in run folders, and reports.
pub(crate) fn run_question(arguments: &RunArgs, question: &Question) -> anyhow::Result<ExitStatus> {
    with_job(arguments, question, |job, targets| match targets {
        [target] => job.run_single(target),
        targets => job.run_all(targets),
    })
}

/// Runs a question on the first target and writes its report, but prints none. Returns the run folder.
pub(crate) fn measure_question(
    arguments: &RunArgs,
    question: &Question,
) -> anyhow::Result<PathBuf> {
    with_job(arguments, question, |job, targets| {
        let target = targets.first().context("no target")?;
        let finished = job.measure(target, None, job.folder(), arguments.conduct.seed)?;
        write_results(&finished.dir)?;
        match finished.ended? {
            RepeatEnd::Complete => Ok(finished.dir),
            RepeatEnd::Interrupted => Err(RunError::interrupted(format!(
                "interrupted; the finished trials are in {0}\n  resume with `kgauge run --resume {0}`",
                finished.dir.display()
            ))
            .into()),
        }
    })
}

/// Resolves the targets, listens for Ctrl-C and serves the live page while something runs.
fn with_job<T>(
    arguments: &RunArgs,
    question: &Question,
    conduct: impl FnOnce(&RunJob<'_>, &[RunTarget]) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    if let Some(name) = &arguments.conduct.name {
        name_slug(name)?;
    }
    let targets = resolve::targets(arguments, question)?;
    let stopping =
        interrupt::listen("stopping (press Ctrl-C again to stop without waiting for answers)")?;
    let server = serve(arguments, &stopping)?;
    let job = RunJob {
        arguments,
        question,
        observed: match &server {
            Some(server) => Some(Arc::clone(&server.state)),
            None => is_seen().then(|| Arc::new(LiveRunState::new(stopping.clone()))),
        },
        server: server.as_ref(),
        stopping: &stopping,
    };
    let ended = conduct(&job, &targets);
    if let Some(server) = &server {
        server.end(&stopping);
    }
    ended
}

/// What the runs of one command share.
struct RunJob<'a> {
    arguments: &'a RunArgs,
    question: &'a Question,
    /// What is known of the runs at this moment, if somebody can see it.
    observed: Option<Arc<LiveRunState>>,
    server: Option<&'a LiveServer>,
    stopping: &'a StopRequests,
}

impl RunJob<'_> {
    fn folder(&self) -> FolderChoice {
        match (&self.arguments.resume, &self.arguments.conduct.out) {
            (Some(dir), _) => FolderChoice::Resume(dir.clone()),
            (None, Some(dir)) => FolderChoice::New(dir.clone()),
            (None, None) => FolderChoice::Default,
        }
    }

    /// Runs on one target, and prints its report.
    fn run_single(&self, target: &RunTarget) -> anyhow::Result<ExitStatus> {
        let finished = self.measure(target, None, self.folder(), self.arguments.conduct.seed)?;
        let reported = report(
            &finished.dir,
            self.arguments.conduct.json,
            self.arguments.conduct.detail,
        );
        self.publish(&target.text, &finished.dir);
        // The first error is the one to print; the report has been written in any case.
        match finished.ended? {
            RepeatEnd::Interrupted => reported.map(|_| ExitStatus::Interrupted),
            RepeatEnd::Complete => reported,
        }
    }

    /// Runs on one target, the n-th of several. An error means that nothing began.
    fn measure(
        &self,
        target: &RunTarget,
        number: Option<(usize, usize)>,
        folder: FolderChoice,
        seed: Option<u64>,
    ) -> anyhow::Result<FinishedRun> {
        let arguments = self.arguments;
        if let Some(state) = &self.observed {
            state.target_begins(&self.question.name, &target.text, number);
        }
        let mut command = command_line();
        if arguments.targets.is_empty()
            && let Some(target) = env_target()
        {
            command.extend(["--target".to_owned(), target]);
        }
        let mut request = RunRequest {
            folder,
            seed,
            command,
            checkup: arguments.checkup.as_ref(),
            agents: arguments.conduct.agents.request()?,
            stop: self.stopping.clone(),
            ..arguments.conduct.request(self.question, target)?
        };
        if number.is_some() {
            request.label.add_target(&target.text);
        }
        let (live, is_quiet) = (self.observed.clone(), arguments.conduct.detail.quiet);
        let mut observer = TerminalObserver::new(StderrTerminal, live, is_quiet);
        Ok(run_one(&request, &mut observer)?)
    }

    /// Lets the server have the report that a run left.
    fn publish(&self, target: &str, dir: &Path) {
        let file = dir.join(kgauge_results::folder::layout::REPORT);
        self.serve_file(&format!("The report on {target}"), &file);
    }

    fn serve_file(&self, name: &str, file: &Path) {
        if let (Some(server), Ok(page)) = (self.server, std::fs::read_to_string(file)) {
            server.state.report(name, file.to_owned(), &page);
        }
    }
}

/// Serves the live page if the user requested it, and prints its address.
fn serve(arguments: &RunArgs, stopping: &StopRequests) -> anyhow::Result<Option<LiveServer>> {
    let Some(text) = &arguments.conduct.serve else {
        return Ok(None);
    };
    let server = LiveServer::start(text, stopping).or_bad_input()?;
    let at = server.address;
    print::remark(&format!(
        "watch the run at http://{at}/ (metrics for Prometheus: http://{at}/metrics)"
    ));
    if !at.ip().is_loopback() {
        print::remark(&format!(
            "--serve {text} listens beyond this machine: anyone who can reach it can \
             watch the run without a password"
        ));
    }
    Ok(Some(server))
}

/// Makes summary and report out of a run folder, and prints the one or the other.
pub(crate) fn report(dir: &Path, json: bool, detail: DetailArgs) -> anyhow::Result<ExitStatus> {
    let (read, summary) = write_results(dir)?;
    show(&read, &summary, json, detail)?;
    Ok(status(&summary))
}

pub(crate) fn show(
    read: &RunRead,
    summary: &Summary,
    json: bool,
    detail: DetailArgs,
) -> anyhow::Result<()> {
    match json {
        true => print::json(&kgauge_report::summary_json(summary)?),
        false => {
            let table = kgauge_report::render_terminal(read, summary, detail.style());
            print::result(&table);
            Ok(())
        }
    }
}

/// The exit status of one of several runs. Prints what went wrong.
pub(crate) fn ended_status(ended: Result<RepeatEnd, RunError>, summary: &Summary) -> ExitStatus {
    match ended {
        Ok(RepeatEnd::Interrupted) => ExitStatus::Interrupted,
        Ok(RepeatEnd::Complete) => status(summary),
        Err(error) => exit::report(Err(error.into())),
    }
}

/// The exit status for a summary.
pub(crate) fn status(summary: &Summary) -> ExitStatus {
    ExitStatus::of_code(summary.exit_status.into())
}
