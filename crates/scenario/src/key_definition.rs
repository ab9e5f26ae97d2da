//! What a key of a scenario is: its name, how its value is written, its default and what it does.

/// The keys that one kind of map may have.
#[derive(Debug)]
pub(crate) struct ScenarioKeys {
    /// Its name in the guide.
    pub(crate) name: &'static str,
    pub(crate) own: &'static [KeyDefinition],
    /// Tables whose keys belong to this map too, before its own.
    pub(crate) shared: &'static [&'static ScenarioKeys],
    /// Keys that are known but refused, with the reason.
    pub(crate) refused: &'static [RefusedKeys],
    /// A map has exactly one of these keys.
    pub(crate) is_one_of: bool,
}

/// One key.
#[derive(Debug)]
pub(crate) struct KeyDefinition {
    pub(crate) name: &'static str,
    pub(crate) form: fn() -> ValueForm,
    pub(crate) default: KeyDefault,
    /// The documentation as it was written: lines that begin with a blank.
    pub(crate) doc: &'static str,
}

/// Keys that are known and refused for one reason.
#[derive(Debug)]
pub(crate) struct RefusedKeys {
    pub(crate) names: &'static [&'static str],
    pub(crate) why: &'static str,
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

/// How a value is written.
#[derive(Clone, Debug)]
pub(crate) enum ValueForm {
    /// Lower-case letters, digits and `-`.
    Name,
    /// Any text.
    Text,
    Count,
    /// A size with unit.
    Size,
    /// A time with unit.
    Time,
    /// A time, also with `-` before it.
    SignedTime,
    Flag,
    /// One of these words.
    Words(Vec<&'static str>),
    /// A decimal number.
    Number,
    /// A decimal number from 0 to 1, or a percentage.
    Fraction,
    /// Records per second.
    Rate,
    /// Bytes per second.
    ByteRate,
    /// A file, relative to the scenario.
    File,
    /// A whole number of bytes, Kafka's unit, or a size with unit.
    KafkaBytes,
    /// A whole number of milliseconds, Kafka's unit, or a time with unit.
    KafkaTime,
    /// A whole number.
    KafkaNumber,
    /// A node's number, from 1.
    NodeNumber,
    Map(&'static ScenarioKeys),
    List(Box<ValueForm>),
    /// Produce, consume and echo flows.
    Flows([&'static ScenarioKeys; 3]),
    /// Paths of this scenario, each with a value.
    Paths,
    /// Paths of this scenario, each with a list of values; single changes; listed combinations.
    Vary,
    /// Settings of another program, by its name, and the known ones.
    Settings(&'static str, &'static [&'static str]),
    /// A name of an error of Kafka.
    ErrorName(&'static [&'static str]),
    /// Two times.
    Times,
    /// Quantiles with a time each.
    Quantiles,
    /// Any of these.
    Any(Vec<ValueForm>),
}

impl ScenarioKeys {
    /// Every key, in the order of the guide.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static KeyDefinition> + use<> {
        let shared = self.shared.iter().flat_map(|table| table.own);
        shared.chain(self.own)
    }

    pub(crate) fn key(&self, name: &str) -> Option<&'static KeyDefinition> {
        self.keys().find(|key| key.name == name)
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

    /// The key, and what remains of a dotted path after it. Keys contain dots themselves
    /// (`batch.size`), so the longest one wins.
    pub(crate) fn key_at_start<'p>(
        &self,
        path: &'p str,
    ) -> Option<(&'static KeyDefinition, &'p str)> {
        self.keys()
            .filter_map(|key| {
                let rest = path.strip_prefix(key.name)?;
                match rest.is_empty() {
                    true => Some((key, rest)),
                    false => Some((key, rest.strip_prefix('.')?)),
                }
            })
            .max_by_key(|(key, _)| key.name.len())
    }
}

impl KeyDefinition {
    /// What the key does, and the reason for its default.
    pub(crate) fn note(&self) -> &'static str {
        self.doc.trim_start()
    }
}

/// Shortens the tables.
pub(crate) const fn refuse(names: &'static [&'static str], why: &'static str) -> RefusedKeys {
    RefusedKeys { names, why }
}
