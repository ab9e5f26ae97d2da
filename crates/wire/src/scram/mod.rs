//! SCRAM (RFC 5802) with SHA-256 (RFC 7677) or SHA-512: the arithmetic, and both sides of an exchange. Nonces come from
//! the caller.

mod client;
mod message;
mod server;
#[cfg(test)]
mod tests;

use std::fmt;
use std::num::NonZeroU32;

use ring::{digest, hmac, pbkdf2};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

pub use client::{ScramClient, ScramError};
pub use server::{ScramRefusal, ScramServer};

/// Rounds that Kafka accepts for a new credential (`ScramMechanism.minIterations`,
/// `ScramControlManager.MAX_ITERATIONS`).
pub const ITERATIONS_MIN: u32 = 4_096;
/// See [`ITERATIONS_MIN`].
pub const ITERATIONS_MAX: u32 = 16_384;

/// The hash of a SCRAM mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ScramMechanism {
    /// SCRAM-SHA-256.
    #[serde(rename = "SCRAM-SHA-256")]
    Sha256,
    /// SCRAM-SHA-512.
    #[serde(rename = "SCRAM-SHA-512")]
    Sha512,
}

impl ScramMechanism {
    /// Its name in the protocol and in settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "SCRAM-SHA-256",
            Self::Sha512 => "SCRAM-SHA-512",
        }
    }

    /// The mechanism's number in the protocol.
    #[must_use]
    pub fn number(self) -> i8 {
        match self {
            Self::Sha256 => 1,
            Self::Sha512 => 2,
        }
    }

    /// The mechanism of this number.
    #[must_use]
    pub fn from_number(number: i8) -> Option<Self> {
        let mut all = [Self::Sha256, Self::Sha512].into_iter();
        all.find(|mechanism| mechanism.number() == number)
    }

    /// `SaltedPassword` of RFC 5802, which a new user's broker gets instead of the password.
    #[must_use]
    pub fn salted(self, password: &[u8], salt: &[u8], rounds: NonZeroU32) -> Zeroizing<Vec<u8>> {
        self.hashes().salted(password, salt, rounds)
    }

    fn hashes(self) -> Hashes {
        match self {
            Self::Sha256 => Hashes {
                pbkdf2: pbkdf2::PBKDF2_HMAC_SHA256,
                hmac: hmac::HMAC_SHA256,
                digest: &digest::SHA256,
            },
            Self::Sha512 => Hashes {
                pbkdf2: pbkdf2::PBKDF2_HMAC_SHA512,
                hmac: hmac::HMAC_SHA512,
                digest: &digest::SHA512,
            },
        }
    }
}

/// One hash in its three uses. Tests add SHA-1, which the example of RFC 5802 uses.
#[derive(Clone, Copy)]
struct Hashes {
    pbkdf2: pbkdf2::Algorithm,
    hmac: hmac::Algorithm,
    digest: &'static digest::Algorithm,
}

/// The keys that follow from a salted password.
struct ScramKeys {
    client: hmac::Tag,
    stored: digest::Digest,
    server: hmac::Tag,
}

impl Hashes {
    fn sign(self, key: &[u8], message: &[u8]) -> hmac::Tag {
        hmac::sign(&hmac::Key::new(self.hmac, key), message)
    }

    fn salted(self, password: &[u8], salt: &[u8], rounds: NonZeroU32) -> Zeroizing<Vec<u8>> {
        let mut salted = Zeroizing::new(vec![0; self.digest.output_len()]);
        pbkdf2::derive(self.pbkdf2, rounds, salt, password, &mut salted);
        salted
    }

    fn keys(self, salted: &[u8]) -> ScramKeys {
        let client = self.sign(salted, b"Client Key");
        ScramKeys {
            stored: digest::digest(self.digest, client.as_ref()),
            server: self.sign(salted, b"Server Key"),
            client,
        }
    }

    fn credential(self, password: &[u8], salt: &[u8], rounds: NonZeroU32) -> ScramCredential {
        self.credential_of_salted(&self.salted(password, salt, rounds), salt, rounds.get())
    }

    fn credential_of_salted(self, salted: &[u8], salt: &[u8], iterations: u32) -> ScramCredential {
        let keys = self.keys(salted);
        ScramCredential {
            salt: salt.to_vec(),
            stored_key: keys.stored.as_ref().to_vec(),
            server_key: keys.server.as_ref().to_vec(),
            iterations,
        }
    }
}

fn xor(one: &[u8], other: &[u8]) -> Zeroizing<Vec<u8>> {
    let bytes = one.iter().zip(other).map(|(one, other)| one ^ other);
    Zeroizing::new(bytes.collect())
}

/// What a server keeps of a password: enough to recognise it, not to find it out.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScramCredential {
    #[serde(with = "base64_text")]
    salt: Vec<u8>,
    #[serde(with = "base64_text")]
    stored_key: Vec<u8>,
    #[serde(with = "base64_text")]
    server_key: Vec<u8>,
    iterations: u32,
}

/// The keys are never shown.
impl fmt::Debug for ScramCredential {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ScramCredential")
            .field("iterations", &self.iterations)
            .finish_non_exhaustive()
    }
}

impl ScramCredential {
    /// From a password, which is not kept.
    #[must_use]
    pub fn of_password(mechanism: ScramMechanism, password: &[u8], salt: &[u8]) -> Self {
        let rounds = NonZeroU32::new(ITERATIONS_MIN).unwrap_or(NonZeroU32::MIN);
        mechanism.hashes().credential(password, salt, rounds)
    }

    /// From what a client made of a password ([`ScramMechanism::salted`]).
    #[must_use]
    pub fn of_salted(mechanism: ScramMechanism, salted: &[u8], salt: &[u8], rounds: u32) -> Self {
        let hashes = mechanism.hashes();
        hashes.credential_of_salted(salted, salt, rounds)
    }

    /// Whether this is the credential of a password.
    #[must_use]
    pub fn is_of(&self, mechanism: ScramMechanism, password: &[u8]) -> bool {
        NonZeroU32::new(self.iterations).is_some_and(|rounds| {
            let other = mechanism.hashes().credential(password, &self.salt, rounds);
            is_same(&other.stored_key, &self.stored_key)
        })
    }

    /// The number of hashing rounds.
    #[must_use]
    pub fn iterations(&self) -> u32 {
        self.iterations
    }
}

/// Whether two secrets are equal. The duration reveals nothing about them: it compares, in
/// constant time, their hashes under a key.
#[must_use]
pub fn is_same(one: &[u8], other: &[u8]) -> bool {
    let key = hmac::Key::new(hmac::HMAC_SHA256, other);
    hmac::verify(&key, one, hmac::sign(&key, other).as_ref()).is_ok()
}

/// Bytes as text.
mod base64_text {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        STANDARD.decode(text).map_err(D::Error::custom)
    }
}
