//! The network card as the limit: an interface of 1 Gbit/s, which are 125 MB/s, in a hold of ten seconds.

use kgauge_analyze::summary::Bottleneck;
use kgauge_results::RunRead;
use kgauge_results::metrics::{MetricId, Readings};
use kgauge_results::run::{EvidenceKind, NetworkSample, NetworkSpeed, SpeedSource, Subject};

use crate::limit::with_each_second;
use crate::made::Made;
use crate::texts::{LimitText, limit};

const KB: u64 = 1_000;

/// An interface, and what went through it.
struct Card<'a> {
    /// In and out, kB in each second of the hold.
    moved: [(u64, u64); 10],
    told_by: Option<SpeedSource>,
    is_half_duplex: bool,
    name: &'a str,
}

/// As fast as its driver says, and with nothing to do.
const CARD: Card<'_> = Card {
    moved: [(0, 0); 10],
    told_by: Some(SpeedSource::Kernel),
    is_half_duplex: false,
    name: "eth0",
};

impl Card<'_> {
    fn run(&self) -> (Made, RunRead) {
        with_each_second(|second| {
            let before = self.moved.iter().take(second as usize);
            let (received, sent) = before.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
            let look = NetworkSample {
                interface: self.name.to_owned(),
                values: Readings::from([
                    (MetricId::ReceivedBytes, received * KB),
                    (MetricId::SentBytes, sent * KB),
                ]),
            };
            let speed = self.told_by.filter(|_| second == 0);
            let speed = speed.map(|told_by| {
                EvidenceKind::NetworkSpeed(NetworkSpeed {
                    interface: self.name.to_owned(),
                    bits_per_s: 1_000_000_000,
                    is_half_duplex: self.is_half_duplex,
                    told_by,
                })
            });
            let kinds = speed.into_iter().chain([EvidenceKind::Network(look)]);
            kinds.map(|kind| (Subject::Host, kind)).collect()
        })
    }

    fn verdict(&self) -> LimitText {
        limit(&self.run().1)
    }

    fn decided(&self) -> (Bottleneck, Vec<Bottleneck>) {
        let verdict = self.verdict();
        (verdict.word, verdict.candidates)
    }
}

/// So many seconds with one figure, the others with another.
fn some(seconds: usize, one: (u64, u64), other: (u64, u64)) -> [(u64, u64); 10] {
    std::array::from_fn(|second| if second < seconds { one } else { other })
}

fn card(moved: [(u64, u64); 10]) -> Card<'static> {
    Card { moved, ..CARD }
}

fn near() -> (Bottleneck, Vec<Bottleneck>) {
    (Bottleneck::Undecided, vec![Bottleneck::NetworkCard])
}

fn none() -> (Bottleneck, Vec<Bottleneck>) {
    (Bottleneck::Undecided, Vec::new())
}

fn is_it() -> (Bottleneck, Vec<Bottleneck>) {
    (Bottleneck::NetworkCard, Vec::new())
}

#[test]
fn a_card_that_was_full_in_most_seconds_is_the_limit() {
    let full = card(some(6, (1, 112_500), (0, 0))).verdict();
    assert_eq!(full.word, Bottleneck::NetworkCard, "{full:?}");
    assert_eq!(full.sentence, "Bottleneck: network card.");
    // 6 of 10 seconds, and 67.5 of 125 on the mean.
    full.assert_evidence(
        "eth0 sent 67.5 MB/s of its 125 MB/s (54 %), and was saturated for 60 % of the time.",
    );
    assert_eq!(card(some(10, (112_500, 1), (0, 0))).decided(), is_it());
    let received = card(some(10, (120_000, 1), (0, 0))).verdict();
    received.assert_evidence(
        "eth0 received 120 MB/s of its 125 MB/s (96 %), and was saturated for 100 % of the time.",
    );
}

#[test]
fn half_of_the_seconds_or_nine_tenths_of_the_speed_are_not_enough() {
    // Half of the time is not most of it; a fifth is suspicious, less is none.
    assert_eq!(card(some(5, (0, 112_500), (0, 0))).decided(), near());
    assert_eq!(card(some(2, (0, 112_500), (0, 0))).decided(), near());
    assert_eq!(card(some(1, (0, 112_500), (0, 0))).decided(), none());
    // Never full, and 70 % on the mean.
    assert_eq!(card(some(10, (0, 112_400), (0, 0))).decided(), near());
    assert_eq!(card(some(10, (0, 87_500), (0, 0))).decided(), near());
    let free = card(some(10, (0, 87_400), (0, 0)));
    assert_eq!(free.decided(), none());
    free.verdict()
        .assert_evidence("eth0 sent 87.4 MB/s of its 125 MB/s (70 %).");
}

#[test]
fn directions_add_up_only_where_one_waits_for_the_other() {
    let both = some(10, (60_000, 60_000), (0, 0));
    assert_eq!(card(both).decided(), none());
    let half = Card {
        is_half_duplex: true,
        ..card(both)
    };
    assert_eq!(half.decided(), is_it());
    half.verdict()
        .assert_evidence("eth0 carried in both directions 120 MB/s of its 125 MB/s");
}

#[test]
fn a_speed_that_was_exceeded_is_no_speed() {
    let beyond = some(10, (0, 132_000), (0, 0));
    let driver = card(beyond).verdict();
    driver.assert_evidence(
        "eth0 sent 132 MB/s, more than the 125 MB/s that its driver reports, so that speed is \
         wrong.",
    );
    assert_eq!((driver.word, driver.candidates), none());
    let user = Card {
        told_by: Some(SpeedSource::User),
        ..card(beyond)
    };
    user.verdict().assert_evidence("that --network-speed sets");
    // A little more is what clocks and counters make.
    assert_eq!(card(some(10, (0, 131_000), (0, 0))).decided(), is_it());
}

#[test]
fn nothing_is_judged_without_a_speed_and_of_a_target_elsewhere_it_is_told_how_to_say_it() {
    let mute = Card {
        told_by: None,
        ..card(some(10, (0, 124_000), (0, 0)))
    };
    let (_made, mut run) = mute.run();
    let here = limit(&run);
    assert!(!here.evidence.join(" ").contains("eth0"), "{here:?}");
    run.environment.as_mut().unwrap().target.same_machine = Some(false);
    let there = limit(&run);
    there.assert_evidence(
        "eth0 sent 124 MB/s. Its driver does not report a speed; set it with --network-speed \
         eth0=10Gbit.",
    );
    assert_eq!((there.word, there.candidates), none());
    let idle = Card {
        told_by: None,
        ..card(some(10, (0, 12_000), (0, 0)))
    };
    let (_made, mut run) = idle.run();
    run.environment.as_mut().unwrap().target.same_machine = Some(false);
    assert!(!limit(&run).evidence.join(" ").contains("eth0"));
}

#[test]
fn a_card_that_did_nothing_is_not_spoken_of() {
    // 1 % of the time is 1,250 kB/s.
    let idle = card(some(10, (0, 1_240), (0, 0))).verdict();
    assert!(!idle.evidence.join(" ").contains("eth0"), "{idle:?}");
    let some = card(some(10, (0, 1_260), (0, 0))).verdict();
    some.assert_evidence("eth0");
}

#[test]
fn a_card_that_is_always_full_leaves_no_room_for_what_busy_processors_could_do() {
    let with = |seconds| {
        let (_made, mut run) = card(some(seconds, (0, 112_500), (0, 0))).run();
        for seen in &mut run.evidence {
            if let EvidenceKind::Idle(idle) = &mut seen.kind {
                // 2 % of both processors.
                for value in idle.values.values_mut() {
                    *value /= 25;
                }
            }
        }
        let verdict = limit(&run);
        (verdict.word, verdict.candidates)
    };
    assert_eq!(with(10), is_it());
    let both = vec![Bottleneck::OtherPrograms, Bottleneck::NetworkCard];
    assert_eq!(with(8), (Bottleneck::Undecided, both));
}
