//! What stands above the panels of clients and replicas: batches, buffers, pauses, followers, logs.

use super::PanelWords;
use crate::chart::AxisUnit;
use crate::view::Panel;

/// Title and subtitle of a panel, its axis and unit; `None` of the machine's own.
pub(super) fn words(panel: Panel) -> Option<(PanelWords, (&'static str, AxisUnit))> {
    let (id, title, subtitle, axis, unit) = of_clients(panel).or_else(|| of_replicas(panel))?;
    let words = PanelWords {
        id,
        title,
        subtitle,
    };
    Some((words, (axis, unit)))
}

/// Id, title and subtitle, axis and unit.
type PanelText = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    AxisUnit,
);

fn of_clients(panel: Panel) -> Option<PanelText> {
    Some(match panel {
        Panel::BatchFill => (
            "batch-fill",
            "Batch fill",
            "mean batch size on the wire as a share of batch.size",
            "% of batch.size",
            AxisUnit::Percent,
        ),
        Panel::PerRequest => (
            "per-request",
            "Records per request",
            "mean over answered produce and fetch requests",
            "records",
            AxisUnit::Plain,
        ),
        Panel::Held => (
            "held",
            "Producer buffer and requests",
            "share of buffer.memory in use, and of the allowed in-flight requests",
            "% of the limit",
            AxisUnit::Percent,
        ),
        Panel::BufferWaits => (
            "buffer-waits",
            "Buffer memory waits",
            "mean wait of records that found the buffer full",
            "mean wait",
            AxisUnit::Nanoseconds,
        ),
        Panel::Throttle => (
            "throttle",
            "Throttling by brokers",
            "share of client time",
            "% of the time",
            AxisUnit::Percent,
        ),
        Panel::Retries => (
            "retries",
            "Records retried and failed",
            "records per second",
            "records/s",
            AxisUnit::RecordsPerSecond,
        ),
        _ => return None,
    })
}

fn of_replicas(panel: Panel) -> Option<PanelText> {
    Some(match panel {
        Panel::ReplicaLag => (
            "replica-lag",
            "Replica lag",
            "records on the leaders that a broker's followers have not fetched",
            "records",
            AxisUnit::Plain,
        ),
        Panel::UnderReplicated => (
            "under-replicated",
            "Under-replicated partitions",
            "under-replicated and leaderless partitions",
            "partitions",
            AxisUnit::Plain,
        ),
        Panel::LogGrowth => (
            "log-growth",
            "Log growth",
            "megabytes per second by broker, replicas included",
            "MB/s",
            AxisUnit::MegabytesPerSecond,
        ),
        Panel::GroupLag => (
            "group-lag",
            "Consumer group lag",
            "records between committed and end offsets",
            "records",
            AxisUnit::Plain,
        ),
        _ => return None,
    })
}
