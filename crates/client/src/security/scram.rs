//! SCRAM (RFC 5802) with SHA-256 (RFC 7677) or SHA-512: the client's side, the server's proof checked.

use std::num::NonZeroU32;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::{digest, hmac, pbkdf2};

/// Kafka's own least number of rounds (`ScramMechanism.minIterations`).
const ROUNDS_MIN: u32 = 4096;

/// More would be a minute of work: a broker's mistake, or an attack on its clients.
const ROUNDS_MAX: u32 = 10_000_000;

/// Which hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hash {
    Sha256,
    Sha512,
}

/// Why the exchange cannot go on; never with a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScramError {
    /// An answer that breaks the rules.
    Malformed,
    /// Fewer rounds than Kafka allows, or far too many.
    Rounds(u32),
    /// The server does not know the password itself.
    ServerProof,
    /// The server says `e=`.
    Refused,
}

/// One exchange.
pub(super) struct Scram<'a> {
    hash: Hash,
    password: &'a str,
    nonce: String,
    first_bare: String,
    server_signature: Vec<u8>,
}

impl<'a> Scram<'a> {
    /// `nonce` must be new and unguessable.
    pub(super) fn new(
        hash: Hash,
        username: &str,
        password: &'a str,
        nonce: String,
        is_delegation_token: bool,
    ) -> Scram<'a> {
        // As Kafka's ScramFormatter: UTF-8 as it is, without SASLprep.
        let name = username.replace('=', "=3D").replace(',', "=2C");
        let extension = if is_delegation_token {
            ",tokenauth=true"
        } else {
            ""
        };
        Scram {
            hash,
            password,
            first_bare: format!("n={name},r={nonce}{extension}"),
            nonce,
            server_signature: Vec::new(),
        }
    }

    /// The client's first message.
    pub(super) fn first(&self) -> String {
        format!("n,,{}", self.first_bare)
    }

    /// The client's final message, from the server's first.
    pub(super) fn last(&mut self, server_first: &[u8]) -> Result<String, ScramError> {
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
        if !(ROUNDS_MIN..=ROUNDS_MAX).contains(&rounds) {
            return Err(ScramError::Rounds(rounds));
        }
        let salted = self.salted(&salt, rounds)?;
        let key = hmac::Key::new(self.hmac(), &salted);
        let client_key = hmac::sign(&key, b"Client Key");
        let stored_key = digest::digest(self.digest(), client_key.as_ref());
        // biws is base64 of the header n,,
        let without_proof = format!("c=biws,r={nonce}");
        let message = format!("{},{text},{without_proof}", self.first_bare);
        let stored_key = hmac::Key::new(self.hmac(), stored_key.as_ref());
        let signature = hmac::sign(&stored_key, message.as_bytes());
        let proof: Vec<u8> = (client_key.as_ref().iter().zip(signature.as_ref()))
            .map(|(key, signature)| key ^ signature)
            .collect();
        let server_key = hmac::sign(&key, b"Server Key");
        let server_key = hmac::Key::new(self.hmac(), server_key.as_ref());
        self.server_signature = hmac::sign(&server_key, message.as_bytes())
            .as_ref()
            .to_vec();
        Ok(format!("{without_proof},p={}", STANDARD.encode(proof)))
    }

    /// Checks that the server knows the password too.
    pub(super) fn check(&self, server_last: &[u8]) -> Result<(), ScramError> {
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

    fn salted(&self, salt: &[u8], rounds: u32) -> Result<Vec<u8>, ScramError> {
        let rounds = NonZeroU32::new(rounds).ok_or(ScramError::Malformed)?;
        let (algorithm, bytes) = match self.hash {
            Hash::Sha256 => (pbkdf2::PBKDF2_HMAC_SHA256, 32),
            Hash::Sha512 => (pbkdf2::PBKDF2_HMAC_SHA512, 64),
        };
        let mut salted = vec![0; bytes];
        pbkdf2::derive(
            algorithm,
            rounds,
            salt,
            self.password.as_bytes(),
            &mut salted,
        );
        Ok(salted)
    }

    fn hmac(&self) -> hmac::Algorithm {
        match self.hash {
            Hash::Sha256 => hmac::HMAC_SHA256,
            Hash::Sha512 => hmac::HMAC_SHA512,
        }
    }

    fn digest(&self) -> &'static digest::Algorithm {
        match self.hash {
            Hash::Sha256 => &digest::SHA256,
            Hash::Sha512 => &digest::SHA512,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7677, section 3.
    const SERVER_FIRST: &str = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                                s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
    const SERVER_LAST: &str = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

    fn rfc() -> Scram<'static> {
        let nonce = "rOprNGfwEbeRWgbNEkqO".to_owned();
        Scram::new(Hash::Sha256, "user", "pencil", nonce, false)
    }

    #[test]
    fn the_exchange_of_rfc_7677_is_repeated() {
        let mut scram = rfc();
        assert_eq!(scram.first(), "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
        assert_eq!(
            scram.last(SERVER_FIRST.as_bytes()).unwrap(),
            "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
             p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
        );
        assert_eq!(scram.check(SERVER_LAST.as_bytes()), Ok(()));
    }

    #[test]
    fn a_server_that_does_not_know_the_password_is_refused() {
        let mut scram = rfc();
        scram.last(SERVER_FIRST.as_bytes()).unwrap();
        let wrong = SERVER_LAST.replace("v=6", "v=7");
        assert_eq!(scram.check(wrong.as_bytes()), Err(ScramError::ServerProof));
        assert_eq!(scram.check(b"v="), Err(ScramError::ServerProof));
        assert_eq!(scram.check(b"e=other-error"), Err(ScramError::Refused));
        assert_eq!(rfc().check(b"v="), Err(ScramError::ServerProof));
    }

    #[test]
    fn weak_or_endless_rounds_and_foreign_nonces_are_refused() {
        let answer = |from: &str, to: &str| rfc().last(SERVER_FIRST.replace(from, to).as_bytes());
        assert_eq!(answer("i=4096", "i=1"), Err(ScramError::Rounds(1)));
        let endless = ScramError::Rounds(u32::MAX);
        assert_eq!(answer("i=4096", "i=4294967295"), Err(endless));
        assert_eq!(answer("r=rO", "r=xO"), Err(ScramError::Malformed));
    }

    #[test]
    fn commas_and_equals_signs_in_names_are_escaped() {
        let scram = Scram::new(Hash::Sha512, "a=b,c", "p", "x".to_owned(), false);
        assert_eq!(scram.first(), "n,,n=a=3Db=2Cc,r=x");
    }
}
