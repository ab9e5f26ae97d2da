//! One setting as written.

use std::fmt;

use kgauge_wire::Secret;

use super::keys;
use super::mistake::SettingLocation;

/// One key with its value and place.
#[derive(Clone, PartialEq, Eq)]
pub struct Setting {
    /// The key as written.
    pub key: String,
    /// The value; a secret until the key says otherwise.
    pub value: Secret,
    /// Where it stands.
    pub place: SettingLocation,
}

impl fmt::Debug for Setting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at {}", spoken_key(&self.key), self.place)
    }
}

/// The key, unless it looks like something else: when a line of a private key or of a JAAS entry
/// lost its backslash, its text arrives here as a key.
pub(super) fn spoken_key(key: &str) -> &str {
    let is_name = key.len() <= 80
        && (key.contains('.') || keys::nearest(key).is_some())
        && key
            .chars()
            .all(|c| c.is_ascii_lowercase() || matches!(c, '.' | '-' | '_' | '0'..='9'));
    if is_name {
        key
    } else {
        "(not shown: it does not look like a setting name)"
    }
}
