//! Values of their own: pieces of a file, or rising numbers, sent by the plain client.

use std::time::Duration;

use kgauge_load::{Clock, Totals};
use kgauge_results::{Kind, Slice, SliceKey, Stage, StageBorders};
use kgauge_scenario::{Partitioner, ProduceFlow, Random, Schedule, Stripe};

use super::Failure;
use super::drive::{connect, topic_on_demand};
use super::plain::{Outgoing, Writer, WriterSetup};
use super::producer_run::{Job, Payload, SendWatch, Sent};
use super::release::Release;
use super::say::{Lines, note};
use crate::interrupt::Stopping;

/// Where values come from.
#[derive(Debug)]
pub(super) enum Values {
    /// One of these, at random.
    Picked(Vec<Vec<u8>>),
    /// The record's number.
    Numbers,
}

impl Values {
    fn value(&self, index: u64, random: Random) -> Vec<u8> {
        match self {
            Values::Numbers => index.to_string().into_bytes(),
            Values::Picked(values) => {
                let at = random.bits(index) % values.len().max(1) as u64;
                values.get(at as usize).cloned().unwrap_or_default()
            }
        }
    }
}

/// Reads what a payload needs; `None` for values that the load engine makes.
pub(super) fn read(
    payload: &Payload,
    as_of: Release,
    lines: &mut Lines,
) -> Result<Option<Values>, Failure> {
    let (path, delimiter) = match payload {
        Payload::Size(_) => return Ok(None),
        Payload::Monotonic => return Ok(Some(Values::Numbers)),
        Payload::File { path, delimiter } => (path, delimiter),
    };
    let shown = std::path::absolute(path).unwrap_or_else(|_| path.clone());
    lines.line(&format!("Reading payloads from: {}", shown.display()));
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| Failure::new(format!("{}: {error}", shown.display())))?;
    let values = split(&text, delimiter);
    if values.is_empty() {
        return Err(Failure::new(format!(
            "File does not exist or empty file provided: {}",
            shown.display()
        )));
    }
    let what = if as_of < Release::of(4, 2, 0) {
        "messages"
    } else {
        "records"
    };
    lines.line(&format!("Number of {what} read: {}", values.len()));
    Ok(Some(Values::Picked(values)))
}

/// As Java's `String.split` does it: empty pieces at the end are none.
fn split(text: &str, delimiter: &str) -> Vec<Vec<u8>> {
    // The default, as it is typed and as shells pass it.
    let delimiter = match delimiter {
        "\\n" => "\n",
        "\\t" => "\t",
        other => other,
    };
    let mut pieces: Vec<Vec<u8>> = match delimiter {
        "" => text.chars().map(|c| c.to_string().into_bytes()).collect(),
        _ => text
            .split(delimiter)
            .map(|piece| piece.as_bytes().to_vec())
            .collect(),
    };
    while pieces.last().is_some_and(Vec::is_empty) {
        pieces.pop();
    }
    pieces
}

/// Sends them, a batch at a time, and measures as the load engine does.
pub(super) fn send(
    job: &Job,
    flow: &ProduceFlow,
    values: &Values,
    stopping: &Stopping,
    watch: &mut SendWatch,
) -> Result<Sent, Failure> {
    note(
        "values of different sizes go through kgauge's plain client, one request at a time: it is \
         slower than its load engine",
    );
    let mut cluster = connect(&job.properties.client, &stopping.load)?;
    let patience = Duration::from_nanos(flow.settings.block_ns_max);
    let topic = topic_on_demand(&mut cluster, &job.topic, &stopping.load, patience)?;
    let setup = WriterSetup {
        cluster,
        topic: &topic,
        settings: &flow.settings,
    };
    let mut sending = Sending {
        writer: Writer::new(setup).map_err(Failure::refused)?,
        flow,
        values,
        schedule: job
            .rate
            .filter(|&rate| rate > 0.0)
            .map(|_| Schedule::new(flow.shape, 0, Stripe::WHOLE)),
        warm_up: job.warm_up,
        random: Random::new(crate::place::fresh_number()),
        partition: 0,
        clock: Clock::start(),
        next: 0,
        totals: Totals::default(),
    };
    let wanted = flow.records_max.unwrap_or(job.records);
    while sending.next < wanted && !stopping.load.is_raised() && !watch.lines.is_closed() {
        sending.batch(wanted, watch);
    }
    Ok(Sent {
        totals: sending.totals,
        whole: std::mem::take(&mut watch.whole),
        elapsed_ns: sending.clock.now_ns(),
    })
}

/// A run of the plain client.
struct Sending<'a> {
    writer: Writer,
    flow: &'a ProduceFlow,
    values: &'a Values,
    schedule: Option<Schedule>,
    warm_up: u64,
    random: Random,
    partition: u32,
    clock: Clock,
    next: u64,
    totals: Totals,
}

impl Sending<'_> {
    /// Takes what is due, up to a batch, sends it and notes each record's times.
    fn batch(&mut self, wanted: u64, watch: &mut SendWatch) {
        let (mut batch, mut due, mut bytes) = (Vec::new(), Vec::new(), 0);
        let room = (self.flow.settings.batch_bytes as usize).max(1);
        while self.next < wanted && bytes < room {
            let now_ns = self.clock.now_ns();
            let intended_ns = self.schedule.as_ref().map_or(now_ns, Schedule::peek_ns);
            if intended_ns > now_ns {
                if !batch.is_empty() {
                    break;
                }
                std::thread::sleep(
                    Duration::from_nanos(intended_ns - now_ns).min(Duration::from_millis(50)),
                );
                continue;
            }
            let value = self.values.value(self.next, self.random);
            bytes += value.len() + 12;
            if let Some(schedule) = &mut self.schedule {
                schedule.advance();
            }
            due.push((intended_ns, now_ns, value.len() as u64));
            batch.push(Outgoing {
                value,
                timestamp_ms: self.clock.unix_ms(now_ns),
                ..Outgoing::default()
            });
            self.next += 1;
            if self.flow.settings.partitioner == Partitioner::RoundRobin {
                break;
            }
        }
        self.totals.scheduled += batch.len() as u64;
        let partition = self.partition;
        self.partition = (partition + 1) % self.writer.partitions().max(1);
        let sent = self.writer.send(partition, &batch);
        let now_ns = self.clock.now_ns();
        match sent {
            Ok(_) => self.acked(&due, now_ns, watch),
            Err(failure) => {
                let count = batch.len() as u64;
                match failure.is_unsure {
                    true => self.totals.indeterminate += count,
                    false => self.totals.failed += count,
                }
                note(&format!("{}: {}", failure.exception, failure.message));
            }
        }
        watch.look_at_clock(now_ns);
    }

    /// Every record of the batch becomes a sample, of the warm-up or of what follows it.
    fn acked(&mut self, due: &[(u64, u64, u64)], now_ns: u64, watch: &mut SendWatch) {
        let first = self.next - due.len() as u64;
        let warm = self.warm_up.saturating_sub(first).min(due.len() as u64) as usize;
        let (warm, hold) = due.split_at(warm);
        for (part, stage) in [(warm, Stage::WarmUp), (hold, Stage::Hold)] {
            let Some(&(first_ns, ..)) = part.first() else {
                continue;
            };
            let mut key = SliceKey::at(0, first_ns, &StageBorders::open(0));
            key.stage = stage;
            let mut slice = Slice::new(key);
            for &(intended_ns, sent_ns, bytes) in part {
                slice.counts.records_acked += 1;
                slice.counts.logical_bytes_acked += bytes;
                let response = slice.times_mut(Kind::Response);
                response.record(now_ns - intended_ns, 1, intended_ns);
                let service = slice.times_mut(Kind::Service);
                service.record(now_ns - sent_ns, 1, intended_ns);
            }
            self.totals.acked += slice.counts.records_acked;
            self.totals.logical_bytes += slice.counts.logical_bytes_acked;
            watch.add(slice, now_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str, delimiter: &str) -> Vec<String> {
        let pieces = split(text, delimiter).into_iter();
        pieces
            .map(|piece| String::from_utf8(piece).unwrap())
            .collect()
    }

    #[test]
    fn a_file_is_cut_as_java_cuts_it() {
        assert_eq!(
            pieces("one\ntwo\n\nthree\n\n", "\\n"),
            ["one", "two", "", "three"]
        );
        assert_eq!(pieces("a;;b;;", ";;"), ["a", "b"]);
        assert!(pieces("", "\\n").is_empty());
    }

    #[test]
    fn numbers_rise_and_pieces_are_all_picked() {
        let random = Random::new(1);
        assert_eq!(Values::Numbers.value(41, random), b"41");
        let values = Values::Picked(vec![b"a".to_vec(), b"b".to_vec()]);
        let picked: std::collections::BTreeSet<Vec<u8>> =
            (0..50).map(|index| values.value(index, random)).collect();
        assert_eq!(picked.len(), 2);
    }
}
