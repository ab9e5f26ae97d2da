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
    /// The fault, by its place in the scenario; the node's number is one more.
    entry: u32,
    outcome: SendOutcome,
    /// The codes under which the client counts it.
    codes: [i16; 2],
    words: &'static str,
    /// Whether the node has what was neither acked nor failed.
    unknown_is_there: bool,
}

const LOST: [i16; 2] = [
    ErrorCode::NetworkException.as_i16(),
    client_code::DISCONNECTED,
];

const CASES: &[Case] = &[
    Case {
        flow: "refused",
        entry: 0,
        outcome: SendOutcome::Retried,
        codes: [ErrorCode::NotLeaderOrFollower.as_i16(); 2],
        words: "retried",
        unknown_is_there: false,
    },
    Case {
        flow: "failed",
        entry: 1,
        outcome: SendOutcome::Failed,
        codes: [ErrorCode::TopicAuthorizationFailed.as_i16(); 2],
        words: "failed",
        unknown_is_there: false,
    },
    Case {
        flow: "dropped-before",
        entry: 2,
        outcome: SendOutcome::Retried,
        codes: LOST,
        words: "retried",
        unknown_is_there: false,
    },
    Case {
        flow: "dropped-after",
        entry: 3,
        outcome: SendOutcome::Retried,
        codes: LOST,
        words: "retried",
        unknown_is_there: false,
    },
    Case {
        flow: "unknown-lost",
        entry: 4,
        outcome: SendOutcome::Indeterminate,
        codes: LOST,
        words: "of unknown fate",
        unknown_is_there: false,
    },
    Case {
        flow: "unknown-kept",
        entry: 5,
        outcome: SendOutcome::Indeterminate,
        codes: LOST,
        words: "of unknown fate",
        unknown_is_there: true,
    },
];

/// All rows.
pub(crate) fn rows(runs: &Runs) -> Vec<TruthRow> {
    let Some(ran) = runs.get(COUNTS) else {
        return Vec::new();
    };
    CASES.iter().flat_map(|case| of_case(ran, case)).collect()
}

fn of_case(ran: &TruthRun, case: &Case) -> Vec<TruthRow> {
    let flow = ran.flow(case.flow);
    let counted = flow.map(|flow| {
        let errors = flow
            .errors
            .iter()
            .filter(|error| error.outcome == case.outcome && case.codes.contains(&error.code));
        errors.map(|error| error.records).sum::<u64>()
    });
    let figure = |words: &str| format!("{}, {words}", case.flow);
    let Some((_, records)) = ran.struck(case.entry) else {
        let words = "the nodes did not report which requests the fault affected".to_owned();
        return vec![TruthRow::missing("counts", figure(case.words), words)];
    };
    let struck = ExpectedValue::exact(TruthUnit::Records, records as f64);
    let mut rows = vec![struck.row("counts", figure(case.words), counted.map(|n| n as f64))];
    if let (Some(flow), Ok(node)) = (flow, i32::try_from(case.entry + 1)) {
        let all = &flow.records_all_stages;
        let unknown = if case.unknown_is_there {
            all.indeterminate
        } else {
            0
        };
        let there = ExpectedValue::exact(TruthUnit::Records, (all.acked + unknown) as f64);
        let grown = ran.grown_on(node).map(|grown| grown as f64);
        rows.push(there.row("counts", figure("in its log"), grown));
    }
    rows
}
