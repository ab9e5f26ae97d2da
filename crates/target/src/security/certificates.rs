//! A certificate authority, and its certificates for brokers and clients.

use kgauge_client::{jks_with_key, jks_with_trusted};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

/// Host names and addresses of the brokers.
const BROKER_NAMES: &[&str] = &["localhost", "127.0.0.1", "::1"];

/// A certificate with its key, and that of its authority.
pub(crate) struct IssuedCertificate {
    certificate_der: Vec<u8>,
    certificate_pem: String,
    key_der: Vec<u8>,
    key_pem: String,
    authority_der: Vec<u8>,
}

/// All certificates of a run.
pub(crate) struct Certificates {
    pub(crate) authority_pem: String,
    authority_der: Vec<u8>,
    pub(crate) broker: IssuedCertificate,
    pub(crate) client: IssuedCertificate,
}

impl Certificates {
    /// Creates them, with P-256 keys. The error is a message.
    pub(crate) fn make() -> Result<Certificates, String> {
        let words = |error: rcgen::Error| error.to_string();
        let key = KeyPair::generate().map_err(words)?;
        let mut params = CertificateParams::new(Vec::<String>::new()).map_err(words)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let name = "kgauge authority for one run";
        params.distinguished_name.push(DnType::CommonName, name);
        let authority = params.self_signed(&key).map_err(words)?;
        let (authority_pem, authority_der) = (authority.pem(), authority.der().to_vec());
        let issuer = Issuer::new(params, key);
        let give = |name: &str, names: &[&str], purpose: ExtendedKeyUsagePurpose| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let mut params = CertificateParams::new(names)?;
            params.distinguished_name.push(DnType::CommonName, name);
            params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
            params.extended_key_usages = vec![purpose];
            let key = KeyPair::generate()?;
            let certificate = params.signed_by(&key, &issuer)?;
            Ok::<IssuedCertificate, rcgen::Error>(IssuedCertificate {
                certificate_der: certificate.der().to_vec(),
                certificate_pem: certificate.pem(),
                key_der: key.serialize_der(),
                key_pem: key.serialize_pem(),
                authority_der: authority_der.clone(),
            })
        };
        let broker = give(
            "kgauge broker",
            BROKER_NAMES,
            ExtendedKeyUsagePurpose::ServerAuth,
        );
        let client = give("kgauge client", &[], ExtendedKeyUsagePurpose::ClientAuth);
        Ok(Certificates {
            authority_pem,
            broker: broker.map_err(words)?,
            client: client.map_err(words)?,
            authority_der,
        })
    }

    /// A Java trust store with the authority.
    pub(crate) fn trust_store(&self, password: &str) -> Vec<u8> {
        jks_with_trusted(&self.authority_der, password)
    }
}

impl IssuedCertificate {
    /// A Java key store with the key and the certificate chain.
    pub(crate) fn key_store(&self, password: &str) -> Result<Vec<u8>, String> {
        let chain: [&[u8]; 2] = [&self.certificate_der, &self.authority_der];
        jks_with_key(&self.key_der, &chain, password)
            .map_err(|_| "the operating system provides no random numbers".to_owned())
    }

    /// Only the certificate.
    pub(crate) fn certificate_pem(&self) -> &str {
        &self.certificate_pem
    }

    /// Only the key.
    pub(crate) fn key_pem(&self) -> &str {
        &self.key_pem
    }

    /// Key and certificate, as in a key store of type PEM.
    pub(crate) fn pem(&self) -> String {
        format!("{}{}", self.key_pem, self.certificate_pem)
    }
}
