//! Consumer groups over the repeats of a run.

use kgauge_analyze::summary::Summary;
use kgauge_results::run::GroupRecord;

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
        "4 members joined within 210 ms before the load began; 2 rebalances in 2 repeats, 1.25 s without \
         partitions; 22 commits, 1 refused; 300 records read twice; 1 record never read; committed \
         offsets went back 2 times."
    );
    let calm = summed([calm, calm]);
    assert_eq!(
        text::flow::group(&calm.trials[0].flows[0]).unwrap(),
        "4 members joined within 210 ms before the load began; no rebalance in 2 repeats; 24 commits."
    );
}

#[test]
fn a_flow_without_a_group_says_nothing_of_one() {
    let (_made, run) = whole_paced_run();
    let summary = Summary::of(&run);
    assert_eq!(summary.trials[0].flows[0].group, None);
}
