//! Randomness that nobody can guess, from outside the core.

use std::fmt;

use ring::rand::{SecureRandom, SystemRandom};

/// Bytes of a nonce.
pub const NONCE_BYTES: usize = 24;

/// There is no randomness to be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the operating system provides no random numbers")]
pub struct NoRandomness;

/// Where a node takes its nonces from. They must be unpredictable: a client could otherwise be made
/// to repeat a proof. Only a test may know them beforehand.
pub trait NonceSource: fmt::Debug + Send + Sync {
    /// New bytes.
    fn nonce(&self) -> Result<[u8; NONCE_BYTES], NoRandomness>;
}

/// The operating system's randomness.
#[derive(Debug, Clone)]
pub struct SystemNonces(SystemRandom);

impl Default for SystemNonces {
    fn default() -> Self {
        Self(SystemRandom::new())
    }
}

impl NonceSource for SystemNonces {
    fn nonce(&self) -> Result<[u8; NONCE_BYTES], NoRandomness> {
        let mut bytes = [0; NONCE_BYTES];
        self.0.fill(&mut bytes).map_err(|_| NoRandomness)?;
        Ok(bytes)
    }
}

/// Always the same nonce.
#[cfg(test)]
#[derive(Debug)]
pub(crate) struct Sevens;

#[cfg(test)]
impl NonceSource for Sevens {
    fn nonce(&self) -> Result<[u8; NONCE_BYTES], NoRandomness> {
        Ok([7; NONCE_BYTES])
    }
}
