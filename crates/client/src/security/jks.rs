//! Java's own key stores (JKS), as `sun.security.provider.JavaKeyStore` writes them.

use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA1_OUTPUT_LEN};

/// The first four bytes.
pub(super) const MAGIC: [u8; 4] = [0xfe, 0xed, 0xfe, 0xed];

/// Java hashes this between the password and the content.
const WHITENER: &[u8] = b"Mighty Aphrodite";

/// What a store holds, as DER.
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

/// Reads a store. Without a password its integrity is not checked, as in Java.
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
        let (outer, _) = der(&self.sealed, 0x30)?;
        let (_, rest) = der(outer, 0x30)?;
        let (sealed, _) = der(rest, 0x04)?;
        if sealed.len() < 2 * SHA1_OUTPUT_LEN {
            return Err(JksError::Damaged);
        }
        let (salt, rest) = sealed.split_at(SHA1_OUTPUT_LEN);
        let (hidden, check) = rest.split_at(rest.len() - SHA1_OUTPUT_LEN);
        let password = utf16(password);
        let mut pad = salt.to_vec();
        let mut plain = Vec::with_capacity(hidden.len());
        for piece in hidden.chunks(SHA1_OUTPUT_LEN) {
            pad = sha1(&[&password, &pad]);
            plain.extend(piece.iter().zip(&pad).map(|(byte, pad)| byte ^ pad));
        }
        if sha1(&[&password, &plain]) != check {
            return Err(JksError::Password);
        }
        Ok(plain)
    }
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_be_bytes).collect()
}

fn sha1(parts: &[&[u8]]) -> Vec<u8> {
    let mut context = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    parts.iter().for_each(|part| context.update(part));
    context.finish().as_ref().to_vec()
}

/// Content and rest of one DER element of this tag.
pub(super) fn der(bytes: &[u8], tag: u8) -> Result<(&[u8], &[u8]), JksError> {
    let mut reader = Reader { rest: bytes };
    if reader.take(1)? != [tag] {
        return Err(JksError::Damaged);
    }
    let first = reader.take(1)?[0];
    let length = if first < 0x80 {
        usize::from(first)
    } else {
        let count = usize::from(first & 0x7f);
        if count > 4 {
            return Err(JksError::Damaged);
        }
        let digits = reader.take(count)?;
        digits
            .iter()
            .fold(0, |length, &digit| length << 8 | usize::from(digit))
    };
    let content = reader.take(length)?;
    Ok((content, reader.rest))
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
