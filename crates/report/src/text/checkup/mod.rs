//! A checkup: facts about a cluster and figures of its parts, a line each; the findings are in `findings`, what it may
//! do and why it stops in `guard`.

mod findings;
mod guard;
mod practice;

pub(crate) use findings::{FindingText, finding};
pub use guard::{announcement, no_load, preview, stop_message};

use kgauge_analyze::checkup::{CheckupPoint, CheckupSummary, ReadPoint};
use kgauge_analyze::summary::{CapacitySearch, CapacitySummary};
use kgauge_results::run::{
    AppliedQuota, BrokerCensus, CheckupLimits, CheckupPart, ClusterCensus, HealthStop, QuotaLevel,
    RateLimit, SkipCause, UnreadFact,
};

use crate::format;
use crate::text::capacity;

/// The findings that a page shows in full.
pub(crate) const FINDINGS_SHOWN: usize = 3;
/// Settings that are named in one line.
const SETTINGS_SHOWN: usize = 4;

/// What topics get whose creator does not say how many replicas they have.
const DEFAULT_REPLICATION: &str = "default.replication.factor";

/// The facts: a name and a text each.
pub(crate) fn facts(summary: &CheckupSummary) -> Vec<(&'static str, String)> {
    let census = &summary.before;
    let mut facts = vec![
        ("Cluster", cluster(census)),
        ("Replicas", replicas(summary)),
    ];
    facts.extend(disks(census).map(|text| ("Disks", text)));
    facts.extend(settings(summary).map(|text| ("Settings", text)));
    facts.push(("Quotas", quotas(census)));
    facts.extend(unread(census).map(|text| ("Not read", text)));
    facts
}

/// `3 brokers in racks a, b and c, release 4.3; 42 topics, 512 partitions`.
fn cluster(census: &ClusterCensus) -> String {
    let brokers = format::counted(census.brokers.len() as u64, "broker");
    let racks = distinct(census, |broker| broker.rack.clone());
    let racks = match racks.as_slice() {
        [] => " without racks".to_owned(),
        [one] => format!(" in rack {one}"),
        several => format!(" in racks {}", several.join(", ")),
    };
    let releases = distinct(census, |broker| broker.release.clone());
    let releases = match releases.is_empty() {
        true => String::new(),
        false => format!(", release {}", releases.join(" and ")),
    };
    let topics = format::counted(census.topics.into(), "topic");
    let partitions = format::counted(census.partitions.into(), "partition");
    format!("{brokers}{racks}{releases}; {topics}, {partitions}")
}

fn distinct(census: &ClusterCensus, of: fn(&BrokerCensus) -> Option<String>) -> Vec<String> {
    let mut values: Vec<String> = census.brokers.iter().filter_map(of).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// `all in sync; leaders per broker 170, 171, 171; default replication 3`.
fn replicas(summary: &CheckupSummary) -> String {
    let census = &summary.before;
    let health = not_in_sync(census).unwrap_or_else(|| "all in sync".to_owned());
    let after = summary.after.as_ref();
    let after = after.filter(|after| {
        after.under_replicated > census.under_replicated || after.offline > census.offline
    });
    let after = after.map_or_else(String::new, |after| {
        let worse = after.under_replicated + after.offline;
        format!(", after the load {worse} not in sync")
    });
    let leaders = census
        .brokers
        .iter()
        .map(|broker| broker.leaders.to_string());
    let leaders: Vec<String> = leaders.collect();
    let brokers = census.brokers.iter();
    let mut defaults = brokers.filter_map(|broker| broker.settings.get(DEFAULT_REPLICATION));
    let replicas = format::counted(summary.limits.replication.into(), "replica");
    let replication = match defaults.next() {
        Some(number) if *number == summary.limits.replication.to_string() => {
            format!("default replication {number}")
        }
        Some(number) => format!("default replication {number}, loads with {replicas}"),
        None => format!("default replication unknown, loads with {replicas}"),
    };
    format!(
        "{health}{after}; leaders per broker {}; {replication}",
        leaders.join(", ")
    )
}

/// `1 partition without a leader, 3 under-replicated`; `None` if all replicas are in sync.
fn not_in_sync(census: &ClusterCensus) -> Option<String> {
    let offline = || format!("{} without a leader", partitions_text(census.offline));
    match (census.offline, census.under_replicated) {
        (0, 0) => None,
        (0, behind) => Some(format!("{} under-replicated", partitions_text(behind))),
        (_, 0) => Some(offline()),
        (_, behind) => Some(format!("{}, {behind} under-replicated", offline())),
    }
}

/// `fullest 62 % (broker 2), 1.20 TB of logs`.
fn disks(census: &ClusterCensus) -> Option<String> {
    let dirs = census.brokers.iter().flat_map(|broker| {
        let dirs = broker.log_dirs.iter();
        dirs.map(move |dir| (broker.id, dir))
    });
    let dirs: Vec<_> = dirs.collect();
    if dirs.is_empty() {
        return None;
    }
    let logs = dirs.iter().map(|(_, dir)| dir.log_bytes as f64).sum();
    let logs = format!("{} of logs", format::decimal_bytes(logs));
    let used = dirs
        .iter()
        .filter_map(|(id, dir)| Some((*id, dir.used_part()?)));
    let fullest = used.max_by(|(_, one), (_, other)| one.total_cmp(other));
    Some(match fullest {
        Some((broker, part)) => {
            format!(
                "fullest {} (broker {broker}); {logs}",
                format::percent(part)
            )
        }
        None => logs,
    })
}

/// `3 deviate from good practice: default.replication.factor=1, ...`.
fn settings(summary: &CheckupSummary) -> Option<String> {
    if summary
        .before
        .brokers
        .iter()
        .all(|broker| broker.settings.is_empty())
    {
        return None;
    }
    let all = &summary.deviations;
    let named = all
        .iter()
        .map(|one| format!("{}={}", one.setting, one.value));
    let named = format::few(&named.collect::<Vec<_>>(), SETTINGS_SHOWN);
    Some(match all.len() {
        0 => "none deviates from good practice".to_owned(),
        1 => format!("1 deviates from good practice: {named}"),
        count => format!("{count} deviate from good practice: {named}"),
    })
}

fn quotas(census: &ClusterCensus) -> String {
    let is_unread = census.unread.iter().any(UnreadFact::is_of_quotas);
    match census.quotas.as_slice() {
        [] if is_unread => "unknown".to_owned(),
        [] => "none applies to kgauge".to_owned(),
        some => some.iter().map(quota).collect::<Vec<_>>().join("; "),
    }
}

/// `producer_byte_rate 10.0 MB/s per broker (any client id)`.
pub(crate) fn quota(quota: &AppliedQuota) -> String {
    let value = quota_value(&quota.key, quota.value);
    format!("{} {value} ({})", quota.key, quota_level(quota.level))
}

/// A quota's value with its unit.
pub(crate) fn quota_value(key: &str, value: f64) -> String {
    match key {
        "producer_byte_rate" | "consumer_byte_rate" => {
            format!("{}/s per broker", format::decimal_bytes(value))
        }
        "request_percentage" => format!("{} % of a thread per broker", format::compact(value)),
        _ => format!("{}/s", format::compact(value)),
    }
}

/// Whom a quota covers.
pub(crate) fn quota_level(level: QuotaLevel) -> &'static str {
    match level {
        QuotaLevel::UserAndClient => "this user and client id",
        QuotaLevel::UserAndDefaultClient => "this user, any client id",
        QuotaLevel::User => "this user",
        QuotaLevel::DefaultUserAndClient => "any user, this client id",
        QuotaLevel::DefaultUserAndDefaultClient => "any user and client id",
        QuotaLevel::DefaultUser => "any user",
        QuotaLevel::Client => "this client id",
        QuotaLevel::DefaultClient => "any client id",
    }
}

fn unread(census: &ClusterCensus) -> Option<String> {
    let facts = census.unread.iter();
    let facts: Vec<String> = facts
        .map(|fact| format!("{} ({})", fact.what, fact.why))
        .collect();
    (!facts.is_empty()).then(|| facts.join("; "))
}

/// The answer of the capacity search with its bottleneck, or why there is none.
pub(crate) fn capacity_answer(
    summary: &CheckupSummary,
    capacity: Option<&CapacitySummary>,
) -> String {
    let search = capacity.and_then(|capacity| Some((capacity, capacity.searches.first()?)));
    let Some((capacity, search)) = search else {
        return match skipped(summary, CheckupPart::Capacity) {
            Some(why) => format!("The capacity was not measured: {why}."),
            None => "The capacity was not measured.".to_owned(),
        };
    };
    let answer = capacity::answer(capacity, search);
    let limited = limit_note(summary, search);
    let bottleneck = capacity::limit(search).map(|limit| format!(" {limit}"));
    format!("{answer}{limited}{}", bottleneck.unwrap_or_default())
}

/// Why no higher rate was offered, where no rate broke the goal; that a broker was too busy; or what shares are of.
fn limit_note(summary: &CheckupSummary, search: &CapacitySearch) -> String {
    if let Some(limited) = summary.limited_loads.last() {
        return format!(" Loads were ended early: {}.", stop_clause(&limited.cause));
    }
    match (search.strict.lower, search.strict.upper) {
        (Some(_), Some(_)) => String::new(),
        (Some(_), None) => format!(" The rate was limited by {}.", rate_limit(&summary.limits)),
        (None, _) if summary.end_to_end.is_empty() || search.unconfirmed().is_some() => {
            String::new()
        }
        // `runner::checkup` takes this for the capacity.
        (None, _) => " The other loads are shares of a quarter of full speed instead.".to_owned(),
    }
}

/// `the bytes that may be on disk (--max-disk)`.
fn rate_limit(limits: &CheckupLimits) -> &'static str {
    match limits.rate_limit {
        RateLimit::User => "--max-rate",
        RateLimit::Disk => "the bytes that may be on disk (--max-disk)",
        RateLimit::Quota => "a quota",
    }
}

/// Why a part did not run.
fn skipped(summary: &CheckupSummary, part: CheckupPart) -> Option<&'static str> {
    let mut skipped = summary.skipped.iter();
    skipped
        .find(|one| one.part == part)
        .map(|one| match one.why {
            SkipCause::Budget => "the budget was spent",
            SkipCause::Unhealthy => "the cluster was not healthy before the load",
            SkipCause::OneBroker => "the cluster has one broker",
            SkipCause::NoRate => "no rate is known",
        })
}

/// What is said where nothing was found, and whether that is good news.
pub(crate) fn nothing_found(summary: &CheckupSummary) -> (&'static str, bool) {
    let is_complete =
        summary.after.is_some() && summary.stop.is_none() && summary.skipped.is_empty();
    match (is_complete, summary.before.unread.is_empty()) {
        (true, true) => ("Nothing needs attention.", true),
        (true, false) => (
            "Nothing was found that needs attention, but some facts could not be read.",
            false,
        ),
        (false, _) => (
            "Nothing was found that needs attention, but parts of the checkup are missing.",
            false,
        ),
    }
}

/// The parts besides the capacity and the times from producer to consumer: a name and a text each.
pub(crate) fn parts(summary: &CheckupSummary) -> Vec<(&'static str, String)> {
    let acks = costs(&summary.acks, |value| format!("acks={value}"));
    let replicas = costs(&summary.replication, |value| match value {
        "1" => "1 replica".to_owned(),
        value => format!("{value} replicas"),
    });
    let or_skipped = |text: Option<String>, part: CheckupPart| {
        text.or_else(|| skipped(summary, part).map(|why| format!("not measured: {why}")))
    };
    let missing = |is_measured: bool, part: CheckupPart| {
        let why = skipped(summary, part).filter(|_| !is_measured);
        why.map(|why| format!("not measured: {why}"))
    };
    let parts = [
        ("Idle", missing(summary.idle.is_some(), CheckupPart::Idle)),
        (
            "Producer to consumer",
            missing(!summary.end_to_end.is_empty(), CheckupPart::EndToEnd),
        ),
        ("Acks", or_skipped(acks, CheckupPart::Acks)),
        (
            "Replication",
            or_skipped(replicas, CheckupPart::Replication),
        ),
        (
            "Consumers",
            or_skipped(consumers(summary), CheckupPart::Tail),
        ),
        (
            "From the start",
            missing(summary.from_start.is_some(), CheckupPart::FromStart),
        ),
        ("Brokers", brokers(summary)),
    ];
    let parts = parts.into_iter();
    parts
        .filter_map(|(name, text)| Some((name, text?)))
        .collect()
}

/// The loads with times from producer to consumer, by rising rate.
pub(crate) fn times(summary: &CheckupSummary) -> impl Iterator<Item = &CheckupPoint> {
    summary.idle.iter().chain(&summary.end_to_end)
}

/// `50 %`, or `idle` without load.
pub(crate) fn share(point: &CheckupPoint) -> String {
    let share = point.share.map(format::percent);
    share.unwrap_or_else(|| "idle".to_owned())
}

/// `p99 2.10 ms with acks=1, 8.40 ms with acks=all at 206,000 records/s`.
fn costs(points: &[CheckupPoint], name: impl Fn(&str) -> String) -> Option<String> {
    let one = |point: &CheckupPoint| {
        let p99 = point
            .p99_ns
            .map_or_else(|| format::NOTHING.to_owned(), format::nanoseconds);
        let missed = match point.kept_rate {
            true => String::new(),
            false => format!(" (only {} records/s)", format::figure(point.records_per_s)),
        };
        format!("{p99} with {}{missed}", name(&point.value))
    };
    let texts: Vec<String> = points.iter().map(one).collect();
    let rate = points.first()?.planned_per_s?;
    Some(format!(
        "p99 {} at {} records/s",
        texts.join(", "),
        format::figure(rate)
    ))
}

/// `at the tail 206,000 of 206,000 records/s, lag at most 2,000; from the start 1.20 GB/s (page cache), 420 MB/s
/// (disk)`.
fn consumers(summary: &CheckupSummary) -> Option<String> {
    let tail = summary.tail.as_ref().map(tail);
    let reads = [
        (summary.from_start, "page cache"),
        (summary.from_disk, "disk"),
    ];
    let reads = reads.into_iter().filter_map(|(reads, from)| {
        let bytes = format::decimal_bytes(reads?.bytes_per_s);
        Some(format!("{bytes}/s ({from})"))
    });
    let reads: Vec<String> = reads.collect();
    let from_start = (!reads.is_empty()).then(|| format!("from the start {}", reads.join(", ")));
    let both: Vec<String> = tail.into_iter().chain(from_start).collect();
    (!both.is_empty()).then(|| both.join("; "))
}

fn tail(reads: &ReadPoint) -> String {
    let read = format::figure(reads.read_per_s);
    let written = reads.written_per_s.map_or_else(String::new, |written| {
        format!(" of {}", format::figure(written))
    });
    let lag = reads.lag_max.map_or_else(String::new, |lag| {
        format!(", lag at most {}", format::figure(lag))
    });
    format!("at the tail {read}{written} records/s{lag}")
}

/// `round trip p99 per broker: 1: 2.10 ms, 2: 2.30 ms, 3: 90.0 ms`.
fn brokers(summary: &CheckupSummary) -> Option<String> {
    let speeds = summary.brokers.iter();
    let speeds: Vec<String> = speeds
        .map(|speed| format!("{}: {}", speed.broker, format::nanoseconds(speed.p99_ns)))
        .collect();
    (!speeds.is_empty()).then(|| format!("round trip p99 per broker: {}", speeds.join(", ")))
}

/// A sign of bad health as a clause: `request handlers of broker 2 were 4.1 % idle`.
pub(crate) fn stop_clause(stop: &HealthStop) -> String {
    match stop {
        HealthStop::Offline { partitions, before } if partitions == before => {
            format!("{} without a leader", partitions_text(*partitions))
        }
        HealthStop::Offline { partitions, before } => {
            format!(
                "{} without a leader, {before} before",
                partitions_text(*partitions)
            )
        }
        HealthStop::UnderReplicated { partitions, before } if partitions == before => {
            format!("{} under-replicated", partitions_text(*partitions))
        }
        HealthStop::UnderReplicated { partitions, before } => {
            format!(
                "{} under-replicated, {before} before",
                partitions_text(*partitions)
            )
        }
        HealthStop::HandlersBusy { broker, idle_part } => format!(
            "request handlers of broker {broker} were {} idle",
            format::percent(*idle_part)
        ),
        HealthStop::DiskFull {
            broker,
            path,
            used_part,
        } => format!(
            "{path} of broker {broker} is {} full",
            format::percent(*used_part)
        ),
    }
}

fn partitions_text(count: u32) -> String {
    format::counted(count.into(), "partition")
}

#[cfg(test)]
pub(crate) mod tests;
