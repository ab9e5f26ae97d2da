//! A text that no message, log or report may repeat.

use std::fmt;

/// A value that may be a password: it has no `Display`, and its `Debug` says nothing.
///
/// Every value of a `client.properties` file is held as one until its key has said that it is
/// harmless, so that a misspelt `sasl.jaas.confg` does not end in an error message.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(zeroize::Zeroizing<String>);

impl Secret {
    /// Wraps `text`.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(zeroize::Zeroizing::new(text.into()))
    }

    /// The text itself. Whoever calls this answers for where it goes.
    pub fn expose(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(not shown)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_does_not_hold_the_text() {
        let secret = Secret::new("hunter2");
        assert_eq!(format!("{secret:?}"), "Secret(not shown)");
        assert_eq!(secret.expose(), "hunter2");
    }
}
