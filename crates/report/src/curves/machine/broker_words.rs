//! What stands above the panels of brokers, and beside their axes.

use crate::chart::AxisUnit;
use crate::view::Panel;

const PARTS: &str = "mean request time by phase, all brokers";
const TIME: &str = "mean request time in the broker";

/// Short name, title and subtitle.
pub(super) fn words(panel: Panel) -> (&'static str, &'static str, &'static str) {
    match panel {
        Panel::ProduceParts => ("produce-parts", "Produce request time by phase", PARTS),
        Panel::FetchParts => ("fetch-parts", "Consumer fetch time by phase", PARTS),
        Panel::FollowerParts => ("follower-parts", "Follower fetch time by phase", PARTS),
        Panel::ProduceTime => ("produce-time", "Produce request time by broker", TIME),
        Panel::FetchTime => ("fetch-time", "Consumer fetch time by broker", TIME),
        Panel::FollowerTime => ("follower-time", "Follower fetch time by broker", TIME),
        Panel::Idle => (
            "idle",
            "Broker idle threads",
            "share of time in which request handlers and network threads were idle",
        ),
        Panel::BrokerBytes => (
            "broker-bytes",
            "Broker traffic",
            "megabytes per second of batches from producers, to consumers and to followers",
        ),
        Panel::BrokerQueues => (
            "broker-queues",
            "Broker queues",
            "requests waiting for a handler, responses waiting for a network thread",
        ),
        Panel::Purgatory => (
            "purgatory",
            "Purgatory",
            "produce requests waiting for followers, fetches waiting for records",
        ),
        Panel::Leaders => ("leaders", "Leaders", "partitions led by each broker"),
        Panel::OutOfSync => (
            "out-of-sync",
            "Under-replicated partitions by broker",
            "partitions with replicas missing, as reported by each broker",
        ),
        Panel::Flushes => ("flushes", "Flushes", "flushes (fsync) per second"),
        Panel::FlushTimes => (
            "flush-times",
            "Flush latency",
            "mean time of a flush (fsync)",
        ),
        Panel::Failed => (
            "failed",
            "Failed requests",
            "per second, each partition counted separately",
        ),
        Panel::Conversions => (
            "conversions",
            "Conversions",
            "batches per second converted to another message format",
        ),
        // All others are of the machine.
        _ => (
            "collections",
            "Garbage collection",
            "share of time spent in garbage collection",
        ),
    }
}

/// The name of a panel's vertical axis, and its unit.
pub(super) fn axis(panel: Panel) -> (&'static str, AxisUnit) {
    match panel {
        Panel::Idle | Panel::Collections => ("% of the time", AxisUnit::Percent),
        Panel::BrokerBytes => ("MB/s", AxisUnit::MegabytesPerSecond),
        Panel::BrokerQueues | Panel::Purgatory => ("waiting", AxisUnit::Plain),
        Panel::Leaders | Panel::OutOfSync => ("partitions", AxisUnit::Plain),
        Panel::Flushes | Panel::Failed | Panel::Conversions => ("per second", AxisUnit::Plain),
        _ => ("mean time", AxisUnit::Nanoseconds),
    }
}
