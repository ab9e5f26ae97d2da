//! Groups on a virtual clock: who waits is a number, and every answer is known beforehand.

use kgauge_wire::error_code::ErrorCode::{
    FencedInstanceId, GroupMaxSizeReached, IllegalGeneration, InconsistentGroupProtocol,
    MemberIdRequired, RebalanceInProgress, UnknownMemberId,
};

use super::*;
use crate::time::NS_PER_MS;

/// A group and a clock.
struct Bench {
    group: ConsumerGroup<u32>,
    now: Now,
    effects: Vec<Effect<u32>>,
    rules: JoinRules,
    ids: u32,
}

/// Answers to syncs: who, and the assignment or the error.
type Syncs = Vec<(u32, Result<Vec<u8>, ErrorCode>)>;

/// What became of somebody's join.
#[derive(Debug, PartialEq)]
enum JoinEvent {
    Member {
        id: String,
        generation: i32,
        leads: bool,
        others: usize,
    },
    Refused(ErrorCode, String),
}

impl Bench {
    fn new() -> Self {
        let rules = JoinRules {
            id_first: false,
            can_skip_assignment: true,
            initial_delay_ms: 0,
            members_max: 100,
        };
        let now = Now {
            mono_ns: 1,
            wall_ms: 1_000,
        };
        Self {
            group: ConsumerGroup::default(),
            now,
            effects: Vec::new(),
            rules,
            ids: 0,
        }
    }

    fn who(member_id: &str) -> Introduction {
        Introduction {
            member_id: member_id.to_owned(),
            instance_id: None,
            client_id: "c".to_owned(),
            client_host: "/127.0.0.1".to_owned(),
            session_timeout_ms: 10_000,
            rebalance_timeout_ms: 60_000,
            protocol_type: "consumer".to_owned(),
            protocols: vec![("range".to_owned(), vec![1])],
        }
    }

    fn join(&mut self, waiter: u32, who: Introduction) {
        self.ids += 1;
        let (now, rules, new_id) = (self.now, self.rules, format!("m{}", self.ids));
        self.group
            .join(now, who, rules, waiter, new_id, &mut self.effects);
    }

    fn join_as(&mut self, waiter: u32, member_id: &str) {
        self.join(waiter, Self::who(member_id));
    }

    fn sync(&mut self, waiter: u32, member_id: &str, assignments: &[(&str, &[u8])]) {
        let call = SyncCall {
            member_id,
            instance_id: None,
            generation: self.group.generation,
            protocol_type: None,
            protocol: None,
            assignments: assignments.iter().copied().collect(),
        };
        self.group.sync(self.now, &call, waiter, &mut self.effects);
    }

    fn beat(&mut self, member_id: &str) -> Result<(), ErrorCode> {
        let generation = self.group.generation;
        self.group.heartbeat(self.now, member_id, None, generation)
    }

    fn leave(&mut self, member_id: &str) -> Result<(), ErrorCode> {
        self.group
            .leave(self.now, member_id, None, &mut self.effects)
    }

    /// Lets time pass, timer by timer.
    fn pass_ms(&mut self, ms: u64) {
        let end_ns = self.now.mono_ns + ms * NS_PER_MS;
        while let Some(next_ns) = self.group.next_ns().filter(|next| *next <= end_ns) {
            self.now.mono_ns = self.now.mono_ns.max(next_ns);
            self.group.tick(self.now, &mut self.effects);
        }
        self.now.mono_ns = end_ns;
    }

    /// The answers to joins since the last look.
    fn joins(&mut self) -> Vec<(u32, JoinEvent)> {
        let mut answers = Vec::new();
        for effect in self
            .effects
            .extract_if(.., |effect| matches!(effect, Effect::Join(..)))
        {
            let Effect::Join(waiter, result) = effect else {
                unreachable!()
            };
            answers.push(match result {
                Ok(joined) => {
                    let leads = joined.leader == joined.member_id;
                    let (generation, others) = (joined.generation, joined.members.len());
                    (
                        waiter,
                        JoinEvent::Member {
                            id: joined.member_id,
                            generation,
                            leads,
                            others,
                        },
                    )
                }
                Err(refused) => (waiter, JoinEvent::Refused(refused.code, refused.member_id)),
            });
        }
        answers
    }

    /// The answers to syncs since the last look, and how often the group was written down.
    fn syncs(&mut self) -> (Syncs, usize) {
        let mut answers = Vec::new();
        let mut stored = 0;
        for effect in self.effects.drain(..) {
            match effect {
                Effect::Sync(waiter, result) => {
                    answers.push((waiter, result.map(|s| s.assignment)))
                }
                Effect::Store => stored += 1,
                Effect::Join(..) => panic!("nobody read the answer to a join"),
            }
        }
        (answers, stored)
    }

    /// Members m1 to m`count`, settled in a generation.
    fn settled(count: u32) -> Self {
        let mut bench = Self::new();
        for number in 1..=count {
            bench.join_as(number, "");
            // The others follow into the new generation.
            for other in 1..number {
                bench.join_as(other, &format!("m{other}"));
            }
            bench.ids = number;
        }
        bench.joins();
        for number in (1..=count).rev() {
            bench.sync(
                number,
                &format!("m{number}"),
                &[("m1", b"one"), ("m2", b"two")],
            );
        }
        bench.syncs();
        assert_eq!(bench.group.state, GroupState::Stable);
        bench
    }
}

fn member(id: &str, generation: i32, leads: bool, others: usize) -> JoinEvent {
    JoinEvent::Member {
        id: id.to_owned(),
        generation,
        leads,
        others,
    }
}

#[test]
fn the_first_member_leads_the_first_generation() {
    let mut bench = Bench::new();
    bench.join_as(7, "");
    assert_eq!(bench.joins(), [(7, member("m1", 1, true, 1))]);
    assert_eq!(bench.group.state, GroupState::Completing);
    bench.sync(8, "m1", &[("m1", b"all")]);
    assert_eq!(bench.syncs(), (vec![(8, Ok(b"all".to_vec()))], 1));
    assert_eq!(bench.group.state, GroupState::Stable);
    assert_eq!(bench.beat("m1"), Ok(()));
}

#[test]
fn a_new_member_is_given_its_id_first() {
    let mut bench = Bench::new();
    bench.rules.id_first = true;
    bench.join_as(1, "");
    assert_eq!(
        bench.joins(),
        [(1, JoinEvent::Refused(MemberIdRequired, "m1".to_owned()))]
    );
    bench.join_as(2, "m1");
    assert_eq!(bench.joins(), [(2, member("m1", 1, true, 1))]);
    bench.join_as(3, "m9");
    assert_eq!(
        bench.joins(),
        [(3, JoinEvent::Refused(UnknownMemberId, "m9".to_owned()))]
    );
}

#[test]
fn an_id_that_nobody_uses_holds_the_others_up_for_its_session_only() {
    let mut bench = Bench::settled(1);
    bench.rules.id_first = true;
    bench.join_as(5, "");
    bench.joins();
    bench.join_as(6, "m1");
    assert_eq!(
        bench.joins(),
        [],
        "m1 leads, so its join is a rebalance; the new id may come"
    );
    bench.pass_ms(9_999);
    assert_eq!(bench.joins(), []);
    bench.pass_ms(1);
    assert_eq!(bench.joins(), [(6, member("m1", 2, true, 1))]);
}

#[test]
fn a_second_member_makes_the_first_join_again() {
    let mut bench = Bench::settled(1);
    bench.join_as(2, "");
    assert_eq!(bench.beat("m1"), Err(RebalanceInProgress));
    assert_eq!(bench.joins(), []);
    bench.join_as(3, "m1");
    let expected = [
        (3, member("m1", 2, true, 2)),
        (2, member("m2", 2, false, 0)),
    ];
    assert_eq!(bench.joins(), expected);
    bench.sync(4, "m2", &[]);
    assert_eq!(
        bench.syncs(),
        (vec![], 0),
        "the leader has not assigned yet"
    );
    bench.sync(5, "m1", &[("m1", b"one"), ("m2", b"two")]);
    let expected = vec![(5, Ok(b"one".to_vec())), (4, Ok(b"two".to_vec()))];
    assert_eq!(bench.syncs(), (expected, 1));
}

#[test]
fn who_does_not_join_again_in_time_is_out() {
    let mut bench = Bench::settled(2);
    bench.join_as(9, "");
    bench.join_as(8, "m2");
    // m1 keeps beating, so its session does not end; the rebalance timeout does.
    for _ in 0..11 {
        bench.pass_ms(5_000);
        assert_eq!(bench.beat("m1"), Err(RebalanceInProgress));
    }
    assert_eq!(bench.joins(), []);
    bench.pass_ms(5_000);
    let expected = [
        (8, member("m2", 3, true, 2)),
        (9, member("m3", 3, false, 0)),
    ];
    assert_eq!(bench.joins(), expected);
    assert_eq!(bench.beat("m1"), Err(UnknownMemberId));
}

#[test]
fn silence_for_a_session_ends_a_membership() {
    let mut bench = Bench::settled(2);
    bench.pass_ms(6_000);
    assert_eq!(bench.beat("m1"), Ok(()));
    bench.pass_ms(4_000);
    assert_eq!(
        bench.beat("m1"),
        Err(RebalanceInProgress),
        "m2 was silent for 10 s"
    );
    bench.join_as(3, "m1");
    assert_eq!(bench.joins(), [(3, member("m1", 3, true, 1))]);
}

#[test]
fn when_everybody_leaves_the_group_is_empty_and_written_down() {
    let mut bench = Bench::settled(2);
    assert_eq!(bench.leave("m1"), Ok(()));
    assert_eq!(bench.leave("m1"), Err(UnknownMemberId));
    assert_eq!(bench.group.leader.as_deref(), Some("m2"));
    assert_eq!(bench.leave("m2"), Ok(()));
    assert_eq!(bench.group.state, GroupState::Empty);
    assert_eq!(bench.syncs(), (vec![], 1));
    assert_eq!(bench.group.next_ns(), None);
    let generation = bench.group.generation;
    bench.join_as(1, "");
    assert_eq!(bench.joins(), [(1, member("m3", generation + 1, true, 1))]);
}

#[test]
fn a_rebalance_answers_members_that_wait_for_their_assignment() {
    let mut bench = Bench::settled(1);
    bench.join_as(2, "");
    bench.join_as(3, "m1");
    bench.joins();
    bench.sync(4, "m2", &[]);
    bench.join_as(5, "");
    assert_eq!(bench.syncs(), (vec![(4, Err(RebalanceInProgress))], 0));
    assert_eq!(bench.group.state, GroupState::Preparing);
}

#[test]
fn members_that_never_ask_for_their_assignment_are_out() {
    let mut bench = Bench::settled(1);
    bench.join_as(2, "");
    bench.join_as(3, "m1");
    bench.joins();
    bench.sync(4, "m2", &[]);
    // m1 lives but does not assign.
    for _ in 0..12 {
        bench.pass_ms(5_000);
        if bench.group.members.contains_key("m1") {
            assert_eq!(bench.beat("m1"), Ok(()));
        }
    }
    bench.pass_ms(1);
    assert_eq!(bench.syncs(), (vec![(4, Err(RebalanceInProgress))], 0));
    assert_eq!(bench.beat("m1"), Err(UnknownMemberId));
    assert_eq!(bench.group.leader.as_deref(), Some("m2"));
}

#[test]
fn generations_are_checked() {
    let mut bench = Bench::settled(1);
    let old = bench.group.generation - 1;
    assert_eq!(
        bench.group.heartbeat(bench.now, "m1", None, old),
        Err(IllegalGeneration)
    );
    assert_eq!(bench.beat("m7"), Err(UnknownMemberId));
}

#[test]
fn the_protocol_is_one_that_all_know_and_most_prefer() {
    let mut bench = Bench::new();
    let knows = |names: &[&str]| {
        let protocols = names.iter().map(|name| ((*name).to_owned(), vec![]));
        Introduction {
            protocols: protocols.collect(),
            ..Bench::who("")
        }
    };
    bench.rules.initial_delay_ms = 100;
    bench.join(1, knows(&["range", "sticky", "odd"]));
    bench.join(2, knows(&["sticky", "range"]));
    bench.join(3, knows(&["sticky", "range"]));
    bench.join(4, knows(&["odd"]));
    let refused = JoinEvent::Refused(InconsistentGroupProtocol, String::new());
    assert_eq!(bench.joins(), [(4, refused)]);
    bench.pass_ms(200);
    assert_eq!(bench.group.protocol.as_deref(), Some("sticky"));
    let other_kind = Introduction {
        protocol_type: "connect".to_owned(),
        ..Bench::who("")
    };
    bench.joins();
    bench.join(5, other_kind);
    assert_eq!(
        bench.joins(),
        [(
            5,
            JoinEvent::Refused(InconsistentGroupProtocol, String::new())
        )]
    );
}

#[test]
fn the_initial_delay_waits_for_more_and_is_extended_by_them() {
    let mut bench = Bench::new();
    bench.rules.initial_delay_ms = 3_000;
    bench.join_as(1, "");
    bench.pass_ms(2_000);
    bench.join_as(2, "");
    bench.pass_ms(1_000);
    assert_eq!(bench.joins(), [], "somebody came, so it waits 3 s more");
    bench.pass_ms(2_999);
    assert_eq!(bench.joins(), []);
    bench.pass_ms(1);
    let expected = [
        (1, member("m1", 1, true, 2)),
        (2, member("m2", 1, false, 0)),
    ];
    assert_eq!(bench.joins(), expected);
}

#[test]
fn a_full_group_takes_nobody() {
    let mut bench = Bench::settled(2);
    bench.rules.members_max = 2;
    bench.join_as(3, "");
    assert_eq!(
        bench.joins(),
        [(3, JoinEvent::Refused(GroupMaxSizeReached, String::new()))]
    );
    assert_eq!(bench.group.state, GroupState::Stable);
}

#[test]
fn a_follower_that_asks_again_gets_the_same_without_a_rebalance() {
    let mut bench = Bench::settled(2);
    let generation = bench.group.generation;
    bench.join_as(5, "m2");
    assert_eq!(bench.joins(), [(5, member("m2", generation, false, 0))]);
    bench.sync(6, "m2", &[]);
    assert_eq!(bench.syncs(), (vec![(6, Ok(b"two".to_vec()))], 0));
    assert_eq!(bench.group.state, GroupState::Stable);
    let changed = Introduction {
        protocols: vec![("range".to_owned(), vec![9])],
        ..Bench::who("m2")
    };
    bench.join(7, changed);
    assert_eq!(
        bench.group.state,
        GroupState::Preparing,
        "its subscription has changed"
    );
}

#[test]
fn an_earlier_question_of_the_same_member_is_answered() {
    let mut bench = Bench::settled(2);
    bench.join_as(5, "m1");
    bench.join_as(6, "m1");
    let refused = JoinEvent::Refused(RebalanceInProgress, "m1".to_owned());
    assert_eq!(bench.joins(), [(5, refused)]);
}

fn lasting(member_id: &str) -> Introduction {
    Introduction {
        instance_id: Some("i".to_owned()),
        ..Bench::who(member_id)
    }
}

#[test]
fn a_lasting_member_comes_back_without_a_rebalance_and_fences_its_past() {
    let mut bench = Bench::new();
    bench.join(1, lasting(""));
    assert_eq!(bench.joins(), [(1, member("m1", 1, true, 1))]);
    let call = SyncCall {
        member_id: "m1",
        instance_id: Some("i"),
        generation: 1,
        protocol_type: None,
        protocol: None,
        assignments: [("m1", &b"all"[..])].into(),
    };
    bench.group.sync(bench.now, &call, 2, &mut bench.effects);
    bench.syncs();
    bench.join(3, lasting(""));
    let effects = std::mem::take(&mut bench.effects);
    let [Effect::Store, Effect::Join(3, Ok(joined))] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert_eq!((joined.generation, joined.member_id.as_str()), (1, "m2"));
    assert!(
        joined.skip_assignment,
        "it led: the answer asks it to leave the assignment as it is"
    );
    assert_eq!(bench.group.state, GroupState::Stable);
    let old = bench.group.heartbeat(bench.now, "m1", Some("i"), 1);
    assert_eq!(old, Err(FencedInstanceId));
    assert_eq!(bench.group.heartbeat(bench.now, "m2", Some("i"), 1), Ok(()));
    bench.join(4, lasting("m1"));
    assert_eq!(
        bench.joins(),
        [(4, JoinEvent::Refused(FencedInstanceId, "m1".to_owned()))]
    );
}

#[test]
fn a_lasting_member_can_be_removed_by_its_name_alone() {
    let mut bench = Bench::new();
    bench.join(1, lasting(""));
    bench.joins();
    let gone = bench
        .group
        .leave(bench.now, "", Some("i"), &mut bench.effects);
    assert_eq!(gone, Ok(()));
    assert!(bench.group.is_empty());
    let again = bench
        .group
        .leave(bench.now, "", Some("i"), &mut bench.effects);
    assert_eq!(again, Err(UnknownMemberId));
}

#[test]
fn a_generation_that_was_not_written_down_is_given_up() {
    let mut bench = Bench::settled(2);
    let before = bench.group.generation;
    bench.group.not_stored(bench.now, &mut bench.effects);
    assert_eq!(bench.group.state, GroupState::Preparing);
    // A member that asks again does not get an assignment that nobody else would know of.
    bench.sync(1, "m1", &[]);
    assert_eq!(bench.syncs(), (vec![(1, Err(RebalanceInProgress))], 0));
    assert_eq!(bench.beat("m2"), Err(RebalanceInProgress));
    bench.join_as(3, "m1");
    bench.join_as(4, "m2");
    let generation = before + 1;
    assert_eq!(
        bench.joins(),
        [
            (3, member("m1", generation, true, 2)),
            (4, member("m2", generation, false, 0))
        ]
    );
}

#[test]
fn groups_hash_to_partitions_as_in_java() {
    // Java's `hashCode` of the last one is Integer.MIN_VALUE, which has no positive twin.
    assert_eq!(partition_of("", 50), 0);
    assert_eq!(partition_of("a", 50), 97 % 50);
    assert_eq!(partition_of("test-group", 50), 12);
    assert_eq!(partition_of("polygenelubricants", 50), 0);
}
