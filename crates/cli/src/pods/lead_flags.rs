//! What a lead in a pod gets of the flags of a run.

use std::ffi::OsStr;

use clap::Parser;
use kgauge_runner::{CheckupRequest, without_secrets};

use super::CHECKUP;
use crate::args::{Arguments, Command, RunArgs};
use crate::exit::{ExitStatus, stop};

/// The arguments of a lead.
///
/// # Errors
/// A flag only has a meaning on this machine.
pub(super) fn lead_arguments(arguments: &RunArgs) -> anyhow::Result<Vec<String>> {
    check_flags(arguments)?;
    let conduct = &arguments.conduct;
    let mut more = arguments.checkup.as_ref().map_or_else(Vec::new, of_checkup);
    // That of a plan is in the plan.
    if let (Some(seed), true) = (conduct.seed, arguments.checkup.is_some()) {
        more.push(format!("--seed={seed}"));
    }
    if let Some(name) = &conduct.name {
        more.push(format!("--name={name}"));
    }
    if let Some(topic) = &conduct.allow_existing {
        more.push(format!("--allow-existing={topic}"));
    }
    if conduct.keep {
        more.push("--keep".to_owned());
    }
    if conduct.no_wire_evidence {
        more.push("--no-wire-evidence".to_owned());
    }
    more.extend(conduct.agents.lead_arguments());
    let metrics = conduct.metrics.iter();
    more.extend(metrics.map(|metrics| format!("--metrics={metrics}")));
    Ok(more)
}

/// Reads a command line of kgauge.
pub(super) fn parsed<'a>(words: impl IntoIterator<Item = &'a OsStr>) -> anyhow::Result<Command> {
    let parsed = Arguments::try_parse_from(words).map_err(|usage| {
        let text = usage.render().to_string();
        stop(
            ExitStatus::BadInput,
            text.trim_end().trim_start_matches("error: "),
        )
    });
    Ok(parsed?.command)
}

/// A checkup plans its loads when it knows the cluster.
fn of_checkup(request: &CheckupRequest) -> Vec<String> {
    let mut flags = vec![
        CHECKUP.to_owned(),
        format!("--goal={}", request.goal),
        format!("--budget={} ms", request.budget.as_millis()),
        format!("--record-size={} B", request.record_bytes),
        format!("--producers={}", request.producers),
    ];
    flags.extend(request.rate_max.map(|rate| format!("--max-rate={rate}/s")));
    let disk = request.disk_bytes_max;
    flags.extend(disk.map(|bytes| format!("--max-disk={bytes} B")));
    flags
}

/// Refuses flags whose meaning ends at this machine.
fn check_flags(arguments: &RunArgs) -> anyhow::Result<()> {
    let conduct = &arguments.conduct;
    let mut metrics = conduct.metrics.iter();
    let has_password = metrics.any(|metrics| without_secrets(metrics) != *metrics);
    let refused = [
        (arguments.targets.len() > 1, "several targets"),
        (arguments.resume.is_some(), "--resume"),
        (arguments.destination.is_some(), "--destination"),
        (!arguments.prices.is_empty(), "--price"),
        // Arguments of pods can be read by everybody in the namespace.
        (has_password, "passwords in --metrics"),
        (conduct.serve.is_some(), "--serve"),
        (conduct.kafka_home.is_some(), "--kafka-home"),
        (!conduct.network_speeds.is_empty(), "--network-speed"),
        (
            conduct.agents.agents_token_file.is_some(),
            "--agents-token-file",
        ),
    ];
    match refused.iter().find(|(is_given, _)| *is_given) {
        Some((_, flag)) => Err(stop(
            ExitStatus::BadInput,
            format!("--agents k8s: does not work with {flag}; leave it out"),
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_checkup_is_the_same_in_a_pod() {
        let request = CheckupRequest {
            rate_max: Some(50_000.0),
            disk_bytes_max: Some(20_000_000_000),
            ..CheckupRequest::new("p99 <= 20 ms".to_owned())
        };
        assert_eq!(
            of_checkup(&request),
            [
                "checkup",
                "--goal=p99 <= 20 ms",
                "--budget=900000 ms",
                "--record-size=1000 B",
                "--producers=4",
                "--max-rate=50000/s",
                "--max-disk=20000000000 B"
            ]
        );
    }

    #[test]
    fn only_a_checkup_gets_its_seed_as_a_flag() {
        let mut arguments = RunArgs::default();
        arguments.conduct.seed = Some(7);
        assert!(lead_arguments(&arguments).unwrap().is_empty());
        arguments.checkup = Some(CheckupRequest::new("p99 <= 20 ms".to_owned()));
        let flags = lead_arguments(&arguments).unwrap();
        assert_eq!(flags.last().map(String::as_str), Some("--seed=7"));
        assert_eq!(flags[0], CHECKUP);
    }

    #[test]
    fn passwords_do_not_become_arguments_of_pods() {
        let mut arguments = RunArgs::default();
        arguments.conduct.metrics = vec!["http://me:secret@broker:9404/metrics".to_owned()];
        let error = lead_arguments(&arguments).unwrap_err().to_string();
        assert!(error.contains("passwords in --metrics"), "{error}");
        assert!(!error.contains("secret"));
    }
}
