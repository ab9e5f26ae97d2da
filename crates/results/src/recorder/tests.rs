//! Tests the recorder against a model that keeps every sample, and each of its rules.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::histogram::Histogram;
use crate::slice::Counts;
use crate::stage::{SECOND_NS, Stage};

const BORDERS: StageBorders = StageBorders {
    warm_up_end_ns: 2_500_000_000,
    hold_end_ns: 90_000_000_000,
};

fn recorder(borders: StageBorders) -> (Recorder, MemorySlices) {
    let (sink, slices) = SliceSink::memory();
    (Recorder::new(3, borders, sink), slices)
}

/// All partial slices of each key, added and settled.
fn folded(slices: Vec<Slice>) -> BTreeMap<SliceKey, Slice> {
    let mut sums = BTreeMap::<SliceKey, Slice>::new();
    for slice in slices {
        let sum = sums.entry(slice.key);
        sum.or_insert_with(|| Slice::new(slice.key)).add(&slice);
    }
    sums.values_mut().for_each(Slice::settle);
    sums
}

fn key(stage: Stage, second: u32) -> SliceKey {
    SliceKey {
        flow: 3,
        stage,
        second,
    }
}

#[derive(Clone, Debug)]
enum Step {
    Scheduled(u64, u64),
    Skipped(u64, u64),
    Acked {
        intended_ns: u64,
        lag_ns: u64,
        service_ns: u64,
        records: u64,
    },
    Failed(u64, u64, u64),
    Consumed(u64, u64),
    Waited(u64, u64),
    Tick,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let at = || 0..100 * SECOND_NS;
    let records = || 1..1_000_u64;
    let lag = prop_oneof![Just(0), 0..3 * SECOND_NS];
    let step = prop_oneof![
        (at(), records()).prop_map(|(at, n)| Step::Scheduled(at, n)),
        (at(), records()).prop_map(|(at, n)| Step::Skipped(at, n)),
        (at(), lag, 0..5 * SECOND_NS, records()).prop_map(
            |(intended_ns, lag_ns, service_ns, n)| {
                Step::Acked {
                    intended_ns,
                    lag_ns,
                    service_ns,
                    records: n,
                }
            }
        ),
        (at(), 0..SECOND_NS, records()).prop_map(|(at, later, n)| Step::Failed(at, later, n)),
        (at(), records()).prop_map(|(at, n)| Step::Consumed(at, n)),
        (at(), 0..SECOND_NS).prop_map(|(at, ns)| Step::Waited(at, ns)),
        Just(Step::Tick),
    ];
    prop::collection::vec(step, 0..300)
}

/// Value, records and time of each sample, by kind.
type Samples = BTreeMap<TimeKind, Vec<(u64, u64, u64)>>;

/// Keeps everything; slow and simple.
#[derive(Default)]
struct Model {
    slices: BTreeMap<SliceKey, (Counts, Samples)>,
}

impl Model {
    fn counts(&mut self, at_ns: u64) -> &mut Counts {
        &mut self.at(at_ns).0
    }

    fn at(&mut self, at_ns: u64) -> &mut (Counts, Samples) {
        let stage = match at_ns {
            at_ns if at_ns < BORDERS.warm_up_end_ns => Stage::WarmUp,
            at_ns if at_ns < BORDERS.hold_end_ns => Stage::Hold,
            _ => Stage::Drain,
        };
        let second = u32::try_from(at_ns / SECOND_NS).unwrap();
        self.slices.entry(key(stage, second)).or_default()
    }

    fn time(&mut self, kind: TimeKind, at_ns: u64, value_ns: u64, records: u64) {
        let times = self.at(at_ns).1.entry(kind).or_default();
        times.push((value_ns, records, at_ns));
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Scheduled(at_ns, records) => self.counts(at_ns).records_scheduled += records,
            Step::Skipped(at_ns, records) => self.counts(at_ns).records_skipped += records,
            Step::Acked {
                intended_ns,
                lag_ns,
                service_ns,
                records,
            } => {
                let acked_ns = intended_ns + lag_ns + service_ns;
                self.time(
                    TimeKind::Response,
                    intended_ns,
                    lag_ns + service_ns,
                    records,
                );
                self.time(TimeKind::Service, intended_ns, service_ns, records);
                let counts = self.counts(acked_ns);
                counts.records_acked += records;
                counts.logical_bytes_acked += records * 100;
                // The time of a lag's maximum is not kept for records sent at once.
                self.time(TimeKind::Lag, intended_ns, lag_ns, records);
            }
            Step::Failed(intended_ns, _, records) => {
                self.counts(intended_ns).records_failed += records;
            }
            Step::Consumed(at_ns, records) => {
                self.counts(at_ns).records_consumed += records;
                self.counts(at_ns).logical_bytes_consumed += records * 100;
            }
            Step::Waited(at_ns, ns) => self.time(TimeKind::BufferWait, at_ns, ns, 1),
            Step::Tick => {}
        }
    }
}

fn apply(recorder: &mut Recorder, step: &Step) {
    match *step {
        Step::Scheduled(at_ns, records) => recorder.scheduled(at_ns, records),
        Step::Skipped(at_ns, records) => recorder.skipped(at_ns, records),
        Step::Acked {
            intended_ns,
            lag_ns,
            service_ns,
            records,
        } => {
            let sent_ns = intended_ns + lag_ns;
            let acked_ns = sent_ns + service_ns;
            recorder.acked(intended_ns, sent_ns, acked_ns, records, records * 100);
        }
        Step::Failed(intended_ns, later_ns, records) => {
            recorder.failed(intended_ns, intended_ns + later_ns, records, 7);
        }
        Step::Consumed(at_ns, records) => recorder.consumed(at_ns, records, records * 100),
        Step::Waited(at_ns, ns) => recorder.buffer_wait(at_ns, ns),
        Step::Tick => recorder.tick(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn nothing_is_lost_moved_or_made_up(steps in steps()) {
        let (mut recorder, slices) = recorder(BORDERS);
        let mut model = Model::default();
        for step in &steps {
            apply(&mut recorder, step);
            model.step(step);
        }
        recorder.finish();
        let folded = folded(slices.take());
        let failed = folded.values().flat_map(|slice| slice.errors.iter());
        let failed = failed.map(|error| error.records).sum::<u64>();
        let failed_in = steps.iter().map(|step| match step {
            Step::Failed(_, _, records) => *records,
            _ => 0,
        });
        prop_assert_eq!(failed, failed_in.sum::<u64>());
        for (key, (counts, times)) in &model.slices {
            let slice = folded.get(key).unwrap();
            prop_assert_eq!(&slice.counts, counts);
            for (kind, samples) in times {
                let mut expected = Histogram::new();
                for (value_ns, records, at_ns) in samples {
                    expected.record(*value_ns, *records, *at_ns);
                }
                let recorded = slice.times(*kind);
                prop_assert_eq!(recorded.count(), expected.count());
                prop_assert_eq!(recorded.sum_ns(), expected.sum_ns());
                prop_assert_eq!(recorded.min_ns(), expected.min_ns());
                prop_assert_eq!(recorded.max_ns(), expected.max_ns());
                prop_assert!(recorded.buckets().eq(expected.buckets()));
                if expected.max_ns() > Some(0) {
                    prop_assert_eq!(recorded.max_at_ns(), expected.max_at_ns());
                }
            }
        }
    }

    #[test]
    fn a_run_cut_in_any_way_adds_to_the_same_slices(
        steps in steps(),
        owners in prop::collection::vec(0..3_usize, 300),
        ticks in prop::collection::vec(any::<bool>(), 300),
    ) {
        let (mut whole, whole_slices) = recorder(BORDERS);
        let mut parts = (0..3).map(|_| recorder(BORDERS)).collect::<Vec<_>>();
        for ((step, owner), tick) in steps.iter().zip(owners).zip(ticks) {
            apply(&mut whole, step);
            apply(&mut parts[owner].0, step);
            if tick {
                parts[owner].0.tick();
            }
        }
        whole.finish();
        let mut cut = Vec::new();
        for (part, slices) in parts {
            part.finish();
            cut.extend(slices.take());
        }
        cut.reverse();
        let filled = |slices| {
            let mut folded = folded(slices);
            folded.retain(|_, slice| !slice.is_empty());
            folded
        };
        prop_assert_eq!(filled(cut), filled(whole_slices.take()));
    }
}

#[test]
fn a_time_belongs_to_the_stage_in_which_it_was_intended() {
    let (mut recorder, slices) = recorder(BORDERS);
    // Intended in the warm-up, acked in the hold, both in second 2.
    recorder.acked(2_400_000_000, 2_410_000_000, 2_600_000_000, 5, 500);
    recorder.finish();
    let folded = folded(slices.take());
    let warm_up = &folded[&key(Stage::WarmUp, 2)];
    let hold = &folded[&key(Stage::Hold, 2)];
    assert_eq!(warm_up.times(TimeKind::Response).count(), 5);
    assert_eq!(warm_up.counts.records_acked, 0);
    assert!(hold.times(TimeKind::Response).is_empty());
    assert_eq!(hold.counts.records_acked, 5);
}

#[test]
fn a_clock_that_runs_backwards_is_counted_and_its_samples_are_kept() {
    let (mut recorder, slices) = recorder(BORDERS);
    recorder.acked(5_000, 9_000, 8_000, 2, 0); // acked before sent
    recorder.acked(5_000, 4_000, 8_000, 1, 0); // sent before intended
    recorder.finish();
    let folded = folded(slices.take());
    let slice = &folded[&key(Stage::WarmUp, 0)];
    assert_eq!(slice.counts.clock_anomalies, 3);
    assert_eq!(slice.times(TimeKind::Response).count(), 3);
    assert_eq!(slice.times(TimeKind::Service).min_ns(), Some(0));
    assert_eq!(slice.times(TimeKind::Lag).min_ns(), Some(0));
}

#[test]
fn an_open_hold_ends_where_it_is_closed() {
    let (mut recorder, slices) = recorder(StageBorders::open(0));
    recorder.sent(1_200_000_000, 1);
    recorder.close_hold(1_500_000_000);
    recorder.sent(1_499_999_999, 10);
    recorder.sent(1_500_000_000, 100);
    recorder.finish();
    let folded = folded(slices.take());
    assert_eq!(folded[&key(Stage::Hold, 1)].counts.records_sent, 11);
    assert_eq!(folded[&key(Stage::Drain, 1)].counts.records_sent, 100);
}

#[test]
fn records_in_flight_are_spread_over_the_seconds_and_none_is_lost() {
    let (mut recorder, slices) = recorder(BORDERS);
    // From 2.2 s to 4.2 s, across the warm-up's end at 2.5 s: 0.3, 0.5, 1.0 and 0.2 s.
    recorder.in_flight(2_200_000_000, 4_200_000_000, 2_000_000_001);
    recorder.in_flight(7_000_000_000, 7_000_000_000, 99);
    recorder.finish();
    let folded = folded(slices.take());
    let parts = folded
        .values()
        .map(|slice| slice.counts.in_flight_record_ns);
    // In the order of keys: stage first.
    assert_eq!(
        parts.collect::<Vec<_>>(),
        [300_000_000, 500_000_000, 1_000_000_000, 200_000_001]
    );
}

#[test]
fn more_open_seconds_than_places_ship_partial_slices() {
    let (mut recorder, slices) = recorder(StageBorders::open(0));
    let seconds = 3 * PARKED_MAX as u64;
    for _ in 0..2 {
        for second in 0..seconds {
            recorder.acked(
                second * SECOND_NS,
                second * SECOND_NS + 5,
                900 * SECOND_NS,
                1,
                10,
            );
        }
    }
    recorder.finish();
    let shipped = slices.take();
    let folded = folded(shipped);
    let counts = folded
        .values()
        .map(|slice| slice.times(TimeKind::Response).count());
    assert_eq!(counts.filter(|count| *count == 2).count() as u64, seconds);
    assert_eq!(
        folded[&key(Stage::Hold, 900)].counts.records_acked,
        2 * seconds
    );
}

#[test]
fn an_idle_recorder_ships_nothing() {
    let (mut recorder, slices) = recorder(BORDERS);
    recorder.tick();
    recorder.scheduled(7, 0);
    recorder.tick();
    recorder.finish();
    assert!(slices.take().is_empty());
}

#[test]
fn through_a_commit_a_record_waits_for_its_end_and_then_for_the_fetch() {
    let (mut recorder, slices) = recorder(StageBorders::open(0));
    let second = SECOND_NS;
    // Acked at 100, committed at 140, read at 150.
    recorder.commit_waited(Some((second + 100, Some(second + 140))), second + 150, 2);
    // Read before its commit was known, and before its ack.
    recorder.commit_waited(Some((second + 100, None)), second + 170, 1);
    recorder.commit_waited(Some((second + 100, Some(second + 180))), second + 170, 1);
    recorder.commit_waited(None, second + 170, 1);
    recorder.aborted(second, 3, 40);
    recorder.markers_doubted(second, 6);
    recorder.finish();
    let folded = folded(slices.take());
    let slice = &folded[&key(Stage::Hold, 1)];
    let commit = slice.times(TimeKind::CommitWait);
    let fetch = slice.times(TimeKind::FetchWait);
    assert_eq!((commit.count(), fetch.count()), (5, 5));
    // 2 × 40, 70, 70, 0; and 2 × 10 for the fetch.
    assert_eq!(commit.mean_ns().unwrap() * 5.0, 220.0);
    assert_eq!(fetch.mean_ns().unwrap() * 5.0, 20.0);
    let counts = &slice.counts;
    assert_eq!(counts.records_echoed_early, 3);
    assert_eq!(
        (counts.transactions_aborted, counts.records_aborted),
        (1, 40)
    );
    assert_eq!((counts.transaction_markers, counts.markers_doubted), (3, 6));
}
