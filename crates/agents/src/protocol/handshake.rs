//! The first frame of each side: the protocol's version, and a proof that the side knows the token.
//!
//! proof = HMAC-SHA-256(token, role, version, key exported from the TLS session (RFC 5705, RFC 8446 7.5)).
//!
//! Somebody in between has two TLS sessions with different exported keys, so the proof of one is worth nothing in the
//! other. The roles differ, so a proof cannot be returned to its sender. The side that connected proves first: whoever
//! connects to an agent without the token learns nothing from it.

use ring::hmac;

use super::frame::{AgentFrame, FrameKind};
use crate::token::AgentToken;

/// The version of the protocol. Lead and agent must have the same one.
pub(crate) const PROTOCOL_VERSION: u16 = 3;

/// The label of the key that both sides export from their TLS session.
pub(crate) const SESSION_KEY_LABEL: &[u8] = b"EXPORTER-kgauge-agents";

/// The length of a proof.
pub(crate) const PROOF_BYTES: usize = 32;

/// The first bytes of a greeting, in every version of the protocol.
const MAGIC: &[u8; 8] = b"kgauge\0a";

/// Who proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofSide {
    /// The lead.
    Lead,
    /// An agent.
    Agent,
}

/// A side's first frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Greeting {
    /// The protocol's version.
    pub version: u16,
    /// The proof.
    pub proof: [u8; PROOF_BYTES],
}

/// Why a side is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeError {
    /// The other side is not kgauge.
    #[error("the other side does not speak kgauge's agent protocol; check the address")]
    Foreign,
    /// The other side is another version of kgauge.
    #[error(
        "the other side speaks version {theirs} of the agent protocol, this kgauge version {}\n  use the same kgauge on \
         all machines",
        PROTOCOL_VERSION
    )]
    Version {
        /// Its version.
        theirs: u16,
    },
    /// The proof is wrong.
    #[error(
        "the other side has another token\n  give lead and agents files with the same content (--agents-token-file, \
         --token-file)"
    )]
    Token,
}

impl Greeting {
    /// The content of the frame.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&self.version.to_be_bytes());
        bytes.extend_from_slice(&self.proof);
        bytes
    }

    /// Reads a frame. A greeting of another version is recognised whatever follows the version.
    pub fn decode(frame: &AgentFrame) -> Result<Self, HandshakeError> {
        let rest = frame.content.strip_prefix(MAGIC.as_slice());
        let rest = rest.filter(|_| frame.kind == FrameKind::Greeting);
        let found = rest.and_then(|rest| rest.split_first_chunk::<2>());
        let (version, proof) = found.ok_or(HandshakeError::Foreign)?;
        let version = u16::from_be_bytes(*version);
        if version != PROTOCOL_VERSION {
            return Err(HandshakeError::Version { theirs: version });
        }
        let proof = proof.try_into().map_err(|_| HandshakeError::Foreign)?;
        Ok(Self { version, proof })
    }
}

/// The proof of a side in a TLS session.
pub fn proof(token: &AgentToken, side: ProofSide, session_key: &[u8]) -> [u8; PROOF_BYTES] {
    let key = hmac::Key::new(hmac::HMAC_SHA256, token.expose().as_bytes());
    let mut bytes = [0; PROOF_BYTES];
    let tag = hmac::sign(&key, &proved(side, session_key));
    for (to, from) in bytes.iter_mut().zip(tag.as_ref()) {
        *to = *from;
    }
    bytes
}

/// Checks the other side's proof, in constant time.
pub fn check(
    token: &AgentToken,
    side: ProofSide,
    session_key: &[u8],
    greeting: &Greeting,
) -> Result<(), HandshakeError> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, token.expose().as_bytes());
    let is_right = hmac::verify(&key, &proved(side, session_key), &greeting.proof);
    is_right.map_err(|_| HandshakeError::Token)
}

fn proved(side: ProofSide, session_key: &[u8]) -> Vec<u8> {
    let role: &[u8] = match side {
        ProofSide::Lead => b"kgauge lead ",
        ProofSide::Agent => b"kgauge agent ",
    };
    [role, PROTOCOL_VERSION.to_be_bytes().as_slice(), session_key].concat()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn greeting(token: &AgentToken, side: ProofSide, session_key: &[u8]) -> Greeting {
        Greeting {
            version: PROTOCOL_VERSION,
            proof: proof(token, side, session_key),
        }
    }

    fn framed(content: Vec<u8>) -> AgentFrame {
        AgentFrame {
            kind: FrameKind::Greeting,
            content,
        }
    }

    #[test]
    fn only_the_same_token_role_and_session_are_accepted() {
        let (token, other) = (AgentToken::random().unwrap(), AgentToken::random().unwrap());
        let sent = greeting(&token, ProofSide::Agent, b"session");
        let read = Greeting::decode(&framed(sent.encode())).unwrap();
        assert_eq!(read, sent);
        assert_eq!(check(&token, ProofSide::Agent, b"session", &read), Ok(()));
        for (token, side, session) in [
            (&other, ProofSide::Agent, b"session".as_slice()),
            (&token, ProofSide::Lead, b"session"),
            (&token, ProofSide::Agent, b"another"),
        ] {
            let refused = check(token, side, session, &read);
            assert_eq!(refused, Err(HandshakeError::Token));
        }
    }

    #[test]
    fn another_version_is_named_whatever_its_greeting_contains() {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&[0, 9, 1, 2, 3]);
        let error = Greeting::decode(&framed(bytes)).unwrap_err();
        assert_eq!(error, HandshakeError::Version { theirs: 9 });
        assert!(error.to_string().contains("version 9"));
    }

    #[test]
    fn foreign_bytes_and_cut_greetings_are_refused() {
        let token = AgentToken::random().unwrap();
        let whole = greeting(&token, ProofSide::Lead, b"session").encode();
        for end in 0..whole.len() {
            assert!(Greeting::decode(&framed(whole[..end].to_vec())).is_err());
        }
        let message = AgentFrame {
            kind: FrameKind::Message,
            content: whole,
        };
        assert_eq!(Greeting::decode(&message), Err(HandshakeError::Foreign));
    }
}
