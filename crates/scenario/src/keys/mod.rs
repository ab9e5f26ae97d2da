//! Every key that a scenario knows, in tables: how it is written, its default and the reason.
//!
//! The parser reads defaults from here, the guide prints these tables, and the schema is made of
//! them, so that the three cannot disagree.

mod error_names;
mod faults;
mod flow;
mod mirror;
mod record;
mod scenario;
mod settings;
mod shape;

pub use error_names::ERROR_NAMES;
pub use faults::FAULT_APIS;
pub(crate) use faults::{CUT, DELAY, FAULT};
pub(crate) use flow::{CONSUME, DRIVER, ECHO, FROM, PRODUCE};
pub(crate) use mirror::MIRROR;
pub(crate) use record::{
    HEADERS, KEY, KEY_SEQUENCE, KEY_UNIFORM, KEY_ZIPF, RECORD, RECORD_FILE, SIZE, SIZE_LOGNORMAL,
    SIZE_NORMAL, SIZE_UNIFORM, SIZE_WEIGHTED,
};
pub use scenario::SECURITY;
pub(crate) use scenario::{
    AUDIT, PARTITION_FORMULA, PRELOAD, PUBLISHED, ROOT, SIZES, SOURCE, STAGES, STUDY, TARGET,
    TOPIC, TOPIC_CONFIG,
};
pub(crate) use settings::{CONSUMER_SETTINGS, PARTITIONER, PRODUCER_SETTINGS};
pub(crate) use shape::{BURST, RAMP, REPLAY, SHAPE, STEP, WAVE};

/// The keys that one kind of map may have.
#[derive(Debug)]
pub(crate) struct ScenarioKeys {
    /// Its name in the guide.
    pub(crate) name: &'static str,
    pub(crate) keys: &'static [KeyDefinition],
    /// Keys that are known but refused, with the reason.
    pub(crate) refused: &'static [RefusedKeys],
}

/// One key.
#[derive(Debug)]
pub(crate) struct KeyDefinition {
    pub(crate) name: &'static str,
    pub(crate) kind: ValueKind,
    pub(crate) given: KeyDefault,
    /// What the key does, and the reason for its default.
    pub(crate) note: &'static str,
}

/// Keys that are known and refused for one reason.
#[derive(Debug)]
pub(crate) struct RefusedKeys {
    pub(crate) names: &'static [&'static str],
    pub(crate) why: &'static str,
}

/// How a key's value is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ValueKind {
    /// Lower-case letters, digits and `-`.
    Name,
    /// Any text.
    Text,
    Count,
    Size,
    Time,
    /// A time, or `none`.
    TimeOrNone,
    /// A count, or a size that is divided by the record's size.
    CountOrVolume,
    /// A count, or a time.
    CountOrTime,
    /// A count, or `all`.
    CountOrAll,
    Flag,
    /// `true`, `false`, or a name.
    FlagOrName,
    Choice(&'static [&'static str]),
    /// `max`, or one key of [`SHAPE`].
    Shape,
    /// A word, or one key of a table.
    Either(&'static [&'static str], &'static ScenarioKeys),
    /// A size, or one key of a table.
    SizeOr(&'static ScenarioKeys),
    /// A file, relative to the scenario.
    File,
    /// A file, or a map with more details.
    FileOr(&'static ScenarioKeys),
    /// A decimal number.
    Number,
    /// A fraction: a decimal number from 0 to 1, or a percentage.
    Part,
    Rate,
    /// A whole number of bytes, Kafka's unit, or a size with unit.
    KafkaBytes,
    /// A whole number of milliseconds, Kafka's unit, or a time with unit.
    KafkaTime,
    /// A whole number.
    KafkaNumber,
    Map(&'static ScenarioKeys),
    /// A list of maps with these keys.
    List(&'static ScenarioKeys),
    /// The list of flows: [`PRODUCE`], [`CONSUME`] or [`ECHO`].
    Flows,
    /// Paths of this scenario, each with a value.
    Paths,
    /// Paths of this scenario, each with a list of values; single changes; listed combinations.
    Vary,
    /// Kafka's topic settings.
    TopicConfig,
    /// Kafka's broker settings, of any release.
    BrokerConfig,
    /// Properties of MirrorMaker 2.
    MirrorSettings,
    /// A list of words.
    Texts,
    /// A time, with `-` before it, or `start`.
    Moment,
    /// A time, or with `-` before it a negative one.
    SignedTime,
    /// A node's number or a word.
    FaultNode,
    /// A node's number or a word.
    CutEnd,
    /// `true` and nothing else.
    True,
    /// A size, or `true`.
    SizeOrTrue,
    /// A time, or one key of [`DELAY`].
    Delay,
    /// Bytes or records per second.
    Capacity,
    /// A name of [`ERROR_NAMES`].
    ErrorName,
    /// Two times.
    Times,
    /// Quantiles with a time each.
    Quantiles,
}

/// The value of an absent key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KeyDefault {
    /// The key is required.
    Required,
    /// This text is parsed instead.
    Default(&'static str),
    /// A map in which every key has its default.
    Empty,
    /// No value; the text describes what that means.
    Optional(&'static str),
}

impl ScenarioKeys {
    pub(crate) fn key(&self, name: &str) -> Option<&'static KeyDefinition> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// Why a known key is refused.
    pub(crate) fn refusal(&self, name: &str) -> Option<&'static str> {
        let matches = |pattern: &&str| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => **pattern == *name,
        };
        self.refused
            .iter()
            .find(|refusal| refusal.names.iter().any(matches))
            .map(|refusal| refusal.why)
    }

    /// The key, and what remains of a dotted path after it. Keys hold dots themselves
    /// (`batch.size`), so the longest one wins.
    pub(crate) fn key_at_start<'p>(
        &self,
        path: &'p str,
    ) -> Option<(&'static KeyDefinition, &'p str)> {
        self.keys
            .iter()
            .filter_map(|key| {
                let rest = path.strip_prefix(key.name)?;
                let rest = if rest.is_empty() {
                    rest
                } else {
                    rest.strip_prefix('.')?
                };
                Some((key, rest))
            })
            .max_by_key(|(key, _)| key.name.len())
    }
}

/// Shortens the tables.
const fn key(
    name: &'static str,
    kind: ValueKind,
    given: KeyDefault,
    note: &'static str,
) -> KeyDefinition {
    KeyDefinition {
        name,
        kind,
        given,
        note,
    }
}
