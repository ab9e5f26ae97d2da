//! Whether every record is where its ack said.

use kgauge_analyze::answer::{
    AnomalySum, CutShortSum, Staleness, TrialAnomalies, TrialPlace, Verification,
};
use kgauge_results::run::{Anomaly, RepeatKey, UncheckedCause, UncheckedRecords};

use super::event::repeat_name;
use crate::format;

/// Reads that are less late are not mentioned.
const LATE_NS_MIN: u64 = 1_000_000_000;

/// The check in sentences: `Verified: all 1,000 acked records were read back, once and in order, with their contents.`
pub fn sentence(check: &Verification) -> String {
    let mut sentences: Vec<String> = head(check).into_iter().collect();
    let cut_short_repeats = check.cut_short.map_or(0, |sum| sum.repeats);
    let names_repeats = check.repeats + cut_short_repeats > 1;
    let anomaly = |found: &AnomalySum| anomaly(found, names_repeats);
    let forbidden: Vec<String> = check.forbidden().map(anomaly).collect();
    if !forbidden.is_empty() {
        sentences.push(format!(
            "Forbidden by the settings: {}.",
            forbidden.join("; ")
        ));
    }
    let known = check.anomalies.iter().filter(|one| one.is_expected);
    let known: Vec<String> = known.map(anomaly).collect();
    if !known.is_empty() {
        sentences.push(format!("Known bugs: {}.", known.join("; ")));
    }
    let permitted = |one: &&AnomalySum| one.is_permitted && !one.is_expected;
    let permitted = check.anomalies.iter().filter(permitted);
    let permitted: Vec<String> = permitted.map(anomaly).collect();
    if !permitted.is_empty() {
        sentences.push(format!(
            "Permitted by the settings: {}.",
            permitted.join("; ")
        ));
    }
    if check.unknown_present + check.unknown_absent > 0 {
        let unknown = check.unknown_present + check.unknown_absent;
        sentences.push(format!(
            "Of {} with unknown outcome, {} are in the log.",
            format::counted(unknown, "record"),
            format::count(check.unknown_present)
        ));
    }
    let latest = check.latest_read.as_ref();
    sentences.extend(latest.and_then(|latest| late_read(latest, names_repeats)));
    sentences.extend(check.cut_short.as_ref().map(cut_short));
    let unchecked: Vec<String> = check.unchecked.iter().map(unchecked).collect();
    if !unchecked.is_empty() {
        sentences.push(format!("Not checked: {}.", unchecked.join("; ")));
    }
    sentences.join(" ")
}

/// The result of the repeats that ended; `None` if only others were checked.
fn head(check: &Verification) -> Option<String> {
    let acked = format::counted(check.acked, "acked record");
    let has_forbidden = check.forbidden().next().is_some();
    if check.repeats == 0 {
        return has_forbidden.then(|| "Verification failed.".to_owned());
    }
    if check.acked == 0 {
        let words = match (has_forbidden, check.unchecked.is_empty()) {
            (true, _) => "Verification failed.",
            (false, true) => "Nothing was verified: no record was acked.",
            (false, false) => "Nothing was verified.",
        };
        return Some(words.to_owned());
    }
    let is_partial = check.unchecked.iter().any(|one| leaves_out(one.cause));
    Some(match (has_forbidden, check.confirmed == check.acked) {
        (true, _) => format!(
            "Verification failed: {} of {acked} were read back.",
            format::count(check.confirmed)
        ),
        (false, true) if is_partial => {
            format!("Verified: all {acked} that could be checked were read back.")
        }
        (false, true) if check.acked == 1 => {
            "Verified: the only acked record was read back.".to_owned()
        }
        (false, true) if check.anomalies.is_empty() => {
            format!("Verified: all {acked} were read back, once and in order, with their contents.")
        }
        (false, true) => format!("Verified: all {acked} were read back."),
        (false, false) => format!(
            "Verified: {} of {acked} were read back.",
            format::count(check.confirmed)
        ),
    })
}

/// Whether the cause leaves records of whole repeats unchecked.
fn leaves_out(cause: UncheckedCause) -> bool {
    match cause {
        UncheckedCause::Deleted
        | UncheckedCause::Unreadable
        | UncheckedCause::LedgerIncomplete
        | UncheckedCause::TooManyGaps
        | UncheckedCause::Compacted => true,
        UncheckedCause::PollsIncomplete
        | UncheckedCause::ClusterGone
        | UncheckedCause::TopicGone => false,
    }
}

/// `Cut short: 1,234 acked records of 1 repeat were checked, and all were read back.`
fn cut_short(sum: &CutShortSum) -> String {
    let repeats = format::counted(u64::from(sum.repeats), "repeat");
    let mut sentence = match (sum.checked, sum.confirmed) {
        (0, _) => format!("Cut short: no acked record of {repeats} was checked."),
        (1, 1) => format!("Cut short: 1 acked record of {repeats} was checked and read back."),
        (checked, confirmed) => {
            let checked_records = format::counted(checked, "acked record");
            let were = if checked == 1 { "was" } else { "were" };
            let found = match confirmed {
                all if all == checked => "all were read back".to_owned(),
                some => format!("{} of them were read back", format::count(some)),
            };
            format!("Cut short: {checked_records} of {repeats} {were} checked, and {found}.")
        }
    };
    if sum.unknown_present > 0 {
        let more = format::counted(sum.unknown_present, "more record");
        let is = if sum.unknown_present == 1 {
            "is"
        } else {
            "are"
        };
        sentence.push_str(&format!(" {more} with unknown outcome {is} in the log."));
    }
    sentence
}

/// `lost-write 8,412 (expected), duplicate 3 (permitted)`.
pub(super) fn finding(found: &TrialAnomalies) -> String {
    let counts = found.found.iter().map(|one| {
        let is_known = found.expected.contains(&one.anomaly);
        let judged = match (is_known, one.is_permitted) {
            (true, _) => "expected",
            (false, true) => "permitted",
            (false, false) => "forbidden",
        };
        let count = format::count(one.count);
        format!("{} {count} ({judged})", name(one.anomaly))
    });
    let mut clauses: Vec<String> = counts.collect();
    if clauses.is_empty() {
        clauses.push("nothing".to_owned());
    }
    if !found.is_as_expected() && !found.expected.is_empty() {
        let expected: Vec<&str> = found.expected.iter().map(|one| name(*one)).collect();
        clauses.push(format!("although {} was expected", expected.join(" or ")));
    }
    clauses.join(", ")
}

/// The name of a class, as in scenarios and files.
fn name(anomaly: Anomaly) -> &'static str {
    match anomaly {
        Anomaly::LostWrite => "lost-write",
        Anomaly::Duplicate => "duplicate",
        Anomaly::InconsistentOffsets => "inconsistent-offsets",
        Anomaly::NonmonotonicSend => "nonmonotonic-send",
        Anomaly::AbortedRead => "g1a",
        Anomaly::TornTransaction => "torn-transaction",
        Anomaly::ReadBeforeCommit => "read-before-commit",
        Anomaly::PollSkip => "poll-skip",
        Anomaly::NonmonotonicPoll => "nonmonotonic-poll",
        Anomaly::StuckLastStableOffset => "stuck-last-stable-offset",
        Anomaly::ForeignRecord => "foreign-record",
        Anomaly::CorruptRecord => "corrupt-record",
        Anomaly::DivergentReplicas => "divergent-replicas",
        Anomaly::CommittedOffsetBack => "committed-offset-back",
    }
}

/// `3 acked records are lost (lost-write; first: trial 2, repeat 1, writers, partition 2, offset 17)`; without trial
/// and repeat if there is only one.
fn anomaly(found: &AnomalySum, names_repeats: bool) -> String {
    let count = |noun: &str| format::counted(found.count, noun);
    let is = if found.count == 1 { "is" } else { "are" };
    let what = match found.anomaly {
        Anomaly::LostWrite => format!("{} {is} lost", count("acked record")),
        Anomaly::Duplicate => format!("{} {is} stored more than once", count("record")),
        Anomaly::InconsistentOffsets => {
            format!("{} {is} at another offset than acked", count("record"))
        }
        Anomaly::NonmonotonicSend => format!("{} {is} out of order", count("record")),
        Anomaly::AbortedRead => format!(
            "{} of failed sends or aborted transactions {is} readable",
            count("record")
        ),
        Anomaly::TornTransaction => {
            format!("{} {is} only partly committed", count("transaction"))
        }
        Anomaly::ReadBeforeCommit => {
            format!("{} {is} readable before the commit", count("record"))
        }
        Anomaly::PollSkip => format!("consumers skipped {}", count("record")),
        Anomaly::NonmonotonicPoll => format!("consumers went back {}", count("time")),
        Anomaly::StuckLastStableOffset => format!(
            "read_committed consumers are stuck in {}",
            count("partition")
        ),
        Anomaly::ForeignRecord => format!("{} {is} not from this run", count("record")),
        Anomaly::CorruptRecord => format!("{} {is} corrupt", count("record")),
        Anomaly::DivergentReplicas => format!("replicas differ in {}", count("offset range")),
        Anomaly::CommittedOffsetBack => {
            format!("committed offsets went back {}", count("time"))
        }
    };
    let name = name(found.anomaly);
    match found.examples.first() {
        Some(example) => format!("{what} ({name}; first: {})", place(example, names_repeats)),
        None => format!("{what} ({name})"),
    }
}

/// `Consumers got records up to 8.20 s after their acks (writers, partition 2, offset 17).`
fn late_read(staleness: &Staleness, names_repeats: bool) -> Option<String> {
    let time = format::nanoseconds(staleness.late_ns as f64);
    let place = place(&staleness.place, names_repeats);
    let sentence = || format!("Consumers got records up to {time} after their acks ({place}).");
    (staleness.late_ns >= LATE_NS_MIN).then(sentence)
}

/// `writers, partition 2, offset 17, acked 12:00:00.1 UTC`.
fn place(example: &TrialPlace, names_repeats: bool) -> String {
    let place = &example.place;
    let mut clauses = Vec::new();
    if names_repeats {
        let (trial, repeat) = (example.trial, example.repeat);
        clauses.push(repeat_name(RepeatKey { trial, repeat }));
    }
    clauses.extend(example.flow.clone());
    clauses.push(format!("partition {}", place.partition));
    clauses.extend(place.offset.map(|offset| format!("offset {offset}")));
    clauses.extend(
        place
            .acked_offset
            .map(|offset| format!("acked at {offset}")),
    );
    clauses.extend(place.acked_unix_ms.and_then(time));
    clauses.extend(place.fault.as_ref().map(|fault| format!("fault: {fault}")));
    clauses.join(", ")
}

/// `acked 12:00:00 UTC`.
fn time(unix_ms: u64) -> Option<String> {
    let ms = i64::try_from(unix_ms).ok()?;
    let at = jiff::Timestamp::from_millisecond(ms).ok()?;
    Some(format!("acked {} UTC", at.strftime("%H:%M:%S%.1f")))
}

fn unchecked(one: &UncheckedRecords) -> String {
    let records = match one.records {
        0 => format::counted(u64::from(one.partitions), "partition"),
        records => format::counted(records, "acked record"),
    };
    let why = match one.cause {
        UncheckedCause::Deleted => "deleted before they were read",
        UncheckedCause::Unreadable => "their partitions could not be read to the end",
        UncheckedCause::LedgerIncomplete => "a producer's ledger is incomplete",
        UncheckedCause::PollsIncomplete => "part of what a consumer read there is unknown",
        UncheckedCause::TooManyGaps => "too many gaps to keep in memory",
        UncheckedCause::Compacted => "the topic is compacted",
        UncheckedCause::ClusterGone => {
            "their repeat was cut short, and the cluster that kgauge had started for it is gone"
        }
        UncheckedCause::TopicGone => "their repeat was cut short, and its topic no longer exists",
    };
    format!("{records} ({why})")
}

#[cfg(test)]
mod tests {
    use kgauge_analyze::answer::AnomalyCount;
    use kgauge_results::run::AnomalyPlace;

    use super::*;

    fn lost(is_permitted: bool) -> Verification {
        let place = AnomalyPlace {
            partition: 2,
            producer: Some(0),
            sequence: Some(4),
            records: 3,
            offset: Some(17),
            acked_offset: None,
            acked_unix_ms: Some(1_795_000_000_123),
            fault: None,
        };
        Verification {
            repeats: 1,
            acked: 1_000,
            confirmed: 997,
            read: 997,
            anomalies: vec![AnomalySum {
                anomaly: Anomaly::LostWrite,
                is_permitted,
                is_expected: false,
                count: 3,
                examples: vec![TrialPlace {
                    trial: 0,
                    repeat: 0,
                    flow: Some("writers".to_owned()),
                    place,
                }],
            }],
            ..Verification::default()
        }
    }

    #[test]
    fn a_loss_is_named_with_its_place() {
        assert_eq!(
            sentence(&lost(false)),
            "Verification failed: 997 of 1,000 acked records were read back. Forbidden by the \
             settings: 3 acked records are lost (lost-write; first: writers, partition 2, offset \
             17, acked 11:06:40.1 UTC)."
        );
        assert!(sentence(&lost(true)).starts_with("Verified: 997 of 1,000 acked records"));
    }

    #[test]
    fn among_several_repeats_the_place_names_its_own() {
        let mut check = lost(false);
        check.repeats = 3;
        let place = &mut check.anomalies[0].examples[0];
        (place.trial, place.repeat) = (1, 2);
        let text = sentence(&check);
        let named = "(lost-write; first: trial 2, repeat 3, writers, partition 2, offset 17,";
        assert!(text.contains(named), "{text}");
    }

    #[test]
    fn without_acks_nothing_was_verified() {
        let check = Verification {
            repeats: 1,
            unknown_present: 5,
            ..Verification::default()
        };
        assert_eq!(
            sentence(&check),
            "Nothing was verified: no record was acked. Of 5 records with unknown outcome, 5 are \
             in the log."
        );
    }

    #[test]
    fn what_could_not_be_checked_is_not_among_all() {
        let mut check = lost(true);
        check.anomalies.clear();
        check.confirmed = check.acked;
        let unchecked = |cause| UncheckedRecords {
            cause,
            records: 0,
            partitions: 1,
        };
        check.unchecked = vec![unchecked(UncheckedCause::TooManyGaps)];
        assert_eq!(
            sentence(&check),
            "Verified: all 1,000 acked records that could be checked were read back. Not checked: \
             1 partition (too many gaps to keep in memory)."
        );
        check.unchecked = vec![unchecked(UncheckedCause::PollsIncomplete)];
        let text = sentence(&check);
        let all = "Verified: all 1,000 acked records were read back, once and in order";
        assert!(text.starts_with(all), "{text}");
    }

    #[test]
    fn only_reads_long_after_their_acks_are_mentioned() {
        let late = |late_ns| {
            let mut check = lost(true);
            let place = check.anomalies.remove(0).examples.remove(0);
            check.confirmed = check.acked;
            check.latest_read = Some(Staleness { late_ns, place });
            sentence(&check)
        };
        let head = "Verified: all 1,000 acked records were read back, once and in order, with their \
                    contents.";
        assert_eq!(late(999_000_000), head);
        assert_eq!(
            late(8_200_000_000),
            format!(
                "{head} Consumers got records up to 8.20 s after their acks (writers, partition 2, \
                 offset 17, acked 11:06:40.1 UTC)."
            )
        );
    }

    #[test]
    fn a_finding_names_what_was_expected() {
        let finding_of = |expected: &[Anomaly], found: &[(Anomaly, bool)]| {
            let found = found.iter().map(|&(anomaly, is_permitted)| AnomalyCount {
                anomaly,
                is_permitted,
                count: 8_412,
            });
            finding(&TrialAnomalies {
                trial: 0,
                acked: 10_000,
                expected: expected.to_vec(),
                found: found.collect(),
            })
        };
        let lost = Anomaly::LostWrite;
        let of_bug = finding_of(&[lost], &[(lost, false)]);
        assert_eq!(of_bug, "lost-write 8,412 (expected)");
        let hidden = finding_of(&[lost], &[]);
        assert_eq!(hidden, "nothing, although lost-write was expected");
        assert_eq!(finding_of(&[], &[]), "nothing");
        let others = finding_of(&[], &[(lost, false), (Anomaly::Duplicate, true)]);
        assert_eq!(
            others,
            "lost-write 8,412 (forbidden), duplicate 8,412 (permitted)"
        );
    }

    #[test]
    fn what_was_cut_short_has_a_separate_sentence() {
        let check = |cut_short: CutShortSum, causes: &[UncheckedCause]| {
            let unchecked = causes.iter().map(|cause| UncheckedRecords {
                cause: *cause,
                records: cut_short.acked,
                partitions: 4,
            });
            sentence(&Verification {
                cut_short: Some(cut_short),
                unchecked: unchecked.collect(),
                ..Verification::default()
            })
        };
        let whole = CutShortSum {
            repeats: 1,
            acked: 1_234,
            checked: 1_234,
            confirmed: 1_234,
            unknown_present: 56,
        };
        assert_eq!(
            check(whole, &[]),
            "Cut short: 1,234 acked records of 1 repeat were checked, and all were read back. 56 \
             more records with unknown outcome are in the log."
        );
        let lossy = CutShortSum {
            confirmed: 1_230,
            unknown_present: 1,
            ..whole
        };
        assert_eq!(
            check(lossy, &[]),
            "Cut short: 1,234 acked records of 1 repeat were checked, and 1,230 of them were read \
             back. 1 more record with unknown outcome is in the log."
        );
        let gone = CutShortSum {
            checked: 0,
            confirmed: 0,
            unknown_present: 0,
            ..whole
        };
        assert_eq!(
            check(gone, &[UncheckedCause::ClusterGone]),
            "Cut short: no acked record of 1 repeat was checked. Not checked: 1,234 acked records \
             (their repeat was cut short, and the cluster that kgauge had started for it is gone)."
        );
        let both = Verification {
            cut_short: Some(gone),
            ..lost(false)
        };
        let text = sentence(&both);
        let first = "Verification failed: 997 of 1,000 acked records were read back.";
        assert!(text.starts_with(first), "{text}");
    }

    #[test]
    fn a_good_check_is_one_sentence() {
        let good = Verification {
            repeats: 1,
            acked: 2,
            confirmed: 2,
            ..Verification::default()
        };
        assert_eq!(
            sentence(&good),
            "Verified: all 2 acked records were read back, once and in order, with their contents."
        );
    }
}
