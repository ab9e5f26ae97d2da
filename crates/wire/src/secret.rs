//! A value that no message, log or report may repeat.

use std::fmt;

use zeroize::{Zeroize, Zeroizing};

/// A password or key: it has no `Display`, its `Debug` shows nothing, and it is wiped when dropped.
///
/// Every value of a `client.properties` file is held as one until its key is known to be
/// harmless, so that a misspelt `sasl.jaas.confg` does not end in an error message.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret<T: Zeroize = String>(Zeroizing<T>);

impl<T: Zeroize> Secret<T> {
    /// Wraps a text or bytes.
    pub fn new(value: impl Into<T>) -> Secret<T> {
        Secret(Zeroizing::new(value.into()))
    }

    /// The value itself. The caller is responsible for where it goes.
    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl<T: Zeroize> fmt::Debug for Secret<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(not shown)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_does_not_hold_the_text() {
        let secret: Secret = Secret::new("hunter2");
        assert_eq!(format!("{secret:?}"), "Secret(not shown)");
        assert_eq!(secret.expose(), "hunter2");
    }
}
