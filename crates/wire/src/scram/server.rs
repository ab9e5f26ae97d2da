//! The server's side of an exchange.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::digest;

use super::message::{ClientFinal, ClientFirst, MalformedScram};
use super::{Hashes, ScramCredential, ScramMechanism, is_same, xor};

/// Why a client is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScramRefusal {
    /// A malformed message, an unknown user or a wrong password: clients cannot distinguish them.
    Unexplained,
    /// The client logs in on behalf of another user.
    OtherAuthorization,
}

impl From<MalformedScram> for ScramRefusal {
    fn from(_: MalformedScram) -> Self {
        Self::Unexplained
    }
}

/// An exchange after its first half.
pub struct ScramServer {
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

impl ScramServer {
    /// Answers the client's first message with salt and rounds. `server_nonce` must be new and
    /// unguessable.
    pub fn begin(
        mechanism: ScramMechanism,
        message: &[u8],
        server_nonce: &str,
        credential_of: impl FnOnce(&str) -> Option<Arc<ScramCredential>>,
    ) -> Result<(Self, String), ScramRefusal> {
        Self::begin_with(mechanism.hashes(), message, server_nonce, credential_of)
    }

    pub(super) fn begin_with(
        hashes: Hashes,
        message: &[u8],
        server_nonce: &str,
        credential_of: impl FnOnce(&str) -> Option<Arc<ScramCredential>>,
    ) -> Result<(Self, String), ScramRefusal> {
        let first = ClientFirst::parse(message)?;
        if first.by_token {
            return Err(ScramRefusal::Unexplained);
        }
        // As in Kafka, an unknown user fails here, with the same text as a wrong password.
        let credential = credential_of(&first.user).ok_or(ScramRefusal::Unexplained)?;
        if !first.authorization.is_empty() && first.authorization != first.user {
            return Err(ScramRefusal::OtherAuthorization);
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
    /// its own half in front of it (its pull request 4895). Kafka 3.8.1 to 3.9 accept that, Kafka 4
    /// does not; accepting it is safe, because the proof covers the whole message.
    fn is_nonce(&self, nonce: &str) -> bool {
        let rest = nonce.strip_prefix(&self.client_nonce);
        nonce == self.nonce || rest == Some(&self.nonce)
    }

    /// Checks the client's proof; gives the user's name and our proof.
    pub fn finish(self, message: &[u8]) -> Result<(String, String), ScramRefusal> {
        let last = ClientFinal::parse(message)?;
        let stored_key = &self.credential.stored_key;
        if !self.is_nonce(last.nonce)
            || last.gs2_header != self.gs2_header.as_bytes()
            || last.proof.len() != stored_key.len()
        {
            return Err(ScramRefusal::Unexplained);
        }
        let signed = format!(
            "{},{},{}",
            self.client_first_bare, self.server_first, last.without_proof
        );
        let signature = self.hashes.sign(stored_key, signed.as_bytes());
        let client_key = xor(&last.proof, signature.as_ref());
        let shown = digest::digest(self.hashes.digest, &client_key);
        if !is_same(shown.as_ref(), stored_key) {
            return Err(ScramRefusal::Unexplained);
        }
        let server_key = &self.credential.server_key;
        let proof = self.hashes.sign(server_key, signed.as_bytes());
        Ok((self.user, format!("v={}", STANDARD.encode(proof))))
    }
}
