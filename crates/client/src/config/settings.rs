//! Collects settings from files and pairs, and converts them into a [`ClientConfig`] or a list of all mistakes.

use std::path::Path;

use kgauge_wire::Secret;

use super::keys::{self, KeyRole};
use super::mistake::{ClientConfigError, ConfigMistake, ConfigNote, SettingLocation};
use super::setting::{Setting, spoken_key};
use super::{ClientConfig, properties, value};

/// Settings as written. Later ones override earlier ones.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    entries: Vec<Setting>,
    mistakes: Vec<ConfigMistake>,
    notes: Vec<ConfigNote>,
}

impl Settings {
    /// Adds all entries of a properties file's text. `file` is its name for messages.
    pub(crate) fn add_properties(&mut self, file: &str, text: &[u8]) {
        let (lines, mistakes) = properties::parse(text);
        let place = |line| SettingLocation::Line {
            file: file.to_owned(),
            line,
        };
        for line in lines {
            if let Some(earlier) = self.line_in(file, &line.key) {
                // Java's Properties do the same silently.
                let key = spoken_key(&line.key);
                let what = format!("{key} is also set in line {earlier}; the last one wins");
                self.notes.push(ConfigNote {
                    place: place(line.line),
                    what,
                });
            }
            let place = place(line.line);
            self.entries.push(Setting {
                key: line.key,
                value: line.value,
                place,
            });
        }
        self.mistakes
            .extend(mistakes.into_iter().map(|mistake| ConfigMistake {
                place: place(mistake.line),
                what: mistake.what.to_owned(),
                fix: "write \\\\ for a backslash".to_owned(),
            }));
    }

    /// Adds all entries of a properties file.
    pub fn add_file(&mut self, path: &Path) -> Result<(), ClientConfigError> {
        let text = std::fs::read(path).map_err(|error| ClientConfigError::Unreadable {
            path: path.to_owned(),
            error,
        })?;
        self.add_properties(&path.display().to_string(), &text);
        Ok(())
    }

    /// Adds a `key=value` pair from elsewhere.
    pub fn add_pair(&mut self, key: &str, value: &str) {
        self.entries.push(Setting {
            key: key.to_owned(),
            value: Secret::new(value),
            place: SettingLocation::Pair,
        });
    }

    /// Removes and returns the entries of one role: settings of producers and consumers belong to flows, not to the
    /// client.
    pub fn take(&mut self, role: KeyRole) -> Vec<Setting> {
        self.entries
            .extract_if(.., |entry| keys::role(&entry.key) == Some(role))
            .collect()
    }

    /// All entries as written.
    pub fn into_entries(self) -> Vec<Setting> {
        self.entries
    }

    /// Removes and returns the entries that no client of Kafka knows. Kafka's own clients ignore them with a warning;
    /// callers that do the same call this first.
    pub fn take_unknown(&mut self) -> Vec<Setting> {
        self.entries
            .extract_if(.., |entry| keys::role(&entry.key).is_none())
            .collect()
    }

    /// The configuration, or all mistakes.
    pub fn client_config(self) -> Result<ClientConfig, ClientConfigError> {
        let Settings {
            entries,
            mut mistakes,
            mut notes,
        } = self;
        let mut config = ClientConfig::new(Vec::new());
        let mut servers_seen = false;
        let mut security = Vec::new();
        let entries = effective(entries);
        config.given.clone_from(&entries);
        for entry in entries {
            servers_seen |= entry.key == "bootstrap.servers";
            if keys::role(&entry.key) == Some(KeyRole::Security) {
                security.push(entry);
                continue;
            }
            match apply(&mut config, &entry) {
                Ok(None) => {}
                Ok(Some(what)) => notes.push(ConfigNote {
                    place: entry.place,
                    what,
                }),
                Err((what, fix)) => {
                    mistakes.push(ConfigMistake {
                        place: entry.place,
                        what,
                        fix,
                    });
                }
            }
        }
        let (security, found) = crate::security::settings::read(config.security.protocol, security);
        config.security = security;
        mistakes.extend(found.mistakes);
        notes.extend(found.notes);
        if !servers_seen {
            mistakes.push(ConfigMistake {
                place: SettingLocation::Missing,
                what: "bootstrap.servers is missing".to_owned(),
                fix: "write bootstrap.servers=host:9092".to_owned(),
            });
        }
        if !mistakes.is_empty() {
            mistakes.sort_by_key(|mistake| line_of(&mistake.place));
            return Err(ClientConfigError::Mistakes { mistakes });
        }
        notes.sort_by_key(|note| line_of(&note.place));
        config.notes = notes;
        Ok(config)
    }

    fn line_in(&self, file: &str, key: &str) -> Option<u32> {
        self.entries
            .iter()
            .rev()
            .filter(|entry| entry.key == key)
            .find_map(|entry| match &entry.place {
                SettingLocation::Line { file: there, line } if there == file => Some(*line),
                _ => None,
            })
    }
}

/// The last entry of every key, in the order of their locations.
fn effective(entries: Vec<Setting>) -> Vec<Setting> {
    let mut kept: Vec<Setting> = Vec::new();
    for entry in entries {
        kept.retain(|earlier| earlier.key != entry.key);
        kept.push(entry);
    }
    kept
}

fn line_of(place: &SettingLocation) -> u32 {
    match place {
        SettingLocation::Line { line, .. } => *line,
        SettingLocation::Pair | SettingLocation::Missing => u32::MAX,
    }
}

/// Applies one entry; returns a note if it has no effect.
fn apply(
    config: &mut ClientConfig,
    entry: &Setting,
) -> Result<Option<String>, value::ValueMistake> {
    let key = entry.key.as_str();
    let flow = |kind: &str| {
        (
            format!("{key} is a {kind} setting, not a connection setting"),
            format!("set it in a {kind} flow of the scenario"),
        )
    };
    match keys::role(key) {
        Some(KeyRole::Client) => value::apply(config, key, entry.value.expose()).map(|()| None),
        // These are read together once the protocol is known.
        Some(KeyRole::Security) => Ok(None),
        Some(KeyRole::JavaOnly) => Ok(Some(format!("{key} only affects the Java client"))),
        Some(KeyRole::Unsupported) => Err((
            format!("{key} is not supported by kgauge"),
            "remove it".to_owned(),
        )),
        Some(KeyRole::Producer) => Err(flow("producer")),
        Some(KeyRole::Consumer) => Err(flow("consumer")),
        None => Err(unknown(key)),
    }
}

fn unknown(key: &str) -> value::ValueMistake {
    let fix = match keys::nearest(key) {
        Some(known) => format!("did you mean {known}?"),
        None => {
            "remove it; docs/guide/client-properties.md of the sources lists the supported settings"
                .to_owned()
        }
    };
    (format!("unknown setting {}", spoken_key(key)), fix)
}
