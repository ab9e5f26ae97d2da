//! Every shipped study reads, in every size, and says what its folder says.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::path::Path;

use kgauge_scenario::{
    Acks, ClosedLoopPace, ConsumeEnd, FlowPlan, Partitioner, Shape, Size, Studies, Study,
    StudyFile, Trial,
};

const SIZES: [Size; 3] = [Size::Quick, Size::Default, Size::Full];

fn linkedin() -> Study {
    Studies::get("linkedin-2014").unwrap()
}

fn trials(scenario: &str, size: Size) -> Vec<Trial> {
    let study = linkedin();
    let scenario = study
        .scenarios
        .iter()
        .find(|one| one.name() == scenario)
        .unwrap();
    scenario.trials(size)
}

fn writers(trial: &Trial) -> &kgauge_scenario::ProduceFlow {
    match &trial.flows[0] {
        FlowPlan::Produce(flow) => flow,
        other => panic!("{} writes nothing", other.name()),
    }
}

#[test]
fn every_shipped_study_reads_in_every_size() {
    for name in Studies::names() {
        let files = Studies::files(name).unwrap();
        if let Err(problems) = Study::from_files(name, files) {
            panic!("{problems}");
        }
    }
    for study in Studies::list() {
        for scenario in &study.scenarios {
            for size in SIZES {
                assert!(
                    !scenario.trials(size).is_empty(),
                    "{} {size:?}",
                    scenario.name()
                );
            }
        }
    }
}

#[test]
fn the_short_version_of_a_study_fits_on_a_small_disk() {
    // Topics are deleted after each trial, so the largest trial counts.
    const BYTES_MAX: u64 = 6 << 30;
    for study in Studies::list() {
        for scenario in &study.scenarios {
            for trial in scenario.trials(Size::Quick) {
                let stored = trial.bytes_written_max(ClosedLoopPace::NONE).stored_bytes;
                let name = &trial.name;
                assert!(
                    stored <= BYTES_MAX,
                    "{} {name}: {stored} B",
                    scenario.name()
                );
            }
        }
    }
}

#[test]
fn what_ships_is_what_stands_in_the_folders() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let mut on_disk = BTreeSet::new();
    for folder in std::fs::read_dir(root).unwrap() {
        let folder = folder.unwrap().path();
        for file in std::fs::read_dir(&folder).unwrap() {
            let file = file.unwrap().path();
            let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
            let path = format!("studies/{}/{}", name(&folder), name(&file));
            on_disk.insert((path, std::fs::read_to_string(&file).unwrap()));
        }
    }
    let shipped: BTreeSet<(String, String)> = Studies::names()
        .flat_map(|name| Studies::files(name).unwrap())
        .map(|file| (file.path.to_owned(), file.text.to_owned()))
        .collect();
    assert_eq!(shipped, on_disk);
}

#[test]
fn the_published_figures_stand_beside_their_trials() {
    let published: Vec<(String, String, f64)> = linkedin()
        .scenarios
        .iter()
        .flat_map(|scenario| scenario.trials(Size::Full))
        .flat_map(|trial| {
            let name = trial.scenario.clone();
            trial
                .published
                .into_iter()
                .map(move |one| (name.clone(), one.figure.to_string(), one.value))
        })
        .collect();
    let expected = [
        ("single-producer", "writers.throughput", 821_557.0),
        ("async-replication", "writers.throughput", 786_980.0),
        ("sync-replication", "writers.throughput", 421_823.0),
        ("three-producers", "writers.throughput", 2_024_032.0),
        ("single-consumer", "readers.throughput", 940_521.0),
        ("three-consumers", "readers.throughput", 2_615_968.0),
        ("producer-and-consumer", "readers.throughput", 795_064.0),
        ("end-to-end", "echo.end-to-end.p50", 2e6),
        ("end-to-end", "echo.end-to-end.p99", 3e6),
        ("end-to-end", "echo.end-to-end.p99.9", 14e6),
    ];
    let expected: Vec<_> = expected
        .map(|(a, b, value)| (a.to_owned(), b.to_owned(), value))
        .to_vec();
    assert_eq!(published, expected);
}

#[test]
fn the_producer_is_set_as_on_the_authors_command_line() {
    let trial = &trials("single-producer", Size::Full)[0];
    let flow = writers(trial);
    assert_eq!(flow.shape, Shape::Max);
    assert_eq!(flow.records_max, Some(50_000_000));
    assert_eq!(flow.record.value_bytes, 100);
    assert_eq!(flow.settings.acks, Acks::Leader);
    assert!(
        !flow.settings.idempotence,
        "with acks 1 Kafka switches it off"
    );
    assert_eq!(flow.settings.buffer_bytes, 64 * 1024 * 1024);
    assert_eq!(flow.settings.batch_bytes, 8_196);
    assert_eq!(
        (flow.settings.linger_ns, flow.settings.partitioner),
        (0, Partitioner::RoundRobin)
    );
    assert_eq!((trial.topic.partitions, trial.topic.replication), (6, 1));
    assert_eq!(trial.stages.hold_ns, None);
}

#[test]
fn the_replicated_scenarios_differ_as_the_authors_command_lines_do() {
    let settings_of = |name| {
        let trial = trials(name, Size::Full).remove(0);
        let flow = writers(&trial);
        assert!(!flow.settings.idempotence, "{name}");
        let (acks, batch_bytes) = (flow.settings.acks, flow.settings.batch_bytes);
        (trial.topic.replication, flow.producers, acks, batch_bytes)
    };
    assert_eq!(
        settings_of("async-replication"),
        (3, 1, Acks::Leader, 8_196)
    );
    assert_eq!(settings_of("sync-replication"), (3, 1, Acks::All, 64_000));
    assert_eq!(settings_of("three-producers"), (3, 3, Acks::Leader, 8_196));
}

#[test]
fn the_size_sweep_writes_the_same_volume_in_each_trial() {
    let full = trials("message-size", Size::Full);
    let records: Vec<(String, Option<u64>)> = full
        .iter()
        .map(|trial| (trial.name.clone(), writers(trial).records_max))
        .collect();
    // 1000 * 1024 * 1024 / size, as in the authors' loop.
    let expected = [
        ("10 B", 104_857_600),
        ("100 B", 10_485_760),
        ("1000 B", 1_048_576),
        ("10000 B", 104_857),
        ("100000 B", 10_485),
    ]
    .map(|(size, records)| (format!("writers.record.size={size}"), Some(records)));
    assert_eq!(records, expected);
    assert!(
        full.iter()
            .all(|trial| writers(trial).settings.batch_bytes == 128_000)
    );
}

#[test]
fn consumers_read_everything_that_was_there_before() {
    for (size, records) in [(Size::Quick, 8_000_000), (Size::Full, 50_000_000)] {
        let trial = &trials("three-consumers", size)[0];
        assert_eq!(trial.topic.preload.as_ref().unwrap().records, records);
        let FlowPlan::Consume(flow) = &trial.flows[0] else {
            panic!("{trial:?}")
        };
        assert_eq!((flow.consumers, flow.records), (3, ConsumeEnd::Backlog));
        for consumer in 0..3 {
            assert!(flow.partitions_of(consumer, 6).eq(0..6));
        }
    }
}

#[test]
fn quick_leaves_time_for_everything_around_the_load() {
    // Five and a half minutes per study at the most; a repeat takes 0.5 s for topic, gaps and drain, and its warm-up a
    // second longer than its minimum.
    for study in Studies::list() {
        if study.about.name == "known-bugs" {
            // The time limits of brokers determine how long the steps take.
            continue;
        }
        let mut seconds = 0.0;
        let scenarios = study.scenarios.iter();
        for trial in scenarios.flat_map(|scenario| scenario.trials(Size::Quick)) {
            let stages = 1_000_000_000 + trial.stages.warm_up_ns + trial.stages.hold_ns.unwrap();
            // Three to five million records of 100 B are written and read in two seconds.
            let preload = trial.topic.preload.as_ref();
            let load = preload.map_or(stages as f64 / 1e9, |preload| preload.records as f64 / 2e6);
            seconds += f64::from(trial.repeats) * (load + 0.5);
        }
        println!("{}: {seconds} s", study.about.name);
        assert!(seconds < 330.0, "{}: {seconds} s", study.about.name);
    }
}

#[test]
fn every_study_says_what_was_found_and_where_it_can_be_repeated() {
    for study in Studies::list() {
        let target = study.target.clone().unwrap();
        assert!(!study.about.differs.is_empty(), "{}", study.about.name);
        if study.about.name == "durability" {
            // It tests promises, not figures.
            assert_eq!(
                (study.about.found.as_deref(), target.as_str()),
                (None, "embedded:3")
            );
            continue;
        }
        assert!(study.about.found.is_some(), "{}", study.about.name);
        assert!(
            target.starts_with("kafka:"),
            "{}: {target}",
            study.about.name
        );
    }
}

#[test]
fn a_setting_changes_every_scenario_that_knows_it() {
    let mut study = linkedin();
    study.set("writers.settings.linger.ms", "7").unwrap();
    study.set("repeats", "1").unwrap();
    for trial in study
        .scenarios
        .iter()
        .flat_map(|scenario| scenario.trials(Size::Quick))
    {
        assert_eq!(trial.repeats, 1);
        for flow in &trial.flows {
            if let FlowPlan::Produce(flow) = flow {
                assert_eq!(flow.settings.linger_ns, 7_000_000);
            }
        }
    }
    let before = study.clone();
    let problems = study
        .set("writers.settings.lingr.ms", "7")
        .unwrap_err()
        .to_string();
    assert!(
        problems.contains("did you mean `writers.settings.linger.ms`?"),
        "{problems}"
    );
    assert_eq!(study, before);
}

#[test]
fn a_folder_that_does_not_fit_together_is_told_all_its_faults() {
    let study = "kgauge: 1\ntitle: t\nquestion: q\nsource: {title: s, year: 2014}\nsetup: x\n\
                 scenarios: [here, gone, here, misnamed]\n";
    let scenario = |name: &str| {
        format!(
            "kgauge: 1\nname: {name}\nquestion: q\ntopic: {{partitions: 1}}\nflows:\n  \
             - {{name: w, kind: produce, shape: max, record: {{size: 1 B}}}}\n"
        )
    };
    let (here, other, broken) = (scenario("here"), scenario("other"), "kgauge: 2\n");
    let files = [
        StudyFile {
            path: "f/study.yaml",
            text: study,
        },
        StudyFile {
            path: "f/here.yaml",
            text: &here,
        },
        StudyFile {
            path: "f/misnamed.yaml",
            text: &other,
        },
        StudyFile {
            path: "f/extra.yaml",
            text: broken,
        },
        StudyFile {
            path: "f/notes.md",
            text: "not ours",
        },
    ];
    let problems = Study::from_files("f", &files).unwrap_err();
    let words: Vec<&str> = problems
        .iter()
        .map(|problem| problem.what.as_str())
        .collect();
    assert_eq!(
        words,
        [
            "`extra.yaml` is in the folder but not in `scenarios`",
            "there is no `gone.yaml` in this folder",
            "the scenario is listed twice",
            "`misnamed.yaml` has `name: other`",
        ]
    );
    let nothing = Study::from_files("empty", &[]).unwrap_err();
    assert!(nothing.to_string().contains("there is no `study.yaml`"));
}

#[test]
fn a_partition_formula_names_flows_that_are_there() {
    let scenario = "kgauge: 1\nname: one\nquestion: q\ntopic: {partitions: 1}\nflows:\n  \
                    - {name: w, kind: produce, shape: max, record: {size: 1 B}}\n  - {name: r, kind: consume}\n";
    let read = |consume: &str| {
        let study = format!(
            "kgauge: 1\ntitle: t\nquestion: q\nsource: {{title: s, year: 2014}}\nsetup: x\nscenarios: [one]\n\
             partition-formula: {{produce: one.w, consume: {consume}, rates: [1M/s, 2.5M/s]}}\n"
        );
        let files = [
            StudyFile {
                path: "study.yaml",
                text: &study,
            },
            StudyFile {
                path: "one.yaml",
                text: scenario,
            },
        ];
        Study::from_files("s", &files).map(|study| study.about.partition_formula.unwrap())
    };
    assert_eq!(read("one.r").unwrap().rates_per_s, [1_000_000, 2_500_000]);
    let wrong = read("one.x").unwrap_err().to_string();
    assert!(
        wrong.contains("there is no consume flow `one.x`"),
        "{wrong}"
    );
    assert!(read("one").is_err());
    assert!(read("one.w").is_err(), "what writes measures no reading");
}
