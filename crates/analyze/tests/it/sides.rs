//! Several runs of a side, and what is assumed of runs where there is one of each.

use kgauge_analyze::compare::{
    BetweenRuns, Caveat, Choices, CompareError, Comparison, DifferenceKind, DifferenceVerdict,
    FigureKind,
};
use kgauge_analyze::statistics::Spread;
use kgauge_analyze::{RunToCompare, compare_sides};
use kgauge_report::text;

use crate::compare::{Run, kafka, near, row, word};
use crate::made::{Made, whole_paced_run};

const EXACT: [f64; 3] = [1000.0, 1000.0, 1000.0];

/// A run with an id of its own.
fn run(made: &Made, id: &str, version: &str, rates: &[f64]) -> Run {
    let mut run = kafka(&made.dir(), version, rates);
    run.summary.run.run_id = format!("20260301-120000-{id}");
    run
}

/// A side: a run for each of the given rates.
fn side(made: &Made, name: &str, version: &str, rates: &[&[f64]]) -> Vec<Run> {
    let each = rates.iter().enumerate();
    each.map(|(index, rates)| run(made, &format!("{name}{index}"), version, rates))
        .collect()
}

fn read(run: &Run) -> RunToCompare<'_> {
    RunToCompare {
        run: &run.read,
        summary: &run.summary,
    }
}

fn compared(sides: &[Vec<Run>], between_runs: BetweenRuns) -> Result<Comparison, CompareError> {
    let sides: Vec<Vec<RunToCompare<'_>>> = sides
        .iter()
        .map(|side| side.iter().map(read).collect())
        .collect();
    let choices = Choices {
        baseline: 0,
        between_runs,
        ..Choices::default()
    };
    compare_sides(&sides, choices)
}

fn refused(sides: &[Vec<Run>]) -> String {
    text::comparison::error(&compared(sides, BetweenRuns::Usual).unwrap_err())
}

#[test]
fn of_single_runs_a_spread_between_them_is_assumed_said_and_turned_off() {
    let (made, _) = whole_paced_run();
    let sides = |rate: f64| {
        [
            vec![run(&made, "a", "4.2.0", &EXACT)],
            vec![run(&made, "b", "4.3.1", &[rate; 3])],
        ]
    };
    let judged = |rate, between_runs| {
        let comparison = compared(&sides(rate), between_runs).unwrap();
        let cell = row(&comparison, FigureKind::Throughput).cells[1].clone();
        (word(&cell), cell.against.unwrap(), comparison)
    };
    // ln 1.02 is 0.0198 and half of the interval of 1.96 x sqrt(2) x ln 1.02.
    let (found, against, comparison) = judged(1020.0, BetweenRuns::Part(0.02));
    assert_eq!(found, DifferenceVerdict::NoDifference);
    let half_width = 1.96 * 2.0_f64.sqrt() * 1.02_f64.ln() + 1.001_f64.ln();
    let interval = against.interval.unwrap();
    near(interval.high.ln(), 1.02_f64.ln() + half_width, 1e-3);
    assert_eq!(against.between_runs, Some(0.02));
    let between_runs = &comparison.method.between_runs;
    let words = text::comparison::between_runs(between_runs);
    assert!(words.contains("between runs is 2 %"), "{words}");
    assert!(words.contains("--with"), "{words}");
    assert!(!between_runs.measured && between_runs.assumed.iter().all(|one| one.part == 0.02));

    let (found, against, comparison) = judged(1020.0, BetweenRuns::Part(0.0));
    assert_eq!(found, DifferenceVerdict::Faster);
    assert_eq!(against.between_runs, Some(0.0));
    let between_runs = &comparison.method.between_runs;
    assert!(between_runs.is_ignored && between_runs.assumed.is_empty());

    // What is usual hides a hundredth, and not a tenth.
    assert_eq!(
        judged(1010.0, BetweenRuns::Usual).0,
        DifferenceVerdict::NoDifference
    );
    let (found, _, comparison) = judged(900.0, BetweenRuns::Usual);
    assert_eq!(found, DifferenceVerdict::Slower);
    let between_runs = &comparison.method.between_runs;
    let kinds: Vec<FigureKind> = between_runs.assumed.iter().map(|one| one.figure).collect();
    assert_eq!(kinds[0], FigureKind::Throughput);
    let words = text::comparison::between_runs(between_runs);
    assert!(words.contains("% of rates"), "{words}");
}

#[test]
fn several_runs_of_each_side_show_what_runs_differ_by() {
    let (made, _) = whole_paced_run();
    // Means of logarithms 1, 2, 3 and 7, 8, 9, whatever repeats do.
    let runs = |name: &str, version: &str, means: [f64; 3]| {
        let rates = means.map(|mean| [mean - 0.5, mean, mean + 0.5].map(f64::exp));
        let rates: Vec<&[f64]> = rates.iter().map(<[f64; 3]>::as_slice).collect();
        side(&made, name, version, &rates)
    };
    let sides = [
        runs("a", "4.2.0", [1.0, 2.0, 3.0]),
        runs("b", "4.3.1", [7.0, 8.0, 9.0]),
    ];
    let comparison = compared(&sides, BetweenRuns::Part(0.5)).unwrap();
    let labels: Vec<&str> = comparison
        .runs
        .iter()
        .map(|run| run.label.as_str())
        .collect();
    assert_eq!(labels, ["Kafka 4.2.0 (3 runs)", "Kafka 4.3.1 (3 runs)"]);
    assert_eq!(comparison.runs[1].further.len(), 2);
    assert_eq!(comparison.differences, [], "their seeds are their own");
    let cell = &row(&comparison, FigureKind::Throughput).cells[1];
    assert_eq!(
        (cell.repeats, cell.values.len(), cell.values_of_runs.len()),
        (9, 9, 3)
    );
    let against = cell.against.as_ref().unwrap();
    // As of three repeats with these logarithms: t(4) x sqrt(2 / 3); nothing is assumed on top.
    near(against.ratio.unwrap(), 6.0_f64.exp(), 1e-9);
    near(
        against.interval.unwrap().low.ln(),
        6.0 - 2.2670 - 0.001,
        1e-3,
    );
    near(against.p.unwrap(), 0.001_827, 0.01);
    assert_eq!(against.between_runs, None);
    let between_runs = &comparison.method.between_runs;
    assert!(between_runs.measured && between_runs.assumed.is_empty());
}

#[test]
fn of_several_runs_one_repeat_each_is_enough() {
    let (made, _) = whole_paced_run();
    let sides = [
        side(&made, "a", "4.2.0", &[&[1000.0], &[1001.0], &[1002.0]]),
        side(&made, "b", "4.3.1", &[&[2000.0], &[2001.0], &[2002.0]]),
    ];
    let comparison = compared(&sides, BetweenRuns::Usual).unwrap();
    let cell = &row(&comparison, FigureKind::Throughput).cells[1];
    assert_eq!(word(cell), DifferenceVerdict::Faster);
    assert!(!cell.marks.contains(&Caveat::OneRepeat));
    near(cell.estimate.unwrap(), 2001.0, 1e-12);
    // Of the three runs: 2001 +- t(2) x 1 / sqrt(3).
    near(
        cell.interval.unwrap().high,
        2001.0 + 4.3027 / 3.0_f64.sqrt(),
        1e-6,
    );
}

#[test]
fn beside_one_run_the_spread_of_the_other_side_is_assumed_too() {
    let (made, _) = whole_paced_run();
    let sides = [
        side(&made, "a", "4.2.0", &[&EXACT, &EXACT, &EXACT]),
        side(&made, "b", "4.3.1", &[&EXACT]),
    ];
    let comparison = compared(&sides, BetweenRuns::Part(0.03)).unwrap();
    let cell = &row(&comparison, FigureKind::Throughput).cells[1];
    let interval = cell.against.as_ref().unwrap().interval.unwrap();
    // A third of the variance on one side and all of it on the other.
    let half_width = 1.96 * (4.0_f64 / 3.0).sqrt() * 1.03_f64.ln() + 1.001_f64.ln();
    near(interval.high.ln(), half_width, 1e-3);
    assert_eq!(cell.values_of_runs, Vec::<Vec<f64>>::new(), "one run");
}

#[test]
fn runs_of_different_things_make_no_side() {
    let (made, _) = whole_paced_run();
    let sides = |change: fn(&mut Run)| {
        let mut sides = [
            side(&made, "a", "4.2.0", &[&EXACT, &EXACT]),
            side(&made, "b", "4.3.1", &[&EXACT, &EXACT]),
        ];
        change(&mut sides[1][1]);
        sides
    };
    let release = refused(&sides(|run| {
        run.summary.target.version = Some("4.1.0".to_owned())
    }));
    assert!(
        release.contains("20260301-120000-b0 and 20260301-120000-b1"),
        "{release}"
    );
    assert!(
        release.contains("run releases 4.3.1 and 4.1.0"),
        "{release}"
    );
    let settings = refused(&sides(|run| {
        run.read.plan.as_mut().unwrap().trials[0].topic.partitions = 3;
    }));
    assert!(
        settings.contains("different settings: topic.partitions 3 in"),
        "{settings}"
    );
    let machine = refused(&sides(|run| {
        run.summary.machine.as_mut().unwrap().cpu_count = Some(64);
    }));
    assert!(machine.contains("different machines"), "{machine}");
    let size = refused(&sides(|run| {
        run.summary.run.size = Some("quick".to_owned())
    }));
    assert!(size.contains("quick"), "{size}");
    let twice = refused(&sides(|run| {
        run.summary.run.run_id = "20260301-120000-a0".to_owned()
    }));
    assert!(
        twice.contains("20260301-120000-a0 is given twice"),
        "{twice}"
    );
    let empty = [side(&made, "a", "4.2.0", &[&EXACT, &EXACT]), Vec::new()];
    assert!(refused(&empty).contains("at least two runs"));
}

#[test]
fn what_runs_of_a_side_may_differ_in_is_said() {
    let (made, _) = whole_paced_run();
    let mut sides = [
        side(&made, "a", "4.2.0", &[&EXACT, &EXACT]),
        side(&made, "b", "4.3.1", &[&EXACT, &EXACT]),
    ];
    sides[0][1].summary.run.kgauge.version = "0.0.1".to_owned();
    sides[1][1].summary.run.seed = Some(77);
    sides[1][1].summary.run.status = kgauge_results::run::RunStatus::CutShort;
    sides[1][1].summary.trials[0].flows.clear();
    let comparison = compared(&sides, BetweenRuns::Usual).unwrap();
    let found: Vec<_> = comparison
        .differences
        .iter()
        .map(|found| (found.run, found.kind, found.within))
        .collect();
    assert_eq!(
        found,
        [
            (0, DifferenceKind::Kgauge, true),
            (1, DifferenceKind::NotFinished, false)
        ]
    );
    let run_id = comparison.differences[1].run_id.as_deref();
    assert_eq!(run_id, Some("20260301-120000-b1"));
    assert_eq!(
        comparison.runs[1].run_status,
        kgauge_results::run::RunStatus::CutShort
    );
    // What one run of a side has not comes from the others, and is marked; one run shows no spread between runs.
    let cell = &row(&comparison, FigureKind::Throughput).cells[1];
    assert!(
        cell.marks.contains(&Caveat::RepeatsMissing),
        "{:?}",
        cell.marks
    );
    assert!(cell.against.as_ref().unwrap().between_runs.is_some());
    assert_eq!(cell.values_of_runs.len(), 1);
}

#[test]
fn a_side_is_marked_where_any_of_its_runs_is() {
    let (made, _) = whole_paced_run();
    let mut sides = [
        side(&made, "a", "4.2.0", &[&EXACT, &EXACT]),
        side(&made, "b", "4.3.1", &[&EXACT, &EXACT]),
    ];
    let generator = &mut sides[1][1].summary.trials[0].generator;
    generator.word = kgauge_analyze::summary::GeneratorState::Limited;
    sides[1][0].summary.trials[0].cpu.target_ns_per_record = Spread::of(&[100.0, 101.0]);
    let comparison = compared(&sides, BetweenRuns::Usual).unwrap();
    let cell = &row(&comparison, FigureKind::Throughput).cells[1];
    assert_eq!(word(cell), DifferenceVerdict::NotComparable);
    let cost = &row(&comparison, FigureKind::TargetCpu).cells[1];
    assert!(cost.marks.contains(&Caveat::GeneratorLimited));
}
