//! The plain counters of a slice.

use serde::{Deserialize, Serialize};

/// Declares the counters once: the struct, its addition and its JSON fields (omitted when 0).
macro_rules! counters {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// The counters of one flow in one second of one stage.
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
    /// Records that were due; in a closed loop, those that were accepted. By intended second, like all up to
    /// `clock_anomalies`.
    records_scheduled,
    /// Records that were too late to be sent.
    records_skipped,
    /// The part that the client could not accept for lack of buffer space.
    records_skipped_waiting,
    /// Records that were accepted more than [`LATE_AFTER_NS`](crate::slice::LATE_AFTER_NS) after their time.
    records_late,
    /// The part that was due while the client waited for buffer space, or was catching up afterwards.
    records_late_waiting,
    /// Records whose send failed permanently.
    records_failed,
    /// Records whose outcome is unknown (no response in time).
    records_indeterminate,
    /// Records whose times ran backwards: counted with a time of 0.
    clock_anomalies,

    /// Records accepted by the producer. By the second in which it happened, like all below.
    records_sent,
    /// Records acked.
    records_acked,
    /// Bytes of keys, values and headers of the acked records.
    logical_bytes_acked,
    /// Records sent again after a retriable error.
    records_retried,
    /// Produce requests answered.
    requests,
    /// Record batches in them.
    request_batches,
    /// Records in them.
    request_records,
    /// Their bytes on the wire, including frames.
    wire_bytes_sent,
    /// Throttles by brokers.
    throttles,
    /// Their total duration in nanoseconds.
    throttle_ns,
    /// Records read.
    records_consumed,
    /// Bytes of keys, values and headers of the records read.
    logical_bytes_consumed,
    /// Bytes of the fetch responses on the wire.
    wire_bytes_consumed,
    /// Fetch requests answered.
    fetches,
    /// The part that brought no record.
    fetches_empty,
    /// Records read whose content does not match its checksum.
    records_corrupt,
    /// Bytes of record batches before compression; uncompressed batches are not counted.
    batch_bytes_plain,
    /// Bytes of the same batches after compression.
    batch_bytes_compressed,
    /// Records that consumers were behind the ends of their partitions, summed over samples.
    lag_records,
    /// Records of an echo flow that were read back.
    records_echoed,
    /// The part that was read before its ack, or before the response to its transaction's commit.
    records_echoed_early,
    /// Transactions that were committed.
    transactions,
    /// Transactions that were aborted.
    transactions_aborted,
    /// Acked records in those.
    records_aborted,
    /// Their markers in the partitions, each of which takes an offset.
    transaction_markers,
    /// Markers that may have been written twice, because a broker was lost meanwhile.
    markers_doubted,
    /// Number of samples of the lag: one per second and consumer.
    lag_samples,
    /// Time integral of the records in flight, in record nanoseconds.
    in_flight_record_ns,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde wants it so.
fn is_zero(value: &u64) -> bool {
    *value == 0
}
