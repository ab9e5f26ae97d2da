//! What stands above the panels of clients and replicas: batches, buffers, pauses, followers, logs.

use super::machine::PanelWords;
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
            "How full batches were",
            "mean size of a batch on the wire as a part of batch.size",
            "% of batch.size",
            AxisUnit::Percent,
        ),
        Panel::PerRequest => (
            "per-request",
            "Records a request",
            "mean of the produce and fetch requests answered",
            "records",
            AxisUnit::Plain,
        ),
        Panel::Held => (
            "held",
            "Buffer and requests of producers",
            "part of buffer.memory in use, and of the requests that may be under way at once",
            "% of the most",
            AxisUnit::Percent,
        ),
        Panel::BufferWaits => (
            "buffer-waits",
            "Waits for buffer memory",
            "mean wait of those records for which there was no room",
            "mean wait",
            AxisUnit::Nanoseconds,
        ),
        Panel::Throttle => (
            "throttle",
            "Pauses that brokers asked for",
            "part of the clients' time",
            "% of the time",
            AxisUnit::Percent,
        ),
        Panel::Retries => (
            "retries",
            "Records sent once more, and failed",
            "records a second",
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
            "Followers behind their leaders",
            "records on the leaders' logs that a broker's followers have yet to fetch",
            "records",
            AxisUnit::Plain,
        ),
        Panel::UnderReplicated => (
            "under-replicated",
            "Partitions with too few replicas in sync",
            "partitions, and those that nobody leads",
            "partitions",
            AxisUnit::Plain,
        ),
        Panel::LogGrowth => (
            "log-growth",
            "Growth of the topic's logs",
            "megabytes a second by broker, copies among them",
            "MB/s",
            AxisUnit::MegabytesPerSecond,
        ),
        Panel::GroupLag => (
            "group-lag",
            "What groups have not committed",
            "records between the committed offsets and the ends",
            "records",
            AxisUnit::Plain,
        ),
        _ => return None,
    })
}
