//! What limited a trial, from evidence with known answers.

use kgauge_results::RunRead;
use kgauge_results::run::{Evidence, EvidenceKind, IdleTime, RepeatKey, Subject};
use kgauge_results::summary::{LimitVerdict, LimitWord, Summary};

use crate::made::{Made, SECOND_NS, whole_closed_run, whole_paced_run};

fn limit(run: &RunRead) -> LimitVerdict {
    Summary::of(run).trials[0].limit.clone().unwrap()
}

/// The closed run on a machine of two processors of which so much had nothing to do in each second.
fn on_machine(idle_ms: u64) -> (Made, RunRead) {
    let (made, mut run) = whole_closed_run();
    let look = |second: u64| Evidence {
        at_unix_ms: 1_000 + second * 1_000,
        repeat: Some(RepeatKey {
            trial: 0,
            repeat: 0,
        }),
        at_ns: Some(second * SECOND_NS),
        subject: Subject::Host,
        kind: EvidenceKind::Idle(IdleTime {
            idle_ns: second * idle_ms * 1_000_000,
            ..IdleTime::default()
        }),
    };
    run.evidence.extend((0..=10).map(look));
    (made, run)
}

#[test]
fn a_rate_that_was_kept_is_limited_by_nothing() {
    let (_made, run) = whole_paced_run();
    let limit = limit(&run);
    assert_eq!(limit.word, LimitWord::Load, "{limit:?}");
    assert!(
        limit.sentence.starts_with("Nothing held it back"),
        "{}",
        limit.sentence
    );
    assert!(limit.candidates.is_empty());
}

#[test]
fn a_machine_without_idle_processors_is_the_limit() {
    // 2 x 40 ms of 2 s: 4 %.
    let (_made, run) = on_machine(80);
    let limit = limit(&run);
    assert_eq!(limit.word, LimitWord::Processors, "{limit:?}");
    assert_eq!(limit.sentence, "The limit was the machine's processors.");
    let said = limit.evidence.join(" ");
    assert!(
        said.contains("Of the 2 processors that load and target share 0.08 had nothing to do"),
        "{said}"
    );
}

#[test]
fn a_machine_with_some_to_spare_is_a_suspect_and_one_with_much_is_none() {
    let (_made, run) = on_machine(300);
    let near = limit(&run);
    assert_eq!(near.word, LimitWord::Undecided, "{near:?}");
    assert_eq!(near.candidates, [LimitWord::Processors]);
    let (_made, run) = on_machine(1_000);
    let far = limit(&run);
    assert_eq!(far.word, LimitWord::Undecided, "{far:?}");
    assert!(!far.candidates.contains(&LimitWord::Processors), "{far:?}");
}
