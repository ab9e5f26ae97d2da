//! A stop at every moment of a repeat ends it in order, and the next one runs.

#![allow(clippy::unwrap_used, reason = "a test may end by a panic")]

mod bench;

use std::time::{Duration, Instant};

use bench::Bench;
use kgauge_agents::lead::{AgentPool, AgentsError, AgentsRun, AgentsTrouble};
use kgauge_scenario::Share;

/// A lead waits four seconds for agents that it has stopped before it takes them for lost.
const STOP_MAX: Duration = Duration::from_secs(4);

/// Two producers, one on each agent.
fn share(hold: &str) -> Share {
    let flow = "  - {name: writers, kind: produce, producers: 2, shape: {constant: 2k/s}, record: {size: 100 B}}";
    bench::share(flow, hold)
}

/// A repeat that nobody stops: both agents send their share of 2,000 records.
#[track_caller]
fn check_next(bench: &mut Bench, pool: &mut AgentPool) {
    bench.interrupt.lower();
    let share = share("1 s");
    bench.prepare(pool, &share).unwrap();
    let clock = pool.announce_start();
    let run = bench.run(pool, &share, clock, &mut |_, _| {});
    assert_eq!(run.trouble, None);
    let acked: Vec<u64> = run.records.iter().map(|one| one.records_acked).collect();
    assert_eq!(acked, [1_000, 1_000]);
    assert_eq!(run.outcome.flows[0].totals.acked, 2_000);
    assert!(!run.outcome.interrupted);
}

/// A stop that came before the start: nobody is lost, and nothing was sent.
#[track_caller]
fn check_not_started(run: &AgentsRun, took: Duration) {
    assert_eq!(run.trouble, None);
    assert!(run.outcome.interrupted);
    assert_eq!(run.outcome.flows[0].totals.acked, 0);
    for record in &run.records {
        assert_eq!(record.lost, None);
        assert_eq!((record.records_acked, record.start_late_ns), (0, None));
    }
    assert!(took < STOP_MAX, "{took:?}");
}

#[test]
fn a_stop_before_the_start_is_announced() {
    let mut bench = Bench::new();
    let mut pool = bench.gather().unwrap();
    let long = share("60 s");
    bench.prepare(&mut pool, &long).unwrap();
    bench.interrupt.raise();
    let begin = Instant::now();
    let clock = pool.announce_start();
    let run = bench.run(&mut pool, &long, clock, &mut |_, _| {});
    check_not_started(&run, begin.elapsed());
    check_next(&mut bench, &mut pool);
}

#[test]
fn a_stop_between_the_announcement_and_the_start() {
    let mut bench = Bench::new();
    let mut pool = bench.gather().unwrap();
    let long = share("60 s");
    bench.prepare(&mut pool, &long).unwrap();
    let begin = Instant::now();
    let clock = pool.announce_start();
    let interrupt = bench.interrupt.clone();
    // The first report comes half a second before the start.
    let run = bench.run(&mut pool, &long, clock, &mut |_, _| interrupt.raise());
    check_not_started(&run, begin.elapsed());
    check_next(&mut bench, &mut pool);
}

#[test]
fn a_stop_between_the_start_and_the_first_slice() {
    let mut bench = Bench::new();
    let mut pool = bench.gather().unwrap();
    let long = share("60 s");
    bench.prepare(&mut pool, &long).unwrap();
    let clock = pool.announce_start();
    let interrupt = bench.interrupt.clone();
    let mut stopped = None;
    // Slices are sent once per second; reports of sent records come before.
    let run = bench.run(&mut pool, &long, clock, &mut |progress, _| {
        if progress.flows[0].acked > 0 && stopped.is_none() {
            interrupt.raise();
            stopped = Some(Instant::now());
        }
    });
    assert!(stopped.unwrap().elapsed() < STOP_MAX);
    assert_eq!(run.trouble, None);
    assert!(run.outcome.interrupted);
    let acked: u64 = run.records.iter().map(|one| one.records_acked).sum();
    assert!(acked > 0);
    assert_eq!(run.outcome.flows[0].totals.acked, acked);
    for record in &run.records {
        assert_eq!(record.lost, None);
        assert!(record.start_late_ns.is_some() && record.start_bound_ns.is_some());
    }
    check_next(&mut bench, &mut pool);
}

#[test]
fn a_stop_while_agents_prepare() {
    let mut bench = Bench::new();
    let mut pool = bench.gather().unwrap();
    bench.interrupt.raise();
    let ended = bench.prepare(&mut pool, &share("60 s"));
    assert!(matches!(ended, Err(AgentsError::Interrupted)));
    // Answers to the first preparation arrive during the second one.
    check_next(&mut bench, &mut pool);
}

#[test]
fn several_stops_are_one() {
    let mut bench = Bench::new();
    let mut pool = bench.gather().unwrap();
    let long = share("60 s");
    bench.prepare(&mut pool, &long).unwrap();
    pool.stop();
    pool.stop();
    bench.interrupt.raise();
    let begin = Instant::now();
    let clock = pool.announce_start();
    let run = bench.run(&mut pool, &long, clock, &mut |_, _| {});
    check_not_started(&run, begin.elapsed());
    pool.stop();
    check_next(&mut bench, &mut pool);
}

#[test]
fn a_repeat_that_nobody_follows_ends_with_the_next_preparation() {
    let mut bench = Bench::new();
    let mut pool = bench.gather().unwrap();
    bench.prepare(&mut pool, &share("60 s")).unwrap();
    // The run of this repeat failed behind its announcement.
    pool.announce_start();
    let begin = Instant::now();
    check_next(&mut bench, &mut pool);
    assert!(begin.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_start_of_nothing_is_answered_and_named() {
    let mut bench = Bench::new();
    let mut pool = bench.gather().unwrap();
    let clock = pool.announce_start();
    let run = bench.run(&mut pool, &share("60 s"), clock, &mut |_, _| {});
    assert!(
        matches!(&run.trouble, Some(AgentsTrouble::Failed { why, .. }) if why.contains("nothing")),
        "{:?}",
        run.trouble
    );
    check_next(&mut bench, &mut pool);
}

#[test]
fn an_agent_serves_one_lead_at_a_time() {
    let mut bench = Bench::new();
    let mut pool = bench.gather().unwrap();
    let refused = bench.gather().err().unwrap();
    assert!(matches!(refused, AgentsError::Busy { .. }), "{refused}");
    check_next(&mut bench, &mut pool);
    drop(pool);
    let mut pool = bench.gather().unwrap();
    check_next(&mut bench, &mut pool);
}
