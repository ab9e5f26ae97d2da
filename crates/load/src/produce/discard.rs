//! A producer whose batches are discarded: the cost of generating records, without requests and sockets.

use kgauge_results::Recorder;

use super::Producer;
use crate::clock::Clock;

/// Turns without a finished batch after which there will be none: the batch never fills up.
const TURNS_MAX: u32 = 100_000;

impl Producer {
    /// Accepts the records that are due, and acks every batch that would be sent now.
    pub(crate) fn produce_to_null(&mut self, now_ns: u64, recorder: &mut Recorder, clock: &Clock) {
        self.take_records(now_ns, recorder, clock);
        let now_ns = clock.now_ns();
        self.each_finished(now_ns, |producer, slot| {
            producer.ack(slot, now_ns, recorder);
        });
    }

    /// Consecutive batches of records, of about this many bytes: at least one, if there is any.
    pub(crate) fn finished_batches(
        &mut self,
        bytes: usize,
        recorder: &mut Recorder,
        clock: &Clock,
    ) -> Vec<u8> {
        let mut batches = Vec::new();
        for _ in 0..TURNS_MAX {
            let now_ns = clock.now_ns();
            self.take_records(now_ns, recorder, clock);
            self.each_finished(now_ns, |producer, slot| {
                let batch = producer.pool[slot].encoder.bytes();
                if batches.is_empty() || batches.len() + batch.len() <= bytes {
                    batches.extend_from_slice(batch);
                }
                producer.ack(slot, now_ns, recorder);
            });
            let more = self.flow.settings.batch_bytes as usize;
            if !batches.is_empty() && batches.len() + more > bytes {
                break;
            }
        }
        batches
    }

    /// Finishes the batches that would be sent now, and returns them.
    fn each_finished(&mut self, now_ns: u64, mut take: impl FnMut(&mut Producer, u32)) {
        self.drained_at_ns = now_ns;
        self.end_lingers(now_ns);
        let mut picked = std::mem::take(&mut self.picked);
        for link in 0..self.ready.len() {
            loop {
                picked.clear();
                self.pick(link, now_ns, &mut picked);
                if picked.is_empty() {
                    break;
                }
                for &slot in &picked {
                    self.finish_batch(slot);
                    self.partition_of(slot).in_flight -= 1;
                    take(self, slot);
                }
            }
        }
        self.picked = picked;
    }
}
