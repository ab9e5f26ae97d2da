//! EC keys as Java writes them: PKCS#8 without the public half, which `ring` wants to check against.

use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::ParsedCertificate;

use super::jks::der;

/// The key, with its certificate's public half put in where it lacks one.
pub(super) fn completed(
    key: PrivateKeyDer<'static>,
    certificate: Option<&CertificateDer<'_>>,
) -> PrivateKeyDer<'static> {
    if rustls::crypto::ring::sign::any_supported_type(&key).is_ok() {
        return key;
    }
    match certificate.and_then(|certificate| complete(&key, certificate)) {
        Some(whole) => PrivatePkcs8KeyDer::from(whole).into(),
        None => key,
    }
}

/// RFC 5958 around RFC 5915: `{0, {ecPublicKey, curve}, {1, private, [1] public}}`.
fn complete(key: &PrivateKeyDer<'_>, certificate: &CertificateDer<'_>) -> Option<Vec<u8>> {
    let PrivateKeyDer::Pkcs8(key) = key else {
        return None;
    };
    let (body, _) = der(key.secret_pkcs8_der(), 0x30).ok()?;
    let (_, rest) = der(body, 0x02).ok()?;
    let (algorithm, rest) = der(rest, 0x30).ok()?;
    let (inner, _) = der(rest, 0x04).ok()?;
    let (inner, _) = der(inner, 0x30).ok()?;
    let (_, rest) = der(inner, 0x02).ok()?;
    let (private, _) = der(rest, 0x04).ok()?;
    let parsed = ParsedCertificate::try_from(certificate).ok()?;
    let public_info = parsed.subject_public_key_info();
    let (info, _) = der(&public_info, 0x30).ok()?;
    let (_, rest) = der(info, 0x30).ok()?;
    let (public, _) = der(rest, 0x03).ok()?;
    let version = [0x02, 1, 1];
    let public = element(0xa1, &element(0x03, public));
    let inner = [&version, element(0x04, private).as_slice(), &public].concat();
    let inner = element(0x04, &element(0x30, &inner));
    let whole = [&[0x02, 1, 0], element(0x30, algorithm).as_slice(), &inner].concat();
    Some(element(0x30, &whole))
}

fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    let length = content.len();
    match u8::try_from(length) {
        Ok(short @ 0..=0x7f) => out.push(short),
        Ok(byte) => out.extend([0x81, byte]),
        Err(_) => {
            let [.., high, low] = length.to_be_bytes();
            out.extend([0x82, high, low]);
        }
    }
    out.extend_from_slice(content);
    out
}
