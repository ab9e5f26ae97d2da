//! Under which conditions a run was measured: how often, for how long, with which acks, and what shared the machine.

use kgauge_analyze::summary::generator::OTHERS_PART;
use kgauge_analyze::summary::{AckMeaning, Summary, TrialSummary};

use crate::format;

/// A clause for each condition: `quick: 3 × 2 s`, `load and target share 2 CPUs`.
pub(crate) fn clauses(summary: &Summary) -> Vec<String> {
    let mut of_trials = summary.trials.iter();
    let agents = of_trials.find_map(|trial| trial.agents.as_ref());
    let clauses = [
        repeats(summary),
        acks(summary),
        agents.map(super::agents::condition),
        shared(summary),
        others(summary),
    ];
    clauses.into_iter().flatten().collect()
}

/// How often and for how long trials were measured.
fn repeats(summary: &Summary) -> Option<String> {
    let measured = || {
        summary
            .trials
            .iter()
            .filter(|trial| trial.repeats_measured > 0)
    };
    let repeats = range(
        measured().map(|trial| f64::from(trial.repeats_measured)),
        |repeats| format::count(repeats as u64),
    )?;
    let hold = range(measured().filter_map(hold_s), |seconds| {
        format::without_zeros(&format::nanoseconds(seconds * 1e9))
    });
    let often = match hold {
        Some(hold) => format!("{repeats} × {hold}"),
        None => format!("repeats: {repeats}"),
    };
    // The default size needs no name.
    Some(match summary.run.size.as_deref() {
        Some(size @ ("quick" | "full")) => format!("{size}: {often}"),
        _ => often,
    })
}

/// The mean length of a trial's holds, to the tenth of a second that a load may end late.
fn hold_s(trial: &TrialSummary) -> Option<f64> {
    let flows = trial.flows.iter();
    let lengths = flows.filter_map(|flow| Some(flow.throughput.as_ref()?.hold_s));
    let longest = lengths.reduce(f64::max)?;
    let mean = longest / f64::from(trial.repeats_measured.max(1));
    Some(match mean >= 1.0 {
        true => (mean * 10.0).round() / 10.0,
        false => mean,
    })
}

/// `3`, `1 to 3`; `None` of nothing.
fn range(values: impl Iterator<Item = f64> + Clone, write: fn(f64) -> String) -> Option<String> {
    let low = write(values.clone().reduce(f64::min)?);
    let high = write(values.reduce(f64::max)?);
    Some(format::range(&low, &high))
}

/// `acks=all, 1 replica`, each if it is the same in the whole run: with one replica, `all` waits for the leader only.
fn acks(summary: &Summary) -> Option<String> {
    let flows = summary.trials.iter().flat_map(|trial| &trial.flows);
    let all: Vec<&AckMeaning> = flows.filter_map(|flow| flow.ack.as_ref()).collect();
    let acks = only(all.iter().map(|ack| ack.acks.as_str()));
    let replicas = only(all.iter().map(|ack| ack.replication_factor));
    let replicas = replicas.flatten();
    let clauses = [
        acks.map(|acks| format!("acks={acks}")),
        replicas.map(|count| format::counted(count.into(), "replica")),
    ];
    let clauses: Vec<String> = clauses.into_iter().flatten().collect();
    (!clauses.is_empty()).then(|| clauses.join(", "))
}

/// The value that all have.
fn only<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

/// Load and target on one machine.
fn shared(summary: &Summary) -> Option<String> {
    if summary.target.same_machine != Some(true) {
        return None;
    }
    let sides = match summary.target.brokers {
        Some(brokers @ 2..) => format!("load and {brokers} brokers"),
        _ => "load and target".to_owned(),
    };
    Some(match processors(summary) {
        Some(processors) => {
            format!(
                "{sides} share {}",
                format::counted(processors.into(), "CPU")
            )
        }
        None => format!("{sides} share a machine"),
    })
}

fn processors(summary: &Summary) -> Option<u32> {
    let of_trial = summary.trials.iter().find_map(|trial| trial.cpu.processors);
    of_trial.or_else(|| summary.machine.as_ref()?.cpu_count)
}

/// What other programs used of the machine, the mean of the trials, if that is much.
fn others(summary: &Summary) -> Option<String> {
    let used = summary.trials.iter().filter_map(|trial| {
        let processors = trial.cpu.processors.filter(|count| *count > 0)?;
        Some(trial.cpu.others_cores? / f64::from(processors))
    });
    let used: Vec<f64> = used.collect();
    let mean = used.iter().sum::<f64>() / used.len().max(1) as f64;
    (mean >= OTHERS_PART)
        .then(|| format!("other programs used {} of the CPU", format::percent(mean)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_named_if_it_is_the_only_one() {
        assert_eq!(only(["all", "all"].into_iter()), Some("all"));
        assert_eq!(only(["all", "1"].into_iter()), None);
        assert_eq!(only([0; 0].into_iter()), None);
    }

    #[test]
    fn equal_lengths_are_written_once() {
        let write = |value: f64| format::without_zeros(&format::nanoseconds(value * 1e9));
        assert_eq!(range([2.0, 2.0].into_iter(), write).as_deref(), Some("2 s"));
        assert_eq!(
            range([2.0, 10.0].into_iter(), write).as_deref(),
            Some("2 to 10 s")
        );
        assert_eq!(range([].into_iter(), write), None);
    }
}
