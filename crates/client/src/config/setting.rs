//! One setting as written.

use std::fmt;

use kgauge_wire::Secret;

use super::keys;
use super::mistake::SettingLocation;

/// A key with its value and location.
#[derive(Clone, PartialEq, Eq)]
pub struct Setting {
    /// The key as written.
    pub key: String,
    /// The value; treated as a secret until the key is known.
    pub value: Secret,
    /// Its location.
    pub place: SettingLocation,
}

impl fmt::Debug for Setting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at {}", spoken_key(&self.key), self.place)
    }
}

/// The key, unless it looks like something else: if a line of a private key or of a JAAS entry lacks its backslash, its
/// text is parsed as a key.
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
