//! Slices add up exactly, however a run is cut.
//!
//! Two ways to cut. The slices that a run recorded are distributed to files at random and in random order, as if
//! several agents had written them: every bucket must be the same when read, and every byte of the summary. And one
//! list of samples goes through one recorder, and through several recorders on separate threads that ship at random
//! moments.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use kgauge_analyze::Summary;
use kgauge_results::slice::SliceKey;
use kgauge_results::{
    Histogram, Recorder, RunRead, Slice, SliceSink, Stage, StageBorders, TimeKind,
};
use kgauge_runner::{OrRunError, RunError};
use kgauge_scenario::Random;

use crate::files::write;
use crate::row::{ExpectedValue, TruthRow, TruthUnit};
use crate::runs::{Runs, TruthRun};
use crate::scenarios::STALL;

/// How often a run's slices are distributed.
const CUTS: u64 = 10;
/// The largest number of files.
const FILES_MAX: u64 = 8;
/// Samples for the recorders.
const SAMPLES: u64 = 300_000;
/// Threads that record them.
const THREADS: u64 = 4;

/// All rows. `dir` is a folder that is not there yet; it is gone afterwards.
pub(crate) fn rows(runs: &Runs, dir: &Path, seed: u64) -> Result<Vec<TruthRow>, RunError> {
    let mut rows = Vec::new();
    if let Some(ran) = runs.get(STALL) {
        let cut = of_a_run(ran, dir, Random::new(seed));
        let _ = fs::remove_dir_all(dir);
        rows.extend(cut.map_err(|error| {
            RunError::System(format!("cannot split {}: {error}", ran.read.dir.display()))
        })?);
    }
    rows.push(of_threads(Random::new(seed)));
    Ok(rows)
}

/// Distributes the lines of a run's slices, again and again.
fn of_a_run(ran: &TruthRun, dir: &Path, random: Random) -> Result<Vec<TruthRow>, RunError> {
    let repeats = ran.read.dir.join("repeats/0000-00");
    let text = fs::read_to_string(repeats.join("slices.jsonl")).or_unwritable()?;
    let lines: Vec<&str> = text.lines().collect();
    let whole = serde_json::to_vec(&ran.summary).or_unwritable()?;
    let (mut differing, mut summaries) = (0, 0);
    let mut at = 0;
    let mut draw = |bound: u64| {
        at += 1;
        random.bits(at) % bound
    };
    for _ in 0..CUTS {
        let mut dealt = vec![Vec::new(); 2 + draw(FILES_MAX - 1) as usize];
        for line in &lines {
            let file = draw(dealt.len() as u64) as usize;
            let place = draw(dealt[file].len() as u64 + 1) as usize;
            dealt[file].insert(place, *line);
        }
        let read = copy_with(&ran.read.dir, dir, &dealt)?;
        differing += buckets_that_differ(&ran.read, &read);
        let summary = serde_json::to_vec(&Summary::of(&read)).or_unwritable()?;
        summaries += u64::from(summary != whole);
    }
    let none = ExpectedValue::exact(TruthUnit::Count, 0.0);
    let figure = format!("buckets in {CUTS} splits of {} slices", lines.len());
    Ok(vec![
        none.row("slices", figure, Some(differing as f64)),
        none.row(
            "slices",
            format!("summaries of {CUTS} splits"),
            Some(summaries as f64),
        ),
    ])
}

/// A copy of a run folder with the slices in other files.
fn copy_with(from: &Path, to: &Path, files: &[Vec<&str>]) -> Result<RunRead, RunError> {
    let _ = fs::remove_dir_all(to);
    let repeat = to.join("repeats/0000-00");
    fs::create_dir_all(&repeat).or_unwritable()?;
    for name in [
        "run.json",
        "plan.json",
        "environment.json",
        "events.jsonl",
        "evidence.jsonl",
        "repeats/0000-00/repeat.json",
    ] {
        fs::copy(from.join(name), to.join(name)).or_unwritable()?;
    }
    for (number, lines) in files.iter().enumerate() {
        let mut text = lines.join("\n");
        text.push('\n');
        write(&repeat.join(format!("slices-{number}.jsonl")), text)?;
    }
    let read = RunRead::open(to).or_unwritable()?;
    // One that got no line at all is missing nothing.
    if read.repeats.len() != 1 {
        let message = format!("the copy has {} repeats", read.repeats.len());
        return Err(RunError::System(message));
    }
    Ok(read)
}

/// In how many buckets, over all flows, stages and kinds, two readings of a run differ.
fn buckets_that_differ(one: &RunRead, other: &RunRead) -> u64 {
    let stages = |read: &RunRead| {
        let mut stages = BTreeMap::new();
        for (flow, found) in read.repeats.iter().flat_map(|repeat| &repeat.flows) {
            for (stage, slice) in &found.stages {
                stages.insert((*flow, *stage), slice.clone());
            }
        }
        stages
    };
    slices_that_differ(&stages(one), &stages(other))
}

fn slices_that_differ<K: Ord>(one: &BTreeMap<K, Slice>, other: &BTreeMap<K, Slice>) -> u64 {
    if !one.keys().eq(other.keys()) {
        return u64::MAX;
    }
    let pairs = one.values().zip(other.values());
    pairs.map(|(one, other)| in_slice(one, other)).sum()
}

/// Buckets that differ, and one for each exact figure that differs: counts, errors, extremes, sums.
fn in_slice(one: &Slice, other: &Slice) -> u64 {
    let exact = u64::from(one.counts != other.counts) + u64::from(one.errors != other.errors);
    let kinds = TimeKind::ALL.into_iter();
    exact
        + kinds
            .map(|kind| in_times(one.times(kind), other.times(kind)))
            .sum::<u64>()
}

fn in_times(one: &Histogram, other: &Histogram) -> u64 {
    if one == other {
        return 0;
    }
    let mut counts = BTreeMap::<u64, (u64, u64)>::new();
    for (top_ns, count) in one.buckets() {
        counts.entry(top_ns).or_default().0 = count;
    }
    for (top_ns, count) in other.buckets() {
        counts.entry(top_ns).or_default().1 = count;
    }
    let differ = counts.values().filter(|(one, other)| one != other).count() as u64;
    // Equal buckets with other extremes or another sum are not equal.
    differ.max(1)
}

/// One list of samples through one recorder, and through several threads.
fn of_threads(random: Random) -> TruthRow {
    let whole = recorded(random, |_| true, 0);
    let parts = std::thread::scope(|scope| {
        let part = |thread: u64| {
            let of = move |index: u64| random.bits(index ^ (1 << 40)) % THREADS == thread;
            scope.spawn(move || recorded(random, of, thread + 1))
        };
        let threads: Vec<_> = (0..THREADS).map(part).collect();
        let joined = threads.into_iter().map(|thread| thread.join().ok());
        joined.collect::<Option<Vec<_>>>()
    });
    let differing = parts.map(|parts| {
        let mut sum = BTreeMap::<Stage, Slice>::new();
        for (stage, slice) in parts.into_iter().flatten() {
            add(&mut sum, stage, &slice);
        }
        slices_that_differ(&whole, &sum) as f64
    });
    let none = ExpectedValue::exact(TruthUnit::Count, 0.0);
    let figure = format!("buckets of {THREADS} threads");
    none.row("slices", figure, differing)
}

/// The samples that `is_ours` picks, through one recorder that ships at random moments; `number` 0 ships
/// only at the end.
fn recorded(random: Random, is_ours: impl Fn(u64) -> bool, number: u64) -> BTreeMap<Stage, Slice> {
    /// From 0 to 12 s; the hold is from 2 to 10 s.
    const SPACE_NS: u64 = 12_000_000_000 / SAMPLES;
    let borders = StageBorders::closed(2_000_000_000, 10_000_000_000);
    let (sink, slices) = SliceSink::memory();
    let mut recorder = Recorder::new(0, borders, sink);
    let mut sum = BTreeMap::new();
    let ticks = Random::new(random.bits(u64::MAX - number));
    for index in (0..SAMPLES).filter(|index| is_ours(*index)) {
        let intended_ns = index * SPACE_NS;
        let bits = random.bits(index);
        // One in eight is late; answers take up to 2^10 to 2^31 ns.
        let lag_ns = if bits.is_multiple_of(8) {
            bits % 5_000_000
        } else {
            0
        };
        let service_ns = (bits >> 32) >> (bits % 22);
        let sent_ns = intended_ns + lag_ns;
        recorder.scheduled(intended_ns, 1);
        recorder.sent(sent_ns, 1);
        recorder.acked(intended_ns, sent_ns, sent_ns + service_ns, 1, 100);
        if number > 0 && ticks.bits(index).is_multiple_of(5_000) {
            recorder.tick();
            take(&slices, &mut sum);
        }
    }
    recorder.finish();
    take(&slices, &mut sum);
    sum
}

fn take(slices: &kgauge_results::recorder::MemorySlices, sum: &mut BTreeMap<Stage, Slice>) {
    for mut slice in slices.take() {
        slice.settle();
        add(sum, slice.key.stage, &slice);
    }
}

fn add(sum: &mut BTreeMap<Stage, Slice>, stage: Stage, slice: &Slice) {
    let key = SliceKey {
        flow: 0,
        stage,
        second: 0,
    };
    sum.entry(stage)
        .or_insert_with(|| Slice::new(key))
        .add(slice);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::RowVerdict;

    #[test]
    fn threads_add_up_to_one() {
        assert_eq!(of_threads(Random::new(7)).verdict, RowVerdict::Pass);
    }

    #[test]
    fn one_sample_in_another_bucket_is_a_difference() {
        let (mut one, mut other) = (Histogram::new(), Histogram::new());
        one.record(1_000, 5, 0);
        other.record(1_000, 4, 0);
        other.record(9_000, 1, 0);
        assert_eq!(in_times(&one, &other), 2);
        let mut third = one.clone();
        assert_eq!(in_times(&one, &third), 0);
        third.record(1_000, 1, 0);
        assert_eq!(in_times(&one, &third), 1);
    }
}
