//! How the lead judges a repeat.

use std::ops::Range;

use kgauge_scenario::{Scenario, Size};

use super::super::clock_probe::SharedClockTrack;
use super::*;
use crate::clock::ClockExchange;
use crate::protocol::AgentOutcome;

const SCENARIO: &str = "\
kgauge: 1
name: a
question: b
topic: {partitions: 1}
flows:
  - {name: w, kind: produce, shape: {constant: 1k/s}, record: {size: 100 B}}
stages: {warm-up: 0 s, hold: 20 s}
";

/// An agent whose clock is ahead answers probes ten times per second.
fn answer(track: &SharedClockTrack, tenths: Range<u64>, ahead_ns: u64) {
    for tenth in tenths {
        let sent_ns = tenth * 100_000_000;
        let agent_ns = sent_ns + 60_000 + ahead_ns;
        track.add(&ClockExchange {
            sent_ns,
            received_ns: agent_ns,
            answered_ns: agent_ns,
            returned_ns: sent_ns + 120_000,
        });
    }
}

/// The end of a load without clients.
fn ended() -> AgentEvent {
    let load = LoadOutcome {
        flows: Vec::new(),
        hold_start_ns: 0,
        hold_end_ns: 1,
        end_ns: 1,
        worker_hold_cpu_ns: Vec::new(),
        worker_hold_spun_ns: Vec::new(),
        worker_hold_gave_way_ns: Vec::new(),
        feeding_hold_cpu_ns: 0,
        drivers: Vec::new(),
        driver_trouble: None,
        abandoned: false,
        interrupted: false,
        broken: false,
        outages: Vec::new(),
        is_target_gone: false,
        incidents_dropped: 0,
    };
    AgentEvent::Message(Box::new(AgentMessage::Ended(Box::new(AgentOutcome {
        load,
        counts_done_ns: None,
        echoes: Vec::new(),
        process_hold_cpu_ns: None,
        lag_ns_p99: None,
        lag_ns_max: None,
        cpu_limit_periods: None,
        full_speed_ns: None,
        network: None,
    }))))
}

/// A repeat of two agents during which the clock of the second one moves by `step_ns`.
fn trouble_after(step_ns: u64, interrupt: &Interrupt) -> Option<AgentsTrouble> {
    let (mut pool, events) = AgentPool::unconnected(&["agent 0", "agent 1"]);
    let track = pool.agents[1].track.clone();
    answer(&track, 0..30, 0);
    let scenario = Scenario::parse("a.yaml", SCENARIO).unwrap();
    let trial = scenario.trials(Size::Default).remove(0);
    let repeat = AgentsRepeat {
        trial: &trial,
        files: Vec::new(),
        ledgers: None,
        clock: Clock::start(),
        interrupt,
        spread_echoes: Vec::new(),
    };
    let mut is_over = false;
    let run = pool.run(repeat, &mut |_, _| {
        if !std::mem::replace(&mut is_over, true) {
            answer(&track, 30..60, step_ns);
            for agent in 0..2 {
                events.send((agent, ended())).unwrap();
            }
        }
    });
    run.trouble
}

#[test]
fn a_repeat_in_which_a_clock_stepped_is_void_unless_nobody_wants_its_figures() {
    let interrupt = Interrupt::new();
    let stepped = AgentsTrouble::Stepped {
        name: "agent 1".to_owned(),
    };
    assert_eq!(trouble_after(30_000_000, &interrupt), Some(stepped));
    assert_eq!(trouble_after(0, &interrupt), None);
    interrupt.raise();
    assert_eq!(trouble_after(30_000_000, &interrupt), None);
}
