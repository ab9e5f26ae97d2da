//! Java key stores (JKS), as `sun.security.provider.JavaKeyStore` reads and writes them. Brokers of every release read
//! them, so clusters that kgauge starts get this format.

use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA1_OUTPUT_LEN};
use ring::error::Unspecified;
use ring::rand::{SecureRandom, SystemRandom};

use super::der::{Elements, Malformed, OCTET_STRING, OID, SEQUENCE, element};

/// The first four bytes.
pub(super) const MAGIC: [u8; 4] = [0xfe, 0xed, 0xfe, 0xed];

/// Java hashes this between the password and the content.
const WHITENER: &[u8] = b"Mighty Aphrodite";

/// The contents of a store, as DER.
#[derive(Default)]
pub(super) struct Jks {
    pub(super) trusted: Vec<Vec<u8>>,
    pub(super) keys: Vec<SealedKey>,
}

/// A private key under its own password, with its chain.
pub(super) struct SealedKey {
    sealed: Vec<u8>,
    pub(super) chain: Vec<Vec<u8>>,
}

/// Why a store cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JksError {
    Password,
    Damaged,
}

impl From<Malformed> for JksError {
    fn from(_: Malformed) -> Self {
        Self::Damaged
    }
}

/// Reads a store. Without a password its integrity is not verified, as in Java.
pub(super) fn parse(bytes: &[u8], password: Option<&str>) -> Result<Jks, JksError> {
    let body_bytes = bytes
        .len()
        .checked_sub(SHA1_OUTPUT_LEN)
        .ok_or(JksError::Damaged)?;
    let (body, digest) = bytes.split_at(body_bytes);
    let mut store = Jks::default();
    let mut reader = Reader { rest: body };
    if reader.take(4)? != MAGIC {
        return Err(JksError::Damaged);
    }
    let version = reader.u32()?;
    if !(1..=2).contains(&version) {
        return Err(JksError::Damaged);
    }
    for _ in 0..reader.u32()? {
        let tag = reader.u32()?;
        reader.text()?;
        reader.take(8)?;
        match tag {
            1 => {
                let sealed = reader.sized()?.to_vec();
                let mut chain = Vec::new();
                for _ in 0..reader.u32()? {
                    chain.push(reader.certificate(version)?);
                }
                store.keys.push(SealedKey { sealed, chain });
            }
            2 => store.trusted.push(reader.certificate(version)?),
            _ => return Err(JksError::Damaged),
        }
    }
    if !reader.rest.is_empty() {
        return Err(JksError::Damaged);
    }
    if let Some(password) = password
        && sha1(&[&utf16(password), WHITENER, body]) != digest
    {
        return Err(JksError::Password);
    }
    Ok(store)
}

impl SealedKey {
    /// The key as PKCS#8 DER.
    pub(super) fn open(&self, password: &str) -> Result<Vec<u8>, JksError> {
        // EncryptedPrivateKeyInfo: a sequence of an algorithm and an octet string (RFC 5958).
        let mut info = Elements::new(&self.sealed).inside(SEQUENCE)?;
        info.take(SEQUENCE)?;
        let sealed = info.take(OCTET_STRING)?;
        if sealed.len() < 2 * SHA1_OUTPUT_LEN {
            return Err(JksError::Damaged);
        }
        let (salt, rest) = sealed.split_at(SHA1_OUTPUT_LEN);
        let (hidden, check) = rest.split_at(rest.len() - SHA1_OUTPUT_LEN);
        let password = utf16(password);
        let plain = crossed(hidden, salt, &password);
        if sha1(&[&password, &plain]) != check {
            return Err(JksError::Password);
        }
        Ok(plain)
    }
}

/// A store with one key and its certificate chain as DER, its own certificate first. The key has the store's password.
pub fn jks_with_key(
    key_pkcs8: &[u8],
    chain: &[&[u8]],
    password: &str,
) -> Result<Vec<u8>, Unspecified> {
    /// 1.3.6.1.4.1.42.2.17.1.1: Java's key encryption algorithm.
    const JAVA_SEALED: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0x2a, 0x02, 0x11, 0x01, 0x01];
    const NULL: u8 = 0x05;
    let mut salt = [0; SHA1_OUTPUT_LEN];
    SystemRandom::new().fill(&mut salt)?;
    let words = utf16(password);
    let hidden = crossed(key_pkcs8, &salt, &words);
    let check = sha1(&[&words, key_pkcs8]);
    let sealed = element(OCTET_STRING, &[&salt[..], &hidden, &check].concat());
    let algorithm = [element(OID, JAVA_SEALED), element(NULL, &[])].concat();
    let sealed = element(SEQUENCE, &[element(SEQUENCE, &algorithm), sealed].concat());
    let mut entry = entry_of(1);
    put_sized(&mut entry, &sealed);
    put_count(&mut entry, chain.len());
    chain
        .iter()
        .for_each(|der| put_certificate(&mut entry, der));
    Ok(store_of(&entry, password))
}

/// A store that trusts one certificate, given as DER.
#[must_use]
pub fn jks_with_trusted(certificate: &[u8], password: &str) -> Vec<u8> {
    let mut entry = entry_of(2);
    put_certificate(&mut entry, certificate);
    store_of(&entry, password)
}

/// The start of the only entry of a store.
fn entry_of(tag: u32) -> Vec<u8> {
    let mut entry = tag.to_be_bytes().to_vec();
    put_text(&mut entry, "kgauge");
    // The creation time, which nothing reads.
    entry.extend([0; 8]);
    entry
}

fn store_of(entry: &[u8], password: &str) -> Vec<u8> {
    let (version, entries) = (2_u32.to_be_bytes(), 1_u32.to_be_bytes());
    let body = [&MAGIC[..], &version, &entries, entry].concat();
    let digest = sha1(&[&utf16(password), WHITENER, &body]);
    [body, digest].concat()
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
    out.extend(length.to_be_bytes());
    out.extend(text.bytes());
}

fn put_count(out: &mut Vec<u8>, count: usize) {
    out.extend(u32::try_from(count).unwrap_or(u32::MAX).to_be_bytes());
}

fn put_sized(out: &mut Vec<u8>, bytes: &[u8]) {
    put_count(out, bytes.len());
    out.extend(bytes);
}

fn put_certificate(out: &mut Vec<u8>, der: &[u8]) {
    put_text(out, "X.509");
    put_sized(out, der);
}

/// Encrypts or decrypts a key with a stream of hashes.
fn crossed(bytes: &[u8], salt: &[u8], password: &[u8]) -> Vec<u8> {
    let mut pad = salt.to_vec();
    let mut crossed = Vec::with_capacity(bytes.len());
    for piece in bytes.chunks(SHA1_OUTPUT_LEN) {
        pad = sha1(&[password, &pad]);
        crossed.extend(piece.iter().zip(&pad).map(|(byte, pad)| byte ^ pad));
    }
    crossed
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_be_bytes).collect()
}

fn sha1(parts: &[&[u8]]) -> Vec<u8> {
    let mut context = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    parts.iter().for_each(|part| context.update(part));
    context.finish().as_ref().to_vec()
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> Result<&'a [u8], JksError> {
        let (taken, rest) = self.rest.split_at_checked(bytes).ok_or(JksError::Damaged)?;
        self.rest = rest;
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32, JksError> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn text(&mut self) -> Result<&'a [u8], JksError> {
        let bytes = self.take(2)?;
        self.take(usize::from(u16::from_be_bytes([bytes[0], bytes[1]])))
    }

    fn sized(&mut self) -> Result<&'a [u8], JksError> {
        let bytes = usize::try_from(self.u32()?).map_err(|_| JksError::Damaged)?;
        self.take(bytes)
    }

    fn certificate(&mut self, version: u32) -> Result<Vec<u8>, JksError> {
        if version == 2 && self.text()? != b"X.509" {
            return Err(JksError::Damaged);
        }
        Ok(self.sized()?.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let key = vec![0x5a; 137];
        let chain: [&[u8]; 2] = [b"own", b"authority"];
        let bytes = jks_with_key(&key, &chain, "secret").unwrap();
        let store = parse(&bytes, Some("secret")).unwrap();
        assert_eq!(store.keys[0].chain, chain);
        assert_eq!(store.keys[0].open("secret"), Ok(key));
        assert_eq!(store.keys[0].open("other"), Err(JksError::Password));
        let bytes = jks_with_trusted(b"authority", "secret");
        assert_eq!(
            parse(&bytes, Some("secret")).unwrap().trusted,
            [b"authority"]
        );
        assert!(parse(&bytes, Some("other")).is_err());
    }
}
