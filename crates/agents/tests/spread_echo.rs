//! An echo flow whose clients are spread over two agents: everything is read back, by whichever agent reads it.

#![allow(clippy::unwrap_used, reason = "a test may end by a panic")]

mod bench;

use bench::Bench;
use kgauge_scenario::Share;

fn share() -> Share {
    let flow = "  - {name: echo, kind: echo, producers: 3, consumers: 2, shape: {constant: 2k/s}, record: {size: 100 B}}";
    Share {
        spreads_echoes: true,
        ..bench::share(flow, "1 s")
    }
}

#[test]
fn records_of_one_agent_are_read_by_the_other_and_the_flow_ends_when_all_are_read() {
    let mut bench = Bench::new();
    let mut pool = bench.gather().unwrap();
    let share = share();
    bench.prepare(&mut pool, &share).unwrap();
    let clock = pool.announce_start();
    let mut behind = Vec::new();
    let run = bench.run(&mut pool, &share, clock, &mut |progress, _| {
        behind.extend(progress.behind[0]);
    });
    assert_eq!(run.trouble, None);
    assert!(!run.outcome.broken && !run.outcome.abandoned);
    let totals = run.outcome.flows[0].totals;
    assert_eq!((totals.acked, totals.consumed), (2_000, 2_000));
    assert_eq!(behind.last(), Some(&0));
    // The drain is 30 s; the flow ended because everything was read.
    assert!(
        run.outcome.end_ns < 20_000_000_000,
        "{}",
        run.outcome.end_ns
    );
    // Two of three producers are on one agent, and each agent has a consumer.
    let acked: Vec<u64> = run.records.iter().map(|one| one.records_acked).collect();
    assert_eq!(acked.iter().sum::<u64>(), 2_000);
    assert!(acked.iter().all(|records| *records > 500), "{acked:?}");
}
