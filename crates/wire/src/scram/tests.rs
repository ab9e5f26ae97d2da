//! Known answers of both sides.

use std::num::NonZeroU32;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::{digest, hmac, pbkdf2};

use super::*;

const ROUNDS: NonZeroU32 = NonZeroU32::new(4096).unwrap();

/// An example of an RFC: user `user`, password `pencil`.
struct Example {
    hashes: Hashes,
    salt: &'static str,
    client_first: &'static str,
    server_nonce: &'static str,
    server_first: &'static str,
    client_final: &'static str,
    server_final: &'static str,
}

impl Example {
    fn begin(&self) -> Result<(ScramServer, String), ScramRefusal> {
        let salt = STANDARD.decode(self.salt).unwrap();
        let credential = self.hashes.credential(b"pencil", &salt, ROUNDS);
        let known = |user: &str| (user == "user").then(|| Arc::new(credential));
        let message = self.client_first.as_bytes();
        ScramServer::begin_with(self.hashes, message, self.server_nonce, known)
    }

    fn holds(&self) {
        let (exchange, server_first) = self.begin().ok().unwrap();
        assert_eq!(server_first, self.server_first);
        let (user, proof) = exchange.finish(self.client_final.as_bytes()).unwrap();
        assert_eq!((&*user, &*proof), ("user", self.server_final));
    }
}

#[test]
fn the_example_of_rfc_5802_section_5_holds() {
    Example {
        hashes: Hashes {
            pbkdf2: pbkdf2::PBKDF2_HMAC_SHA1,
            hmac: hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            digest: &digest::SHA1_FOR_LEGACY_USE_ONLY,
        },
        salt: "QSXCR+Q6sek8bf92",
        client_first: "n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL",
        server_nonce: "3rfcNHYJY1ZVvWVs7j",
        server_first: "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,\
                       s=QSXCR+Q6sek8bf92,i=4096",
        client_final: "c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,\
                       p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
        server_final: "v=rmF9pqV8S7suAoZWja4dJRkFsKQ=",
    }
    .holds();
}

fn rfc_7677() -> Example {
    Example {
        hashes: ScramMechanism::Sha256.hashes(),
        salt: "W22ZaJ0SNY7soEsUEjb6gQ==",
        client_first: "n,,n=user,r=rOprNGfwEbeRWgbNEkqO",
        server_nonce: "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0",
        server_first: "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                       s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
        client_final: "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                       p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
        server_final: "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
    }
}

#[test]
fn the_example_of_rfc_7677_section_3_holds() {
    rfc_7677().holds();
}

#[test]
fn a_final_message_that_differs_in_any_byte_is_refused() {
    let example = rfc_7677();
    for place in 0..example.client_final.len() {
        let mut message = example.client_final.as_bytes().to_vec();
        // Another letter of base 64, and of a nonce.
        message[place] = if message[place] == b'A' { b'B' } else { b'A' };
        let (exchange, _) = example.begin().ok().unwrap();
        assert_eq!(
            exchange.finish(&message),
            Err(ScramRefusal::Unexplained),
            "{place}"
        );
        let (exchange, _) = example.begin().ok().unwrap();
        let cut = &example.client_final.as_bytes()[..place];
        assert_eq!(
            exchange.finish(cut),
            Err(ScramRefusal::Unexplained),
            "{place}"
        );
    }
}

/// The client of [`rfc_7677`].
fn client() -> ScramClient<'static> {
    let nonce = "rOprNGfwEbeRWgbNEkqO".to_owned();
    ScramClient::new(ScramMechanism::Sha256, "user", "pencil", nonce, false)
}

#[test]
fn the_client_sends_the_messages_of_rfc_7677_and_accepts_the_proof() {
    let (example, mut client) = (rfc_7677(), client());
    assert_eq!(client.first(), example.client_first);
    let last = client.last(example.server_first.as_bytes()).unwrap();
    assert_eq!(last, example.client_final);
    assert_eq!(client.check(example.server_final.as_bytes()), Ok(()));
}

#[test]
fn a_server_that_does_not_know_the_password_is_refused() {
    let (example, mut scram) = (rfc_7677(), client());
    scram.last(example.server_first.as_bytes()).unwrap();
    let wrong = example.server_final.replace("v=6", "v=7");
    assert_eq!(scram.check(wrong.as_bytes()), Err(ScramError::ServerProof));
    assert_eq!(scram.check(b"v="), Err(ScramError::ServerProof));
    assert_eq!(scram.check(b"e=other-error"), Err(ScramError::Refused));
    assert_eq!(client().check(b"v="), Err(ScramError::ServerProof));
}

#[test]
fn weak_or_endless_rounds_and_foreign_nonces_are_refused() {
    let last = |from: &str, to: &str| {
        let server_first = rfc_7677().server_first.replace(from, to);
        client().last(server_first.as_bytes())
    };
    assert_eq!(last("i=4096", "i=1"), Err(ScramError::Rounds(1)));
    let endless = ScramError::Rounds(u32::MAX);
    assert_eq!(last("i=4096", "i=4294967295"), Err(endless));
    assert_eq!(last("r=rO", "r=xO"), Err(ScramError::Malformed));
}

#[test]
fn commas_and_equals_signs_in_names_are_escaped() {
    let scram = ScramClient::new(ScramMechanism::Sha512, "a=b,c", "p", "x".to_owned(), false);
    assert_eq!(scram.first(), "n,,n=a=3Db=2Cc,r=x");
}
