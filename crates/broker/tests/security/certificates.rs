//! Authorities and the certificates that they give, good and bad.

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    date_time_ymd,
};

/// Who signs.
pub(crate) struct Authority {
    pub(crate) pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate with its key.
pub(crate) struct Identity {
    pub(crate) chain_pem: String,
    pub(crate) key_pem: String,
}

/// Whether a certificate is still valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Age {
    Valid,
    Expired,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let pem = params.self_signed(&key).unwrap().pem();
        let issuer = Issuer::new(params, key);
        Self { pem, issuer }
    }

    /// A certificate for the nodes.
    pub(crate) fn server(&self) -> Identity {
        let mut params =
            CertificateParams::new(["localhost", "127.0.0.1"].map(str::to_owned)).unwrap();
        params.distinguished_name.push(DnType::CommonName, "node");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.sign(params)
    }

    /// A certificate for a client: `CN=name,O=kgauge, tests`.
    pub(crate) fn client(&self, name: &str, age: Age) -> Identity {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        let subject = &mut params.distinguished_name;
        subject.push(DnType::OrganizationName, "kgauge, tests");
        subject.push(DnType::CommonName, name);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        if age == Age::Expired {
            params.not_before = date_time_ymd(2019, 1, 1);
            params.not_after = date_time_ymd(2020, 1, 1);
        }
        self.sign(params)
    }

    fn sign(&self, params: CertificateParams) -> Identity {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Identity {
            chain_pem: certificate.pem(),
            key_pem: key.serialize_pem(),
        }
    }
}
