//! An A/B test in progress: the next turn, and the result of the pairs so far. Two runs share it if each side has its
//! own target.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kgauge_analyze::sequential::{PairDecision, decide};
use kgauge_analyze::summary::{AbSummary, ab_of_record};
use kgauge_results::run::{AbBlock, AbEnd, AbRecord, VoidCause};
use kgauge_scenario::{AbKind, AbPlan, AbSide, derive_seed};

/// How often a side that waits checks whether the user stops the run.
const WAIT: Duration = Duration::from_millis(100);

/// An A/B test in progress. Clones share it.
#[derive(Clone)]
pub struct AbTest(Arc<SharedTest>);

struct SharedTest {
    plan: AbPlan,
    seed: u64,
    state: Mutex<TestState>,
    changed: Condvar,
}

/// The changing state of the test.
struct TestState {
    record: AbRecord,
    block: Option<OpenBlock>,
    /// The repeat that the next block is.
    next_repeat: u32,
    /// The blocks that the record may have.
    blocks_max: usize,
    /// Sides that are ready for their first turn.
    ready: [bool; 2],
    /// When the first block began.
    began: Option<Instant>,
    took_before_ns: u64,
    block_time_max: Duration,
    voids_in_a_row: usize,
}

/// A block that is not complete.
struct OpenBlock {
    repeat: u32,
    first: AbSide,
    began: Instant,
    started: [bool; 2],
    /// Sides whose load can start.
    is_ready: [bool; 2],
    results: [Option<AbResult>; 2],
}

/// The result of a repeat of one side.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AbResult {
    /// The figure.
    pub(crate) value: Option<f64>,
    /// Why it does not count, if so.
    pub(crate) void: Option<VoidCause>,
}

/// A side's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AbTurn {
    /// The side.
    pub(crate) side: AbSide,
    /// Which repeat it is.
    pub(crate) repeat: u32,
}

impl AbTest {
    /// A test that goes on behind the blocks of a record. `next_repeat` is the first repeat that no side has measured.
    /// The budget and the number of blocks count from here.
    pub fn new(plan: &AbPlan, seed: u64, mut record: AbRecord, next_repeat: u32) -> AbTest {
        record.end = None;
        let state = TestState {
            blocks_max: record.blocks.len() + plan.blocks_max as usize,
            took_before_ns: record.took_ns,
            record,
            block: None,
            next_repeat,
            ready: [false; 2],
            began: None,
            block_time_max: Duration::ZERO,
            voids_in_a_row: 0,
        };
        AbTest(Arc::new(SharedTest {
            plan: plan.clone(),
            seed,
            state: Mutex::new(state),
            changed: Condvar::new(),
        }))
    }

    /// The blocks so far.
    pub fn record(&self) -> AbRecord {
        let state = self.lock();
        AbRecord {
            took_ns: state.took_ns(),
            ..state.record.clone()
        }
    }

    /// The result of the pairs so far.
    pub fn summary(&self) -> AbSummary {
        ab_of_record(&self.0.plan, &self.record(), self.0.seed)
    }

    /// A side measures no more. That ends the test, unless it has ended or the user stopped it.
    pub fn leave(&self, side: AbSide, is_stopped: bool) {
        let mut state = self.lock();
        if state.record.end.is_none() && !is_stopped {
            state.record.end = Some(AbEnd::SideLost { side });
        }
        self.0.changed.notify_all();
    }

    /// Waits for the turn of one of the sides `mine`. `None` if the test has ended, or `is_stopping` says so.
    pub(crate) fn next(&self, mine: &[AbSide], is_stopping: &dyn Fn() -> bool) -> Option<AbTurn> {
        let mut state = self.lock();
        for side in mine {
            state.ready[side.index()] = true;
        }
        self.0.changed.notify_all();
        loop {
            if is_stopping() || state.record.end.is_some() {
                return None;
            }
            if state.ready == [true; 2] {
                if state.block.is_none() {
                    self.open_block(&mut state);
                }
                if let Some(turn) = self.turn(&mut state, mine) {
                    return Some(turn);
                }
            }
            if state.record.end.is_none() {
                let waited = self.0.changed.wait_timeout(state, WAIT);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }

    /// In a duet, waits until the other side's load can start too, so that both are in their hold at the same time.
    /// Returns at once if there is nothing to wait for any more.
    pub(crate) fn await_load(&self, side: AbSide, is_stopping: &dyn Fn() -> bool) {
        if !self.0.plan.is_duet {
            return;
        }
        let other = side.other().index();
        let mut state = self.lock();
        loop {
            let is_over = is_stopping() || state.record.end.is_some();
            let Some(block) = state.block.as_mut().filter(|_| !is_over) else {
                return;
            };
            block.is_ready[side.index()] = true;
            self.0.changed.notify_all();
            if block.is_ready[other] || block.results[other].is_some() {
                return;
            }
            let waited = self.0.changed.wait_timeout(state, WAIT);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Takes what a side measured in its turn. True if that completes the block.
    pub(crate) fn complete(&self, side: AbSide, result: AbResult) -> bool {
        let mut state = self.lock();
        let is_duet = self.0.plan.is_duet;
        let Some(block) = &mut state.block else {
            return false;
        };
        let is_void = result.void.is_some();
        block.results[side.index()] = Some(result);
        let other = side.other().index();
        // Nothing is measured for a block that does not count.
        let is_other_left_out = is_void && !is_duet && !block.started[other];
        let is_complete = block.results[other].is_some() || is_other_left_out;
        if is_complete {
            self.close_block(&mut state);
        }
        self.0.changed.notify_all();
        is_complete
    }

    fn lock(&self) -> MutexGuard<'_, TestState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the next block, or ends the test.
    fn open_block(&self, state: &mut TestState) {
        let end = state.elapsed() + state.block_time_max;
        let budget = self.0.plan.budget_ns.map(Duration::from_nanos);
        let is_first = state.block_time_max.is_zero();
        if state.record.blocks.len() >= state.blocks_max {
            state.record.end = Some(AbEnd::Blocks);
        } else if !is_first && budget.is_some_and(|budget| end > budget) {
            state.record.end = Some(AbEnd::Budget);
        }
        if state.record.end.is_some() {
            self.0.changed.notify_all();
            return;
        }
        state.began.get_or_insert_with(Instant::now);
        let repeat = state.next_repeat;
        state.next_repeat += 1;
        let coin = derive_seed(self.0.seed, &format!("ab block {repeat}")) & 1;
        state.block = Some(OpenBlock {
            repeat,
            first: AbSide::BOTH[coin as usize],
            began: Instant::now(),
            started: [false; 2],
            is_ready: [false; 2],
            results: [None, None],
        });
    }

    /// The turn of one of the sides, if it is.
    fn turn(&self, state: &mut TestState, mine: &[AbSide]) -> Option<AbTurn> {
        let block = state.block.as_mut()?;
        let is_first_done = block.results[block.first.index()].is_some();
        let is_next = |side: AbSide, block: &OpenBlock| {
            let may_start = self.0.plan.is_duet || side == block.first || is_first_done;
            may_start && !block.started[side.index()]
        };
        let order = [block.first, block.first.other()];
        let mut sides = order.into_iter().filter(|side| mine.contains(side));
        let side = sides.find(|side| is_next(*side, block))?;
        block.started[side.index()] = true;
        Some(AbTurn {
            side,
            repeat: block.repeat,
        })
    }

    fn close_block(&self, state: &mut TestState) {
        let Some(block) = state.block.take() else {
            return;
        };
        state.block_time_max = state.block_time_max.max(block.began.elapsed());
        let [a, b] = block.results.map(Option::unwrap_or_default);
        let void = a.void.or(b.void);
        state.voids_in_a_row = match void {
            Some(_) => state.voids_in_a_row + 1,
            None => 0,
        };
        if let Some(cause) = void
            .clone()
            .filter(|_| state.voids_in_a_row >= VoidCause::IN_A_ROW_MAX)
        {
            state.record.end = Some(AbEnd::Void { cause });
        }
        state.record.blocks.push(AbBlock {
            repeat: block.repeat,
            first: block.first,
            a: a.value,
            b: b.value,
            void,
        });
        let is_decided = || {
            let decision = decide(&state.record.log_ratios(), self.0.plan.width);
            self.0.plan.kind != AbKind::Same && decision != PairDecision::Open
        };
        if state.record.end.is_none() && is_decided() {
            state.record.end = Some(AbEnd::Decided);
        }
    }
}

impl TestState {
    /// The time since the first block began.
    fn elapsed(&self) -> Duration {
        self.began.map_or(Duration::ZERO, |began| began.elapsed())
    }

    fn took_ns(&self) -> u64 {
        let now_ns = u64::try_from(self.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.took_before_ns.saturating_add(now_ns)
    }
}

impl std::fmt::Debug for AbTest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AbTest").finish_non_exhaustive()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use kgauge_scenario::{AbMetric, AbSidePlan};

    use super::*;

    fn plan(kind: AbKind, is_duet: bool) -> AbPlan {
        let side = |name: &str, trial| AbSidePlan {
            name: name.to_owned(),
            trial: Some(trial),
            folder: None,
        };
        AbPlan {
            kind,
            sides: [side("a", 0), side("b", 1)],
            metric: AbMetric::TargetCpu,
            width: 0.03,
            budget_ns: None,
            blocks_max: 12,
            is_duet,
        }
    }

    fn test(kind: AbKind, is_duet: bool) -> AbTest {
        AbTest::new(&plan(kind, is_duet), 7, AbRecord::default(), 0)
    }

    fn measured(value: f64) -> AbResult {
        AbResult {
            value: Some(value),
            void: None,
        }
    }

    /// Runs both sides in one run until the test ends; side B measures `ratio` times as much as side A.
    fn run(test: &AbTest, ratio: f64) -> Vec<AbTurn> {
        let mut turns = Vec::new();
        while let Some(turn) = test.next(&AbSide::BOTH, &|| false) {
            let base = 100.0 + f64::from(turn.repeat);
            test.complete(
                turn.side,
                measured(match turn.side {
                    AbSide::A => base,
                    AbSide::B => base * (ratio + f64::from(turn.repeat % 3) / 1e4),
                }),
            );
            turns.push(turn);
        }
        turns
    }

    #[test]
    fn sides_take_turns_in_random_order_until_the_answer_is_clear() {
        let test = test(AbKind::Settings, false);
        let turns = run(&test, 1.1);
        let record = test.record();
        assert_eq!((turns.len(), record.blocks.len()), (14, 7));
        assert_eq!(record.end, Some(AbEnd::Decided));
        for (pair, block) in turns.chunks(2).zip(&record.blocks) {
            assert_eq!(pair[0].side, block.first);
            assert_eq!(pair[1].side, block.first.other());
            assert!(pair.iter().all(|turn| turn.repeat == block.repeat));
        }
        let is_a_first = |block: &&AbBlock| block.first == AbSide::A;
        let a_first = record.blocks.iter().filter(is_a_first).count();
        assert!((1..=6).contains(&a_first), "{a_first} of 7");
    }

    #[test]
    fn a_test_of_equal_sides_goes_on_to_its_last_block() {
        let test = test(AbKind::Same, false);
        run(&test, 1.0);
        let record = test.record();
        assert_eq!((record.blocks.len(), record.end), (12, Some(AbEnd::Blocks)));
    }

    #[test]
    fn two_runs_wait_for_each_other() {
        let test = test(AbKind::Targets, false);
        let measure = |side: AbSide, value: f64| {
            let test = test.clone();
            move || {
                let mut repeats = Vec::new();
                while let Some(turn) = test.next(&[side], &|| false) {
                    repeats.push(turn.repeat);
                    test.complete(side, measured(value + f64::from(turn.repeat)));
                }
                repeats
            }
        };
        let (a, b) = std::thread::scope(|scope| {
            let a = scope.spawn(measure(AbSide::A, 200.0));
            let b = scope.spawn(measure(AbSide::B, 100.0));
            (a.join().unwrap(), b.join().unwrap())
        });
        assert_eq!(a, b);
        assert_eq!(test.record().end, Some(AbEnd::Decided));
    }

    #[test]
    fn a_side_that_leaves_ends_the_test_for_the_other() {
        let test = test(AbKind::Targets, true);
        let other = test.clone();
        let waiting = std::thread::spawn(move || other.next(&[AbSide::A], &|| false));
        test.leave(AbSide::B, false);
        assert_eq!(waiting.join().unwrap(), None);
        let end = AbEnd::SideLost { side: AbSide::B };
        assert_eq!(test.record().end, Some(end));
        // After Ctrl-C the test is not over: it can be resumed.
        let stopped = self::test(AbKind::Targets, true);
        stopped.leave(AbSide::B, true);
        assert_eq!(stopped.next(&[AbSide::A], &|| true), None);
        assert_eq!(stopped.record().end, None);
    }

    #[test]
    fn in_a_duet_both_sides_start_at_once() {
        let test = test(AbKind::Targets, true);
        let both = [AbSide::A, AbSide::B];
        let first = test.next(&both, &|| false).unwrap();
        let second = test.next(&both, &|| false).unwrap();
        assert_eq!(first.repeat, second.repeat);
        assert_ne!(first.side, second.side);
        assert!(!test.complete(first.side, AbResult::default()));
        assert!(test.complete(second.side, AbResult::default()));
    }

    #[test]
    fn loads_of_a_duet_wait_for_each_other_but_not_for_a_side_that_failed() {
        let test = test(AbKind::Targets, true);
        let turns =
            [AbSide::A, AbSide::B].map(|side| test.next(&AbSide::BOTH, &|| false).map(|_| side));
        assert!(turns.iter().all(Option::is_some));
        let other = test.clone();
        let waiting = std::thread::spawn(move || other.await_load(AbSide::A, &|| false));
        test.await_load(AbSide::B, &|| false);
        waiting.join().unwrap();
        test.complete(AbSide::A, AbResult::default());
        test.complete(AbSide::B, AbResult::default());
        let _ = [AbSide::A, AbSide::B].map(|_| test.next(&AbSide::BOTH, &|| false));
        test.complete(AbSide::B, AbResult::default());
        test.await_load(AbSide::A, &|| false);
        test.await_load(AbSide::A, &|| true);
    }

    #[test]
    fn three_void_blocks_in_a_row_end_the_test() {
        let test = test(AbKind::Settings, false);
        let cause = VoidCause::LeadersMoved { partitions: 1 };
        let mut turns = 0;
        while let Some(turn) = test.next(&AbSide::BOTH, &|| false) {
            turns += 1;
            let void = Some(cause.clone());
            assert!(test.complete(turn.side, AbResult { value: None, void }));
        }
        // The second side of a void block is not measured.
        assert_eq!(turns, 3);
        assert_eq!(test.record().end, Some(AbEnd::Void { cause }));
    }

    #[test]
    fn a_resumed_test_goes_on_behind_its_blocks() {
        let test = test(AbKind::Same, false);
        run(&test, 1.0);
        let before = test.record();
        let resumed = AbTest::new(&plan(AbKind::Settings, false), 7, before.clone(), 13);
        let turns = run(&resumed, 1.1);
        assert_eq!(turns[0].repeat, 13);
        let record = resumed.record();
        assert!(record.blocks.len() > 12 && record.end.is_some());
        assert!(record.took_ns >= before.took_ns);
    }
}
