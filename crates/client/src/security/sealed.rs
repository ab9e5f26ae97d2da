//! Password-based encryption of keys and stores, as used by keytool and openssl.
//!
//! Both now use PBES2 (RFC 8018, 6.2) with PBKDF2 and AES or triple DES; earlier versions used the schemes of PKCS #12
//! (RFC 7292, appendix B and C) with SHA-1 and triple DES or RC2.

use std::num::NonZeroU32;

use aes::{Aes128, Aes192, Aes256};
use cbc::Decryptor;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockCipherDecrypt, BlockModeDecrypt, KeyInit, KeyIvInit};
use des::TdesEde3;
use rc2::Rc2;
use ring::digest::{self, Algorithm, SHA1_FOR_LEGACY_USE_ONLY};
use ring::pbkdf2;
use zeroize::Zeroizing;

use super::der::{Elements, INTEGER, Malformed, OCTET_STRING, OID, SEQUENCE};

/// A store that requires more iterations would keep a machine busy for seconds. Java has the same limit.
pub(super) const ITERATIONS_MAX: u32 = 5_000_000;

/// Why something was not decrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SealedError {
    Damaged,
    /// The algorithm is unknown.
    Unknown,
    Password,
}

impl From<Malformed> for SealedError {
    fn from(_: Malformed) -> Self {
        Self::Damaged
    }
}

/// 1.2.840.113549.1.5.13
const PBES2: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0d];
/// 1.2.840.113549.1.5.12
const PBKDF2: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0c];
/// 1.2.840.113549.2: HMACs, by a last number.
const HMAC: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x02];
/// 2.16.840.1.101.3.4.1: AES, by a last number.
const AES: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01];
/// 1.2.840.113549.3.7
const DES_EDE3_CBC: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x03, 0x07];
/// 1.2.840.113549.1.12.1: the schemes of PKCS #12, by a last number.
const PKCS12_PBE: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x0c, 0x01];

/// Decrypts `EncryptedPrivateKeyInfo` (RFC 5958): an algorithm and encrypted bytes.
pub(super) fn open_key(bytes: &[u8], password: &str) -> Result<Zeroizing<Vec<u8>>, SealedError> {
    let mut info = Elements::new(bytes).inside(SEQUENCE)?;
    let algorithm = info.inside(SEQUENCE)?;
    open(algorithm, info.take(OCTET_STRING)?, password)
}

/// Decrypts bytes that an `AlgorithmIdentifier` describes.
pub(super) fn open(
    mut algorithm: Elements<'_>,
    sealed: &[u8],
    password: &str,
) -> Result<Zeroizing<Vec<u8>>, SealedError> {
    let scheme = algorithm.take(OID)?;
    let mut parameters = algorithm.inside(SEQUENCE)?;
    if scheme == PBES2 {
        return open_pbes2(parameters, sealed, password);
    }
    let number = scheme
        .strip_prefix(PKCS12_PBE)
        .ok_or(SealedError::Unknown)?;
    let salt = parameters.take(OCTET_STRING)?;
    let iterations = iterations(&mut parameters)?;
    let derive = |purpose, bytes| {
        derive(
            &SHA1_FOR_LEGACY_USE_ONLY,
            purpose,
            (password, salt, iterations),
            bytes,
        )
    };
    let iv = derive(Purpose::Iv, 8);
    match number {
        // SHA-1 and triple DES with three keys.
        [3] => decrypt::<TdesEde3>(&derive(Purpose::Key, 24), &iv, sealed),
        // SHA-1 and RC2 of 128 and 40 bits. The crate's key of n bytes has n times eight effective bits, as here.
        [5] => decrypt::<Rc2>(&derive(Purpose::Key, 16), &iv, sealed),
        [6] => decrypt::<Rc2>(&derive(Purpose::Key, 5), &iv, sealed),
        _ => Err(SealedError::Unknown),
    }
}

fn iterations(parameters: &mut Elements<'_>) -> Result<NonZeroU32, SealedError> {
    let number = NonZeroU32::new(parameters.number()?).ok_or(SealedError::Damaged)?;
    match number.get() {
        ..=ITERATIONS_MAX => Ok(number),
        _ => Err(SealedError::Unknown),
    }
}

fn open_pbes2(
    mut parameters: Elements<'_>,
    sealed: &[u8],
    password: &str,
) -> Result<Zeroizing<Vec<u8>>, SealedError> {
    let mut kdf = parameters.inside(SEQUENCE)?;
    let mut cipher = parameters.inside(SEQUENCE)?;
    if kdf.take(OID)? != PBKDF2 {
        return Err(SealedError::Unknown);
    }
    let mut kdf = kdf.inside(SEQUENCE)?;
    let salt = kdf.take(OCTET_STRING)?;
    let iterations = iterations(&mut kdf)?;
    // The key length, which the cipher also determines.
    kdf.take_if(INTEGER)?;
    let prf = match kdf.take_if(SEQUENCE)? {
        Some(prf) => Elements::new(prf).take(OID)?.strip_prefix(HMAC),
        None => Some(&[7_u8][..]),
    };
    let prf = match prf.ok_or(SealedError::Unknown)? {
        [7] => pbkdf2::PBKDF2_HMAC_SHA1,
        [9] => pbkdf2::PBKDF2_HMAC_SHA256,
        [10] => pbkdf2::PBKDF2_HMAC_SHA384,
        [11] => pbkdf2::PBKDF2_HMAC_SHA512,
        _ => return Err(SealedError::Unknown),
    };
    let name = cipher.take(OID)?;
    let iv = cipher.take(OCTET_STRING)?;
    let key = |bytes: usize| {
        let mut key = Zeroizing::new(vec![0; bytes]);
        pbkdf2::derive(prf, iterations, salt, password.as_bytes(), &mut key);
        key
    };
    if name == DES_EDE3_CBC {
        return decrypt::<TdesEde3>(&key(24), iv, sealed);
    }
    match name.strip_prefix(AES) {
        Some([2]) => decrypt::<Aes128>(&key(16), iv, sealed),
        Some([22]) => decrypt::<Aes192>(&key(24), iv, sealed),
        Some([42]) => decrypt::<Aes256>(&key(32), iv, sealed),
        _ => Err(SealedError::Unknown),
    }
}

/// CBC with the padding of PKCS #7, which is invalid after a wrong password.
fn decrypt<C: BlockCipherDecrypt + KeyInit>(
    key: &[u8],
    iv: &[u8],
    sealed: &[u8],
) -> Result<Zeroizing<Vec<u8>>, SealedError> {
    let mode = Decryptor::<C>::new_from_slices(key, iv).map_err(|_| SealedError::Damaged)?;
    let mut plain = Zeroizing::new(sealed.to_vec());
    let length = mode.decrypt_padded::<Pkcs7>(&mut plain).map(<[u8]>::len);
    plain.truncate(length.map_err(|_| SealedError::Password)?);
    Ok(plain)
}

/// The purpose of derived bytes (RFC 7292, B.3).
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    Key = 1,
    Iv = 2,
    Mac = 3,
}

/// Bytes from a password, as PKCS #12 derives them (RFC 7292, B.2).
pub(super) fn derive(
    hash: &'static Algorithm,
    purpose: Purpose,
    (password, salt, iterations): (&str, &[u8], NonZeroU32),
    bytes: usize,
) -> Zeroizing<Vec<u8>> {
    let block = hash.block_len();
    let password: Zeroizing<Vec<u8>> = Zeroizing::new(
        password
            .encode_utf16()
            .chain([0])
            .flat_map(u16::to_be_bytes)
            .collect(),
    );
    let filled = |text: &[u8]| -> Vec<u8> {
        let length = text.len().div_ceil(block) * block;
        text.iter().copied().cycle().take(length).collect()
    };
    let mut input = Zeroizing::new([filled(salt), filled(&password)].concat());
    let mut derived = Zeroizing::new(Vec::with_capacity(bytes + hash.output_len()));
    loop {
        let mut context = digest::Context::new(hash);
        context.update(&vec![purpose as u8; block]);
        context.update(&input);
        let mut round = context.finish();
        for _ in 1..iterations.get() {
            round = digest::digest(hash, round.as_ref());
        }
        derived.extend_from_slice(round.as_ref());
        if derived.len() >= bytes {
            derived.truncate(bytes);
            return derived;
        }
        let addend: Vec<u8> = round.as_ref().iter().copied().cycle().take(block).collect();
        for piece in input.chunks_mut(block) {
            add_one_more(piece, &addend);
        }
    }
}

/// `piece + addend + 1`, as numbers of that many bytes; overflow is dropped.
fn add_one_more(piece: &mut [u8], addend: &[u8]) {
    let mut carry = 1;
    for (byte, add) in piece.iter_mut().zip(addend).rev() {
        let sum = u16::from(*byte) + u16::from(*add) + carry;
        let [high, low] = sum.to_be_bytes();
        (*byte, carry) = (low, u16::from(high));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn derived(purpose: Purpose, iterations: u32, salt: &[u8], bytes: usize) -> Vec<u8> {
        let iterations = NonZeroU32::new(iterations).unwrap();
        let of = ("smeg", salt, iterations);
        derive(&SHA1_FOR_LEGACY_USE_ONLY, purpose, of, bytes).to_vec()
    }

    fn bytes(hex: &str) -> Vec<u8> {
        let digits = hex.as_bytes().chunks(2);
        digits
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect()
    }

    #[test]
    fn pkcs12_derives_the_known_keys() {
        // The vectors that implementations of PKCS #12 have shared since its first version.
        let salt = bytes("0a58cf64530d823f");
        let key = "8aaae6297b6cb04642ab5b077851284eb7128f1a2a7fbca3";
        assert_eq!(derived(Purpose::Key, 1, &salt, 24), bytes(key));
        assert_eq!(derived(Purpose::Iv, 1, &salt, 8), bytes("79993dfe048d3b76"));
        let salt = bytes("3d83c0e4546ac140");
        let key = "8d967d88f6caa9d714800ab3d48051d63f73a312";
        assert_eq!(derived(Purpose::Mac, 1, &salt, 20), bytes(key));
    }

    #[test]
    fn a_sum_is_carried_through_and_dropped_at_the_end() {
        let mut piece = [0xff, 0xff, 0xfe];
        add_one_more(&mut piece, &[0, 0, 1]);
        assert_eq!(piece, [0, 0, 0]);
    }
}
