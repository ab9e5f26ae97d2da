//! Samples of the run's topic, and the state between them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use kgauge_client::admin::EndOf;
use kgauge_client::cluster::Partition;
use kgauge_client::{ClientConfig, Cluster, Interrupt};
use kgauge_results::run::{
    Event, Evidence, EvidenceKind, GroupSample, MissingEvidence, Subject, TopicReplicasSample,
    TopicSample,
};

use super::backoff::Backoffs;
use super::changes::{KnownTopic, PartitionState, event_of};
use super::lag::{Ends, LogEnd, ObservedReplica};
use super::pace::PollPace;
use super::request_status::RequestStatus;
use super::{TopicObservation, WireWatch};
use crate::observation::unix_ms;

/// The time limit for one answer. Later answers are not part of the sample.
const ANSWER_MAX: Duration = Duration::from_secs(1);

/// Limit on the number of changed partitions that get a line in one sample.
const CHANGES_MAX: usize = 1_000;

/// The state between samples.
pub(super) struct TopicPoller {
    watch: WireWatch,
    interrupt: Interrupt,
    cluster: Option<Cluster>,
    known: KnownTopic,
    ends: Ends,
    /// All replicas that a partition ever had: old releases leave out those that are down.
    replicas: BTreeMap<i32, BTreeSet<i32>>,
    resting: Backoffs<i32>,
    resting_groups: Backoffs<String>,
    coordinators: BTreeMap<String, i32>,
    topic: RequestStatus,
    followers: RequestStatus,
    sizes: RequestStatus,
    groups: RequestStatus,
    samples: u64,
    span_ns: Option<(u64, u64)>,
    complaints: Vec<String>,
}

/// The answers in one sample, broker by broker.
#[derive(Default)]
struct PollReplies {
    /// When the last broker answered: all lines of the sample have this time.
    answered_ns: u64,
    /// Time spent on brokers that did not answer.
    waited_ns: u64,
    /// High watermarks, by partition.
    readable: BTreeMap<i32, i64>,
    /// Bytes of logs, by broker.
    log_bytes: BTreeMap<i32, u64>,
}

type Sink<'a> = &'a mut dyn FnMut(TopicObservation<'_>) -> Result<(), String>;

impl TopicPoller {
    pub(super) fn new(watch: WireWatch, interrupt: Interrupt) -> TopicPoller {
        TopicPoller {
            watch,
            interrupt,
            cluster: None,
            known: KnownTopic::default(),
            ends: Ends::default(),
            replicas: BTreeMap::new(),
            resting: Backoffs::new(),
            resting_groups: Backoffs::new(),
            coordinators: BTreeMap::new(),
            topic: RequestStatus::default(),
            followers: RequestStatus::default(),
            sizes: RequestStatus::default(),
            groups: RequestStatus::default(),
            samples: 0,
            span_ns: None,
            complaints: Vec::new(),
        }
    }

    /// Takes a sample. A cancelled sample writes nothing. Returns the time spent on brokers that did not answer.
    pub(super) fn sample(&mut self, now_ns: &impl Fn() -> u64, sink: Sink<'_>) -> u64 {
        let start_ns = now_ns();
        let found = self.partitions();
        let mut replies = PollReplies {
            answered_ns: now_ns(),
            ..PollReplies::default()
        };
        // Another broker was polled when the first one did not answer.
        let asked_ns = replies.answered_ns.saturating_sub(start_ns);
        let answer_ns = u64::try_from(ANSWER_MAX.as_nanos()).unwrap_or(u64::MAX);
        if asked_ns >= answer_ns || found.is_none() {
            replies.waited_ns = asked_ns;
        }
        let Some(partitions) = found else {
            return replies.waited_ns;
        };
        for partition in &partitions {
            let replicas = self.replicas.entry(partition.index).or_default();
            replicas.extend(&partition.replicas);
        }
        self.report_changes(replies.answered_ns, &partitions, sink);
        self.ends.begin();
        let all: BTreeSet<i32> = self.replicas.values().flatten().copied().collect();
        for broker in all {
            self.ask_broker(broker, &partitions, now_ns, &mut replies);
        }
        let groups = self.ask_groups(partitions.len(), now_ns, &mut replies);
        if self.interrupt.is_raised() {
            return replies.waited_ns;
        }
        self.samples += 1;
        let ended_ns = now_ns();
        let at_ns = replies.answered_ns;
        let first_ns = self.span_ns.map_or(start_ns, |(first_ns, _)| first_ns);
        self.span_ns = Some((first_ns, ended_ns));
        let topic = self.topic_sample(&partitions, &replies, ended_ns.saturating_sub(start_ns));
        self.write(at_ns, None, EvidenceKind::Topic(topic), sink);
        let brokers: BTreeSet<i32> = self.replicas.values().flatten().copied().collect();
        for broker in brokers {
            let replicas = self.replicas_sample(broker, &partitions, &replies);
            let kind = EvidenceKind::Replicas(replicas);
            self.write(at_ns, Some(broker), kind, sink);
        }
        for group in groups {
            self.write(at_ns, None, EvidenceKind::Group(group), sink);
        }
        replies.waited_ns
    }

    /// Leaders, replicas and in-sync replicas; `None` if no broker answers.
    fn partitions(&mut self) -> Option<Vec<Partition>> {
        if self.cluster.is_none() {
            let config = config_of(&self.watch.client);
            match Cluster::bootstrap_until(config, self.interrupt.clone()) {
                Ok(cluster) => self.cluster = Some(cluster),
                Err(error) => {
                    self.topic.failed(&error);
                    return None;
                }
            }
        }
        let topic = &self.watch.topic;
        let cluster = self.cluster.as_mut()?;
        let found = match cluster.refresh(&[topic]) {
            Ok(metadata) => metadata.topic(topic)?,
            Err(error) => {
                self.topic.failed(&error);
                return None;
            }
        };
        if found.partitions.is_empty() {
            let why = || format!("topic {topic}: {}", found.error);
            self.topic.why.get_or_insert_with(why);
            return None;
        }
        self.topic.is_answered = true;
        Some(found.partitions.clone())
    }

    fn report_changes(&mut self, at_ns: u64, partitions: &[Partition], sink: Sink<'_>) {
        let states = partitions.iter().map(|partition| {
            let state = PartitionState::new(partition.leader_id, &partition.isr);
            (partition.index, state)
        });
        let changes = self.known.changes(&self.watch.topic, states);
        if changes.is_empty() {
            return;
        }
        let event = Event {
            at_unix_ms: unix_ms(),
            repeat: Some(self.watch.repeat),
            at_ns: Some(at_ns),
            kind: event_of(&changes),
        };
        if let Err(complaint) = sink(TopicObservation::Event(&event)) {
            self.complain(complaint);
        }
        for change in changes.into_iter().take(CHANGES_MAX) {
            self.write(at_ns, None, EvidenceKind::Partition(change), sink);
        }
    }

    /// Log ends and log sizes of the replicas on one broker.
    fn ask_broker(
        &mut self,
        broker: i32,
        partitions: &[Partition],
        now_ns: &impl Fn() -> u64,
        replies: &mut PollReplies,
    ) {
        let rests = self.resting.rests(&broker, now_ns());
        let Some(cluster) = self.cluster.as_mut() else {
            return;
        };
        // A broker that the cluster does not list is down, and is not waited for.
        if rests || self.interrupt.is_raised() || cluster.metadata().broker(broker).is_none() {
            return;
        }
        let here = partitions
            .iter()
            .filter(|one| one.replicas.contains(&broker));
        let here: Vec<i32> = here.map(|partition| partition.index).collect();
        let led = partitions
            .iter()
            .filter(|one| one.leader_id == Some(broker));
        let led: Vec<i32> = led.map(|partition| partition.index).collect();
        if here.is_empty() {
            return;
        }
        let mut poll = BrokerPoll {
            cluster,
            topic: &self.watch.topic,
            broker,
            here,
            led,
        };
        let asked_ns = now_ns();
        // High watermarks before log ends: otherwise a growing log would have more readable records than records.
        let result = poll
            .readable(replies)
            .and_then(|()| poll.log_ends(now_ns, &mut self.ends, &mut self.followers))
            .and_then(|()| poll.log_sizes(&mut self.sizes, replies));
        match result {
            Ok(()) => {
                replies.answered_ns = now_ns();
                self.resting.answered(&broker);
            }
            Err(()) => {
                let waited_ns = now_ns().saturating_sub(asked_ns);
                replies.waited_ns = replies.waited_ns.saturating_add(waited_ns);
                self.resting.failed(broker, waited_ns, now_ns());
            }
        }
    }

    /// How far each group has committed, and for how many of the topic's partitions.
    fn ask_groups(
        &mut self,
        partitions: usize,
        now_ns: &impl Fn() -> u64,
        replies: &mut PollReplies,
    ) -> Vec<GroupSample> {
        let mut samples = Vec::new();
        // A coordinator that did not answer for one group is not polled for the next.
        let mut silent = BTreeSet::new();
        let indices: Vec<i32> = replies.readable.keys().copied().collect();
        let Some(cluster) = self.cluster.as_mut() else {
            return samples;
        };
        for group in &self.watch.groups {
            if self.groups.is_given_up || indices.is_empty() || self.interrupt.is_raised() {
                break;
            }
            let asked_ns = now_ns();
            if self.resting_groups.rests(group, asked_ns) {
                continue;
            }
            let coordinator = match self.coordinators.get(group) {
                Some(coordinator) => Ok(*coordinator),
                None => cluster.group_coordinator(group),
            };
            let is_silent = |id: &i32| self.resting.rests(id, asked_ns) || silent.contains(id);
            if coordinator.as_ref().is_ok_and(is_silent) {
                // Another broker may coordinate it by now.
                self.coordinators.remove(group);
                continue;
            }
            let committed = coordinator.and_then(|coordinator| {
                self.coordinators.insert(group.clone(), coordinator);
                cluster.committed_offsets(coordinator, group, &self.watch.topic, &indices)
            });
            let committed = match committed {
                Ok(committed) => committed,
                Err(error) => {
                    let coordinator = self.coordinators.remove(group);
                    self.groups.failed(&error);
                    let waited_ns = now_ns().saturating_sub(asked_ns);
                    replies.waited_ns = replies.waited_ns.saturating_add(waited_ns);
                    let resting = &mut self.resting_groups;
                    if resting.failed(group.clone(), waited_ns, now_ns()) {
                        silent.extend(coordinator);
                    }
                    continue;
                }
            };
            self.groups.is_answered = true;
            self.resting_groups.answered(group);
            let both = replies.readable.values().zip(committed);
            let behind = both.filter_map(|(end, committed)| {
                Some(u64::try_from(end.saturating_sub(committed?)).unwrap_or(0))
            });
            let behind: Vec<u64> = behind.collect();
            // The lag of a group without commits is unknown, not 0.
            if behind.is_empty() {
                continue;
            }
            samples.push(GroupSample {
                group: group.clone(),
                lag_records: behind.iter().copied().fold(0, u64::saturating_add),
                partitions: count(behind.len()),
                lag_unknown: count(partitions.saturating_sub(indices.len())),
            });
        }
        samples
    }

    fn topic_sample(
        &self,
        partitions: &[Partition],
        replies: &PollReplies,
        took_ns: u64,
    ) -> TopicSample {
        let in_sync =
            |partition: &Partition| PartitionState::new(None, &partition.isr).in_sync.len();
        let planned = usize::from(self.watch.replication_factor);
        let expected = |partition: &Partition| partition.replicas.len().max(planned);
        let short = partitions.iter().filter(|one| in_sync(one) < expected(one));
        let leaderless = partitions.iter().filter(|one| one.leader_id.is_none());
        let readable = partitions.iter().map(|one| {
            let end = replies.readable.get(&one.index)?;
            u64::try_from(*end).ok()
        });
        let log_ends = partitions.iter().map(|one| {
            let end = self.ends.of(ObservedReplica {
                broker: one.leader_id?,
                partition: one.index,
            })?;
            u64::try_from(end.offset).ok()
        });
        TopicSample {
            topic: self.watch.topic.clone(),
            partitions: count(partitions.len()),
            replicas: count(partitions.iter().map(expected).sum()),
            in_sync: count(partitions.iter().map(in_sync).sum()),
            under_replicated: count(short.count()),
            leaderless: count(leaderless.count()),
            high_watermark_sum: sum(readable),
            log_end_sum: sum(log_ends),
            took_ns,
        }
    }

    fn replicas_sample(
        &self,
        broker: i32,
        partitions: &[Partition],
        replies: &PollReplies,
    ) -> TopicReplicasSample {
        let here = || {
            partitions
                .iter()
                .filter(|one| one.replicas.contains(&broker))
        };
        let leads = here().filter(|one| one.leader_id == Some(broker)).count();
        let lags = here().filter_map(|one| {
            let leader = one.leader_id.filter(|leader| *leader != broker)?;
            let replica = |broker| ObservedReplica {
                broker,
                partition: one.index,
            };
            self.ends.lag(replica(leader), replica(broker))
        });
        let lags: Vec<u64> = lags.collect();
        // Old releases do not list replicas that are down.
        let planned = usize::from(self.watch.replication_factor);
        let down = partitions.iter().filter(|one| {
            let had = self.replicas.get(&one.index);
            one.replicas.len() < planned
                && !one.replicas.contains(&broker)
                && had.is_some_and(|had| had.contains(&broker))
        });
        let follows = here().count() - leads;
        let all = lags.iter().copied().reduce(u64::saturating_add);
        TopicReplicasSample {
            topic: self.watch.topic.clone(),
            leads: count(leads),
            follows: count(follows),
            in_sync: count(here().filter(|one| one.isr.contains(&broker)).count()),
            log_bytes: replies.log_bytes.get(&broker).copied(),
            lag_records: all,
            lag_records_max: lags.iter().copied().max(),
            lag_unknown: count(follows.saturating_sub(lags.len()) + down.count()),
        }
    }

    /// The final lines: unavailable data, and the cost of polling. Returns notes for the reader of the run.
    pub(super) fn end(
        mut self,
        pace: &PollPace,
        at_ns: u64,
        cpu_ns: u64,
        sink: Sink<'_>,
    ) -> Vec<String> {
        if self.watch.replication_factor < 2 {
            self.followers.why = None;
        }
        let questions = [
            (&self.topic, "the topic's replicas, over the Kafka protocol"),
            (&self.followers, "replica lag"),
            (&self.sizes, "log sizes of the topic's replicas"),
            (&self.groups, "committed offsets of consumer groups"),
        ];
        let asked = questions.into_iter();
        let not_seen: Vec<MissingEvidence> = asked
            .filter_map(|(request_status, what)| request_status.not_seen(what))
            .collect();
        for not_seen in not_seen {
            self.write(at_ns, None, EvidenceKind::NotSeen(not_seen), sink);
        }
        let span = self.span_ns.unwrap_or_default();
        let observing = EvidenceKind::Observing {
            looks: self.samples,
            cpu_ns,
            span_ns: span.1.saturating_sub(span.0),
        };
        self.write(at_ns, None, observing, sink);
        let mut notes = self.complaints;
        notes.extend(pace.note());
        notes
    }

    fn complain(&mut self, complaint: String) {
        if self.complaints.is_empty() {
            self.complaints.push(complaint);
        }
    }

    fn write(&mut self, at_ns: u64, broker: Option<i32>, kind: EvidenceKind, sink: Sink<'_>) {
        let evidence = Evidence {
            at_unix_ms: unix_ms(),
            repeat: Some(self.watch.repeat),
            at_ns: Some(at_ns),
            subject: Subject::Cluster { broker },
            kind,
        };
        if let Err(complaint) = sink(TopicObservation::Evidence(&evidence)) {
            self.complain(complaint);
        }
    }
}

/// The requests to one broker; an error means that it did not answer and should be paused.
struct BrokerPoll<'a> {
    cluster: &'a mut Cluster,
    topic: &'a str,
    broker: i32,
    /// The partitions with a replica on it.
    here: Vec<i32>,
    /// The partitions that it leads.
    led: Vec<i32>,
}

impl BrokerPoll<'_> {
    /// High watermarks.
    fn readable(&mut self, replies: &mut PollReplies) -> Result<(), ()> {
        if self.led.is_empty() {
            return Ok(());
        }
        let ends = self
            .cluster
            .replica_ends(self.broker, self.topic, &self.led, EndOf::Readable);
        for replica in ends.map_err(|_| ())? {
            if let Ok(end) = replica.end {
                replies.readable.insert(replica.partition, end);
            }
        }
        Ok(())
    }

    /// The ends of all logs, leaders' and followers'.
    fn log_ends(
        &mut self,
        now_ns: &impl Fn() -> u64,
        ends: &mut Ends,
        followers: &mut RequestStatus,
    ) -> Result<(), ()> {
        if followers.is_given_up {
            return Ok(());
        }
        let broker = self.broker;
        let asked_ns = now_ns();
        let replicas = self
            .cluster
            .replica_ends(broker, self.topic, &self.here, EndOf::Log);
        let replicas = match replicas {
            Ok(replicas) => replicas,
            Err(error) if followers.failed(&error) => return Err(()),
            Err(_) => return Ok(()),
        };
        // The broker read its log sizes at some time in between.
        let at_ns = asked_ns.midpoint(now_ns());
        for replica in replicas {
            let partition = replica.partition;
            let is_follower = !self.led.contains(&partition);
            match replica.end {
                Ok(offset) => {
                    followers.is_answered |= is_follower;
                    ends.record_end(
                        ObservedReplica { broker, partition },
                        LogEnd { at_ns, offset },
                    );
                }
                // Not every release reports a follower's log.
                Err(code) if is_follower => {
                    let why = || format!("broker {broker} answered {code}");
                    followers.why.get_or_insert_with(why);
                }
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// The size of all its logs.
    fn log_sizes(
        &mut self,
        sizes: &mut RequestStatus,
        replies: &mut PollReplies,
    ) -> Result<(), ()> {
        if sizes.is_given_up {
            return Ok(());
        }
        let dirs = self
            .cluster
            .describe_partition_log_dirs(self.broker, self.topic, &self.here);
        let dirs = match dirs {
            Ok(dirs) => dirs,
            Err(error) if sizes.failed(&error) => return Err(()),
            Err(_) => return Ok(()),
        };
        let logs = dirs.iter().flat_map(|dir| &dir.partitions);
        let logs = logs.filter(|log| log.topic == self.topic);
        let bytes: Vec<u64> = logs.map(|log| log.size_bytes).collect();
        if bytes.is_empty() {
            let why = || {
                "the brokers list no log directories; allow this client Describe on the cluster"
                    .to_owned()
            };
            sizes.why.get_or_insert_with(why);
        } else {
            sizes.is_answered = true;
            let all = bytes.into_iter().fold(0, u64::saturating_add);
            replies.log_bytes.insert(self.broker, all);
        }
        Ok(())
    }
}

/// The user's connection settings, with a separate timeout and without retries: the next sample is the retry.
fn config_of(client: &ClientConfig) -> ClientConfig {
    let mut config = client.clone();
    // Quotas and broker logs distinguish it from the load.
    config.client_id.push_str("-wire");
    config.request_timeout = config.request_timeout.min(ANSWER_MAX);
    config.api_timeout = config.api_timeout.min(2 * ANSWER_MAX);
    config.connection_setup_timeout = config.connection_setup_timeout.min(ANSWER_MAX);
    config.connection_setup_timeout_max = config.connection_setup_timeout_max.min(ANSWER_MAX);
    config.reconnect_backoff_max = config.reconnect_backoff;
    config.retries = 0;
    config
}

fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// All of them, or none.
fn sum(mut parts: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    parts.try_fold(0, |sum: u64, part| Some(sum.saturating_add(part?)))
}
