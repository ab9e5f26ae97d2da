//! EC keys as Java writes them: PKCS#8 without the public key, which `ring` requires.

use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::ParsedCertificate;

use super::der::{BIT_STRING, EXPLICIT_1, Elements, INTEGER, OCTET_STRING, SEQUENCE, element};

/// The key, completed with the public key of its certificate if it lacks one.
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
    let mut info = Elements::new(key.secret_pkcs8_der())
        .inside(SEQUENCE)
        .ok()?;
    info.take(INTEGER).ok()?;
    let algorithm = info.take(SEQUENCE).ok()?;
    let inner = info.take(OCTET_STRING).ok()?;
    let mut inner = Elements::new(inner).inside(SEQUENCE).ok()?;
    inner.take(INTEGER).ok()?;
    let private = inner.take(OCTET_STRING).ok()?;
    let parsed = ParsedCertificate::try_from(certificate).ok()?;
    let public_info = parsed.subject_public_key_info();
    let mut public_info = Elements::new(&public_info).inside(SEQUENCE).ok()?;
    public_info.take(SEQUENCE).ok()?;
    let public = public_info.take(BIT_STRING).ok()?;
    let version = [0x02, 1, 1];
    let public = element(EXPLICIT_1, &element(BIT_STRING, public));
    let inner = [&version, element(OCTET_STRING, private).as_slice(), &public].concat();
    let inner = element(OCTET_STRING, &element(SEQUENCE, &inner));
    let whole = [
        &[0x02, 1, 0],
        element(SEQUENCE, algorithm).as_slice(),
        &inner,
    ]
    .concat();
    Some(element(SEQUENCE, &whole))
}
