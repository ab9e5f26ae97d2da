//! The texts below the options of each `--help`, in `help/*.txt`: examples first, then facts that no option covers.
//!
//! Each paragraph is one line, so that clap wraps it to the terminal. Examples must fit 80 columns: wrapped ones
//! cannot be copied.

pub(crate) const KGAUGE: &str = include_str!("help/kgauge.txt").trim_ascii_end();
pub(crate) const AGENT: &str = include_str!("help/agent.txt").trim_ascii_end();
pub(crate) const AGENTS_MANIFEST: &str = include_str!("help/agents-manifest.txt").trim_ascii_end();
pub(crate) const INIT: &str = include_str!("help/init.txt").trim_ascii_end();

/// `--json` of `kgauge run`, which may have several targets.
pub(crate) const JSON_OF_RUN: &str =
    "Print summary.json (comparison.json for several targets) instead of the table";

/// `--goal` and `--duration` of a search, which does not judge a whole repeat.
pub(crate) const GOAL_OF_SEARCH: &str =
    "Goal that the rate must keep, such as `p99 <= 20 ms`; may be repeated";
pub(crate) const DURATION_OF_SEARCH: &str =
    "How long the load at a bound is measured [default: 60 s]";

/// `--duration` of A/B tests and tuning: many short repeats show more than few long ones.
pub(crate) const DURATION_OF_PAIRS: &str =
    "How long the load is measured per repeat [default: 10 s, with --quick 5 s]";

/// `kgauge size` prints another answer than a run.
pub(crate) const JSON_OF_SIZE: &str = "Print the answer as JSON instead of tables";
pub(crate) const VERBOSE_OF_SIZE: &str =
    "Also print each resource, and the CPU time of each kind of work";
pub(crate) const QUIET_OF_SIZE: &str = "Print only the answer, the tables and the caveats";

/// A comparison has other details than a run.
pub(crate) const VERBOSE_OF_COMPARE: &str = "Also print all other figures, a sentence per figure, \
                                             reasons why figures are not comparable, and the method";
pub(crate) const QUIET_OF_COMPARE: &str = "Print only the summary and the table";

pub(crate) const STUDIES: &str = include_str!("help/studies.txt").trim_ascii_end();
pub(crate) const SCHEMA: &str = include_str!("help/schema.txt").trim_ascii_end();
pub(crate) const CHECK: &str = include_str!("help/check.txt").trim_ascii_end();
pub(crate) const SIZE: &str = include_str!("help/size.txt").trim_ascii_end();
pub(crate) const RUNS: &str = include_str!("help/runs.txt").trim_ascii_end();
pub(crate) const HELP: &str = include_str!("help/help.txt").trim_ascii_end();
pub(crate) const RUN: &str = include_str!("help/run.txt").trim_ascii_end();
pub(crate) const CAPACITY: &str = include_str!("help/capacity.txt").trim_ascii_end();
pub(crate) const AB: &str = include_str!("help/ab.txt").trim_ascii_end();
pub(crate) const TUNE: &str = include_str!("help/tune.txt").trim_ascii_end();
pub(crate) const CHECKUP: &str = include_str!("help/checkup.txt").trim_ascii_end();
pub(crate) const REPORT: &str = include_str!("help/report.txt").trim_ascii_end();
pub(crate) const CEILING: &str = include_str!("help/ceiling.txt").trim_ascii_end();
pub(crate) const AUDIT: &str = include_str!("help/audit.txt").trim_ascii_end();
pub(crate) const TRUTH: &str = include_str!("help/truth.txt").trim_ascii_end();
pub(crate) const COMPARE: &str = include_str!("help/compare.txt").trim_ascii_end();
pub(crate) const CLUSTER_UP: &str = include_str!("help/cluster-up.txt").trim_ascii_end();

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    use crate::args::Arguments;

    /// Columns of a small terminal.
    const COLUMNS: usize = 80;

    fn check(command: &mut Command) {
        let name = command.get_name().to_owned();
        let epilogue = command.get_after_help().map(ToString::to_string);
        let shown = command.render_help().to_string();
        for line in shown.lines() {
            assert!(line.chars().count() <= COLUMNS, "{name}: {line}");
        }
        // If clap wrapped an example, its line no longer appears unchanged.
        for line in epilogue.unwrap_or_default().lines() {
            let is_example = line.starts_with("  ");
            assert!(
                !is_example || shown.contains(&format!("\n{line}\n")) || shown.ends_with(line),
                "{name}: {line}"
            );
        }
        // Nobody reads the help of what kgauge calls itself.
        let below = command.get_subcommands_mut();
        below.filter(|one| !one.is_hide_set()).for_each(check);
    }

    #[test]
    fn every_help_fits_80_columns() {
        let mut command = Arguments::command().term_width(COLUMNS);
        command.build();
        check(&mut command);
    }
}
