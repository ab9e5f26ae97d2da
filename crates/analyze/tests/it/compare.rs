//! Runs side by side, with known answers.

use kgauge_analyze::compare::{
    AgainstReason, Caveat, Cell, CompareError, Comparison, ComparisonRow, DifferenceKind,
    DifferenceVerdict, FigureKind, MarkedSide, MissingFigure, RUNS_MAX,
};
use kgauge_analyze::statistics::Spread;
use kgauge_analyze::summary::GeneratorState;
use kgauge_analyze::{RunToCompare, Summary, compare};
use kgauge_report::text;
use kgauge_results::RunRead;
use kgauge_results::run::TargetKind;

use crate::made::{Made, PACED, stalled, whole_closed_run, whole_paced_run};

/// A run whose records a second, p99 and CPU of the target are as given.
pub(crate) struct Run {
    pub(crate) read: RunRead,
    pub(crate) summary: Summary,
}

pub(crate) fn kafka(dir: &std::path::Path, version: &str, rates: &[f64]) -> Run {
    let mut read = RunRead::open(dir).unwrap();
    let target = &mut read.environment.as_mut().unwrap().target;
    target.kind = TargetKind::Kafka;
    target.version = Some(version.to_owned());
    let mut summary = Summary::of(&read);
    for flow in &mut summary.trials[0].flows {
        flow.throughput.as_mut().unwrap().records_per_s = Spread::of(rates).unwrap();
    }
    Run { read, summary }
}

pub(crate) fn compared(runs: &[Run]) -> Comparison {
    compared_with(runs, 0).unwrap()
}

fn compared_with(runs: &[Run], baseline: usize) -> Result<Comparison, CompareError> {
    let runs = runs.iter().map(|run| RunToCompare {
        run: &run.read,
        summary: &run.summary,
    });
    compare(&runs.collect::<Vec<_>>(), baseline)
}

pub(crate) fn row(comparison: &Comparison, figure: FigureKind) -> &ComparisonRow {
    let mut rows = comparison.rows.iter();
    rows.find(|row| row.figure == figure).unwrap()
}

pub(crate) fn word(cell: &Cell) -> DifferenceVerdict {
    cell.against.as_ref().unwrap().word
}

pub(crate) fn near(value: f64, expected: f64, part: f64) {
    assert!(
        (value - expected).abs() <= expected.abs() * part,
        "{value} is not {expected} +- {part}"
    );
}

#[test]
fn a_ratio_worked_out_on_paper_comes_out_with_its_interval() {
    let (made, _) = whole_paced_run();
    let e = |powers: [f64; 3]| powers.map(f64::exp);
    let runs = [
        kafka(&made.dir(), "1.0.2", &e([1.0, 2.0, 3.0])),
        kafka(&made.dir(), "4.3.1", &e([7.0, 8.0, 9.0])),
    ];
    let comparison = compared(&runs);
    let labels = comparison.runs.iter().map(|run| run.label.as_str());
    assert_eq!(labels.collect::<Vec<_>>(), ["Kafka 1.0.2", "Kafka 4.3.1"]);
    let row = row(&comparison, FigureKind::Throughput);
    assert_eq!(row.cells[0].against, None, "the baseline");
    let against = row.cells[1].against.as_ref().unwrap();
    near(against.ratio.unwrap(), 6.0_f64.exp(), 1e-9);
    // t(4) * sqrt(2 / 3) = 2.2670, widened by the 0.1 % that counts as none.
    let interval = against.interval.unwrap();
    near(interval.low.ln(), 6.0 - 2.2670 - 0.001, 1e-3);
    near(interval.high.ln(), 6.0 + 2.2670 + 0.001, 1e-3);
    // t = 6 / sqrt(2 / 3); with 4 degrees the chance inside is s (1 + (1 - s^2) / 2), s^2 = 54 / 58.
    near(against.p.unwrap(), 0.001_827, 0.01);
    assert_eq!(against.word, DifferenceVerdict::Faster);
    let why = text::comparison::reason(against);
    assert!(why.contains("403 times"), "{why}");
}

#[test]
fn the_same_difference_is_none_among_all_figures_of_a_run() {
    let (made, _) = whole_paced_run();
    let e = |powers: [f64; 3]| powers.map(f64::exp);
    let mut runs = vec![kafka(&made.dir(), "1.0.2", &e([1.0, 2.0, 3.0]))];
    for version in ["2.8.2", "3.9.1", "4.3.1"] {
        runs.push(kafka(&made.dir(), version, &e([4.0, 5.0, 6.0])));
    }
    let comparison = compared(&runs);
    let row = row(&comparison, FigureKind::Throughput);
    // Of each of the three runs, however many others stand beside it.
    let figures = comparison.method.comparisons / 3;
    assert!(figures >= 3, "{figures}");
    for cell in &row.cells[1..] {
        let against = cell.against.as_ref().unwrap();
        // So many times 0.0213, by Holm's rule: all others are the same. Alone it would be a difference.
        let expected = f64::from(figures) * 0.0213;
        near(against.p_adjusted.unwrap(), expected.min(1.0), 0.01);
        assert!(!against.interval.unwrap().contains(1.0));
        assert_eq!(against.word, DifferenceVerdict::NoDifference);
        let why = text::comparison::reason(against);
        assert!(why.contains("by chance"), "{why}");
    }
}

#[test]
fn the_dearer_cluster_may_be_faster_and_cost_more_for_a_record() {
    let (made, _) = whole_paced_run();
    let mut runs = [
        kafka(&made.dir(), "2.8.2", &[1000.0, 1001.0, 1002.0]),
        kafka(&made.dir(), "4.3.1", &[2000.0, 2001.0, 2002.0]),
    ];
    for (run, price) in runs.iter_mut().zip([0.5, 2.0]) {
        run.summary.run.price_per_hour = Some(price);
    }
    let comparison = compared(&runs);
    let rate = row(&comparison, FigureKind::Throughput);
    assert_eq!(word(&rate.cells[1]), DifferenceVerdict::Faster);
    let per_price = row(&comparison, FigureKind::PerPrice);
    // 1,001 x 3,600 / 0.5 and 2,001 x 3,600 / 2.
    near(per_price.cells[0].estimate.unwrap(), 7_207_200.0, 1e-9);
    near(per_price.cells[1].estimate.unwrap(), 3_601_800.0, 1e-9);
    assert_eq!(word(&per_price.cells[1]), DifferenceVerdict::Dearer);
    assert_eq!(comparison.runs[1].price_per_hour, Some(2.0));
}

#[test]
fn without_prices_nothing_is_said_of_money() {
    let (made, _) = whole_paced_run();
    let runs = [
        kafka(&made.dir(), "2.8.2", &[1000.0, 1001.0]),
        kafka(&made.dir(), "4.3.1", &[2000.0, 2001.0]),
    ];
    let comparison = compared(&runs);
    let mut rows = comparison.rows.iter();
    assert!(rows.all(|row| row.figure != FigureKind::PerPrice));
}

#[test]
fn a_clear_difference_is_called_by_its_name_and_noise_is_not() {
    let (made, _) = whole_paced_run();
    let mut runs = [
        kafka(&made.dir(), "1.0.2", &[1000.0, 1001.0, 1002.0]),
        kafka(&made.dir(), "2.8.2", &[998.0, 1001.0, 1004.0]),
        kafka(&made.dir(), "4.3.1", &[2000.0, 2001.0, 2002.0]),
        kafka(&made.dir(), "4.4.0", &[500.0, 501.0, 502.0]),
    ];
    for (run, cost) in runs.iter_mut().zip([100.0, 100.5, 50.0, 200.0]) {
        let values = [cost, cost + 0.1, cost + 0.2];
        run.summary.trials[0].cpu.target_ns_per_record = Spread::of(&values);
    }
    let comparison = compared(&runs);
    let rate = row(&comparison, FigureKind::Throughput);
    assert_eq!(word(&rate.cells[1]), DifferenceVerdict::NoDifference);
    assert_eq!(word(&rate.cells[2]), DifferenceVerdict::Faster);
    assert_eq!(word(&rate.cells[3]), DifferenceVerdict::Slower);
    let cost = row(&comparison, FigureKind::TargetCpu);
    assert_eq!(cost.flow, None);
    assert_eq!(word(&cost.cells[2]), DifferenceVerdict::Cheaper);
    assert_eq!(word(&cost.cells[3]), DifferenceVerdict::Dearer);
    for row in &comparison.rows {
        for against in row.cells.iter().filter_map(|cell| cell.against.as_ref()) {
            let Some(p_adjusted) = against.p_adjusted else {
                continue;
            };
            assert!(p_adjusted >= against.p.unwrap());
            let excluded = !against.interval.unwrap().contains(1.0);
            let difference = against.word != DifferenceVerdict::NoDifference;
            assert!(
                excluded || !difference,
                "no difference unless 1 is excluded: {against:?}"
            );
        }
    }
}

#[test]
fn equal_runs_differ_in_nothing_and_their_labels_do() {
    let (made, _) = whole_paced_run();
    let rates = [1000.0, 1001.0, 1002.0];
    let runs = [
        kafka(&made.dir(), "4.3.1", &rates),
        kafka(&made.dir(), "4.3.1", &rates),
    ];
    let comparison = compared(&runs);
    assert_ne!(comparison.runs[0].label, comparison.runs[1].label);
    assert_eq!(comparison.differences, []);
    for row in &comparison.rows {
        let word = word(&row.cells[1]);
        let allowed = [
            DifferenceVerdict::NoDifference,
            DifferenceVerdict::NotJudged,
        ];
        assert!(allowed.contains(&word), "{:?}: {word:?}", row.figure);
    }
}

#[test]
fn the_embedded_cluster_never_passes_for_kafka() {
    let (made, embedded) = whole_paced_run();
    let runs = [
        kafka(&made.dir(), "4.3.1", &[1000.0, 1001.0, 1002.0]),
        Run {
            summary: Summary::of(&embedded),
            read: embedded,
        },
    ];
    let comparison = compared(&runs);
    assert!(
        comparison
            .differences
            .iter()
            .any(|found| found.bars && found.kind == DifferenceKind::TargetKind)
    );
    for row in &comparison.rows {
        let against = row.cells[1].against.as_ref().unwrap();
        assert_eq!(against.word, DifferenceVerdict::NotComparable);
        assert_eq!((against.ratio, against.interval), (None, None));
        let why = text::comparison::reason(against);
        assert!(why.contains("embedded"), "{why}");
    }
    assert_eq!(comparison.method.comparisons, 0);
}

#[test]
fn what_a_generator_limited_and_a_closed_loop_are_not_compared() {
    let (made, _) = whole_closed_run();
    let mut runs = [
        kafka(&made.dir(), "1.0.2", &[1000.0, 1001.0]),
        kafka(&made.dir(), "4.3.1", &[2000.0, 2001.0]),
    ];
    let p99 = |comparison: &Comparison| row(comparison, FigureKind::LatencyP99).cells[1].clone();
    let closed = p99(&compared(&runs));
    assert!(closed.marks.contains(&Caveat::ClosedLoop));
    assert_eq!(word(&closed), DifferenceVerdict::NotComparable);
    let reason = closed.against.unwrap().reason;
    assert_eq!(reason, AgainstReason::ClosedLoop);
    runs[1].summary.trials[0].generator.word = GeneratorState::Limited;
    let comparison = compared(&runs);
    let cell = &row(&comparison, FigureKind::Throughput).cells[1];
    assert!(cell.marks.contains(&Caveat::GeneratorLimited));
    assert_eq!(word(cell), DifferenceVerdict::NotComparable);
    let side = MarkedSide::Run;
    let reason = &cell.against.as_ref().unwrap().reason;
    assert_eq!(*reason, AgainstReason::GeneratorLimited { side });
}

#[test]
fn other_scenarios_sizes_and_machines_are_not_comparable_and_other_settings_are_said() {
    let (made, _) = whole_paced_run();
    let rates = [1000.0, 1001.0, 1002.0];
    let kinds = |change: fn(&mut Run)| {
        let mut runs = [
            kafka(&made.dir(), "1.0.2", &rates),
            kafka(&made.dir(), "4.3.1", &rates),
        ];
        change(&mut runs[1]);
        let comparison = compared(&runs);
        let word = word(&row(&comparison, FigureKind::Throughput).cells[1]);
        let found = comparison.differences.iter().map(|found| found.kind);
        (found.collect::<Vec<_>>(), word)
    };
    let barred = DifferenceVerdict::NotComparable;
    let size = kinds(|run| run.summary.run.size = Some("quick".to_owned()));
    assert_eq!(size, (vec![DifferenceKind::Size], barred));
    let machine = kinds(|run| run.summary.machine.as_mut().unwrap().cpu_count = Some(64));
    assert_eq!(machine, (vec![DifferenceKind::Machine], barred));
    let debug = kinds(|run| run.summary.run.kgauge.debug = true);
    assert_eq!(debug, (vec![DifferenceKind::DebugBuild], barred));
    let seed = kinds(|run| run.summary.run.seed = Some(8));
    assert_eq!(
        seed,
        (vec![DifferenceKind::Seed], DifferenceVerdict::NoDifference)
    );
    let settings = kinds(|run| {
        run.read.plan.as_mut().unwrap().trials[0].topic.partitions = 3;
    });
    assert_eq!(
        settings,
        (
            vec![DifferenceKind::Settings],
            DifferenceVerdict::NoDifference
        )
    );
}

#[test]
fn another_text_of_a_scenario_bars_that_scenario() {
    let (made, _) = whole_paced_run();
    let rates = [1000.0, 1001.0, 1002.0];
    let mut runs = [
        kafka(&made.dir(), "1.0.2", &rates),
        kafka(&made.dir(), "4.3.1", &rates),
    ];
    for run in &mut runs {
        run.read.scenarios[0].name = "paced".to_owned();
    }
    runs[1].read.scenarios[0].text.push_str("# another\n");
    let comparison = compared(&runs);
    let cell = &row(&comparison, FigureKind::Throughput).cells[1];
    assert_eq!(word(cell), DifferenceVerdict::NotComparable);
    let against = cell.against.as_ref().unwrap();
    assert!(against.ratio.is_some(), "the ratio is shown all the same");
    let why = text::comparison::reason(against);
    assert!(why.contains("scenario paced"), "{why}");
}

#[test]
fn what_one_run_has_not_is_an_empty_cell() {
    let (paced, _) = whole_paced_run();
    let (closed, _) = whole_closed_run();
    let rates = [1000.0, 1001.0];
    let runs = [
        kafka(&paced.dir(), "1.0.2", &rates),
        kafka(&closed.dir(), "4.3.1", &rates),
    ];
    let comparison = compared(&runs);
    let scenarios = comparison.rows.iter().map(|row| row.scenario.as_str());
    let scenarios = scenarios.collect::<std::collections::BTreeSet<_>>();
    assert_eq!(
        scenarios.into_iter().collect::<Vec<_>>(),
        ["closed", "paced"]
    );
    for row in &comparison.rows {
        let (here, there) = if row.scenario == "paced" {
            (0, 1)
        } else {
            (1, 0)
        };
        assert!(row.cells[here].estimate.is_some());
        assert_eq!(row.cells[there].missing, Some(MissingFigure::NotRun));
        assert_eq!(word(&row.cells[1]), DifferenceVerdict::NotMeasured);
    }
}

#[test]
fn one_repeat_decides_nothing_and_a_cut_short_run_is_marked() {
    let cut = Made::begin(PACED);
    cut.repeat(0, |_, recorder| stalled(recorder));
    let (whole, _) = whole_paced_run();
    let runs = [
        kafka(&whole.dir(), "1.0.2", &[1000.0, 1001.0, 1002.0]),
        kafka(&cut.dir(), "4.3.1", &[2000.0]),
    ];
    let mut comparison = compared(&runs);
    // Its writer still holds the folder here, so it counts as running; nothing else differs.
    assert!(
        comparison
            .differences
            .iter()
            .any(|found| found.kind == DifferenceKind::NotFinished)
    );
    let cell = &mut comparison.rows[0].cells[1];
    for mark in [
        Caveat::OneRepeat,
        Caveat::NotFinished,
        Caveat::RepeatsMissing,
    ] {
        assert!(cell.marks.contains(&mark), "{mark:?} in {:?}", cell.marks);
    }
    assert_eq!(word(cell), DifferenceVerdict::Undecided);
    let against = cell.against.as_ref().unwrap();
    assert_eq!((against.interval, against.p), (None, None));
}

#[test]
fn the_baseline_can_be_any_run_and_wrong_numbers_are_refused() {
    let (made, _) = whole_paced_run();
    let runs = |count: usize| {
        let run = |_| kafka(&made.dir(), "4.3.1", &[1000.0, 1001.0, 1002.0]);
        (0..count).map(run).collect::<Vec<_>>()
    };
    let comparison = compared_with(&runs(3), 2).unwrap();
    let row = &comparison.rows[0];
    let against = row.cells.iter().map(|cell| cell.against.is_some());
    assert_eq!(against.collect::<Vec<_>>(), [true, true, false]);
    assert_eq!(
        compared_with(&runs(1), 0),
        Err(CompareError::TooFew { given: 1 })
    );
    let none = CompareError::NoSuchBaseline {
        baseline: 2,
        runs: 2,
    };
    assert_eq!(
        none.to_string(),
        "no run 3 for the baseline: there are 2, counted from 1"
    );
    assert_eq!(compared_with(&runs(2), 2), Err(none));
    let many = RunToCompare {
        run: &runs(1)[0].read,
        summary: &runs(1)[0].summary,
    };
    let given = RUNS_MAX + 1;
    assert_eq!(
        compare(&vec![many; given], 0),
        Err(CompareError::TooMany { given })
    );
}
