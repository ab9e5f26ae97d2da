//! The kinds of times: the only list of them, with their names and meanings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The distributions of times that a slice keeps.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum TimeKind {
    /// acked - intended of records that were sent exactly when intended: it is their response
    /// and their service, and their lag is 0. All of a closed loop's. By intended second. Readers
    /// turn it into these three.
    Immediate,
    /// acked - intended, the headline. By intended second.
    Response,
    /// acked - sent. By intended second.
    Service,
    /// sent - intended. By intended second.
    Lag,
    /// consumed - intended, of echo flows. By intended second.
    EndToEnd,
    /// Answer read - request written, of produce requests. By the second of the answer.
    RoundTrip,
    /// The same of fetch requests. By the second of the answer.
    FetchRoundTrip,
    /// How long a record waited for room in the producer's buffer. By the second of its end.
    BufferWait,
    /// Request written - sent, of the records of echo flows: how long they waited for company and
    /// for their turn. By intended second.
    BatchWait,
    /// acked - request written, of the records of echo flows. By intended second.
    AckWait,
    /// consumed - acked, of the records of echo flows, or consumed - committed where they write in
    /// transactions; 0 for those that were read before that. By the second in which they were read.
    FetchWait,
    /// committed - acked, of the records of echo flows in transactions: how long they waited for the
    /// end of theirs and for the coordinator. By the second in which they were read.
    CommitWait,
    /// How long a commit took: from the last answer of a transaction to the coordinator's. By the
    /// second of its end.
    Commit,
}

/// The names of a kind.
struct KindNames {
    /// In run folders and log tags; in `summary.json` and CSV with underscores.
    file: &'static str,
    /// In reports.
    title: &'static str,
    /// From when to when, or of what.
    meaning: &'static str,
    /// What is counted.
    counted: &'static str,
}

const fn names(
    file: &'static str,
    title: &'static str,
    meaning: &'static str,
    counted: &'static str,
) -> KindNames {
    KindNames {
        file,
        title,
        meaning,
        counted,
    }
}

/// In the order of the kinds.
#[rustfmt::skip]
const NAMES: [KindNames; TimeKind::COUNT] = [
    names("immediate", "immediate", "acked − intended, if sent as intended", "records"),
    names("response", "response", "acked − intended", "records"),
    names("service", "service", "acked − sent", "records"),
    names("lag", "lateness", "sent − intended", "records"),
    names("end-to-end", "end to end", "consumed − intended", "records"),
    names("round-trip", "request round trip", "per produce request", "requests"),
    names("fetch-round-trip", "fetch round trip", "per fetch request, including the broker's wait for data", "requests"),
    names("buffer-wait", "buffer wait", "wait for room in the producer's buffer", "records"),
    names("batch-wait", "batch wait", "request written − sent", "records"),
    names("ack-wait", "ack wait", "acked − request written", "records"),
    names("fetch-wait", "fetch wait", "consumed − acked, or − committed", "records"),
    names("commit-wait", "commit wait", "committed − acked", "records"),
    names("commit", "commit", "per transaction", "transactions"),
];

impl TimeKind {
    /// How many kinds there are.
    pub const COUNT: usize = 13;

    /// All kinds, in the order of files.
    pub const ALL: [TimeKind; TimeKind::COUNT] = [
        TimeKind::Immediate,
        TimeKind::Response,
        TimeKind::Service,
        TimeKind::Lag,
        TimeKind::EndToEnd,
        TimeKind::RoundTrip,
        TimeKind::FetchRoundTrip,
        TimeKind::BufferWait,
        TimeKind::BatchWait,
        TimeKind::AckWait,
        TimeKind::FetchWait,
        TimeKind::CommitWait,
        TimeKind::Commit,
    ];

    /// The kinds that summaries have: [`TimeKind::Immediate`] is part of others there.
    pub fn summarised() -> impl Iterator<Item = TimeKind> {
        TimeKind::ALL.into_iter().skip(1)
    }

    /// The word in run folders and log tags: `end-to-end`.
    pub fn as_str(self) -> &'static str {
        NAMES[self.index()].file
    }

    /// The name of its field in `summary.json` and of its columns in CSV: `end_to_end`.
    pub fn field(self) -> String {
        self.as_str().replace('-', "_")
    }

    /// The name in reports: `end to end`.
    pub fn title(self) -> &'static str {
        NAMES[self.index()].title
    }

    /// From when to when, or of what: `consumed − intended`.
    pub fn meaning(self) -> &'static str {
        NAMES[self.index()].meaning
    }

    /// What is counted: `records`, `requests` or `transactions`.
    pub fn counted(self) -> &'static str {
        NAMES[self.index()].counted
    }

    /// Whether it is the time of a record since it should have been sent.
    pub fn is_headline(self) -> bool {
        matches!(self, TimeKind::Response | TimeKind::EndToEnd)
    }

    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_kind_is_that_of_its_lines() {
        for kind in TimeKind::ALL {
            let written = serde_json::to_value(kind).unwrap();
            assert_eq!(written, kind.as_str());
        }
    }
}
