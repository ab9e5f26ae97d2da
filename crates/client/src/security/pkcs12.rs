//! PKCS #12 stores (RFC 7292), as keytool and openssl write them.
//!
//! Reads certificates and private keys with one password; CRLs and secrets are skipped. Trusted certificates are those
//! that Java trusts: the ones with its own attribute. An HMAC protects the whole store and is verified first.

use std::num::NonZeroU32;

use ring::digest::{Algorithm, SHA1_FOR_LEGACY_USE_ONLY, SHA256, SHA384, SHA512};
use ring::hmac;
use zeroize::Zeroizing;

use super::der::{
    BMP_STRING, EXPLICIT_0, Elements, IMPLICIT_0, INTEGER, Malformed, OCTET_STRING, OID, SEQUENCE,
    SET,
};
use super::sealed::{self, Purpose, SealedError};

/// The contents of a store, in order.
#[derive(Default)]
pub(super) struct Pkcs12 {
    certificates: Vec<Certificate>,
    keys: Vec<Key>,
}

/// A certificate as DER.
struct Certificate {
    der: Vec<u8>,
    local_id: Option<Vec<u8>>,
    is_trusted: bool,
}

struct Key {
    /// PKCS #8.
    der: Zeroizing<Vec<u8>>,
    local_id: Option<Vec<u8>>,
    /// Its alias.
    name: Option<String>,
}

/// A certificate's names, as DER.
#[derive(PartialEq, Eq)]
struct Names<'a> {
    issuer: &'a [u8],
    subject: &'a [u8],
}

/// 1.2.840.113549.1.7: content types, by last number.
const CONTENT: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07];
const DATA: &[u8] = &[1];
const ENCRYPTED_DATA: &[u8] = &[6];
/// 1.2.840.113549.1.12.10.1: bag types, by last number.
const BAG: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x0c, 0x0a, 0x01];
const KEY_BAG: &[u8] = &[1];
const SEALED_KEY_BAG: &[u8] = &[2];
const CERTIFICATE_BAG: &[u8] = &[3];
const NESTED_BAG: &[u8] = &[6];
/// 1.2.840.113549.1.9: attributes and certificate types, by last number.
const PKCS9: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09];
const X509: &[u8] = &[22, 1];
const FRIENDLY_NAME: &[u8] = &[20];
const LOCAL_KEY_ID: &[u8] = &[21];
/// 2.16.840.1.113894.746875.1.1: Java's attribute of trusted certificates.
const JAVA_TRUSTS: &[u8] = &[
    0x60, 0x86, 0x48, 0x01, 0x86, 0xf9, 0x66, 0xad, 0xca, 0x7b, 0x01, 0x01,
];
/// Nested bags are allowed; in practice they have one level.
const DEPTH_MAX: usize = 4;

/// A certificate chain as DER, the own certificate first, and its key as PKCS #8.
pub(super) type StoredKey = (Vec<Vec<u8>>, Zeroizing<Vec<u8>>);

impl Pkcs12 {
    /// Reads a store. Without an HMAC its integrity is not verified.
    pub(super) fn parse(bytes: &[u8], password: &str) -> Result<Self, SealedError> {
        let mut outer = Elements::new(bytes);
        let mut store = outer.inside(SEQUENCE)?;
        if !outer.is_empty() || store.number()? != 3 {
            return Err(SealedError::Damaged);
        }
        let mut content = store.inside(SEQUENCE)?;
        if kind(content.take(OID)?, CONTENT) != Some(DATA) {
            // Protected by a signature instead of a password.
            return Err(SealedError::Unknown);
        }
        let safe = content.inside(EXPLICIT_0)?.take(OCTET_STRING)?;
        if let Some(seal) = store.take_if(SEQUENCE)? {
            check_seal(Elements::new(seal), safe, password)?;
        }
        let mut found = Self::default();
        let mut contents = Elements::new(safe).inside(SEQUENCE)?;
        while !contents.is_empty() {
            found.read_content(contents.inside(SEQUENCE)?, password)?;
        }
        Ok(found)
    }

    fn read_content(
        &mut self,
        mut content: Elements<'_>,
        password: &str,
    ) -> Result<(), SealedError> {
        let kind = kind(content.take(OID)?, CONTENT);
        let mut inside = content.inside(EXPLICIT_0)?;
        if kind == Some(DATA) {
            return self.read_bags(inside.take(OCTET_STRING)?, password, 0);
        }
        if kind != Some(ENCRYPTED_DATA) {
            return Err(SealedError::Unknown);
        }
        let mut encrypted = inside.inside(SEQUENCE)?;
        encrypted.take(INTEGER)?;
        let mut encrypted = encrypted.inside(SEQUENCE)?;
        encrypted.take(OID)?;
        let algorithm = encrypted.inside(SEQUENCE)?;
        let bags = sealed::open(algorithm, encrypted.take(IMPLICIT_0)?, password)?;
        self.read_bags(&bags, password, 0)
    }

    fn read_bags(&mut self, bags: &[u8], password: &str, depth: usize) -> Result<(), SealedError> {
        if depth > DEPTH_MAX {
            return Err(SealedError::Damaged);
        }
        let mut bags = Elements::new(bags).inside(SEQUENCE)?;
        while !bags.is_empty() {
            let mut bag = bags.inside(SEQUENCE)?;
            let kind = kind(bag.take(OID)?, BAG);
            let value = bag.take(EXPLICIT_0)?;
            let attributes = Attributes::read(bag)?;
            match kind {
                Some(KEY_BAG) => self
                    .keys
                    .push(attributes.key(Zeroizing::new(value.to_vec()))),
                Some(SEALED_KEY_BAG) => {
                    let key = sealed::open_key(value, password)?;
                    self.keys.push(attributes.key(key));
                }
                Some(CERTIFICATE_BAG) => {
                    let mut certificate = Elements::new(value).inside(SEQUENCE)?;
                    if self::kind(certificate.take(OID)?, PKCS9) != Some(X509) {
                        return Err(SealedError::Unknown);
                    }
                    let der = certificate.inside(EXPLICIT_0)?.take(OCTET_STRING)?;
                    names(der)?;
                    self.certificates.push(Certificate {
                        der: der.to_vec(),
                        local_id: attributes.local_id,
                        is_trusted: attributes.is_trusted,
                    });
                }
                Some(NESTED_BAG) => self.read_bags(value, password, depth + 1)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The certificates that Java trusts, as DER.
    pub(super) fn trusted(self) -> Vec<Vec<u8>> {
        let trusted = self.certificates.into_iter();
        let trusted = trusted.filter(|one| one.is_trusted && one.local_id.is_none());
        trusted.map(|one| one.der).collect()
    }

    /// The first key by alias that has a certificate: its chain, its own certificate first, and the key as PKCS #8.
    pub(super) fn identity(mut self) -> Option<StoredKey> {
        self.keys.sort_by(|a, b| a.name.cmp(&b.name));
        let own_of = |key: &Key| {
            let of_key =
                |one: &&Certificate| key.local_id.is_some() && one.local_id == key.local_id;
            self.certificates.iter().find(of_key)
        };
        let (own, place) = self
            .keys
            .iter()
            .enumerate()
            .find_map(|(place, key)| Some((own_of(key)?, place)))?;
        let chain = self.chain(own);
        Some((chain, self.keys.swap_remove(place).der))
    }

    /// A certificate, its issuer, the issuer's issuer, and so on as far as the store has them.
    fn chain(&self, own: &Certificate) -> Vec<Vec<u8>> {
        let mut chain = vec![own.der.clone()];
        while let Some(Ok(last)) = chain.last().map(|der| names(der)) {
            if last.issuer == last.subject {
                break;
            }
            let issued = |one: &&Certificate| {
                !one.is_trusted && names(&one.der).is_ok_and(|of| of.subject == last.issuer)
            };
            match self.certificates.iter().find(issued) {
                Some(issuer) if !chain.contains(&issuer.der) => chain.push(issuer.der.clone()),
                _ => break,
            }
        }
        chain
    }
}

/// The attributes of a bag.
#[derive(Default)]
struct Attributes {
    local_id: Option<Vec<u8>>,
    name: Option<String>,
    is_trusted: bool,
}

impl Attributes {
    fn read(mut bag: Elements<'_>) -> Result<Self, Malformed> {
        let mut found = Self::default();
        let mut attributes = match bag.take_if(SET)? {
            Some(attributes) => Elements::new(attributes),
            None => return Ok(found),
        };
        while !attributes.is_empty() {
            let mut attribute = attributes.inside(SEQUENCE)?;
            let name = attribute.take(OID)?;
            let mut values = attribute.inside(SET)?;
            match kind(name, PKCS9) {
                Some(FRIENDLY_NAME) => {
                    let units = values.take(BMP_STRING)?.chunks_exact(2);
                    let units: Vec<u16> =
                        units.map(|it| u16::from_be_bytes([it[0], it[1]])).collect();
                    found.name = Some(String::from_utf16_lossy(&units));
                }
                Some(LOCAL_KEY_ID) => found.local_id = Some(values.take(OCTET_STRING)?.to_vec()),
                _ => found.is_trusted |= name == JAVA_TRUSTS,
            }
        }
        Ok(found)
    }

    fn key(self, der: Zeroizing<Vec<u8>>) -> Key {
        Key {
            der,
            local_id: self.local_id,
            name: self.name,
        }
    }
}

/// The rest of an object identifier after a prefix.
fn kind<'a>(oid: &'a [u8], of: &[u8]) -> Option<&'a [u8]> {
    oid.strip_prefix(of)
}

/// Verifies the HMAC (RFC 7292, 4) with a key derived from the password.
fn check_seal(mut seal: Elements<'_>, content: &[u8], password: &str) -> Result<(), SealedError> {
    let mut digest = seal.inside(SEQUENCE)?;
    let hash = digest.inside(SEQUENCE)?.take(OID)?;
    let expected = digest.take(OCTET_STRING)?;
    let salt = seal.take(OCTET_STRING)?;
    let iterations = if seal.is_empty() { 1 } else { seal.number()? };
    let (hash, mac) = hashes(hash).ok_or(SealedError::Unknown)?;
    let iterations = NonZeroU32::new(iterations).ok_or(SealedError::Damaged)?;
    if iterations.get() > sealed::ITERATIONS_MAX {
        return Err(SealedError::Unknown);
    }
    let key = sealed::derive(
        hash,
        Purpose::Mac,
        (password, salt, iterations),
        hash.output_len(),
    );
    let key = hmac::Key::new(mac, &key);
    hmac::verify(&key, content, expected).map_err(|_| SealedError::Password)
}

fn hashes(oid: &[u8]) -> Option<(&'static Algorithm, hmac::Algorithm)> {
    /// 1.3.14.3.2.26
    const SHA1_OID: &[u8] = &[0x2b, 0x0e, 0x03, 0x02, 0x1a];
    /// 2.16.840.1.101.3.4.2: SHA-2, by last number.
    const SHA2: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02];
    if oid == SHA1_OID {
        return Some((
            &SHA1_FOR_LEGACY_USE_ONLY,
            hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
        ));
    }
    match oid.strip_prefix(SHA2)? {
        [1] => Some((&SHA256, hmac::HMAC_SHA256)),
        [2] => Some((&SHA384, hmac::HMAC_SHA384)),
        [3] => Some((&SHA512, hmac::HMAC_SHA512)),
        _ => None,
    }
}

/// Issuer and subject of a certificate (RFC 5280, 4.1).
fn names(certificate: &[u8]) -> Result<Names<'_>, Malformed> {
    let mut body = Elements::new(certificate)
        .inside(SEQUENCE)?
        .inside(SEQUENCE)?;
    body.take_if(EXPLICIT_0)?;
    body.take(INTEGER)?;
    body.take(SEQUENCE)?;
    let issuer = body.take(SEQUENCE)?;
    body.take(SEQUENCE)?;
    let subject = body.take(SEQUENCE)?;
    Ok(Names { issuer, subject })
}
