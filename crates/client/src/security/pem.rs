//! Certificates and keys in PEM, including encrypted keys (PKCS#8, PBES2).

use rustls::pki_types::pem::{PemObject, SectionKind};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::sealed::{self, SealedError};

/// All certificates of a text.
pub(super) fn certificates(text: &[u8]) -> Result<Vec<CertificateDer<'static>>, &'static str> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err("has no PEM CERTIFICATE"),
        Err(_) => Err("is malformed PEM"),
    }
}

/// The first private key of a text.
pub(super) fn key(
    text: &[u8],
    password: Option<&str>,
) -> Result<PrivateKeyDer<'static>, &'static str> {
    const SEALED: &[u8] = b"-----BEGIN ENCRYPTED PRIVATE KEY-----";
    if !text.windows(SEALED.len()).any(|window| window == SEALED) {
        return PrivateKeyDer::from_pem_slice(text).map_err(|_| "has no readable PEM PRIVATE KEY");
    }
    let password = password.ok_or("has an encrypted key, but its password is not set")?;
    // rustls does not know this label: relabelled, the DER is returned undecoded.
    let relabelled = String::from_utf8_lossy(text)
        .replace("BEGIN ENCRYPTED PRIVATE KEY", "BEGIN PRIVATE KEY")
        .replace("END ENCRYPTED PRIVATE KEY", "END PRIVATE KEY");
    let mut sections =
        <(SectionKind, Vec<u8>) as PemObject>::pem_slice_iter(relabelled.as_bytes()).flatten();
    let (_, der) = sections
        .find(|(kind, _)| *kind == SectionKind::PrivateKey)
        .ok_or("is malformed PEM")?;
    let opened = sealed::open_key(&der, password).map_err(|error| match error {
        SealedError::Damaged => "has a damaged encrypted key",
        SealedError::Unknown => {
            "has an encrypted key in an unsupported format (only PKCS#8 with PBES2 is supported)"
        }
        SealedError::Password => "has a key that its password does not open",
    })?;
    PrivateKeyDer::try_from(opened.to_vec()).map_err(|_| "has a key of an unsupported type")
}
