//! The client's side of an exchange, which also checks the server's proof.

use std::num::NonZeroU32;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{Hashes, ITERATIONS_MIN, ScramMechanism, xor};

/// More would take a minute: a broker's mistake, or an attack on its clients.
const ROUNDS_MAX: u32 = 10_000_000;

/// Why an exchange cannot go on. It holds no part of the exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScramError {
    /// An answer that breaks the rules.
    Malformed,
    /// Fewer rounds than Kafka allows, or far too many.
    Rounds(u32),
    /// The server does not know the password itself.
    ServerProof,
    /// The server answered `e=`.
    Refused,
}

/// One exchange.
pub struct ScramClient<'a> {
    hashes: Hashes,
    password: &'a str,
    nonce: String,
    first_bare: String,
    server_signature: Vec<u8>,
}

impl<'a> ScramClient<'a> {
    /// `nonce` must be new and unguessable.
    #[must_use]
    pub fn new(
        mechanism: ScramMechanism,
        username: &str,
        password: &'a str,
        nonce: String,
        is_delegation_token: bool,
    ) -> Self {
        // As Kafka's ScramFormatter: UTF-8 as it is, without SASLprep.
        let name = username.replace('=', "=3D").replace(',', "=2C");
        let extension = if is_delegation_token {
            ",tokenauth=true"
        } else {
            ""
        };
        Self {
            hashes: mechanism.hashes(),
            password,
            first_bare: format!("n={name},r={nonce}{extension}"),
            nonce,
            server_signature: Vec::new(),
        }
    }

    /// The client's first message.
    #[must_use]
    pub fn first(&self) -> String {
        format!("n,,{}", self.first_bare)
    }

    /// The client's final message, from the server's first.
    pub fn last(&mut self, server_first: &[u8]) -> Result<String, ScramError> {
        let text = std::str::from_utf8(server_first).map_err(|_| ScramError::Malformed)?;
        let mut parts = text.split(',');
        let mut part = |prefix| parts.next().and_then(|part| part.strip_prefix(prefix));
        let (Some(nonce), Some(salt), Some(rounds)) = (part("r="), part("s="), part("i=")) else {
            return Err(if text.starts_with("e=") {
                ScramError::Refused
            } else {
                ScramError::Malformed
            });
        };
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err(ScramError::Malformed);
        }
        let salt = STANDARD.decode(salt).map_err(|_| ScramError::Malformed)?;
        let rounds: u32 = rounds.parse().map_err(|_| ScramError::Malformed)?;
        let rounds = NonZeroU32::new(rounds)
            .filter(|rounds| (ITERATIONS_MIN..=ROUNDS_MAX).contains(&rounds.get()))
            .ok_or(ScramError::Rounds(rounds))?;
        let salted = self.hashes.salted(self.password.as_bytes(), &salt, rounds);
        let keys = self.hashes.keys(&salted);
        // biws is base64 of the header n,,
        let without_proof = format!("c=biws,r={nonce}");
        let message = format!("{},{text},{without_proof}", self.first_bare);
        let sign = |key: &[u8]| self.hashes.sign(key, message.as_bytes());
        let proof = xor(keys.client.as_ref(), sign(keys.stored.as_ref()).as_ref());
        self.server_signature = sign(keys.server.as_ref()).as_ref().to_vec();
        Ok(format!("{without_proof},p={}", STANDARD.encode(proof)))
    }

    /// Checks that the server knows the password too.
    pub fn check(&self, server_last: &[u8]) -> Result<(), ScramError> {
        let text = std::str::from_utf8(server_last).map_err(|_| ScramError::Malformed)?;
        if text.starts_with("e=") {
            return Err(ScramError::Refused);
        }
        let signature = text.strip_prefix("v=").ok_or(ScramError::Malformed)?;
        let signature = signature.split(',').next().unwrap_or_default();
        let signature = STANDARD.decode(signature);
        let signature = signature.map_err(|_| ScramError::Malformed)?;
        if self.server_signature.is_empty() || signature != self.server_signature {
            return Err(ScramError::ServerProof);
        }
        Ok(())
    }
}
