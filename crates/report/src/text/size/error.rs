//! Why there is no size, and what to do.

use kgauge_analyze::sizing::{MissingTrial, SizeError, SizingBasis, SizingRespect};

use super::{respect, unusable};
use crate::format;

/// Why there is no size, and what to do.
pub fn size_error(error: &SizeError) -> String {
    match error {
        SizeError::Releases(releases) => {
            let names =
                releases
                    .iter()
                    .map(|release| match (&release.version, release.is_embedded) {
                        (Some(version), true) => format!("kgauge's embedded cluster {version}"),
                        (None, true) => "kgauge's embedded cluster".to_owned(),
                        (Some(version), false) => format!("Kafka {version}"),
                        (None, false) => "an unknown release".to_owned(),
                    });
            let names = names.collect::<Vec<_>>().join(", ");
            format!("the runs measured different releases: {names}\n  pass the runs of one release")
        }
        SizeError::Machines(machines) => {
            let names = machines.iter().map(|machine| {
                let model = machine
                    .cpu_model
                    .as_deref()
                    .unwrap_or("an unknown processor");
                let count = machine
                    .processors
                    .map_or_else(String::new, |count| format!("{count} × "));
                format!("{count}{model}")
            });
            let names = names.collect::<Vec<_>>().join(", ");
            format!(
                "the runs were made on different machines: {names}\n  pass the runs of one machine"
            )
        }
        SizeError::Missing { trials, basis } => not_enough(trials, basis),
        SizeError::GoalOutOfReach { goal_ns, best_ns } => format!(
            "no setup kept a p99 of {} at all of its rates from the lowest on; the shortest one measured was {}\n  \
             measure lower rates, or allow a longer p99",
            format::nanoseconds(*goal_ns),
            format::nanoseconds(*best_ns)
        ),
        SizeError::NoMachine => {
            "no number of machines of any type is enough\n  pass larger types with --prices"
                .to_owned()
        }
    }
}

fn not_enough(trials: &[MissingTrial], basis: &SizingBasis) -> String {
    let missing = trials
        .iter()
        .map(|trial| format!("\n  - {}", missing_trial(trial)));
    let left_out = match basis.unusable.is_empty() {
        true => String::new(),
        false => format!("\n  not used: {}", unusable(&basis.unusable)),
    };
    let limited = match basis.generator_limited {
        0 => String::new(),
        count => format!(
            "\n  the load generator was the bottleneck in {}; use more producers, agents or smaller records",
            format::counted(u64::from(count), "trial")
        ),
    };
    let makes_them = match trials.iter().all(is_made_by_measure) {
        true => "\n  `kgauge size --measure --target TARGET` makes such trials",
        false => "\n  run scenarios with such trials, and pass their folders with --from",
    };
    format!(
        "the runs do not show enough; missing:{}{left_out}{limited}{makes_them}",
        missing.collect::<String>()
    )
}

/// Whether `kgauge size --measure` makes such a trial, whatever its target is.
fn is_made_by_measure(trial: &MissingTrial) -> bool {
    match trial {
        MissingTrial::More { .. } | MissingTrial::ScheduledRate | MissingTrial::Compression => true,
        MissingTrial::Tls | MissingTrial::Recompression => false,
        MissingTrial::Nearer(outside) => outside.respect == SizingRespect::RecordBytes,
    }
}

fn missing_trial(trial: &MissingTrial) -> String {
    match trial {
        MissingTrial::More { trials } => {
            format!(
                "{} with other batch and record sizes, replicas and readers",
                format::counted(u64::from(*trials), "more setup")
            )
        }
        MissingTrial::Tls => "a trial with TLS".to_owned(),
        MissingTrial::Compression => "a trial with compression".to_owned(),
        MissingTrial::Recompression => {
            "a trial whose topic has another codec than its producers".to_owned()
        }
        MissingTrial::ScheduledRate => "trials at constant rates, for latencies".to_owned(),
        MissingTrial::Nearer(outside) => {
            let (what, write) = respect(outside.respect);
            format!(
                "trials with about {} {what} (measured: {}, off by more than a factor of two)",
                write(outside.needed),
                write(outside.measured)
            )
        }
    }
}
