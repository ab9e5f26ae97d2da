//! Clients that sent one flow, side by side.

use kgauge_analyze::summary::{GeneratorState, Summary};
use kgauge_results::RunRead;
use kgauge_results::run::DriverRecord;

use crate::made::{PACED, plan, whole_paced_run};

/// The three repeats of a run as three trials, with a client each.
fn three_clients(shape: &str, change: impl Fn(&mut RunRead)) -> Summary {
    let (_made, mut run) = whole_paced_run();
    let text = PACED
        .replace("repeats: 3", "repeats: 1")
        .replace("goals:\n  - writers.latency.p99 <= 450 ms\n", "goals:\n")
        .replace("{constant: 1000/s}", shape);
    let text = text.split("published:").next().unwrap().to_owned();
    let vary = "vary: {writers.driver: [kgauge, java, librdkafka]}\n";
    run.plan = Some(plan(&(text + vary)));
    for (trial, repeat) in (0..).zip(&mut run.repeats) {
        repeat.key.trial = trial;
        repeat.key.repeat = 0;
        let record = repeat.record.as_mut().unwrap();
        record.key = repeat.key;
        // 60,000 records are acked in the hold of 60 s; kgauge's process used 36 s of CPU for them.
        record.flows[0].driver = (trial > 0).then(|| DriverRecord {
            client: format!("client {trial}"),
            processes: 1,
            cpu_ns: (trial == 1).then_some(180_000_000_000),
            starved_ns: 0,
        });
    }
    change(&mut run);
    Summary::of(&run)
}

#[test]
fn the_factor_to_kgauge_is_told() {
    let summary = three_clients("{constant: 1000/s}", |_| ());
    let [compared] = summary.drivers.as_slice() else {
        panic!("one flow was sent by several clients");
    };
    assert_eq!(
        (compared.scenario.as_str(), compared.flow.as_str()),
        ("paced", "writers")
    );
    let names: Vec<&str> = compared
        .rows
        .iter()
        .map(|row| row.driver.as_str())
        .collect();
    assert_eq!(names, ["kgauge", "java 4.3.1", "librdkafka"]);
    let costs: Vec<Option<f64>> = compared
        .rows
        .iter()
        .map(|row| row.cpu_ns_per_record)
        .collect();
    assert_eq!(costs, [Some(600_000.0), Some(3_000_000.0), None]);
    let factors: Vec<Option<f64>> = compared.rows.iter().map(|row| row.cpu_factor).collect();
    assert_eq!(factors, [None, Some(5.0), None]);
    assert_eq!(compared.rows[2].p99_factor, Some(1.0));
    let sentences = kgauge_report::text::driver::sentences(compared);
    let [java, librdkafka] = sentences.as_slice() else {
        panic!("a sentence for each client beside kgauge");
    };
    assert!(java.starts_with("client 1 uses 5.00 times kgauge's CPU per record"));
    assert!(
        librdkafka.starts_with("client 2 has 1.00 times kgauge's p99"),
        "{librdkafka}"
    );
    let flow = &summary.trials[1].flows[0];
    assert_eq!(flow.driver.as_ref().unwrap().client, "client 1");
}

#[test]
fn one_client_alone_is_compared_with_nobody() {
    let (_made, run) = whole_paced_run();
    assert!(Summary::of(&run).drivers.is_empty());
    let summary = three_clients("{constant: 1000/s}", |run| {
        run.repeats.retain(|repeat| repeat.key.trial == 1);
    });
    assert!(summary.drivers.is_empty(), "the others were not measured");
}

#[test]
fn a_closed_loop_that_was_fed_too_slowly_was_limited() {
    // 62 s of warm-up and hold: 5 % of them are 3.1 s.
    for (starved_ns, is_limited) in [(3_000_000_000, false), (3_200_000_000, true)] {
        let summary = three_clients("max", |run| {
            let record = run.repeats[2].record.as_mut().unwrap();
            record.flows[0].driver.as_mut().unwrap().starved_ns = starved_ns;
        });
        let generator = &summary.trials[2].generator;
        let word = generator.word == GeneratorState::Limited;
        assert_eq!(word, is_limited, "{generator:?}");
    }
}
