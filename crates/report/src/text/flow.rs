//! A flow: its rate, what an ack meant, Little's law, its group, its transactions, its copies.

use kgauge_analyze::summary::{
    AckMeaning, FlowKind, FlowShape, FlowSummary, FlushPolicy, GroupSummary, LittlesLaw,
    MirrorSummary, RecordCounts, TransactionSummary,
};
use kgauge_results::SECOND_NS;
use kgauge_results::run::{GroupRecord, Replication, TransactionProtocol};
use kgauge_scenario::{Arrivals, RateStep, Shape, Trace};

use crate::format;

/// Steps of a rate that are listed.
const STEPS_MAX: usize = 6;

/// What it is, for a sentence: `3 producers`, `1 consumer`.
pub(crate) fn members(flow: &FlowSummary) -> String {
    let (one, many) = match flow.kind {
        FlowKind::Produce => ("producer", "producers"),
        FlowKind::Consume => ("consumer", "consumers"),
        FlowKind::Echo => ("echo client", "echo clients"),
        FlowKind::Unknown => return flow.name.clone(),
    };
    match flow.members {
        Some(members) => format::plural(members.into(), one, many),
        None => many.to_owned(),
    }
}

/// A rate: `max`, `constant, 50,000 records/s`.
pub(crate) fn shape(rate: &FlowShape) -> String {
    let per_s = format::all_digits;
    let seconds = |ns: u64| format!("{} s", format::all_digits(ns as f64 / 1e9));
    let text = match &rate.shape {
        Shape::Max => return "max".to_owned(),
        Shape::Poisson { per_second } => {
            return format!("poisson, {} records/s", per_s(*per_second));
        }
        Shape::Constant { per_second } => format!("constant, {} records/s", per_s(*per_second)),
        Shape::Ramp {
            from_per_second,
            to_per_second,
            over_ns,
        } => format!(
            "ramp, {} to {} records/s in {}",
            per_s(*from_per_second),
            per_s(*to_per_second),
            seconds(*over_ns)
        ),
        Shape::Step { steps } => {
            let step = |step: &RateStep| {
                format!("{} for {}", per_s(step.per_second), seconds(step.length_ns))
            };
            let shown: Vec<String> = steps.iter().take(STEPS_MAX).map(step).collect();
            let more = if steps.len() > shown.len() {
                ", ..."
            } else {
                ""
            };
            format!("steps, records/s: {}{more}", shown.join(", "))
        }
        Shape::Wave {
            per_second,
            amplitude_per_second,
            period_ns,
        } => format!(
            "wave, {} ± {} records/s in {}",
            per_s(*per_second),
            per_s(*amplitude_per_second),
            seconds(*period_ns)
        ),
        Shape::Burst {
            per_second,
            burst_per_second,
            every_ns,
            burst_ns,
        } => format!(
            "bursts, {} records/s, and {} for {} of every {}",
            per_s(*per_second),
            per_s(*burst_per_second),
            seconds(*burst_ns),
            seconds(*every_ns)
        ),
        Shape::Replay { file, trace } => match trace {
            Trace::Times(_) => format!("replay of times in {file}"),
            Trace::Rates(_) => format!("replay of rates in {file}"),
        },
    };
    match rate.arrivals {
        Arrivals::Even => text,
        Arrivals::Poisson => format!("{text}, poisson arrivals"),
    }
}

/// Little's law of a flow; without it no closed loop's latency is shown.
pub fn little(law: &LittlesLaw, closed_loop: bool) -> String {
    const CLOSED: &str =
        "Closed loop: this latency is time spent in the producer buffer, not broker latency";
    let rate = format::figure(law.records_per_s);
    let service = format::nanoseconds(law.service_mean_ns);
    match (law.in_flight_mean, law.residual, closed_loop) {
        (Some(in_flight), Some(residual), true) => format!(
            "{CLOSED}. On average {} records were in flight at {rate} records/s. Little's law \
             predicts {}; {service} was measured (residual {}).",
            format::short(in_flight),
            format::nanoseconds(in_flight / law.records_per_s * SECOND_NS as f64),
            format::signed_percent(residual),
        ),
        (Some(in_flight), Some(residual), false) => format!(
            "Little's law: {rate} records/s at {service} each predict {} records in flight; {} \
             were measured (residual {}).",
            format::short(law.records_per_s * law.service_mean_ns / SECOND_NS as f64),
            format::short(in_flight),
            format::signed_percent(residual),
        ),
        (.., true) => format!("{CLOSED}. Records in flight were not measured."),
        (.., false) => "Records in flight were not measured.".to_owned(),
    }
}

/// What an ack meant: first the promise, then how the followers stood.
pub fn ack(meaning: &AckMeaning) -> (String, String) {
    (promise(meaning), followers(meaning))
}

/// When brokers flush to disk.
pub(crate) fn flush(policy: &FlushPolicy) -> String {
    match policy {
        FlushPolicy::Unknown => "flush policy unknown".to_owned(),
        FlushPolicy::EachRecord => "flushed to disk before the ack".to_owned(),
        FlushPolicy::OperatingSystem => "flushing left to the operating system".to_owned(),
        FlushPolicy::Every { records, ms } => {
            let records = records
                .iter()
                .map(|records| format!("flushed every {records} records"));
            let ms = ms.iter().map(|ms| format!("flushed every {ms} ms"));
            records.chain(ms).collect::<Vec<_>>().join(" and ")
        }
    }
}

fn promise(meaning: &AckMeaning) -> String {
    let (acks, flush) = (meaning.acks.as_str(), flush(&meaning.flush));
    match acks {
        "0" => "acks=0: no acknowledgement; a record counts as acked once it is written to the \
                connection."
            .to_owned(),
        _ if meaning.replication_factor == Some(1) => {
            format!("acks={acks}: acked by the leader, the only replica ({flush}).")
        }
        "1" => format!("acks=1: acked by the leader ({flush}) without waiting for followers."),
        _ => {
            let copies = match meaning.replication_factor {
                Some(factor) => format!(" of {factor}"),
                None => String::new(),
            };
            let least = match meaning.min_insync_replicas {
                Some(least) => format!("at least {least}{copies}"),
                None => format!("an unknown number{copies}"),
            };
            format!("acks=all: acked by every in-sync replica, {least} ({flush}).")
        }
    }
}

fn followers(meaning: &AckMeaning) -> String {
    const NONE: &str = "There are no followers.";
    if meaning.replication_factor == Some(1) {
        return NONE.to_owned();
    }
    let seen = meaning.followers.iter().flatten().collect::<Vec<_>>();
    if seen.is_empty() || seen.len() < meaning.followers.len() {
        return "Follower catch-up was not checked.".to_owned();
    }
    let behind = seen.iter().filter_map(|state| match state {
        Replication::Behind {
            records_missing_max,
            ..
        } => Some(*records_missing_max),
        _ => None,
    });
    if let Some(missing) = behind.max() {
        let missing = format::counted(missing, "record");
        return format!("Followers had not caught up at the end: up to {missing} were missing.");
    }
    let slowest = seen.iter().filter_map(|state| match state {
        Replication::CaughtUp { after_ns } => Some(*after_ns),
        _ => None,
    });
    match slowest.max() {
        Some(after_ns) => format!(
            "All followers caught up within {} of the end.",
            format::nanoseconds(after_ns as f64)
        ),
        None => NONE.to_owned(),
    }
}

/// What a consumer group did.
pub fn group(flow: &FlowSummary) -> Option<String> {
    flow.group.as_ref().map(group_sentence)
}

fn group_sentence(group: &GroupSummary) -> String {
    let mut parts = vec![format!(
        "{} joined within {} before the load began",
        format::counted(group.members.into(), "member"),
        format::nanoseconds(group.join_ns_max as f64)
    )];
    let in_all = match group.repeats {
        1 => String::new(),
        repeats => format!(" in {repeats} repeats"),
    };
    parts.push(match group.rebalances {
        0 => format!("no rebalance{in_all}"),
        rebalances => format!(
            "{}{in_all}, {} in total",
            format::counted(rebalances, "rebalance"),
            format::nanoseconds(group.rebalance_ns as f64)
        ),
    });
    parts.extend(pauses_clause(group));
    parts.push(match group.commits_failed {
        0 => format::counted(group.commits, "commit"),
        failed => format!(
            "{}, {} refused",
            format::counted(group.commits + failed, "commit"),
            format::count(failed)
        ),
    });
    if group.records_again > 0 {
        let again = format::counted(group.records_again, "record");
        parts.push(format!("{again} read twice"));
    }
    if group.records_skipped > 0 {
        let skipped = format::counted(group.records_skipped, "record");
        parts.push(format!("{skipped} never read"));
    }
    if group.commits_back > 0 {
        let back = format::counted(group.commits_back, "time");
        parts.push(format!("committed offsets went back {back}"));
    }
    format!("{}.", parts.join("; "))
}

/// What went wrong in a group during one repeat, if anything.
pub fn group_trouble(group: &GroupRecord) -> Option<String> {
    let mut clauses = Vec::new();
    let time = format::nanoseconds(group.rebalance_ns as f64);
    match group.rebalances {
        0 => {}
        1 => clauses.push(format!("rebalanced once, for {time}")),
        several => clauses.push(format!("rebalanced {several} times, {time} in total")),
    }
    if group.commits_failed > 0 {
        let (failed, all) = (group.commits_failed, group.commits + group.commits_failed);
        clauses.push(format!("{failed} of {all} commits failed"));
    }
    for (count, what) in [
        (group.records_again, "records read twice"),
        (group.records_skipped, "records never read"),
        (group.commits_back, "committed offsets went back"),
    ] {
        if count > 0 {
            clauses.push(format!("{what}: {count}"));
        }
    }
    (!clauses.is_empty()).then(|| format!("its group: {}", clauses.join("; ")))
}

/// `consumers without partitions meanwhile: 2 for 1.20 s, 0 for 310 ms and 3 more`.
fn pauses_clause(group: &GroupSummary) -> Option<String> {
    /// Consumers that are named.
    const NAMED_MAX: usize = 4;
    let pauses = group.pauses.iter().map(|pause| {
        let time = format::nanoseconds(pause.pause_ns as f64);
        format!("{} for {time}", pause.consumer)
    });
    let pauses: Vec<String> = pauses.collect();
    (!pauses.is_empty()).then(|| {
        format!(
            "consumers without partitions meanwhile: {}",
            format::few(&pauses, NAMED_MAX)
        )
    })
}

/// What became of transactions, and which kind was used.
pub(crate) fn transactions(flow: &FlowSummary) -> Option<String> {
    let transactions = flow.transactions.as_ref()?;
    Some(transactions_sentence(
        transactions,
        &flow.records_all_stages,
    ))
}

fn transactions_sentence(transactions: &TransactionSummary, all: &RecordCounts) -> String {
    let protocols: Vec<&str> = transactions
        .protocols
        .iter()
        .map(|one| protocol(*one))
        .collect();
    let differ = match protocols.len() {
        1 => "",
        _ => "different between repeats: ",
    };
    let aborted = match all.transactions_aborted {
        0 => "none aborted".to_owned(),
        aborted => format!(
            "{} aborted, with {} already acked",
            format::counted(aborted, "transaction"),
            format::counted(all.aborted, "record")
        ),
    };
    format!(
        "{} committed, {aborted}; protocol: {differ}{}",
        format::counted(all.transactions, "transaction"),
        protocols.join("; ")
    )
}

fn protocol(protocol: TransactionProtocol) -> &'static str {
    match protocol {
        TransactionProtocol::Kip98 => "version 1 (KIP-98): a request adds each partition",
        TransactionProtocol::Kip890 => {
            "version 2 (KIP-890, transaction.version 2): partitions join with their first write, \
             and each end of a transaction changes the producer epoch"
        }
    }
}

/// What became of copies on another cluster.
pub fn mirror(flow: &FlowSummary) -> Option<String> {
    flow.mirror.as_ref().map(mirror_sentence)
}

fn mirror_sentence(mirror: &MirrorSummary) -> String {
    let (replicator, acked) = (&mirror.replicator, format::counted(mirror.acked, "record"));
    let mut parts = vec![match mirror.missing {
        0 => format!("{replicator} copied all of {acked}"),
        missing => format!(
            "{replicator} did not copy {} of {acked}",
            format::count(missing)
        ),
    }];
    parts.push(match mirror.doubled {
        0 => "no duplicates".to_owned(),
        doubled => format!("{} duplicated", format::count(doubled)),
    });
    parts.push(format!(
        "at most {} behind during the hold",
        format::counted(mirror.behind_records_max.max.round() as u64, "record")
    ));
    parts.push(match &mirror.caught_up_s {
        Some(after) => format!(
            "caught up {} after the hold",
            format::nanoseconds(after.max * 1e9)
        ),
        None => "not caught up when the drain ended".to_owned(),
    });
    if mirror.unsure > 0 {
        let unsure = format::counted(mirror.unsure, "record");
        parts.push(format!(
            "{unsure} failed at the source, so up to that many more may be missing"
        ));
    }
    if let Some(cores) = &mirror.replicator_cores {
        parts.push(format!("{} cores", format::cores(cores.mean)));
    }
    format!("{}.", parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_what_became_of_transactions_and_which_kind_they_were() {
        let mut all = RecordCounts {
            transactions: 41,
            ..RecordCounts::default()
        };
        let of = |protocols: &[TransactionProtocol], all: &RecordCounts| {
            let protocols = protocols.to_vec();
            transactions_sentence(&TransactionSummary { protocols }, all)
        };
        let both = [TransactionProtocol::Kip98, TransactionProtocol::Kip890];
        assert_eq!(
            of(&both[1..], &all),
            "41 transactions committed, none aborted; protocol: version 2 (KIP-890, \
             transaction.version 2): partitions join with their first write, and each end of a \
             transaction changes the producer epoch"
        );
        (all.transactions_aborted, all.aborted) = (1, 250);
        let text = of(&both[..1], &all);
        assert!(text.starts_with(
            "41 transactions committed, 1 transaction aborted, with 250 records already acked"
        ));
        assert!(text.contains("version 1 (KIP-98)"), "{text}");
        assert!(of(&both, &all).contains("different between repeats"));
    }
}
