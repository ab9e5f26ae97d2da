//! What a checkup may do to a cluster, and why it stops.

use kgauge_results::run::{CheckupLimits, ClusterCensus, HealthStop, RateLimit};

use super::{quotas, stop_clause};
use crate::format;

/// What the checkup will do, before it begins.
pub fn announcement(census: &ClusterCensus, limits: &CheckupLimits, is_guarded: bool) -> String {
    let mut text = match is_guarded {
        true => "this checkup would do the following to an existing cluster".to_owned(),
        false => "this checkup does the following".to_owned(),
    };
    for line in lines(census, limits) {
        text.push_str("\n  ");
        text.push_str(&line);
    }
    if is_guarded {
        text.push_str(
            "\n  stops    if partitions fall out of sync, or a disk is more than 85 % full; with --metrics \
             also if request handlers are less than 10 % idle",
        );
    }
    text
}

/// Why no load runs, before anything begins.
pub fn no_load(stop: &HealthStop) -> String {
    format!(
        "the cluster is not healthy, so no load runs: {}\n  facts and findings follow",
        stop_clause(stop)
    )
}

/// The facts and limits without load.
pub fn preview(census: &ClusterCensus, limits: &CheckupLimits) -> String {
    let unhealthy = super::not_in_sync(census);
    let health = unhealthy.as_deref().unwrap_or("all replicas in sync");
    let cluster = super::cluster(census);
    let mut text = format!("cluster  {cluster}\nhealth   {health}\n");
    text.push_str(&format!("quotas   {}\n", quotas(census)));
    for fact in &census.unread {
        text.push_str(&format!("not read {} ({})\n", fact.what, fact.why));
    }
    text.push_str(match unhealthy {
        Some(_) => "\nThe checkup would run no load until all replicas are in sync. Then:\n",
        None => "\nThe checkup would do the following:\n",
    });
    for line in lines(census, limits) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn lines(census: &ClusterCensus, limits: &CheckupLimits) -> Vec<String> {
    let brokers = format::counted(census.brokers.len() as u64, "broker");
    let bytes = |bytes: u64| format::decimal_bytes(bytes as f64);
    let limit = match limits.rate_limit {
        RateLimit::User => "--max-rate",
        RateLimit::Disk => "because of the disks",
        RateLimit::Quota => "because of a quota",
    };
    vec![
        format!("cluster  {brokers}"),
        format!(
            "topics   at most {}, one after another; {}, {}",
            limits.topics_max,
            super::partitions_text(limits.partitions),
            format::counted(limits.replication.into(), "replica")
        ),
        format!(
            "writes   at most {} in all, replicas included",
            bytes(limits.written_bytes_max)
        ),
        format!(
            "disks    at most {} at any time, deleted topics included",
            bytes(limits.disk_bytes_max)
        ),
        format!(
            "rate     at most {} records/s of {} ({limit})",
            format::figure(limits.rate_max),
            bytes(limits.record_bytes)
        ),
        format!(
            "time     at most {}",
            format::span(limits.budget_s.saturating_mul(1_000_000_000))
        ),
    ]
}

/// Why the load was ended, as an error message.
pub fn stop_message(stop: &HealthStop) -> String {
    let what = stop_clause(stop);
    let fix = match stop {
        HealthStop::Offline { .. } | HealthStop::UnderReplicated { .. } => {
            "check the brokers, then try again with a lower --max-rate"
        }
        HealthStop::HandlersBusy { .. } => "try again with a lower --max-rate",
        HealthStop::DiskFull { .. } => "free some space on the broker, or lower --max-disk",
    };
    format!("stopped the load to protect the cluster: {what}\n  {fix}")
}
