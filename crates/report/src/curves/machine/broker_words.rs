//! What stands above the panels of brokers, and beside their axes.

use crate::chart::AxisUnit;
use crate::view::Panel;

const PARTS: &str = "mean time of a request by part, all brokers together";
const TIME: &str = "mean time of a request in the broker";

/// Short name, title and subtitle.
pub(super) fn words(panel: Panel) -> (&'static str, &'static str, &'static str) {
    match panel {
        Panel::ProduceParts => ("produce-parts", "Produce requests in the broker", PARTS),
        Panel::FetchParts => ("fetch-parts", "Consumers' fetches in the broker", PARTS),
        Panel::FollowerParts => ("follower-parts", "Followers' fetches in the broker", PARTS),
        Panel::ProduceTime => ("produce-time", "Produce requests by broker", TIME),
        Panel::FetchTime => ("fetch-time", "Consumers' fetches by broker", TIME),
        Panel::FollowerTime => ("follower-time", "Followers' fetches by broker", TIME),
        Panel::Idle => (
            "idle",
            "Idle threads of brokers",
            "share of the time in which request handlers and network threads had nothing to do",
        ),
        Panel::BrokerBytes => (
            "broker-bytes",
            "Bytes of brokers",
            "megabytes a second of batches from producers, to consumers and to followers",
        ),
        Panel::BrokerQueues => (
            "broker-queues",
            "Queues of brokers",
            "requests that wait for a handler, responses that wait for a network thread",
        ),
        Panel::Purgatory => (
            "purgatory",
            "Purgatory",
            "produce requests that wait for followers, fetches that wait for records",
        ),
        Panel::Leaders => ("leaders", "Leaders", "partitions that each broker leads"),
        Panel::OutOfSync => (
            "out-of-sync",
            "Partitions with replicas missing",
            "partitions that are not as safe as they should be",
        ),
        Panel::Flushes => ("flushes", "Flushes", "flushes (fsync) a second"),
        Panel::FlushTimes => (
            "flush-times",
            "Times of flushes",
            "mean time of a flush (fsync)",
        ),
        Panel::Failed => (
            "failed",
            "Failed requests",
            "a second, each partition by itself",
        ),
        Panel::Conversions => (
            "conversions",
            "Conversions",
            "batches a second converted to another message format",
        ),
        // All others are of the machine.
        _ => (
            "collections",
            "Garbage collection",
            "share of the time in which a collector worked",
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
