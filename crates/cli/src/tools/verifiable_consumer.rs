//! `kafka-verifiable-consumer`: a member of a group, and JSON about all that happens to it.

use std::time::{Duration, Instant};

use kgauge_client::group::{
    Assignor, Beat, ConsumerMember, GroupMember, GroupSettings, HeartbeatAnswer, Partitions,
};

use super::drive::{connect, listen};
use super::options::{Mistake, Opt, ParsedOptions, Style, Takes, opt};
use super::plain::{ReadRecord, ReaderSetup, TopicReader};
use super::properties::{ClientRole, PropertySources};
use super::verifiable_events::{committed, consumed, partitions_of, record_data};
use super::verifiable_producer::Events;
use super::{ToolCall, ToolFailure, ToolRelease, ToolResult};
use crate::exit::ExitStatus;
use crate::interrupt::StopRequests;
use crate::print;

const STYLE: Style = Style::Argparse;

const ABOUT: &str = "Reads a topic as a member of a group and prints JSON about all that happens, as \
                     Kafka's VerifiableConsumer does.";

const TABLE: &[Opt] = &[
    opt("help", Takes::Nothing, "this list"),
    opt("topic", Takes::One, "the topic to read (required)"),
    opt("group-id", Takes::One, "the group (required)"),
    opt(
        "bootstrap-server",
        Takes::One,
        "2.5+: the brokers (or --broker-list)",
    ),
    opt("broker-list", Takes::One, "to 3.9: the brokers"),
    opt("group-instance-id", Takes::One, "2.3+: a static member"),
    opt(
        "group-protocol",
        Takes::One,
        "3.7+: classic or consumer; classic",
    ),
    opt(
        "group-remote-assignor",
        Takes::One,
        "3.7+: with the consumer protocol, who deals out on the broker",
    ),
    opt(
        "max-messages",
        Takes::One,
        "how many records, -1: until it is stopped; -1",
    ),
    opt("session-timeout", Takes::One, "milliseconds; 30000"),
    opt("verbose", Takes::Nothing, "a line for every record"),
    opt(
        "enable-autocommit",
        Takes::Nothing,
        "commit now and then instead of after every answer",
    ),
    opt(
        "reset-policy",
        Takes::One,
        "earliest, latest or none; earliest",
    ),
    opt(
        "assignment-strategy",
        Takes::One,
        "a class of Kafka's: RangeAssignor, RoundRobinAssignor, StickyAssignor or CooperativeStickyAssignor",
    ),
    opt("consumer.config", Takes::One, "a file of settings"),
    opt("command-config", Takes::One, "4.2+: the same"),
];

/// How long a broker may wait for records: heartbeats come between the answers.
const WAIT: Duration = Duration::from_millis(100);

/// Kafka's default of `auto.commit.interval.ms`.
const COMMIT: Duration = Duration::from_secs(5);

pub(super) fn run(call: &ToolCall) -> ToolResult {
    let given = call.options(TABLE, STYLE, ABOUT)?;
    let as_of = call.as_of(&given)?;
    let asked = parse_options(&given, as_of).map_err(|wrong| match wrong {
        Wrong::Typed(mistake) => call.mistake(TABLE, STYLE, &mistake),
        Wrong::Refused(words) => ToolFailure::refused(words),
    })?;
    asked.run()
}

#[derive(Debug)]
enum Wrong {
    Typed(Mistake),
    Refused(String),
}

impl From<Mistake> for Wrong {
    fn from(mistake: Mistake) -> Wrong {
        Wrong::Typed(mistake)
    }
}

#[derive(Debug)]
struct VerifiableConsumerOptions {
    topic: String,
    servers: String,
    group: GroupSettings,
    /// By the protocol of KIP-848.
    is_anew: bool,
    remote_assignor: Option<String>,
    records: Option<u64>,
    verbose: bool,
    auto_commit: bool,
    reset: Reset,
    file: Option<String>,
    as_of: ToolRelease,
}

/// Where to read where the group has no offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reset {
    Earliest,
    Latest,
    None,
}

fn parse_options(
    given: &ParsedOptions,
    as_of: ToolRelease,
) -> Result<VerifiableConsumerOptions, Wrong> {
    let required = |name: &str, text: Option<&str>| {
        let text = text.map(str::to_owned);
        text.ok_or_else(|| Mistake(format!("argument --{name} is required")))
    };
    let topic = required("topic", given.text("topic"))?;
    let group_id = required("group-id", given.text("group-id"))?;
    let servers = given.first_of(&["bootstrap-server", "broker-list"]);
    let servers = required("bootstrap-server", servers)?;
    let protocol = given.text("group-protocol").unwrap_or("classic");
    let is_anew = match protocol.to_ascii_lowercase().as_str() {
        "classic" => false,
        "consumer" => true,
        _ => {
            return Err(Wrong::Refused(format!(
                "kgauge: --group-protocol {protocol} is not supported: classic and consumer are"
            )));
        }
    };
    let session_ms = given.number::<u64>("session-timeout", STYLE, "Integer")?;
    let assignor = match given.text("assignment-strategy") {
        None => Assignor::Range,
        Some(class) => match class.rsplit('.').next().unwrap_or(class) {
            "RangeAssignor" => Assignor::Range,
            "RoundRobinAssignor" => Assignor::RoundRobin,
            "StickyAssignor" => Assignor::Sticky,
            "CooperativeStickyAssignor" => Assignor::CooperativeSticky,
            _ => {
                return Err(Wrong::Refused(format!(
                    "kgauge: --assignment-strategy {class}: no Java class can be loaded; Kafka's own \
                     RangeAssignor, RoundRobinAssignor, StickyAssignor and CooperativeStickyAssignor \
                     are known"
                )));
            }
        },
    };
    let reset = match given.text("reset-policy").unwrap_or("earliest") {
        "earliest" => Reset::Earliest,
        "latest" => Reset::Latest,
        "none" => Reset::None,
        other => {
            let words = format!(
                "argument --reset-policy: invalid choice: '{other}' (choose from \
                 {{earliest,latest,none}})"
            );
            return Err(Wrong::Typed(Mistake(words)));
        }
    };
    let mut group = GroupSettings::new(&group_id, &topic);
    group.session_timeout = Duration::from_millis(session_ms.unwrap_or(30_000));
    group.heartbeat_interval = group.heartbeat_interval.min(group.session_timeout / 3);
    group.assignors = vec![assignor];
    group.instance_id = given.text("group-instance-id").map(str::to_owned);
    let records = given.number::<i64>("max-messages", STYLE, "Integer")?;
    Ok(VerifiableConsumerOptions {
        topic,
        servers,
        group,
        is_anew,
        remote_assignor: given.text("group-remote-assignor").map(str::to_owned),
        records: records.and_then(|records| u64::try_from(records).ok()),
        verbose: given.has("verbose"),
        auto_commit: given.has("enable-autocommit"),
        reset,
        file: given
            .first_of(&["command-config", "consumer.config"])
            .map(str::to_owned),
        as_of,
    })
}

impl VerifiableConsumerOptions {
    fn run(&self) -> ToolResult {
        let stopping = listen()?;
        let sources = PropertySources {
            file: self.file.as_deref(),
            flags: vec![("bootstrap.servers", self.servers.clone())],
            ..PropertySources::default()
        };
        let properties = sources.read(ClientRole::Consumer)?;
        let mut events = Events;
        events.event("startup_complete", "");
        let cluster = connect(&properties.client, &stopping.load)?;
        let own = connect(&properties.client, &stopping.load)?;
        let group = self.group.clone();
        let member = match self.is_anew {
            false => Membership::Classic(GroupMember::new(own, group)),
            true => {
                let assignor = self.remote_assignor.as_deref();
                Membership::Anew(ConsumerMember::new(own, group, assignor))
            }
        };
        let mut at_work = AtWork {
            asked: self,
            events,
            member,
            reader: TopicReader::new(ReaderSetup {
                cluster,
                topic: self.topic.clone(),
                wait: WAIT,
                request_timeout: properties.client.request_timeout,
                partition_bytes_max: 1 << 20,
            }),
            starts: connect(&properties.client, &stopping.load)?,
            consumed: 0,
            committed_at: Instant::now(),
        };
        let ended = at_work.work(&stopping);
        if stopping.is_wanted() {
            at_work.events.event("shutdown_requested", "");
        }
        // The first signal asks for this; the second ends the wait for it.
        at_work.member.offsets().set_interrupt(&stopping.all);
        at_work.leave();
        if !stopping.is_wanted() && self.as_of >= ToolRelease::of(4, 0, 0) {
            // As there, where its own end looks like a signal.
            at_work.events.event("shutdown_requested", "");
        }
        match ended {
            Err(words) if !stopping.is_wanted() => Err(ToolFailure::new(words)),
            _ if stopping.is_wanted() => Ok(ExitStatus::Interrupted),
            _ => Ok(ExitStatus::Good),
        }
    }
}

/// A member, by the protocol that it speaks.
enum Membership {
    Classic(GroupMember),
    Anew(ConsumerMember),
}

impl Membership {
    /// Commits and asks for offsets in its name.
    fn offsets(&mut self) -> &mut GroupMember {
        match self {
            Membership::Classic(member) => member,
            Membership::Anew(member) => member.offsets(),
        }
    }
}

/// A member at work.
struct AtWork<'a> {
    asked: &'a VerifiableConsumerOptions,
    events: Events,
    member: Membership,
    reader: TopicReader,
    /// Tells where partitions begin and end.
    starts: kgauge_client::Cluster,
    consumed: u64,
    committed_at: Instant,
}

impl AtWork<'_> {
    fn work(&mut self, stopping: &StopRequests) -> Result<(), String> {
        if let Membership::Classic(_) = self.member {
            self.join()?;
        }
        let mut beat_at = Instant::now();
        loop {
            if stopping.is_wanted() || !print::is_open() {
                return Ok(());
            }
            if Instant::now() >= beat_at {
                let pause = match self.member {
                    Membership::Classic(_) => self.beat()?,
                    Membership::Anew(_) => self.beat_anew()?,
                };
                beat_at = Instant::now() + pause;
                continue;
            }
            if self.reader.positions().is_empty() {
                std::thread::sleep(WAIT.min(beat_at.saturating_duration_since(Instant::now())));
                continue;
            }
            let taken = self.reader.poll()?;
            if !taken.is_empty() && self.take(taken) {
                return Ok(());
            }
        }
    }

    /// Beats, and joins again if the group wants it; gives the time to the next beat.
    fn beat(&mut self) -> Result<Duration, String> {
        let Membership::Classic(member) = &mut self.member else {
            return Ok(WAIT);
        };
        let beat = member.heartbeat().map_err(|error| error.to_string())?;
        let is_cooperative = member.is_cooperative();
        match beat {
            Beat::Stable | Beat::Unsure => {}
            Beat::Rebalance if is_cooperative => {
                self.commit_now_and_then();
                self.join()?;
            }
            Beat::Rebalance | Beat::Lost(_) => {
                self.revoke_all();
                self.join()?;
            }
        }
        Ok(self.asked.group.heartbeat_interval)
    }

    /// Beats, and does what the coordinator wants; gives the time to the next beat.
    fn beat_anew(&mut self) -> Result<Duration, String> {
        let Membership::Anew(member) = &mut self.member else {
            return Ok(WAIT);
        };
        let heard = member.heartbeat();
        let pause = member.interval();
        match heard.map_err(|error| format!("{error}; {}", error.fix()))? {
            HeartbeatAnswer::Stable => Ok(pause),
            HeartbeatAnswer::Unsure => Ok(pause.min(WAIT)),
            HeartbeatAnswer::Lost(_) => {
                self.revoke_all();
                Ok(Duration::ZERO)
            }
            HeartbeatAnswer::Assigned(partitions) => {
                self.change_to(&partitions)?;
                if let Membership::Anew(member) = &mut self.member {
                    member.acknowledge(&partitions);
                }
                Ok(Duration::ZERO)
            }
        }
    }

    /// Joins until it has given back all that it has to.
    fn join(&mut self) -> Result<(), String> {
        loop {
            let Membership::Classic(member) = &mut self.member else {
                return Ok(());
            };
            let assignment = member.join().map_err(|error| error.to_string())?;
            if assignment.has_lost && !self.reader.positions().is_empty() {
                self.revoke_all();
            }
            if !self.change_to(&assignment.partitions)? {
                return Ok(());
            }
        }
    }

    /// Gives up what is not among these and begins to read what is new; whether anything was given up.
    fn change_to(&mut self, assigned: &Partitions) -> Result<bool, String> {
        let given = assigned.get(&self.asked.topic);
        let given: Vec<i32> = given.into_iter().flatten().copied().collect();
        let before = self.reader.positions().clone();
        let is_kept = |place: &u32| given.contains(&place.cast_signed());
        let gone: Vec<u32> = before
            .keys()
            .copied()
            .filter(|place| !is_kept(place))
            .collect();
        if !gone.is_empty() {
            self.commit_now_and_then();
            self.print_event("partitions_revoked", &gone);
        }
        let new = given.iter().map(|partition| partition.unsigned_abs());
        let new: Vec<u32> = new.filter(|place| !before.contains_key(place)).collect();
        self.print_event("partitions_assigned", &new);
        let asked: Vec<i32> = new.iter().map(|place| place.cast_signed()).collect();
        let committed = self.member.offsets().committed(&self.asked.topic, &asked);
        let committed = committed.map_err(|error| error.to_string())?;
        let mut positions: Vec<(u32, i64)> =
            before.into_iter().filter(|(at, _)| is_kept(at)).collect();
        for (partition, committed) in asked.into_iter().zip(committed) {
            let offset = match committed {
                Some(offset) => offset,
                None => self.start(partition)?,
            };
            positions.push((partition.unsigned_abs(), offset));
        }
        self.reader.assign(positions);
        Ok(!gone.is_empty())
    }

    /// Before partitions go, where it commits by itself.
    fn commit_now_and_then(&mut self) {
        if self.asked.auto_commit {
            self.commit(false);
        }
    }

    fn print_event(&mut self, event: &str, partitions: &[u32]) {
        let more = partitions_of(partitions, &self.asked.topic);
        self.events.event(event, &more);
    }

    fn start(&mut self, partition: i32) -> Result<i64, String> {
        let topic = &self.asked.topic;
        let offsets = match self.asked.reset {
            Reset::Earliest => self.starts.earliest_offsets(topic),
            Reset::Latest => self.starts.end_offsets(topic),
            Reset::None => {
                return Err(format!(
                    "Undefined offset with no reset policy for partitions: [{topic}-{partition}]"
                ));
            }
        };
        let offsets = offsets.map_err(|error| error.to_string())?;
        Ok(offsets
            .get(partition.unsigned_abs() as usize)
            .copied()
            .unwrap_or(0))
    }

    /// Counts and tells what was read; true when it is enough.
    fn take(&mut self, mut taken: Vec<ReadRecord>) -> bool {
        if let Some(records) = self.asked.records {
            let left = usize::try_from(records - self.consumed).unwrap_or(usize::MAX);
            for extra in taken.iter().skip(left).rev() {
                self.reader.seek(extra.partition, extra.offset);
            }
            taken.truncate(left);
        }
        self.consumed += taken.len() as u64;
        if self.asked.verbose {
            for record in &taken {
                let more = record_data(record, &self.asked.topic);
                self.events.event("record_data", &more);
            }
        }
        let more = consumed(&taken, &self.asked.topic);
        self.events.event("records_consumed", &more);
        if !self.asked.auto_commit {
            self.commit(true);
        } else if self.committed_at.elapsed() >= COMMIT {
            self.commit(false);
        }
        self.asked
            .records
            .is_some_and(|records| self.consumed >= records)
    }

    fn commit(&mut self, is_told: bool) {
        self.committed_at = Instant::now();
        let positions = self.reader.positions().iter();
        let offsets: Vec<(i32, i64)> = positions
            .map(|(&partition, &offset)| (partition.cast_signed(), offset))
            .collect();
        if offsets.is_empty() {
            return;
        }
        let done = self.member.offsets().commit(&self.asked.topic, &offsets);
        if is_told {
            let error = done.err().map(|error| error.to_string());
            let more = committed(&offsets, &self.asked.topic, error.as_deref());
            self.events.event("offsets_committed", &more);
        }
    }

    fn revoke_all(&mut self) {
        let partitions: Vec<u32> = self.reader.positions().keys().copied().collect();
        self.print_event("partitions_revoked", &partitions);
        self.reader.assign([]);
    }

    fn leave(&mut self) {
        self.commit_now_and_then();
        if !self.reader.positions().is_empty() {
            self.revoke_all();
        }
        // A group that is gone was left.
        let _ = match &mut self.member {
            Membership::Classic(member) => member.leave(),
            // As Kafka's: a static member may come back.
            Membership::Anew(member) => member.leave(true),
        };
        self.events.event("shutdown_complete", "");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requested(line: &str) -> Result<VerifiableConsumerOptions, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let given =
            super::super::options::read(TABLE, STYLE, &words).map_err(|mistake| mistake.0)?;
        super::parse_options(&given, ToolRelease::NEWEST).map_err(|wrong| match wrong {
            Wrong::Typed(mistake) => mistake.0,
            Wrong::Refused(words) => words,
        })
    }

    #[test]
    fn members_are_as_told() {
        let asked = requested(
            "--topic v --group-id g --broker-list a:1 --session-timeout 6000 \
                           --assignment-strategy org.apache.kafka.clients.consumer.RoundRobinAssignor",
        );
        let asked = asked.unwrap();
        assert_eq!(asked.group.session_timeout, Duration::from_secs(6));
        assert_eq!(asked.group.heartbeat_interval, Duration::from_secs(2));
        assert_eq!(asked.group.assignors, [Assignor::RoundRobin]);
        assert!(!asked.is_anew);
    }

    #[test]
    fn the_newer_assignors_and_the_new_protocol_are_known() {
        let with =
            |more: &str| requested(&format!("--topic v --group-id g --broker-list a:1 {more}"));
        let package = "org.apache.kafka.clients.consumer";
        for (class, assignor) in [
            ("StickyAssignor", Assignor::Sticky),
            ("CooperativeStickyAssignor", Assignor::CooperativeSticky),
        ] {
            let asked = with(&format!("--assignment-strategy {package}.{class}")).unwrap();
            assert_eq!(asked.group.assignors, [assignor]);
        }
        let asked = with("--group-protocol CONSUMER --group-remote-assignor range").unwrap();
        assert!(asked.is_anew);
        assert_eq!(asked.remote_assignor.as_deref(), Some("range"));
    }

    #[test]
    fn what_cannot_be_done_is_named() {
        let said = |more: &str| {
            requested(&format!("--topic v --group-id g --broker-list a:1 {more}")).unwrap_err()
        };
        assert!(said("--group-protocol streams").contains("classic and consumer are"));
        assert!(said("--assignment-strategy com.example.Mine").contains("RangeAssignor"));
        assert!(said("--reset-policy soon").contains("invalid choice: 'soon'"));
        assert_eq!(
            requested("--topic v --broker-list a:1").unwrap_err(),
            "argument --group-id is required"
        );
    }
}
