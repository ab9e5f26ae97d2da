//! What a test's outcome means: the list of tests that fail because of a missing feature.

/// What became of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TestOutcome {
    Passed,
    Skipped,
    Failed,
}

/// The verdict on a test, given the missing features of the embedded cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SuiteVerdict {
    Passed,
    Skipped,
    /// It fails because the embedded cluster does not have this.
    Missing(&'static str),
    Failed,
}

const TRANSACTIONS: &str = "transactions";
const ACCESS_CONTROL: &str = "access control lists";

/// Suite, test and the feature that it needs; `crates/broker/NOT_DONE.md` tells of these features. A
/// test's parts are named with it.
const MISSING: &[(&str, &str, &str)] = &[
    // The broker, not the client, matches topics' names there.
    (
        "kgo",
        "Test848RegexBrokerResolves",
        "the group protocol of KIP-848",
    ),
    ("kgo", "TestTxnEtl", TRANSACTIONS),
    ("librdkafka", "0077_compaction", "compaction"),
    (
        "librdkafka",
        "0081_admin",
        "access control lists, configurations of groups, settings of GSSAPI",
    ),
    ("librdkafka", "0098_consumer_txn", TRANSACTIONS),
    ("librdkafka", "0103_transactions", TRANSACTIONS),
    ("librdkafka", "0109_auto_create_topics", ACCESS_CONTROL),
    ("librdkafka", "0115_producer_auth", ACCESS_CONTROL),
    ("librdkafka", "0119_consumer_auth", ACCESS_CONTROL),
    ("librdkafka", "0129_fetch_aborted_msgs", TRANSACTIONS),
];

/// What an outcome means.
pub(super) fn of(suite: &str, test: &str, outcome: TestOutcome) -> SuiteVerdict {
    match outcome {
        TestOutcome::Passed => SuiteVerdict::Passed,
        TestOutcome::Skipped => SuiteVerdict::Skipped,
        TestOutcome::Failed => {
            let mut listed = MISSING.iter();
            let found = listed.find(|(of, name, _)| *of == suite && is_of(test, name));
            found.map_or(SuiteVerdict::Failed, |(_, _, feature)| {
                SuiteVerdict::Missing(feature)
            })
        }
    }
}

/// What the list names although such tests passed.
pub(super) fn unneeded(
    suite: &str,
    tests: &[(String, TestOutcome)],
) -> Vec<(&'static str, &'static str)> {
    let passes = |name: &str| {
        let of_name = || tests.iter().filter(|(test, _)| is_of(test, name));
        of_name().count() > 0 && of_name().all(|(_, outcome)| *outcome == TestOutcome::Passed)
    };
    let own = MISSING
        .iter()
        .filter(|(of, name, _)| *of == suite && passes(name));
    own.map(|(_, name, feature)| (*name, *feature)).collect()
}

/// Whether a test is one of the list, or a part of it.
fn is_of(test: &str, listed: &str) -> bool {
    let rest = test.strip_prefix(listed);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_excused_by_the_list_alone() {
        let of = |test, outcome| super::of("librdkafka", test, outcome);
        assert_eq!(
            of("0077_compaction", TestOutcome::Failed),
            SuiteVerdict::Missing("compaction")
        );
        assert_eq!(
            of("0077_compaction", TestOutcome::Passed),
            SuiteVerdict::Passed
        );
        assert_eq!(
            of("0011_produce_batch", TestOutcome::Failed),
            SuiteVerdict::Failed
        );
        let part = super::of("kgo", "TestTxnEtl/simple", TestOutcome::Failed);
        assert_eq!(part, SuiteVerdict::Missing(TRANSACTIONS));
        assert_eq!(
            super::of("kgo", "TestTxnEtlX", TestOutcome::Failed),
            SuiteVerdict::Failed
        );
        let tests = [("TestTxnEtl/simple".to_owned(), TestOutcome::Failed)];
        assert_eq!(unneeded("kgo", &tests), []);
        let tests = [("TestTxnEtl".to_owned(), TestOutcome::Passed)];
        assert_eq!(unneeded("kgo", &tests), [("TestTxnEtl", TRANSACTIONS)]);
    }
}
