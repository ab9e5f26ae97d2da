//! Run folders as a list: two lines for each in a terminal, and all that is known for other programs.

use std::path::Path;

use kgauge_analyze::statistics::Steadiness;
use kgauge_analyze::summary::RunHeadline;
use kgauge_results::folder::ListedRun;
use serde::Serialize;

use crate::clean::{columns, one_line};
use crate::format::{binary_bytes, counted, figure, nanoseconds, range};

/// A run and its figures, for other programs.
#[derive(Serialize)]
pub(crate) struct RunListing<'a> {
    #[serde(flatten)]
    run: &'a ListedRun,
    headline: Option<&'a RunHeadline>,
}

impl<'a> RunListing<'a> {
    pub(crate) fn of((run, headline): &'a (&ListedRun, Option<RunHeadline>)) -> Self {
        Self {
            run,
            headline: headline.as_ref(),
        }
    }
}

/// The list, with the number and the size of all runs above it.
pub(crate) fn text(parent: &Path, runs: &[(&ListedRun, Option<RunHeadline>)]) -> String {
    let bytes: u64 = runs.iter().map(|(run, _)| run.bytes).sum();
    let count = counted(runs.len() as u64, "run");
    let place = one_line(&parent.display().to_string());
    let mut text = format!("{count} in {place}, {}\n", binary_bytes(bytes));
    let name = |run: &ListedRun| {
        let name = run.dir.strip_prefix(parent).unwrap_or(&run.dir);
        one_line(&name.display().to_string())
    };
    let width = runs.iter().map(|(run, _)| columns(&name(run)));
    let width = width.max().unwrap_or(0);
    for (run, headline) in runs {
        let name = name(run);
        let gap = " ".repeat(width.saturating_sub(columns(&name)));
        text.push_str(&format!(
            "\n{name}{gap}  {:<11}  {}\n    {}\n",
            run.status.as_str(),
            binary_bytes(run.bytes),
            details(run, headline.as_ref())
        ));
    }
    text
}

/// When it started, what it is, and its figures.
fn details(run: &ListedRun, headline: Option<&RunHeadline>) -> String {
    let head = &run.run;
    let started = i64::try_from(head.started_unix_ms).ok();
    let started = started.and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    let started = started.unwrap_or_default().strftime("%Y-%m-%d %H:%M UTC");
    let what = match (&head.label.name, &head.scenario) {
        (Some(name), Some(scenario)) => format!("{name} ({scenario})"),
        (Some(one), None) | (None, Some(one)) => one.clone(),
        (None, None) => "run".to_owned(),
    };
    let target = head.target.iter().map(|target| format!(" on {target}"));
    let what = format!("{what}{}", target.collect::<String>());
    let figures = headline.map_or_else(|| "no summary".to_owned(), figures);
    format!("{started}  {}: {figures}", one_line(&what))
}

fn figures(headline: &RunHeadline) -> String {
    let trials = counted(headline.trials as u64, "trial");
    match (headline.trials, headline.records_per_s) {
        (0, _) => "no figures".to_owned(),
        (_, None) => {
            let scenarios = counted(headline.scenarios as u64, "scenario");
            format!("{trials} of {scenarios}")
        }
        (count, Some(rates)) => {
            let start = match count {
                1 => String::new(),
                _ => format!("{trials}, "),
            };
            let p99 = headline.p99_ns.map_or_else(String::new, |times| {
                format!(", p99 {}", between(times, nanoseconds))
            });
            let doubt = match headline.steadiness {
                Steadiness::Steady => "",
                Steadiness::Undecided => " (?, steadiness unknown)",
                Steadiness::Shifting | Steadiness::Slowing | Steadiness::Warming => {
                    " (?, not steady)"
                }
            };
            format!("{start}{} records/s{p99}{doubt}", between(rates, figure))
        }
    }
}

fn between((low, high): (f64, f64), shown: fn(f64) -> String) -> String {
    range(&shown(low), &shown(high))
}

#[cfg(test)]
mod tests {
    use kgauge_results::run::{RunHead, RunStatus};

    use super::*;

    fn run(dir: &str, name: Option<&str>) -> ListedRun {
        let mut run = RunHead::starting("r".to_owned(), Vec::new(), 1_795_169_700_000);
        run.label.name = name.map(str::to_owned);
        run.scenario = Some("latency".to_owned());
        run.target = Some("b1:9092".to_owned());
        ListedRun {
            dir: Path::new("kgauge-runs").join(dir),
            run,
            status: RunStatus::Complete,
            bytes: 3 << 19,
        }
    }

    #[test]
    fn each_run_has_its_folder_and_its_figures() {
        let one = RunHeadline {
            scenarios: 1,
            trials: 1,
            records_per_s: Some((20_000.0, 20_000.0)),
            p99_ns: Some((12.4e6, 12.4e6)),
            steadiness: Steadiness::Steady,
        };
        let several = RunHeadline {
            trials: 3,
            records_per_s: Some((1_200.0, 3_400.0)),
            p99_ns: None,
            steadiness: Steadiness::Warming,
            ..one.clone()
        };
        let study = RunHeadline {
            scenarios: 11,
            trials: 15,
            ..RunHeadline::default()
        };
        let (long, short) = (run("latency-1", None), run("b-2", Some("before")));
        let listed = [
            (&long, Some(one)),
            (&short, Some(several)),
            (&short, Some(study)),
            (&short, None),
        ];
        let text = text(Path::new("kgauge-runs"), &listed);
        let expected = "\
4 runs in kgauge-runs, 6.0 MiB

latency-1  complete     1.5 MiB
    2026-11-20 10:15 UTC  latency on b1:9092: 20,000 records/s, p99 12.4 ms

b-2        complete     1.5 MiB
    2026-11-20 10:15 UTC  before (latency) on b1:9092: 3 trials, 1,200 to 3,400 records/s (?, not steady)

b-2        complete     1.5 MiB
    2026-11-20 10:15 UTC  before (latency) on b1:9092: 15 trials of 11 scenarios

b-2        complete     1.5 MiB
    2026-11-20 10:15 UTC  before (latency) on b1:9092: no summary
";
        assert_eq!(text, expected);
    }
}
