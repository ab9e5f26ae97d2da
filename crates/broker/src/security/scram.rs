//! SCRAM (RFC 5802) with SHA-256 (RFC 7677) or SHA-512: what a node keeps of a password, and its
//! side of the exchange.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::{digest, hmac, pbkdf2};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::scram_message::{ClientFinal, ClientFirst, MalformedScram};

/// Rounds that Kafka accepts for a new credential (`ScramMechanism.minIterations`,
/// `ScramControlManager.MAX_ITERATIONS`).
pub(crate) const ITERATIONS_MIN: u32 = 4_096;
pub(crate) const ITERATIONS_MAX: u32 = 16_384;

/// The longest hash: SHA-512.
const HASH_BYTES_MAX: usize = 64;

/// Which hash.
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
        [Self::Sha256, Self::Sha512]
            .into_iter()
            .find(|mechanism| mechanism.number() == number)
    }

    pub(super) fn hashes(self) -> Hashes {
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

/// One hash in its three uses. Tests add SHA-1, in which RFC 5802 has its example.
#[derive(Clone, Copy)]
pub(super) struct Hashes {
    pub(super) pbkdf2: pbkdf2::Algorithm,
    pub(super) hmac: hmac::Algorithm,
    pub(super) digest: &'static digest::Algorithm,
}

impl Hashes {
    fn sign(self, key: &[u8], message: &[u8]) -> hmac::Tag {
        hmac::sign(&hmac::Key::new(self.hmac, key), message)
    }

    fn salted(self, password: &[u8], salt: &[u8], iterations: NonZeroU32) -> Zeroizing<Vec<u8>> {
        let bytes = self.digest.output_len().min(HASH_BYTES_MAX);
        let mut salted = Zeroizing::new(vec![0; bytes]);
        pbkdf2::derive(self.pbkdf2, iterations, salt, password, &mut salted);
        salted
    }

    pub(super) fn credential(
        self,
        password: &[u8],
        salt: &[u8],
        rounds: NonZeroU32,
    ) -> ScramCredential {
        let salted = self.salted(password, salt, rounds);
        self.credential_of_salted(&salted, salt, rounds.get())
    }

    fn credential_of_salted(self, salted: &[u8], salt: &[u8], iterations: u32) -> ScramCredential {
        let client_key = self.sign(salted, b"Client Key");
        let stored_key = digest::digest(self.digest, client_key.as_ref());
        ScramCredential {
            salt: salt.to_vec(),
            stored_key: stored_key.as_ref().to_vec(),
            server_key: self.sign(salted, b"Server Key").as_ref().to_vec(),
            iterations,
        }
    }
}

/// What is kept of a password: enough to recognise who knows it, not to find it out.
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
    /// From a password; used up at once.
    #[must_use]
    pub fn of_password(mechanism: ScramMechanism, password: &[u8], salt: &[u8]) -> Self {
        let rounds = NonZeroU32::new(ITERATIONS_MIN).unwrap_or(NonZeroU32::MIN);
        mechanism.hashes().credential(password, salt, rounds)
    }

    /// From what a client made of a password (`SaltedPassword` of RFC 5802).
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

    /// How many rounds the password went through.
    #[must_use]
    pub fn iterations(&self) -> u32 {
        self.iterations
    }
}

/// All credentials: by user, then by mechanism.
pub(crate) type ScramUsers = BTreeMap<String, BTreeMap<ScramMechanism, Arc<ScramCredential>>>;

/// Whether two secrets are equal. How long it takes tells nothing about them: what is compared, in
/// constant time, are their hashes under a key.
pub(super) fn is_same(one: &[u8], other: &[u8]) -> bool {
    let key = hmac::Key::new(hmac::HMAC_SHA256, other);
    hmac::verify(&key, one, hmac::sign(&key, other).as_ref()).is_ok()
}

/// Why a client is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoginRefusal {
    /// It is told in the words that are the same for every reason.
    Untold,
    /// It is told why.
    Told(&'static str),
}

impl From<MalformedScram> for LoginRefusal {
    fn from(_: MalformedScram) -> Self {
        Self::Untold
    }
}

/// An exchange whose first half is done.
pub(super) struct ScramExchange {
    hashes: Hashes,
    credential: Arc<ScramCredential>,
    user: String,
    gs2_header: String,
    client_first_bare: String,
    server_first: String,
    client_nonce: String,
    /// The client's and ours.
    nonce: String,
}

impl ScramExchange {
    /// Answers the client's first message with salt and rounds. `server_nonce` must be new and
    /// unguessable.
    pub(super) fn begin(
        hashes: Hashes,
        message: &[u8],
        server_nonce: &str,
        credential_of: impl FnOnce(&str) -> Option<Arc<ScramCredential>>,
    ) -> Result<(Self, String), LoginRefusal> {
        let first = ClientFirst::parse(message)?;
        if first.by_token {
            return Err(LoginRefusal::Untold);
        }
        // As in Kafka, a name that does not exist fails here; the words are those of a wrong
        // password.
        let credential = credential_of(&first.user).ok_or(LoginRefusal::Untold)?;
        if !first.authorization.is_empty() && first.authorization != first.user {
            return Err(LoginRefusal::Told(super::sasl::OTHER_AUTHORIZATION));
        }
        let nonce = format!("{}{server_nonce}", first.nonce);
        let salt = STANDARD.encode(&credential.salt);
        let server_first = format!("r={nonce},s={salt},i={}", credential.iterations);
        let exchange = Self {
            hashes,
            credential,
            gs2_header: first.gs2_header.to_owned(),
            client_first_bare: first.bare.to_owned(),
            server_first: server_first.clone(),
            client_nonce: first.nonce.to_owned(),
            nonce,
            user: first.user,
        };
        Ok((exchange, server_first))
    }

    /// Whether a final message carries the nonce of this exchange. librdkafka before 2.6.1 repeats
    /// its own half in front of it (its pull request 4895). Kafka 3.8.1 to 3.9 let that pass, Kafka
    /// 4 does not; here it passes, for the proof covers the whole message all the same.
    fn is_nonce(&self, nonce: &str) -> bool {
        let rest = nonce.strip_prefix(&self.client_nonce);
        nonce == self.nonce || rest == Some(&self.nonce)
    }

    /// Checks the client's proof and gives ours, with the user's name.
    pub(super) fn finish(self, message: &[u8]) -> Result<(String, String), LoginRefusal> {
        let last = ClientFinal::parse(message)?;
        let stored_key = &self.credential.stored_key;
        if !self.is_nonce(last.nonce)
            || last.gs2_header != self.gs2_header.as_bytes()
            || last.proof.len() != stored_key.len()
        {
            return Err(LoginRefusal::Untold);
        }
        let signed = format!(
            "{},{},{}",
            self.client_first_bare, self.server_first, last.without_proof
        );
        let signature = self.hashes.sign(stored_key, signed.as_bytes());
        let client_key: Zeroizing<Vec<u8>> = (last.proof.iter().zip(signature.as_ref()))
            .map(|(proof, signature)| proof ^ signature)
            .collect::<Vec<u8>>()
            .into();
        let shown = digest::digest(self.hashes.digest, &client_key);
        if !is_same(shown.as_ref(), stored_key) {
            return Err(LoginRefusal::Untold);
        }
        let proof = self
            .hashes
            .sign(&self.credential.server_key, signed.as_bytes());
        Ok((self.user, format!("v={}", STANDARD.encode(proof))))
    }
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
