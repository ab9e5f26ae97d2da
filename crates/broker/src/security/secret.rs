//! A text that no message, log or report may repeat.

use std::fmt;

use zeroize::Zeroizing;

/// A password or key: it has no `Display`, its `Debug` says nothing, and it is wiped when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct BrokerSecret(Zeroizing<Vec<u8>>);

impl BrokerSecret {
    /// Wraps bytes or a text.
    #[must_use]
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(Zeroizing::new(bytes.into()))
    }

    /// The bytes themselves. Whoever calls this answers for where they go.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for BrokerSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(not shown)")
    }
}
