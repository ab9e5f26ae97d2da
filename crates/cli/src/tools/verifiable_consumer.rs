//! `kafka-verifiable-consumer`: a member of a group, and JSON about all that happens to it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kgauge_client::group::{Assignor, Beat, GroupMember, GroupSettings};

use super::drive::{connect, listen};
use super::options::{Given, Mistake, Opt, Style, Takes, opt};
use super::plain::{Reader, ReaderSetup, Taken};
use super::properties::{Role, Sources};
use super::verifiable_producer::{Events, text};
use super::{Call, Ended, Failure, Release};
use crate::exit::ExitStatus;
use crate::interrupt::Stopping;

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
    opt("group-protocol", Takes::One, "3.7+: classic only"),
    opt("group-remote-assignor", Takes::One, "3.7+: no effect"),
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
        "a class of Kafka's: RangeAssignor or RoundRobinAssignor",
    ),
    opt("consumer.config", Takes::One, "a file of settings"),
    opt("command-config", Takes::One, "4.2+: the same"),
];

/// How long a broker may wait for records: heartbeats come between the answers.
const WAIT: Duration = Duration::from_millis(100);

/// Kafka's default of `auto.commit.interval.ms`.
const COMMIT: Duration = Duration::from_secs(5);

pub(super) fn run(call: &Call) -> Ended {
    let given = call.options(TABLE, STYLE, ABOUT)?;
    let as_of = call.as_of(&given)?;
    let asked = asked(&given, as_of).map_err(|wrong| match wrong {
        Wrong::Typed(mistake) => call.mistake(TABLE, STYLE, &mistake),
        Wrong::Refused(words) => Failure::refused(words),
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
struct Asked {
    topic: String,
    servers: String,
    group: GroupSettings,
    records: Option<u64>,
    verbose: bool,
    auto_commit: bool,
    reset: Reset,
    file: Option<String>,
    as_of: Release,
}

/// Where to read where the group has no offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reset {
    Earliest,
    Latest,
    None,
}

fn asked(given: &Given, as_of: Release) -> Result<Asked, Wrong> {
    let required = |name: &str, text: Option<&str>| {
        let text = text.map(str::to_owned);
        text.ok_or_else(|| Mistake(format!("argument --{name} is required")))
    };
    let topic = required("topic", given.text("topic"))?;
    let group_id = required("group-id", given.text("group-id"))?;
    let servers = given.first_of(&["bootstrap-server", "broker-list"]);
    let servers = required("bootstrap-server", servers)?;
    if given
        .text("group-protocol")
        .is_some_and(|name| !name.eq_ignore_ascii_case("classic"))
    {
        return Err(Wrong::Refused(
            "kgauge: --group-protocol consumer is not supported yet: write classic".to_owned(),
        ));
    }
    let session_ms = given.number::<u64>("session-timeout", STYLE, "Integer")?;
    let assignor = match given.text("assignment-strategy") {
        None => Assignor::Range,
        Some(class) => match class.rsplit('.').next().unwrap_or(class) {
            "RangeAssignor" => Assignor::Range,
            "RoundRobinAssignor" => Assignor::RoundRobin,
            _ => {
                return Err(Wrong::Refused(format!(
                    "kgauge: --assignment-strategy {class} is not supported: RangeAssignor and \
                     RoundRobinAssignor are"
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
    Ok(Asked {
        topic,
        servers,
        group,
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

impl Asked {
    fn run(&self) -> Ended {
        let stopping = listen()?;
        let sources = Sources {
            file: self.file.as_deref(),
            flags: vec![("bootstrap.servers", self.servers.clone())],
            ..Sources::default()
        };
        let properties = sources.read(Role::Consumer)?;
        let mut events = Events::default();
        events.event("startup_complete", "");
        let cluster = connect(&properties.client, &stopping.load)?;
        let member = GroupMember::new(
            connect(&properties.client, &stopping.load)?,
            self.group.clone(),
        );
        let mut at_work = AtWork {
            asked: self,
            events,
            member,
            reader: Reader::new(ReaderSetup {
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
        at_work.member.set_interrupt(&stopping.all);
        at_work.leave();
        if !stopping.is_wanted() && self.as_of >= Release::of(4, 0, 0) {
            // As there, where its own end looks like a signal.
            at_work.events.event("shutdown_requested", "");
        }
        match ended {
            Err(words) if !stopping.is_wanted() => Err(Failure::new(words)),
            _ if stopping.is_wanted() => Ok(ExitStatus::Interrupted),
            _ => Ok(ExitStatus::Good),
        }
    }
}

/// A member at work.
struct AtWork<'a> {
    asked: &'a Asked,
    events: Events,
    member: GroupMember,
    reader: Reader,
    /// Tells where partitions begin and end.
    starts: kgauge_client::Cluster,
    consumed: u64,
    committed_at: Instant,
}

impl AtWork<'_> {
    fn work(&mut self, stopping: &Stopping) -> Result<(), String> {
        loop {
            self.join()?;
            let mut beat_at = Instant::now();
            loop {
                if stopping.is_wanted() || self.events.lines.is_closed() {
                    return Ok(());
                }
                if beat_at.elapsed() >= self.asked.group.heartbeat_interval {
                    beat_at = Instant::now();
                    match self.member.heartbeat().map_err(|error| error.to_string())? {
                        Beat::Stable | Beat::Unsure => {}
                        Beat::Rebalance | Beat::Lost(_) => break,
                    }
                }
                if self.reader.positions().is_empty() {
                    std::thread::sleep(WAIT);
                    continue;
                }
                let taken = self.reader.poll()?;
                if !taken.is_empty() && self.take(taken) {
                    return Ok(());
                }
            }
            self.revoked();
        }
    }

    fn join(&mut self) -> Result<(), String> {
        let assignment = self.member.join().map_err(|error| error.to_string())?;
        let given = assignment.partitions.get(&self.asked.topic);
        let partitions: Vec<i32> = given.into_iter().flatten().copied().collect();
        let mut more = Vec::new();
        let topic = text(Some(self.asked.topic.as_bytes()));
        for partition in &partitions {
            more.push(format!("{{\"topic\":{topic},\"partition\":{partition}}}"));
        }
        let committed = self.member.committed(&self.asked.topic, &partitions);
        let committed = committed.map_err(|error| error.to_string())?;
        let mut positions = Vec::new();
        for (partition, committed) in partitions.into_iter().zip(committed) {
            let offset = match committed {
                Some(offset) => offset,
                None => self.start(partition)?,
            };
            positions.push((partition.unsigned_abs(), offset));
        }
        self.reader.assign(positions);
        let more = format!(",\"partitions\":[{}]", more.join(","));
        self.events.event("partitions_assigned", &more);
        Ok(())
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
    fn take(&mut self, mut taken: Vec<Taken>) -> bool {
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
        let done = self.member.commit(&self.asked.topic, &offsets);
        if is_told {
            let error = done.err().map(|error| error.to_string());
            let more = committed(&offsets, &self.asked.topic, error.as_deref());
            self.events.event("offsets_committed", &more);
        }
    }

    fn revoked(&mut self) {
        let topic = text(Some(self.asked.topic.as_bytes()));
        let partitions = self.reader.positions().keys();
        let list: Vec<String> = partitions
            .map(|partition| format!("{{\"topic\":{topic},\"partition\":{partition}}}"))
            .collect();
        let more = format!(",\"partitions\":[{}]", list.join(","));
        self.events.event("partitions_revoked", &more);
        self.reader.assign([]);
    }

    fn leave(&mut self) {
        if self.asked.auto_commit {
            self.commit(false);
        }
        if !self.reader.positions().is_empty() {
            self.revoked();
        }
        // A group that is gone was left.
        let _ = self.member.leave();
        self.events.event("shutdown_complete", "");
    }
}

fn record_data(record: &Taken, topic: &str) -> String {
    format!(
        ",\"key\":{},\"value\":{},\"topic\":{},\"partition\":{},\"offset\":{}",
        text(record.key.as_deref()),
        text(record.value.as_deref()),
        text(Some(topic.as_bytes())),
        record.partition,
        record.offset,
    )
}

fn consumed(taken: &[Taken], topic: &str) -> String {
    let topic = text(Some(topic.as_bytes()));
    let mut parts: BTreeMap<u32, (u64, i64, i64)> = BTreeMap::new();
    for record in taken {
        let part = parts.entry(record.partition);
        let part = part.or_insert((0, record.offset, record.offset));
        *part = (
            part.0 + 1,
            part.1.min(record.offset),
            part.2.max(record.offset),
        );
    }
    let parts = parts.iter().map(|(partition, (count, least, most))| {
        format!(
            "{{\"topic\":{topic},\"partition\":{partition},\"count\":{count},\"minOffset\":{least},\
             \"maxOffset\":{most}}}"
        )
    });
    let parts = parts.collect::<Vec<_>>().join(",");
    format!(",\"count\":{},\"partitions\":[{parts}]", taken.len())
}

fn committed(offsets: &[(i32, i64)], topic: &str, error: Option<&str>) -> String {
    let topic = text(Some(topic.as_bytes()));
    let list = offsets.iter().map(|(partition, offset)| {
        format!("{{\"topic\":{topic},\"partition\":{partition},\"offset\":{offset}}}")
    });
    let list = list.collect::<Vec<_>>().join(",");
    let error = error.map(|words| format!(",\"error\":{}", text(Some(words.as_bytes()))));
    let success = error.is_none();
    format!(
        ",\"offsets\":[{list}]{},\"success\":{success}",
        error.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Result<Asked, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let given =
            super::super::options::read(TABLE, STYLE, &words).map_err(|mistake| mistake.0)?;
        super::asked(&given, Release::NEWEST).map_err(|wrong| match wrong {
            Wrong::Typed(mistake) => mistake.0,
            Wrong::Refused(words) => words,
        })
    }

    #[test]
    fn events_read_as_4_3_1_printed_them() {
        let record = |offset: i64, value: &str| Taken {
            partition: 0,
            offset,
            key: None,
            value: Some(value.as_bytes().to_vec()),
        };
        let taken = [record(0, "0"), record(1, "7.0")];
        assert_eq!(
            record_data(&taken[1], "v"),
            ",\"key\":null,\"value\":\"7.0\",\"topic\":\"v\",\"partition\":0,\"offset\":1"
        );
        assert_eq!(
            consumed(&taken, "v"),
            ",\"count\":2,\"partitions\":[{\"topic\":\"v\",\"partition\":0,\"count\":2,\
             \"minOffset\":0,\"maxOffset\":1}]"
        );
        assert_eq!(
            committed(&[(0, 8)], "v", None),
            ",\"offsets\":[{\"topic\":\"v\",\"partition\":0,\"offset\":8}],\"success\":true"
        );
    }

    #[test]
    fn members_are_as_told() {
        let asked = asked(
            "--topic v --group-id g --broker-list a:1 --session-timeout 6000 \
                           --assignment-strategy org.apache.kafka.clients.consumer.RoundRobinAssignor",
        );
        let asked = asked.unwrap();
        assert_eq!(asked.group.session_timeout, Duration::from_secs(6));
        assert_eq!(asked.group.heartbeat_interval, Duration::from_secs(2));
        assert_eq!(asked.group.assignors, [Assignor::RoundRobin]);
    }

    #[test]
    fn what_cannot_be_done_is_named() {
        let said = |more: &str| {
            asked(&format!("--topic v --group-id g --broker-list a:1 {more}")).unwrap_err()
        };
        assert!(said("--group-protocol consumer").contains("not supported yet"));
        assert!(
            said("--assignment-strategy x.CooperativeStickyAssignor").contains("RangeAssignor")
        );
        assert!(said("--reset-policy soon").contains("invalid choice: 'soon'"));
        assert_eq!(
            asked("--topic v --broker-list a:1").unwrap_err(),
            "argument --group-id is required"
        );
    }
}
