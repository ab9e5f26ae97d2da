//! The plain counters of a slice.

use serde::{Deserialize, Serialize};

/// Declares the counters once: the struct, its addition and its JSON fields (left out when 0).
macro_rules! counters {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// What is counted of one flow in one second of one stage.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Counts {
            $(
                $(#[doc = $doc])+
                #[serde(skip_serializing_if = "is_zero")]
                pub $name: u64,
            )+
        }

        impl Counts {
            /// Adds all counters of `other`.
            pub fn add(&mut self, other: &Counts) {
                $(self.$name = self.$name.saturating_add(other.$name);)+
            }
        }
    };
}

counters! {
    /// Records that the schedule wanted sent; for a closed loop those that were handed over. By
    /// intended second, like all up to `clock_anomalies`.
    records_scheduled,
    /// Records that were never sent because they were too late.
    records_skipped,
    /// Those of them that the client could not take for want of room in its buffer.
    records_skipped_waiting,
    /// Records that were handed over more than [`LATE_AFTER_NS`](crate::slice::LATE_AFTER_NS) after their time.
    records_late,
    /// Those of them that were due while the client waited for room in its buffer, or was catching up after that.
    records_late_waiting,
    /// Records whose send failed permanently.
    records_failed,
    /// Records of which nobody knows whether the broker has them (no answer in time).
    records_indeterminate,
    /// Records whose times ran backwards: counted with a time of 0.
    clock_anomalies,

    /// Records handed to the producer. By the second in which it happened, like all below.
    records_sent,
    /// Records acked.
    records_acked,
    /// Bytes of keys, values and headers of the acked records.
    logical_bytes_acked,
    /// Records sent once more after a retriable error.
    records_retried,
    /// Produce requests answered.
    requests,
    /// Record batches in them.
    request_batches,
    /// Records in them.
    request_records,
    /// Bytes of them on the wire, frames included.
    wire_bytes_sent,
    /// How often a broker asked for a pause.
    throttles,
    /// How long in all, in nanoseconds.
    throttle_ns,
    /// Records read.
    records_consumed,
    /// Bytes of keys, values and headers of the records read.
    logical_bytes_consumed,
    /// Bytes of the fetch answers on the wire.
    wire_bytes_consumed,
    /// Fetch requests answered.
    fetches,
    /// Those that brought no record.
    fetches_empty,
    /// Records read whose content is not what its checksum says.
    records_corrupt,
    /// Record batches before they were compressed, in bytes; those that were not are not counted.
    batch_bytes_plain,
    /// The same batches after that.
    batch_bytes_compressed,
    /// Records that consumers were behind the ends of their partitions, summed over samples.
    lag_records,
    /// Records of an echo flow that were read back.
    records_echoed,
    /// Those that were read before their ack had been, or the answer to their transaction's commit.
    records_echoed_early,
    /// Transactions that were committed.
    transactions,
    /// Transactions that were aborted.
    transactions_aborted,
    /// Records that had been acked in those.
    records_aborted,
    /// Markers that their ends left in the partitions, where each takes an offset.
    transaction_markers,
    /// Markers that may have been written a second time, since a broker was lost meanwhile.
    markers_doubted,
    /// How many samples: one a second of each consumer.
    lag_samples,
    /// Time integral of the records sent and not yet answered, in record nanoseconds.
    in_flight_record_ns,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde wants it so.
fn is_zero(value: &u64) -> bool {
    *value == 0
}
