//! `kgauge checkup`: facts, figures and findings about a cluster, on one page.

use anyhow::ensure;
use kgauge_runner::{CheckupRequest, CheckupTexts, Question, RunTarget};

use crate::args::RunArgs;
use crate::checkup_args::CheckupArgs;
use crate::exit::ExitStatus;
use crate::host::env_target;
use crate::{interrupt, pods, print};

/// Checks a cluster, keeps everything in a run folder, and reports.
pub(crate) fn checkup(arguments: &CheckupArgs) -> anyhow::Result<ExitStatus> {
    let request = request(arguments)?;
    let question = request.question()?;
    if arguments.dry_run {
        return dry_run(arguments, &request, &question);
    }
    let arguments = RunArgs {
        targets: arguments.target.iter().cloned().collect(),
        conduct: arguments.conduct.clone(),
        checkup: Some(request),
        ..RunArgs::default()
    };
    pods::run_question(&arguments, &question)
}

/// What the user asks for; flags that mean nothing here are refused.
fn request(arguments: &CheckupArgs) -> anyhow::Result<CheckupRequest> {
    ensure!(
        !arguments.conduct.keep,
        "--keep: a checkup leaves nothing on the cluster"
    );
    ensure!(
        arguments.conduct.allow_existing.is_none(),
        "--allow-existing: a checkup only uses topics that it creates"
    );
    Ok(CheckupRequest::read(&CheckupTexts {
        goal: &arguments.goal,
        record_size: &arguments.record_size,
        producers: arguments.producers,
        budget: &arguments.budget,
        max_rate: arguments.max_rate.as_deref(),
        max_disk: arguments.max_disk.as_deref(),
    })?)
}

/// Shows facts and limits, without load.
fn dry_run(
    arguments: &CheckupArgs,
    request: &CheckupRequest,
    question: &Question,
) -> anyhow::Result<ExitStatus> {
    let text = arguments.target.clone().or_else(env_target);
    let text = text.unwrap_or_else(|| RunTarget::DEFAULT.to_owned());
    let target = RunTarget::read(&text, question, &print::remark)?;
    let stopping = interrupt::listen("stopping")?;
    let preview = request.preview(&target, stopping.load.clone())?;
    match arguments.conduct.json {
        true => print::json(&preview.json())?,
        false => print::result(&preview.text()),
    }
    Ok(ExitStatus::Good)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::time::Duration;

    use clap::Parser;

    use super::*;
    use crate::args::{Arguments, Command};

    fn parsed(words: &[&str]) -> anyhow::Result<CheckupRequest> {
        let words = ["kgauge", "checkup"].iter().chain(words);
        match Arguments::try_parse_from(words).unwrap().command {
            Command::Checkup(arguments) => request(&arguments),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn flags_become_limits() {
        let request = parsed(&["--max-rate", "50k/s", "--max-disk", "20 GB"]).unwrap();
        assert_eq!(request.goal, "p99 <= 20 ms");
        assert_eq!(request.rate_max, Some(50_000.0));
        assert_eq!(request.disk_bytes_max, Some(20_000_000_000));
        assert_eq!(request.budget, Duration::from_secs(900));
        assert_eq!((request.record_bytes, request.producers), (1_000, 4));
    }

    #[test]
    fn flags_that_would_leave_something_are_refused() {
        for words in [&["--keep"][..], &["--allow-existing", "orders"]] {
            assert!(parsed(words).is_err(), "{words:?}");
        }
        let error = parsed(&["--max-rate", "50k"]).unwrap_err().to_string();
        assert!(error.starts_with("--max-rate: "), "{error}");
    }
}
