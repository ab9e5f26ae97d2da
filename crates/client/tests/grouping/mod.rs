//! What members of a group may rely on, against any cluster.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use kgauge_client::admin::TopicSpec;
use kgauge_client::group::{Assignment, Assignor, Beat, GroupError, GroupMember, GroupSettings};
use kgauge_client::{ClientConfig, Cluster};

const TOPIC_PARTITIONS: i32 = 6;

/// A topic of six partitions and a group of the same name, for one test.
pub(crate) struct Place {
    pub(crate) config: ClientConfig,
    pub(crate) cluster: Cluster,
    pub(crate) name: String,
}

impl Place {
    pub(crate) fn new(config: &ClientConfig, label: &str) -> Place {
        let name = format!("kgauge-groups-{label}-{}", std::process::id());
        let mut cluster = Cluster::bootstrap(config.clone()).unwrap();
        let topic = TopicSpec {
            name: name.clone(),
            partitions: TOPIC_PARTITIONS,
            replication_factor: 1,
            configs: Vec::new(),
        };
        cluster.create_topic(&topic).unwrap();
        Place {
            config: config.clone(),
            cluster,
            name,
        }
    }

    pub(crate) fn settings(&self) -> GroupSettings {
        let mut settings = GroupSettings::new(&self.name, &self.name);
        settings.session_timeout = Duration::from_secs(10);
        settings.rebalance_timeout = Duration::from_secs(20);
        settings
    }

    pub(crate) fn member(&self, settings: GroupSettings) -> GroupMember {
        GroupMember::new(Cluster::bootstrap(self.config.clone()).unwrap(), settings)
    }

    pub(crate) fn of(&self, assignment: &Assignment) -> Vec<i32> {
        let partitions = assignment.partitions.get(&self.name);
        partitions.cloned().unwrap_or_default()
    }

    /// Members that join, beat, and join again until all are in one generation; what each got, by
    /// first partition.
    pub(crate) fn gather(&self, members: Vec<GroupMember>) -> Vec<(GroupMember, Vec<i32>)> {
        let count = members.len();
        let seen = Mutex::new(BTreeMap::new());
        let settle = &|index: usize, mut member: GroupMember| {
            let mut assignment = member.join().unwrap();
            loop {
                let settled = {
                    let mut seen = seen.lock().unwrap();
                    seen.insert(index, (assignment.generation, assignment.members));
                    let mut all = seen.values();
                    let same = all.all(|(generation, _)| *generation == assignment.generation);
                    same && seen.values().any(|(_, members)| *members == Some(count))
                };
                if settled && seen.lock().unwrap().len() == count {
                    return (member, self.of(&assignment));
                }
                match member.heartbeat().unwrap() {
                    Beat::Rebalance | Beat::Lost(_) => assignment = member.join().unwrap(),
                    Beat::Stable | Beat::Unsure => std::thread::yield_now(),
                }
            }
        };
        let mut gathered: Vec<(GroupMember, Vec<i32>)> = std::thread::scope(|scope| {
            let threads: Vec<_> = members
                .into_iter()
                .enumerate()
                .map(|(index, member)| scope.spawn(move || settle(index, member)))
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        gathered.sort_by(|(_, one), (_, other)| one.cmp(other));
        gathered
    }

    fn end(mut self) {
        self.cluster.delete_group(&self.name).unwrap();
        self.cluster.delete_topic(&self.name).unwrap();
    }
}

/// Beats until the group rebalances.
pub(crate) fn beat_until_rebalance(member: &mut GroupMember) {
    let start = Instant::now();
    while member.heartbeat().unwrap() != Beat::Rebalance {
        assert!(start.elapsed() < Duration::from_secs(30), "no rebalance");
        std::thread::yield_now();
    }
}

pub(crate) fn one_member_reads_all_and_commits(config: &ClientConfig) {
    let place = Place::new(config, "one");
    let mut member = place.member(place.settings());
    let assignment = member.join().unwrap();
    assert_eq!(place.of(&assignment), [0, 1, 2, 3, 4, 5]);
    assert!(assignment.is_leader && !member.member_id().is_empty());
    assert_eq!(member.heartbeat().unwrap(), Beat::Stable);
    let topic = place.name.as_str();
    assert_eq!(member.committed(topic, &[0, 5]).unwrap(), [None, None]);
    member.commit(topic, &[(0, 7), (5, 0)]).unwrap();
    let committed = member.committed(topic, &[5, 1, 0]).unwrap();
    assert_eq!(committed, [Some(0), None, Some(7)]);
    member.leave().unwrap();
    assert_eq!(member.member_id(), "", "it has left");
    member.leave().unwrap();
    place.end();
}

pub(crate) fn three_members_share_and_take_over(config: &ClientConfig) {
    let place = Place::new(config, "three");
    let members = (0..3).map(|_| place.member(place.settings())).collect();
    let mut gathered = place.gather(members);
    let parts: Vec<&[i32]> = gathered.iter().map(|(_, part)| part.as_slice()).collect();
    assert_eq!(parts, [[0, 1], [2, 3], [4, 5]]);
    let (mut leaver, _) = gathered.remove(0);
    leaver.commit(&place.name, &[(0, 42)]).unwrap();
    leaver.leave().unwrap();
    for (member, _) in &mut gathered {
        beat_until_rebalance(member);
    }
    let members = gathered.into_iter().map(|(member, _)| member).collect();
    let mut gathered = place.gather(members);
    let parts: Vec<&[i32]> = gathered.iter().map(|(_, part)| part.as_slice()).collect();
    assert_eq!(parts, [[0, 1, 2], [3, 4, 5]]);
    let committed = gathered[0].0.committed(&place.name, &[0, 1]).unwrap();
    assert_eq!(committed, [Some(42), None]);
    for (member, _) in &mut gathered {
        member.leave().unwrap();
    }
    place.end();
}

pub(crate) fn members_agree_on_what_both_know(config: &ClientConfig) {
    let place = Place::new(config, "agree");
    let mut both = place.settings();
    both.assignors = vec![Assignor::RoundRobin, Assignor::Range];
    let mut one = place.settings();
    one.assignors = vec![Assignor::RoundRobin];
    let members = vec![place.member(both), place.member(one)];
    let mut gathered = place.gather(members);
    let parts: Vec<&[i32]> = gathered.iter().map(|(_, part)| part.as_slice()).collect();
    assert_eq!(parts, [[0, 2, 4], [1, 3, 5]]);
    // Nothing in common with the third.
    let mut stranger = place.member(place.settings());
    let error = stranger.join().unwrap_err();
    assert!(
        error.to_string().contains("INCONSISTENT_GROUP_PROTOCOL"),
        "{error}"
    );
    for (member, _) in &mut gathered {
        member.leave().unwrap();
    }
    place.end();
}

pub(crate) fn a_forgotten_member_is_notified(config: &ClientConfig) {
    let place = Place::new(config, "forgotten");
    let mut member = place.member(place.settings());
    member.join().unwrap();
    // A second member makes the first one's generation old.
    let mut second = place.member(place.settings());
    let second = std::thread::spawn(move || {
        second.join().unwrap();
        second
    });
    beat_until_rebalance(&mut member);
    member.commit(&place.name, &[(1, 1)]).unwrap();
    member.join().unwrap();
    let mut second = second.join().unwrap();
    second.leave().unwrap();
    beat_until_rebalance(&mut member);
    member.join().unwrap();
    member.leave().unwrap();
    let error = member.commit(&place.name, &[(1, 2)]).unwrap_err();
    assert!(matches!(error, GroupError::Outdated { .. }), "{error}");
    assert_eq!(member.committed(&place.name, &[1]).unwrap(), [Some(1)]);
    place.end();
}

pub(crate) fn a_static_member_keeps_its_partitions(config: &ClientConfig) {
    let place = Place::new(config, "static");
    let mut settings = place.settings();
    settings.instance_id = Some("fixed".to_owned());
    let mut first = place.member(settings.clone());
    let before = match first.join() {
        // Kafka before 2.3.
        Err(GroupError::NoStaticMembers { .. }) => return place.end(),
        joined => joined.unwrap(),
    };
    // Its process dies and another comes with the same name: no rebalance, and the first is fenced.
    let mut again = place.member(settings);
    let after = again.join().unwrap();
    assert_eq!(before.partitions, after.partitions);
    let error = first.heartbeat().unwrap_err();
    assert!(error.to_string().contains("FENCED_INSTANCE_ID"), "{error}");
    again.leave().unwrap();
    place.end();
}

/// Kafka's consumer as a process; it ends with its owner.
struct Console(std::process::Child);

impl Console {
    fn start(place: &Place, servers: &str, words: &[&str]) -> Console {
        let group = format!("group.id={}", place.name);
        let properties = [
            group.as_str(),
            "auto.commit.interval.ms=100",
            "auto.offset.reset=earliest",
            "session.timeout.ms=10000",
            "heartbeat.interval.ms=200",
        ];
        let mut command = std::process::Command::new("java");
        command.args(words).args(["--bootstrap-server", servers]);
        command.args(["--topic", &place.name]);
        for property in properties {
            command.args(["--consumer-property", property]);
        }
        let quiet = std::process::Stdio::null;
        command.stdin(quiet()).stdout(quiet()).stderr(quiet());
        Console(command.spawn().unwrap())
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Kafka's consumer commits how far it is in each partition that it has, even at offset 0.
fn wait_for_commits(member: &mut GroupMember, topic: &str, partitions: &[i32]) {
    let start = Instant::now();
    while member.committed(topic, partitions).unwrap().contains(&None) {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "no commits of {partitions:?}"
        );
        if !member.member_id().is_empty() {
            assert_eq!(member.heartbeat().unwrap(), Beat::Stable);
        }
        std::thread::yield_now();
    }
}

pub(crate) fn kafkas_own_consumer_shares_with_ours(
    config: &ClientConfig,
    servers: &str,
    words: &[&str],
) {
    let others = |ours: &[i32]| -> Vec<i32> {
        (0..TOPIC_PARTITIONS)
            .filter(|one| !ours.contains(one))
            .collect()
    };
    // Kafka's is there first, and deals out.
    let place = Place::new(config, "theirs");
    let console = Console::start(&place, servers, words);
    let mut member = place.member(place.settings());
    wait_for_commits(&mut member, &place.name, &[0, 1, 2, 3, 4, 5]);
    let assignment = member.join().unwrap();
    assert!(!assignment.is_leader);
    let ours = place.of(&assignment);
    assert!(ours == [0, 1, 2] || ours == [3, 4, 5], "{ours:?}");
    member.commit(&place.name, &[(ours[0], 0)]).unwrap();
    drop(console);
    member.leave().unwrap();

    // Ours is there first, and deals out; Kafka's takes what it is given.
    let place = Place::new(config, "ours");
    let mut member = place.member(place.settings());
    assert!(member.join().unwrap().is_leader);
    let console = Console::start(&place, servers, words);
    beat_until_rebalance(&mut member);
    let assignment = member.join().unwrap();
    assert_eq!((assignment.is_leader, assignment.members), (true, Some(2)));
    let ours = place.of(&assignment);
    assert_eq!(ours.len(), 3);
    wait_for_commits(&mut member, &place.name, &others(&ours));
    drop(console);
    member.leave().unwrap();
}
