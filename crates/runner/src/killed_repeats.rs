//! Verified repeats that were killed: a resumed run checks what their ledgers have, and removes what they left, before
//! it runs them again.

use kgauge_load::LedgerFolder;
use kgauge_results::folder::KilledRepeat;
use kgauge_results::run::{CutShortRecord, LedgerStart, UncheckedCause, VerificationRecord};
use kgauge_scenario::{Plan, Share, Stripe, TargetKind};
use kgauge_wire::error_code::ErrorCode;

use crate::error::{OrRunError, RunError};
use crate::open_run::KilledRepeats;
use crate::prepared_topic::PreparedTopic;
use crate::session::Session;
use crate::trial::delete_topic;
use crate::verify::{self, LoadedRepeat};

/// Checks each killed repeat and keeps the result. If the user stops the run, the next attempt checks the rest.
pub(crate) fn check_killed(
    killed: &KilledRepeats,
    session: &mut Session<'_>,
    plan: &Plan,
) -> Result<(), RunError> {
    let mut checks = killed.checks.clone();
    for repeat in &killed.repeats {
        let key = repeat.key;
        // A plan without the repeat does not show what its records are.
        if let Some(share) = plan.share(key.trial, key.repeat, Stripe::WHOLE) {
            let place = place_of(session, repeat);
            let verification = verified(session, &share, repeat, place)?;
            if session.stopping.is_wanted() {
                return Ok(());
            }
            if has_content(&verification) {
                checks.add(CutShortRecord {
                    key,
                    started_unix_ms: repeat.start.as_ref().map(|start| start.started_unix_ms),
                    verification,
                });
                session.folder.write_cut_short(&checks).or_unwritable()?;
            }
            if let Ok(start) = place
                && !killed.keeps_topics
                && !start.is_shared
                && session.topics.take_over(&start.topic.name)
            {
                delete_topic(session, &start.topic.name);
            }
        }
        session.folder.remove_repeat(key).or_unwritable()?;
    }
    Ok(())
}

/// Where its records are, or why they cannot be read.
fn place_of<'a>(
    session: &mut Session<'_>,
    killed: &'a KilledRepeat,
) -> Result<&'a LedgerStart, UncheckedCause> {
    if session.kind != TargetKind::Existing {
        return Err(UncheckedCause::ClusterGone);
    }
    let start = killed.start.as_ref();
    let start = start.ok_or(UncheckedCause::LedgerIncomplete)?;
    let name = start.topic.name.as_str();
    let is_gone = session.cluster.refresh(&[name]).is_ok_and(|found| {
        let topic = found.topic(name);
        topic.is_none_or(|topic| topic.error == ErrorCode::UnknownTopicOrPartition)
    });
    match is_gone {
        true => Err(UncheckedCause::TopicGone),
        false => Ok(start),
    }
}

fn verified(
    session: &mut Session<'_>,
    share: &Share,
    killed: &KilledRepeat,
    place: Result<&LedgerStart, UncheckedCause>,
) -> Result<VerificationRecord, RunError> {
    let ledgers = LedgerFolder(killed.ledgers.clone());
    let start = match place {
        Ok(start) => start,
        Err(cause) => return Ok(verify::unchecked(&share.trial, &ledgers, cause)),
    };
    let topic = PreparedTopic {
        facts: start.topic.clone(),
        earliest: start.is_shared.then(|| start.ends_before.clone()),
        copy: None,
    };
    let repeat = LoadedRepeat {
        trial: &share.trial,
        share,
        topic: &topic,
        before: &start.ends_before,
        outcome: None,
        had_outage: true,
        agents: &[],
        ledgers: &ledgers,
        started_unix_ms: start.started_unix_ms,
    };
    let verification = verify::check(session, Some(&repeat))?.unwrap_or_default();
    Ok(VerificationRecord {
        // The errors of agents' clocks are not known.
        latest_read: None,
        ..verification
    })
}

/// Whether there was anything to check: a repeat may end before its load begins.
fn has_content(verification: &VerificationRecord) -> bool {
    verification.acked > 0
        || verification.unknown_present > 0
        || !verification.anomalies.is_empty()
        || !verification.unchecked.is_empty()
}
