//! How a partition changes: another ISR, another leader, and what that makes of the eligible leader
//! replicas (KIP-966). Pure: one image in, the next one out.

use crate::ids::NodeId;
use crate::image::PartitionImage;

/// How a leader is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Election {
    /// The present one stays if it can; else the first replica of the ISR, else of the ELR.
    Keep,
    /// The first replica, if it can lead; else as [`Election::Keep`].
    Preferred,
    /// Any replica that is up, if nobody else can.
    Unclean,
}

/// What a change has to go by.
pub(super) struct Rules<'a> {
    /// `min.insync.replicas`, at most the number of replicas.
    pub(super) insync_min: usize,
    pub(super) election: Election,
    /// Whether a node is up and not fenced.
    pub(super) is_up: &'a dyn Fn(NodeId) -> bool,
    /// A node that may have lost what it had.
    pub(super) lost: Option<NodeId>,
    /// Give the leader a new epoch even if it is the same.
    pub(super) new_epoch: bool,
}

/// The partition with another ISR, if anything changes.
pub(super) fn changed(
    before: &PartitionImage,
    isr: Vec<NodeId>,
    rules: &Rules<'_>,
) -> Option<PartitionImage> {
    let mut next = PartitionImage {
        isr,
        ..before.clone()
    };
    let kept = |node: &NodeId| Some(*node) != rules.lost;
    next.isr.retain(kept);
    next.elr.retain(kept);
    let unclean = elect(&mut next, rules);
    settle_eligible(before, &mut next, rules, unclean);
    if next.leader != before.leader || (rules.new_epoch && next.leader.is_some()) {
        next.leader_epoch += 1;
    }
    if next == *before {
        return None;
    }
    next.partition_epoch += 1;
    Some(next)
}

/// Chooses the leader. True when it may lack acknowledged records.
fn elect(next: &mut PartitionImage, rules: &Rules<'_>) -> bool {
    let up = |node: &NodeId| (rules.is_up)(*node) && Some(*node) != rules.lost;
    let in_sync = |node: &NodeId| next.isr.contains(node) && up(node);
    let eligible = |node: &NodeId| next.elr.contains(node) && up(node);
    let first = next.replicas.first().copied();
    let preferred = first.filter(|node| rules.election == Election::Preferred && in_sync(node));
    let present = next.leader.filter(in_sync);
    let clean = preferred
        .or(present)
        .or_else(|| next.replicas.iter().copied().find(in_sync));
    if clean.is_some() {
        next.leader = clean;
        return false;
    }
    if let Some(leader) = next.replicas.iter().copied().find(eligible) {
        next.leader = Some(leader);
        next.isr = vec![leader];
        return false;
    }
    let any = |node: &NodeId| (rules.is_up)(*node);
    let mut chosen = None;
    if rules.election == Election::Unclean {
        // One that has not just lost something is better than one that has.
        let mut replicas = next.replicas.iter().copied();
        chosen = replicas.clone().find(up).or_else(|| replicas.find(any));
    }
    // Nobody is left who must have everything: the one who led last has the most.
    if chosen.is_none() && next.isr.is_empty() && next.elr.is_empty() {
        chosen = next.leader.or(next.last_leader).filter(any);
    }
    if next.leader.is_some() && chosen.is_none() {
        next.last_leader = next.leader;
    }
    next.leader = chosen;
    if let Some(leader) = chosen {
        next.isr = vec![leader];
    }
    chosen.is_some()
}

/// Who has everything that was acknowledged, although not in the ISR: nobody while the ISR is large
/// enough to acknowledge more, else those who left it since.
fn settle_eligible(
    before: &PartitionImage,
    next: &mut PartitionImage,
    rules: &Rules<'_>,
    unclean: bool,
) {
    if next.leader.is_some() {
        next.last_leader = None;
    }
    if unclean || next.isr.len() >= rules.insync_min {
        next.elr = Vec::new();
        return;
    }
    let was = |node: &NodeId| before.isr.contains(node) || before.elr.contains(node);
    let is = |node: &NodeId| next.isr.contains(node) || Some(*node) == rules.lost;
    let elr = next.replicas.iter().copied();
    next.elr = elr.filter(|node| was(node) && !is(node)).collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn n(id: i32) -> NodeId {
        NodeId(id)
    }

    fn rules<'a>(insync_min: usize, is_up: &'a dyn Fn(NodeId) -> bool) -> Rules<'a> {
        Rules {
            insync_min,
            election: Election::Keep,
            is_up,
            lost: None,
            new_epoch: false,
        }
    }

    fn start() -> PartitionImage {
        PartitionImage::new(vec![n(1), n(2), n(3)])
    }

    /// The node leaves; the others in `up` are there.
    fn without(
        before: &PartitionImage,
        gone: i32,
        insync_min: usize,
        up: &[i32],
    ) -> PartitionImage {
        let up = up.to_vec();
        let is_up = move |node: NodeId| up.contains(&node.0);
        let isr = before.isr.iter().copied().filter(|node| node.0 != gone);
        changed(before, isr.collect(), &rules(insync_min, &is_up)).unwrap()
    }

    #[test]
    fn the_next_replica_in_the_isr_leads_when_the_leader_goes() {
        let next = without(&start(), 1, 1, &[2, 3]);
        assert_eq!((next.leader, next.leader_epoch), (Some(n(2)), 1));
        assert_eq!((next.isr, next.elr), (vec![n(2), n(3)], vec![]));
    }

    #[test]
    fn a_follower_that_goes_changes_no_leader_epoch() {
        let next = without(&start(), 3, 1, &[1, 2]);
        assert_eq!(
            (next.leader, next.leader_epoch, next.partition_epoch),
            (Some(n(1)), 0, 1)
        );
    }

    #[test]
    fn who_leaves_an_isr_that_is_too_small_stays_eligible() {
        let two = without(&start(), 3, 2, &[1, 2]);
        assert_eq!(two.elr, vec![], "two are enough to acknowledge more");
        let one = without(&two, 2, 2, &[1]);
        assert_eq!((&one.isr, &one.elr), (&vec![n(1)], &vec![n(2)]));
        // The last one goes, too: either of the two may lead now, 3 may not.
        let none = without(&one, 1, 2, &[3]);
        assert_eq!((none.leader, &none.isr), (None, &vec![]));
        assert_eq!(none.elr, vec![n(1), n(2)]);
        let up = |node: NodeId| node.0 >= 2;
        let back = changed(&none, Vec::new(), &rules(2, &up)).unwrap();
        assert_eq!(
            (back.leader, &back.isr, &back.elr),
            (Some(n(2)), &vec![n(2)], &vec![n(1)])
        );
    }

    #[test]
    fn a_node_that_lost_something_is_neither_in_sync_nor_eligible() {
        let up = |_: NodeId| true;
        let rules = Rules {
            lost: Some(n(1)),
            ..rules(3, &up)
        };
        let next = changed(&start(), start().isr, &rules).unwrap();
        assert_eq!(
            (next.leader, next.isr, next.elr),
            (Some(n(2)), vec![n(2), n(3)], vec![])
        );
    }

    #[test]
    fn the_last_leader_comes_back_when_nobody_is_eligible() {
        let alone = PartitionImage::new(vec![n(1)]);
        let down = without(&alone, 1, 1, &[]);
        assert_eq!(
            (down.leader, down.elr.clone(), down.last_leader),
            (None, vec![n(1)], Some(n(1)))
        );
        let up = |_: NodeId| true;
        let crashed = Rules {
            lost: Some(n(1)),
            ..rules(1, &up)
        };
        let back = changed(&down, Vec::new(), &crashed).unwrap();
        assert_eq!(
            (back.leader, back.isr, back.leader_epoch),
            (Some(n(1)), vec![n(1)], 2)
        );
        assert_eq!((back.elr, back.last_leader), (vec![], None));
    }

    #[test]
    fn any_replica_leads_only_where_that_is_allowed() {
        let one = without(&without(&start(), 3, 1, &[1, 2]), 2, 1, &[1]);
        let none = without(&one, 1, 1, &[3]);
        assert_eq!((none.leader, &none.elr), (None, &vec![n(1)]));
        let up = |node: NodeId| node == n(3);
        let unclean = Rules {
            election: Election::Unclean,
            ..rules(1, &up)
        };
        let led = changed(&none, Vec::new(), &unclean).unwrap();
        assert_eq!(
            (led.leader, led.isr, led.elr),
            (Some(n(3)), vec![n(3)], vec![])
        );
    }

    #[test]
    fn the_preferred_replica_leads_again_when_asked_for() {
        let next = without(&start(), 1, 1, &[2, 3]);
        let up = |_: NodeId| true;
        let back = changed(&next, vec![n(2), n(3), n(1)], &rules(1, &up)).unwrap();
        assert_eq!(back.leader, Some(n(2)), "nobody asked");
        let asked = Rules {
            election: Election::Preferred,
            ..rules(1, &up)
        };
        let led = changed(&back, back.isr.clone(), &asked).unwrap();
        assert_eq!((led.leader, led.leader_epoch), (Some(n(1)), 2));
        assert_eq!(changed(&led, led.isr.clone(), &asked), None);
    }
}
