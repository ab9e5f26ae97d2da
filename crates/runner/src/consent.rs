//! Shows what a run would do to an existing cluster, and asks for confirmation.

use kgauge_scenario::Plan;
use kgauge_scenario::format::{binary_bytes, counted};
use kgauge_target::{DiskSpace, Footprint, TargetFacts};

use crate::error::RunError;
use crate::observer::{Observer, RunEvent};
use crate::request::{Consent, RunRequest};

/// Reports what the run would do to an existing cluster, and asks, unless consent is given already.
pub(crate) fn ask(
    request: &RunRequest<'_>,
    plan: &Plan,
    facts: &TargetFacts,
    disks: &[DiskSpace],
    observer: &mut dyn Observer,
) -> Result<(), RunError> {
    let message = message(request, plan, facts, disks);
    observer.observe(&RunEvent::Remark(&message));
    answer(request)
}

/// Whether the run may use an existing cluster, after it was reported what it would do.
pub(crate) fn answer(request: &RunRequest<'_>) -> Result<(), RunError> {
    match request.consent {
        Consent::Given => Ok(()),
        Consent::Ask(ask) => ask().confirmed("not started; nothing was changed"),
    }
}

fn message(
    request: &RunRequest<'_>,
    plan: &Plan,
    facts: &TargetFacts,
    disks: &[DiskSpace],
) -> String {
    let footprint = Footprint {
        existing_topic: request.existing_topic.clone(),
        ..Footprint::of(plan, facts)
    };
    let mut message = "this run would do the following to an existing cluster".to_owned();
    for line in footprint.to_string().lines() {
        message.push_str(&format!("\n  {line}"));
    }
    message.push_str(&format!("\n  disks    {}", free_space(disks)));
    message
}

/// The free space on the brokers' disks, as far as it is known.
fn free_space(disks: &[DiskSpace]) -> String {
    let known = disks.iter().filter_map(|disk| disk.free_bytes);
    match known.min() {
        Some(least) => format!(
            "{} with at least {} free",
            counted(disks.len() as u64, "disk"),
            binary_bytes(least)
        ),
        None => "this release does not report free disk space; check it yourself".to_owned(),
    }
}
