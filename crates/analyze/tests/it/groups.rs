//! Consumer groups over the repeats of a run.

use kgauge_analyze::summary::Summary;
use kgauge_results::run::{GroupMemberRecord, GroupRecord};

use crate::made::whole_paced_run;
use kgauge_report::text;

/// The summary of three repeats, of which the last two had a group that did this.
fn summed(groups: [GroupRecord; 2]) -> Summary {
    let (_made, mut run) = whole_paced_run();
    for (repeat, group) in run.repeats[1..].iter_mut().zip(groups) {
        repeat.record.as_mut().unwrap().flows[0].group = Some(group);
    }
    Summary::of(&run)
}

#[test]
fn what_groups_did_is_added_over_repeats() {
    let calm = GroupRecord {
        members: 4,
        join_ns_max: 210_000_000,
        commits: 12,
        ..GroupRecord::default()
    };
    let moved = GroupRecord {
        join_ns_max: 35_000_000,
        rebalances: 2,
        rebalance_ns: 1_250_000_000,
        commits: 9,
        commits_failed: 1,
        records_again: 300,
        records_skipped: 1,
        commits_back: 2,
        ..calm
    };
    let summary = summed([calm, moved]);
    let group = summary.trials[0].flows[0].group.as_ref().unwrap();
    assert_eq!(
        (
            group.members,
            group.join_ns_max,
            group.rebalances,
            group.rebalance_ns
        ),
        (4, 210_000_000, 2, 1_250_000_000)
    );
    assert_eq!(
        (group.commits, group.commits_failed, group.records_again),
        (21, 1, 300)
    );
    assert_eq!((group.records_skipped, group.commits_back), (1, 2));
    assert_eq!(
        text::flow::group(&summary.trials[0].flows[0]).unwrap(),
        "4 members joined within 210 ms before the load began; 2 rebalances in 2 repeats, 1.25 s in total; \
         22 commits, 1 refused; 300 records read twice; 1 record never read; committed offsets went \
         back 2 times."
    );
    let calm = summed([calm, calm]);
    assert_eq!(
        text::flow::group(&calm.trials[0].flows[0]).unwrap(),
        "4 members joined within 210 ms before the load began; no rebalance in 2 repeats; 24 commits."
    );
}

#[test]
fn pauses_of_members_are_added_over_repeats_and_the_longest_are_named() {
    let (_made, mut run) = whole_paced_run();
    let member = |consumer, pause_ns| GroupMemberRecord {
        consumer,
        rebalances: 1,
        pause_ns,
        pause_ns_max: pause_ns,
    };
    for repeat in &mut run.repeats[1..] {
        let flow = &mut repeat.record.as_mut().unwrap().flows[0];
        flow.group = Some(GroupRecord {
            members: 7,
            rebalances: 1,
            rebalance_ns: 500_000_000,
            ..GroupRecord::default()
        });
        flow.members = (0..7)
            .map(|consumer| member(consumer, 100_000_000 * u64::from(consumer % 6)))
            .collect();
    }
    let summary = Summary::of(&run);
    let flow = &summary.trials[0].flows[0];
    let group = flow.group.as_ref().unwrap();
    let pauses: Vec<(u32, u64)> = (group.pauses.iter())
        .map(|one| (one.consumer, one.pause_ns / 1_000_000))
        .collect();
    assert_eq!(pauses, [(5, 1_000), (4, 800), (3, 600), (2, 400), (1, 200)]);
    let longest = group.pauses[0];
    assert_eq!((longest.rebalances, longest.pause_ns_max), (2, 500_000_000));
    let text = text::flow::group(flow).unwrap();
    assert!(
        text.contains(
            "2 rebalances in 2 repeats, 1.00 s in total; consumers without partitions meanwhile: 5 for \
             1.00 s, 4 for 800 ms, 3 for 600 ms, 2 for 400 ms and 1 more; "
        ),
        "{text}"
    );
}

#[test]
fn a_flow_without_a_group_says_nothing_of_one() {
    let (_made, run) = whole_paced_run();
    let summary = Summary::of(&run);
    assert_eq!(summary.trials[0].flows[0].group, None);
}
