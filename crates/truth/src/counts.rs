//! Dropped and failed answers: the client counts as many records as the nodes count that struck them.

use kgauge_results::client_code;
use kgauge_results::slice::SendOutcome;
use kgauge_wire::error_code::ErrorCode;

use crate::row::{ExpectedValue, TruthRow, TruthUnit};
use crate::runs::{Runs, TruthRun};
use crate::scenarios::COUNTS;

/// What a flow's client makes of its node's fault.
struct Case {
    flow: &'static str,
    outcome: SendOutcome,
    /// The codes under which the client counts it.
    codes: &'static [i16],
    /// Whether the node has the records of unknown fate.
    has_unknown: bool,
}

impl Case {
    fn outcome_words(&self) -> &'static str {
        match self.outcome {
            SendOutcome::Retried => "retried",
            SendOutcome::Failed => "failed",
            SendOutcome::Indeterminate => "of unknown fate",
        }
    }
}

const LOST: &[i16] = &[
    ErrorCode::NetworkException.as_i16(),
    client_code::DISCONNECTED,
];

/// In the order of the scenario's faults, each of which is on a node of its own.
const CASES: &[Case] = &[
    Case {
        flow: "refused",
        outcome: SendOutcome::Retried,
        codes: &[ErrorCode::NotLeaderOrFollower.as_i16()],
        has_unknown: false,
    },
    Case {
        flow: "failed",
        outcome: SendOutcome::Failed,
        codes: &[ErrorCode::TopicAuthorizationFailed.as_i16()],
        has_unknown: false,
    },
    Case {
        flow: "dropped-before",
        outcome: SendOutcome::Retried,
        codes: LOST,
        has_unknown: false,
    },
    Case {
        flow: "dropped-after",
        outcome: SendOutcome::Retried,
        codes: LOST,
        has_unknown: false,
    },
    Case {
        flow: "unknown-lost",
        outcome: SendOutcome::Indeterminate,
        codes: LOST,
        has_unknown: false,
    },
    Case {
        flow: "unknown-kept",
        outcome: SendOutcome::Indeterminate,
        codes: LOST,
        has_unknown: true,
    },
];

/// All rows.
pub(crate) fn rows(runs: &Runs) -> Vec<TruthRow> {
    let Some(ran) = runs.get(COUNTS) else {
        return Vec::new();
    };
    let cases = (0..).zip(CASES);
    cases
        .flat_map(|(entry, case)| of_case(ran, entry, case))
        .collect()
}

/// The rows of a case. `entry` is the place of its fault in the scenario; the node's number is one more.
fn of_case(ran: &TruthRun, entry: u32, case: &Case) -> Vec<TruthRow> {
    let flow = ran.flow(case.flow);
    let counted = flow.map(|flow| {
        let errors = flow
            .errors
            .iter()
            .filter(|error| error.outcome == case.outcome && case.codes.contains(&error.code));
        errors.map(|error| error.records).sum::<u64>()
    });
    let figure = |words: &str| format!("{}, {words}", case.flow);
    let outcome = figure(case.outcome_words());
    let Some((_, records)) = ran.struck(entry) else {
        let why = "the nodes did not report which requests the fault affected";
        return vec![TruthRow::missing("counts", outcome, why)];
    };
    let struck = ExpectedValue::exact(TruthUnit::Records, records as f64);
    let mut rows = vec![struck.row("counts", outcome, counted.map(|records| records as f64))];
    if let (Some(flow), Ok(node)) = (flow, i32::try_from(entry + 1)) {
        let all = &flow.records_all_stages;
        let unknown = if case.has_unknown {
            all.indeterminate
        } else {
            0
        };
        let in_log = ExpectedValue::exact(TruthUnit::Records, (all.acked + unknown) as f64);
        let grown = ran.grown_on(node).map(|records| records as f64);
        rows.push(in_log.row("counts", figure("in its log"), grown));
    }
    rows
}
