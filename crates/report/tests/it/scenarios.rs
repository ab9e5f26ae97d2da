//! Small scenarios of every kind that a report treats differently.

use kgauge_scenario::{Scenario, StudyRef, StudySource};

/// Two flows at full speed, with a published figure.
const PAIR: &str = "\
kgauge: 1
name: producer-and-consumer
question: How much does a consumer cost the producer?
target: {brokers: 1}
topic: {partitions: 1, replication: 1}
flows:
  - name: writers
    kind: produce
    producers: 1
    shape: max
    record: {size: 100 B}
    settings: {acks: 1, buffer.memory: 1048576}
  - name: readers
    kind: consume
    consumers: 3
    partitions: all
    from: earliest
stages: {warm-up: 1 s, hold: 4 s, drain: 5 s}
repeats: 3
published:
  - figure: readers.throughput
    value: 795064 records/s
    source: a paper
";

/// One number varied.
const SIZES: &str = "\
kgauge: 1
name: message-size
question: How does the throughput change with the size of the records?
target: {brokers: 1}
topic: {partitions: 1, replication: 1}
flows:
  - name: writers
    kind: produce
    producers: 1
    shape: max
    record: {size: 100 B}
    settings: {acks: 1, buffer.memory: 1048576}
vary:
  writers.record.size: [100 B, 1000 B, 10000 B]
stages: {warm-up: 0 s, hold: 2 s, drain: 5 s}
repeats: 2
";

/// A schedule, with goals.
const PACED: &str = "\
kgauge: 1
name: paced-producer
question: What does a caller wait at 1,000 records/s?
target: {brokers: 1}
topic: {partitions: 1, replication: 1}
flows:
  - name: writers
    kind: produce
    producers: 1
    shape: {constant: 1000/s}
    record: {size: 100 B}
    settings: {acks: all}
stages: {warm-up: 0 s, hold: 4 s, drain: 5 s}
repeats: 1
goals:
  - writers.latency.p99 <= 20 ms
  - writers.throughput >= 5000/s
";

/// So many sizes that not every trial can have its charts in one page.
pub(crate) fn very_many() -> Vec<Scenario> {
    of_sizes(80, 3)
}

/// A trial for each of so many sizes.
pub(crate) fn of_sizes(count: u32, repeats: u32) -> Vec<Scenario> {
    let sizes: Vec<String> = (1..=count)
        .map(|size| format!("{} B", size * 100))
        .collect();
    let text = SIZES.replace("100 B, 1000 B, 10000 B", &sizes.join(", "));
    vec![parse(
        &text.replace("repeats: 2", &format!("repeats: {repeats}")),
    )]
}

pub(crate) fn all() -> Vec<Scenario> {
    [PAIR, SIZES, PACED].map(parse).to_vec()
}

pub(crate) fn paced() -> Vec<Scenario> {
    vec![parse(PACED)]
}

/// The same for long enough that its curves say something.
pub(crate) fn paced_long() -> Vec<Scenario> {
    vec![parse(&PACED.replace("hold: 4 s", "hold: 8 s"))]
}

/// The same with more settings than a page has space for.
pub(crate) fn paced_very_often() -> Vec<Scenario> {
    let times: Vec<String> = (1..=60).map(|ms| format!("{ms} ms")).collect();
    let varied = format!(
        "vary: {{writers.settings.linger.ms: [{}]}}\nstages:",
        times.join(", ")
    );
    let text = PACED.replace("hold: 4 s", "hold: 8 s");
    vec![parse(&text.replace("stages:", &varied))]
}

/// Rates that are varied, with a goal on the p99.
pub(crate) fn rates() -> Vec<Scenario> {
    let varied = "vary: {writers.shape.constant: [500/s, 1000/s, 2000/s]}\nstages:";
    vec![parse(&PACED.replace("stages:", varied))]
}

/// The same rates as whole shapes.
pub(crate) fn shapes() -> Vec<Scenario> {
    let varied = "vary: {writers.shape: [{constant: 500/s}, {constant: 1000/s}, {constant: 2000/s}]}\nstages:";
    vec![parse(&PACED.replace("stages:", varied))]
}

/// The same with repeats.
pub(crate) fn paced_often() -> Vec<Scenario> {
    vec![parse(&PACED.replace("repeats: 1", "repeats: 3"))]
}

/// One time varied, at a rate.
pub(crate) fn paced_with_batches() -> Vec<Scenario> {
    let varied = "vary: {writers.settings.linger.ms: [1 ms, 10 ms, 100 ms]}\nstages:";
    vec![parse(&PACED.replace("stages:", varied))]
}

/// Two values at a rate, which are no curve.
pub(crate) fn paced_twice() -> Vec<Scenario> {
    let varied = "vary: {writers.settings.linger.ms: [1 ms, 10 ms]}\nstages:";
    vec![parse(&PACED.replace("stages:", varied))]
}

/// The same with repeats.
pub(crate) fn paced_twice_often() -> Vec<Scenario> {
    let varied = "vary: {writers.settings.linger.ms: [1 ms, 10 ms]}\nstages:";
    let text = PACED.replace("repeats: 1", "repeats: 3");
    vec![parse(&text.replace("stages:", varied))]
}

fn parse(text: &str) -> Scenario {
    Scenario::parse("test.yaml", text).unwrap()
}

pub(crate) fn study() -> StudyRef {
    StudyRef {
        name: "a-study".to_owned(),
        title: "What a paper found".to_owned(),
        question: "Does it hold?".to_owned(),
        source: StudySource {
            title: "A paper, by its authors".to_owned(),
            year: 2014,
            address: Some("https://example.org/paper".to_owned()),
        },
        setup: "Three machines.".to_owned(),
        found: Some("The authors found that <b>small</b> records are the harder case.".to_owned()),
        disk_baseline: false,
        partition_formula: None,
        differs: vec!["One machine here.".to_owned()],
    }
}
