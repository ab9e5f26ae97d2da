//! Trust and key stores: PEM, PKCS12 or JKS, distinguished by their content.

use std::path::Path;

use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::pkcs12::Pkcs12;
use super::sealed::SealedError;
use super::{ec_key, jks, pem};

/// No key store is larger; a wrong path may lead to anything.
const STORE_BYTES_MAX: u64 = 16 << 20;

/// The problem, as a clause after the file's name, and the fix.
pub(super) type StoreMistake = (String, &'static str);

/// A key with its certificate chain, its own certificate first.
pub(super) type KeyPair = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// The passwords of a store and of the keys in it.
#[derive(Clone, Copy)]
pub(super) struct Passwords<'a> {
    pub(super) store: Option<&'a str>,
    pub(super) key: Option<&'a str>,
}

enum Kind {
    Pem,
    Jks,
    Pkcs12,
}

/// The bytes of a store or token file.
pub(super) fn read(path: &str) -> Result<Vec<u8>, StoreMistake> {
    const FIX: &str = "correct the path, or make the file readable";
    let path = Path::new(path);
    let unreadable = |error: std::io::Error| (format!("cannot be read: {error}"), FIX);
    let facts = std::fs::metadata(path).map_err(unreadable)?;
    if !facts.is_file() || facts.len() > STORE_BYTES_MAX {
        return Err(("is not a file of at most 16 MiB".to_owned(), FIX));
    }
    std::fs::read(path).map_err(unreadable)
}

fn kind(bytes: &[u8]) -> Result<Kind, StoreMistake> {
    const JCEKS: &[u8] = &[0xce, 0xce, 0xce, 0xce];
    match bytes {
        _ if bytes.starts_with(&jks::MAGIC) => Ok(Kind::Jks),
        _ if bytes.starts_with(JCEKS) => Err((
            "is a JCEKS store, which is not supported".to_owned(),
            "convert it: keytool -importkeystore -deststoretype PKCS12",
        )),
        _ if bytes.windows(11).any(|window| window == b"-----BEGIN ") => Ok(Kind::Pem),
        [0x30, ..] => Ok(Kind::Pkcs12),
        _ => Err((
            "is neither PEM, PKCS12 nor JKS".to_owned(),
            "use a store made by keytool or openssl",
        )),
    }
}

/// The certificates that a store trusts.
pub(super) fn trusted(
    bytes: &[u8],
    password: Option<&str>,
) -> Result<Vec<CertificateDer<'static>>, StoreMistake> {
    let found = match kind(bytes)? {
        Kind::Pem => pem::certificates(bytes)
            .map_err(|what| (what.to_owned(), "write certificates in PEM"))?,
        Kind::Jks => jks::parse(bytes, password)
            .map_err(jks_words)?
            .trusted
            .into_iter()
            .map(CertificateDer::from)
            .collect(),
        Kind::Pkcs12 => {
            let trusted = pkcs12(bytes, password)?.trusted().into_iter();
            trusted.map(CertificateDer::from).collect()
        }
    };
    if found.is_empty() {
        return Err((
            "has no trusted certificate".to_owned(),
            "import the CA: keytool -importcert -alias ca -file ca.pem",
        ));
    }
    Ok(found)
}

/// The key of a store; the first by name, if there are several.
pub(super) fn identity(bytes: &[u8], passwords: Passwords<'_>) -> Result<KeyPair, StoreMistake> {
    let (chain, key) = stored_identity(bytes, passwords)?;
    let key = ec_key::completed(key, chain.first());
    Ok((chain, key))
}

fn stored_identity(bytes: &[u8], passwords: Passwords<'_>) -> Result<KeyPair, StoreMistake> {
    const NONE: (&str, &str) = ("has no private key with its certificate", "add one");
    let none = || (NONE.0.to_owned(), NONE.1);
    match kind(bytes)? {
        Kind::Pem => pem_identity(bytes, bytes, passwords.key.or(passwords.store)),
        Kind::Jks => {
            let store = jks::parse(bytes, passwords.store).map_err(jks_words)?;
            let sealed = store.keys.first().ok_or_else(none)?;
            let password = passwords.key.or(passwords.store).unwrap_or_default();
            let key = sealed.open(password).map_err(|error| match error {
                jks::JksError::Password => (
                    "has a key that its password does not open".to_owned(),
                    "correct ssl.key.password",
                ),
                other => jks_words(other),
            })?;
            let chain = sealed.chain.iter().cloned().map(CertificateDer::from);
            Ok((chain.collect(), key_der(key)?))
        }
        Kind::Pkcs12 => {
            let store = pkcs12(bytes, passwords.store)?;
            let (chain, key) = store.identity().ok_or_else(none)?;
            let chain = chain.into_iter().map(CertificateDer::from);
            Ok((chain.collect(), key_der(key.to_vec())?))
        }
    }
}

/// A key and its chain from the settings or from one PEM file.
pub(super) fn pem_identity(
    key: &[u8],
    chain: &[u8],
    password: Option<&str>,
) -> Result<KeyPair, StoreMistake> {
    const FIX: &str = "write the key (PKCS#8) and its certificates in PEM, and its password as \
                        ssl.key.password";
    let mistake = |what: &str| (what.to_owned(), FIX);
    let certificates = pem::certificates(chain).map_err(mistake)?;
    let key = pem::key(key, password).map_err(mistake)?;
    let key = ec_key::completed(key, certificates.first());
    Ok((certificates, key))
}

fn key_der(bytes: Vec<u8>) -> Result<PrivateKeyDer<'static>, StoreMistake> {
    PrivateKeyDer::try_from(bytes).map_err(|_| {
        (
            "has a key of an unsupported type".to_owned(),
            "use an RSA, EC or Ed25519 key",
        )
    })
}

fn pkcs12(bytes: &[u8], password: Option<&str>) -> Result<Pkcs12, StoreMistake> {
    Pkcs12::parse(bytes, password.unwrap_or_default()).map_err(|error| match error {
        SealedError::Password => (
            "is a PKCS12 store that its password does not open".to_owned(),
            "correct the password",
        ),
        SealedError::Damaged => (
            "is not a complete PKCS12 store".to_owned(),
            "recreate it with keytool or openssl pkcs12",
        ),
        SealedError::Unknown => (
            "is a PKCS12 store with an algorithm that kgauge does not support".to_owned(),
            "convert it: keytool -importkeystore -deststoretype PKCS12",
        ),
    })
}

fn jks_words(error: jks::JksError) -> StoreMistake {
    match error {
        jks::JksError::Password => (
            "is a JKS store that its password does not open".to_owned(),
            "correct the password",
        ),
        jks::JksError::Damaged => (
            "is a damaged JKS store".to_owned(),
            "recreate it with keytool",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CA: &[u8] = include_bytes!("../../tests/stores/ca.pem");
    const TRUST_P12: &[u8] = include_bytes!("../../tests/stores/trust.p12");
    const TRUST_JKS: &[u8] = include_bytes!("../../tests/stores/trust.jks");
    const TRUST_LEGACY_P12: &[u8] = include_bytes!("../../tests/stores/trust-legacy.p12");
    const CLIENT_LEGACY_P12: &[u8] = include_bytes!("../../tests/stores/client-legacy.p12");
    const CLIENT_OPENSSL_P12: &[u8] = include_bytes!("../../tests/stores/client-openssl.p12");
    const CLIENT_P12: &[u8] = include_bytes!("../../tests/stores/client.p12");
    const CLIENT_JKS: &[u8] = include_bytes!("../../tests/stores/client.jks");
    const CLIENT: &[u8] = include_bytes!("../../tests/stores/client.pem");
    const KEY: &[u8] = include_bytes!("../../tests/stores/client-key.pem");
    const KEY_PLAIN: &[u8] = include_bytes!("../../tests/stores/client-plain.pem");

    fn passwords(store: &'static str, key: &'static str) -> Passwords<'static> {
        let given = |text: &'static str| (!text.is_empty()).then_some(text);
        Passwords {
            store: given(store),
            key: given(key),
        }
    }

    #[test]
    fn all_kinds_of_trust_stores_hold_the_same_certificate() {
        let expected = trusted(CA, None).unwrap();
        assert_eq!(expected.len(), 1);
        assert_eq!(trusted(TRUST_P12, Some("store-pass")).unwrap(), expected);
        assert_eq!(trusted(TRUST_JKS, Some("store-pass")).unwrap(), expected);
        let legacy = trusted(TRUST_LEGACY_P12, Some("store-pass")).unwrap();
        assert_eq!(legacy, expected);
        // Without a password, Java does not verify a JKS store.
        assert_eq!(trusted(TRUST_JKS, None).unwrap(), expected);
    }

    #[test]
    fn all_kinds_of_key_stores_hold_the_same_usable_key() {
        let (chain, key) = pem_identity(KEY_PLAIN, CLIENT, None).unwrap();
        for (name, found) in [
            ("pem", pem_identity(KEY, CLIENT, Some("key-pass")).unwrap()),
            (
                "p12",
                identity(CLIENT_P12, passwords("store-pass", "")).unwrap(),
            ),
            (
                "p12 of openssl",
                identity(CLIENT_OPENSSL_P12, passwords("store-pass", "")).unwrap(),
            ),
            (
                "p12 of old",
                identity(CLIENT_LEGACY_P12, passwords("store-pass", "")).unwrap(),
            ),
            (
                "jks",
                identity(CLIENT_JKS, passwords("store-pass", "key-pass")).unwrap(),
            ),
        ] {
            assert_eq!(found.0[0], chain[0], "{name}");
            assert_eq!(found.1, key, "{name}");
            rustls::crypto::ring::sign::any_supported_type(&found.1).expect(name);
        }
    }

    #[test]
    fn a_chain_ends_at_the_authority_and_a_key_store_has_no_trusted_certificates() {
        let (chain, _) = identity(CLIENT_P12, passwords("store-pass", "")).unwrap();
        assert_eq!(chain[1..], trusted(CA, None).unwrap());
        for store in [CLIENT_OPENSSL_P12, CLIENT_LEGACY_P12] {
            let error = trusted(store, Some("store-pass")).unwrap_err();
            assert!(error.0.contains("no trusted certificate"), "{}", error.0);
        }
        let error = identity(TRUST_P12, passwords("store-pass", "")).unwrap_err();
        assert!(error.0.contains("no private key"), "{}", error.0);
    }

    #[test]
    fn wrong_passwords_are_recognised() {
        for error in [
            trusted(TRUST_P12, Some("hunter2")).unwrap_err(),
            trusted(TRUST_JKS, Some("hunter2")).unwrap_err(),
            trusted(TRUST_LEGACY_P12, Some("hunter2")).unwrap_err(),
            identity(CLIENT_P12, passwords("hunter2", "")).unwrap_err(),
            identity(CLIENT_JKS, passwords("store-pass", "hunter2")).unwrap_err(),
            pem_identity(KEY, CLIENT, Some("hunter2")).unwrap_err(),
        ] {
            assert!(error.0.contains("password does not open"), "{}", error.0);
            assert!(!error.0.contains("hunter2"));
        }
    }

    #[test]
    fn cut_stores_are_errors() {
        for whole in [TRUST_P12, TRUST_JKS, CLIENT_JKS, CLIENT_P12] {
            for end in 0..whole.len() {
                assert!(
                    trusted(&whole[..end], Some("store-pass")).is_err(),
                    "at {end}"
                );
                assert!(identity(&whole[..end], passwords("store-pass", "key-pass")).is_err());
            }
        }
    }

    #[test]
    fn flipped_bits_of_a_pkcs12_store_change_nothing_that_is_read() {
        let whole = trusted(TRUST_P12, Some("store-pass")).unwrap();
        for at in (0..TRUST_P12.len()).step_by(11) {
            let mut bytes = TRUST_P12.to_vec();
            bytes[at] ^= 0x81;
            // The HMAC covers only the content; next to it are parameters that nobody reads.
            let found = trusted(&bytes, Some("store-pass"));
            assert!(
                found.is_err() || found.is_ok_and(|found| found == whole),
                "at {at}"
            );
        }
    }

    #[test]
    fn flipped_bits_of_a_jks_store_are_seen() {
        for at in 0..TRUST_JKS.len() {
            let mut bytes = TRUST_JKS.to_vec();
            bytes[at] ^= 0x81;
            assert!(trusted(&bytes, Some("store-pass")).is_err(), "at {at}");
        }
    }
}
