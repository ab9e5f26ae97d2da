//! The flags of a run that its lead in a pod gets.

use std::ffi::OsStr;

use clap::Parser;
use kgauge_runner::{RunError, without_secrets};

use super::CHECKUP;
use crate::args::{Arguments, Command, RunArgs};

/// The arguments of a lead.
///
/// # Errors
/// A flag only has a meaning on this machine.
pub(super) fn lead_arguments(arguments: &RunArgs) -> anyhow::Result<Vec<String>> {
    check_flags(arguments)?;
    let conduct = &arguments.conduct;
    let mut more = Vec::new();
    // A checkup plans its loads when it knows the cluster.
    if let Some(checkup) = &arguments.checkup {
        more.push(CHECKUP.to_owned());
        more.extend(checkup.flags());
        // That of a plan is in the plan.
        if let Some(seed) = conduct.seed {
            more.push(format!("--seed={seed}"));
        }
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
        RunError::input(text.trim_end().trim_start_matches("error: "))
    });
    Ok(parsed?.command)
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
        Some((_, flag)) => anyhow::bail!("--agents k8s: does not work with {flag}; leave it out"),
        None => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use kgauge_runner::CheckupRequest;

    use super::*;

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
