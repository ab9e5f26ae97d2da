//! Converts keys and values into [`Security`]; reports all mistakes at once, without any value.

use std::collections::BTreeMap;
use std::sync::Arc;

use kgauge_wire::Secret;
use kgauge_wire::scram::ScramMechanism;
use rustls::RootCertStore;
use rustls::crypto::{CryptoProvider, ring as provider};

use super::store::{self, Passwords};
use super::{
    Login, SaslSettings, Security, SecurityProtocol, TlsSettings, TokenSource, jaas, tls, token,
};
use crate::config::{ConfigMistake, ConfigNote, Setting, SettingLocation};

/// Keys of TLS that matter only to a Java client.
const TLS_JAVA_ONLY: &[&str] = &[
    "ssl.keymanager.algorithm",
    "ssl.provider",
    "ssl.secure.random.implementation",
    "ssl.trustmanager.algorithm",
];

/// The settings of one protocol, and the mistakes found in them.
pub(crate) struct SecurityDraft {
    values: BTreeMap<String, Setting>,
    pub(crate) mistakes: Vec<ConfigMistake>,
    pub(crate) notes: Vec<ConfigNote>,
}

/// Reads the security settings and the files that they name.
pub(crate) fn read(
    protocol: SecurityProtocol,
    settings: Vec<Setting>,
) -> (Security, SecurityDraft) {
    let mut draft = SecurityDraft {
        values: BTreeMap::new(),
        mistakes: Vec::new(),
        notes: Vec::new(),
    };
    for setting in settings {
        let used = if setting.key.starts_with("ssl.") {
            protocol.has_tls()
        } else {
            protocol.has_sasl()
        };
        if used {
            draft.values.insert(setting.key.clone(), setting);
        } else {
            let key = &setting.key;
            let what = format!("{key} has no effect with security.protocol={protocol}");
            let place = setting.place.clone();
            draft.notes.push(ConfigNote { place, what });
        }
    }
    let tls = protocol.has_tls().then(|| draft.tls()).flatten();
    let sasl = protocol.has_sasl().then(|| draft.sasl()).flatten();
    draft.leave_out();
    let security = Security {
        protocol,
        tls,
        sasl,
    };
    (security, draft)
}

impl SecurityDraft {
    fn wrong(&mut self, place: SettingLocation, what: impl Into<String>, fix: impl Into<String>) {
        self.mistakes.push(ConfigMistake {
            place,
            what: what.into(),
            fix: fix.into(),
        });
    }

    /// A key's value and location; an empty value counts as none, as for most keys in Kafka.
    fn take(&mut self, key: &str) -> Option<(Secret, SettingLocation)> {
        let setting = self.values.remove(key)?;
        (!setting.value.expose().trim().is_empty()).then_some((setting.value, setting.place))
    }

    /// The remaining keys have no effect, or would change the behaviour and are refused.
    fn leave_out(&mut self) {
        for (key, setting) in std::mem::take(&mut self.values) {
            let refused = matches!(
                key.as_str(),
                "ssl.engine.factory.class"
                    | "sasl.client.callback.handler.class"
                    | "sasl.login.class"
            );
            if refused {
                let what = format!("{key} names a Java class, which kgauge cannot run");
                self.wrong(setting.place, what, "remove it");
                continue;
            }
            let what = if TLS_JAVA_ONLY.contains(&key.as_str()) {
                format!("{key} only affects the Java client")
            } else {
                format!("{key} has no effect with these settings")
            };
            let place = setting.place;
            self.notes.push(ConfigNote { place, what });
        }
    }

    fn tls(&mut self) -> Option<TlsSettings> {
        let provider = self.provider();
        let versions = self.versions();
        let roots = self.roots();
        let host_names_checked = self.host_names_checked();
        let identity = self.identity();
        let (roots, provider) = (roots?, Arc::new(provider));
        let verifier = match tls::verifier(roots, &provider, host_names_checked) {
            Ok(verifier) => verifier,
            Err(words) => {
                self.wrong(SettingLocation::Missing, words, "correct the trust store");
                return None;
            }
        };
        let versions: Vec<_> = versions;
        let builder = rustls::ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&versions)
            .map(|builder| {
                builder
                    .dangerous()
                    .with_custom_certificate_verifier(verifier)
            });
        let built = builder.and_then(|builder| match identity {
            Some((chain, key)) => builder.with_client_auth_cert(chain, key),
            None => Ok(builder.with_no_client_auth()),
        });
        match built {
            Ok(client) => Some(TlsSettings {
                host_names_checked,
                client: Arc::new(client),
            }),
            Err(error) => {
                let what = format!("TLS cannot work with these ssl.* settings: {error}");
                let fix = "check that the key and the certificate belong together";
                self.wrong(SettingLocation::Missing, what, fix);
                None
            }
        }
    }

    fn host_names_checked(&mut self) -> bool {
        const KEY: &str = "ssl.endpoint.identification.algorithm";
        let Some(setting) = self.values.remove(KEY) else {
            return true;
        };
        match setting.value.expose().trim() {
            "" => {
                let what = format!("broker host names are not verified ({KEY} is empty)");
                let place = setting.place;
                self.notes.push(ConfigNote { place, what });
                false
            }
            text if text.eq_ignore_ascii_case("https") => true,
            _ => {
                let what = format!("{KEY} is neither https nor empty");
                self.wrong(
                    setting.place,
                    what,
                    "write https, or leave it empty to disable verification",
                );
                true
            }
        }
    }

    fn versions(&mut self) -> Vec<&'static rustls::SupportedProtocolVersion> {
        let all = vec![&rustls::version::TLS13, &rustls::version::TLS12];
        // ssl.protocol is the newest allowed version: TLSv1.2 excludes 1.3.
        let newest = self.take("ssl.protocol");
        let only_12 = newest
            .as_ref()
            .is_some_and(|(text, _)| text.expose().trim() == "TLSv1.2");
        if let Some((text, place)) = newest
            && !["TLS", "TLSv1.2", "TLSv1.3"].contains(&text.expose().trim())
        {
            let what = "ssl.protocol is neither TLSv1.3 nor TLSv1.2";
            self.wrong(place, what, "write TLSv1.3 or TLSv1.2");
        }
        let mut versions = match self.take("ssl.enabled.protocols") {
            None => all,
            Some((text, place)) => {
                let names: Vec<&str> = text.expose().split(',').map(str::trim).collect();
                let mut found = Vec::new();
                if names.contains(&"TLSv1.3") {
                    found.push(&rustls::version::TLS13);
                }
                if names.contains(&"TLSv1.2") {
                    found.push(&rustls::version::TLS12);
                }
                if found.len() != names.len() {
                    let what = "ssl.enabled.protocols names a version that kgauge does not support";
                    self.wrong(place, what, "write TLSv1.2,TLSv1.3 or one of them");
                    found = all;
                }
                found
            }
        };
        if only_12 {
            versions.retain(|version| version.version == rustls::ProtocolVersion::TLSv1_2);
            if versions.is_empty() {
                let what = "ssl.protocol=TLSv1.2 excludes every version in ssl.enabled.protocols";
                self.wrong(SettingLocation::Missing, what, "write TLSv1.2 in both");
                versions.push(&rustls::version::TLS12);
            }
        }
        versions
    }

    fn provider(&mut self) -> CryptoProvider {
        let mut provider = provider::default_provider();
        let Some((text, place)) = self.take("ssl.cipher.suites") else {
            return provider;
        };
        // Java's names are IANA's; rustls says TLS13_ where IANA says TLS_.
        let name = |suite: &rustls::SupportedCipherSuite| {
            format!("{:?}", suite.suite()).replace("TLS13_", "TLS_")
        };
        let known: Vec<String> = provider.cipher_suites.iter().map(name).collect();
        let requested: Vec<&str> = text.expose().split(',').map(str::trim).collect();
        if let Some(at) = requested
            .iter()
            .position(|one| !known.iter().any(|name| name == one))
        {
            let what = format!(
                "kgauge does not support entry {} of ssl.cipher.suites",
                at + 1
            );
            self.wrong(place, what, format!("choose from {}", known.join(", ")));
            return provider;
        }
        let suites = &mut provider.cipher_suites;
        suites.retain(|suite| requested.contains(&name(suite).as_str()));
        provider
    }

    fn roots(&mut self) -> Option<RootCertStore> {
        let inline = self.take("ssl.truststore.certificates");
        let location = self.take("ssl.truststore.location");
        let password = self.take("ssl.truststore.password");
        self.store_type("ssl.truststore.type");
        let password = password.as_ref().map(|(text, _)| text.expose().as_str());
        let (key, place, read) = match (inline, location) {
            (Some((_, place)), Some(_)) => {
                let what = "both ssl.truststore.certificates and ssl.truststore.location are given";
                self.wrong(place, what, "remove one of them");
                return None;
            }
            (Some((text, place)), None) => {
                let read = store::trusted(text.expose().as_bytes(), None);
                ("ssl.truststore.certificates".to_owned(), place, read)
            }
            (None, Some((path, place))) => {
                let path = path.expose().trim();
                let read = store::read(path).and_then(|bytes| store::trusted(&bytes, password));
                (format!("ssl.truststore.location={path}"), place, read)
            }
            (None, None) => {
                let read = system_roots();
                (
                    "ssl.truststore.location".to_owned(),
                    SettingLocation::Missing,
                    read,
                )
            }
        };
        let added = read.and_then(|certificates| {
            let mut roots = RootCertStore::empty();
            let (added, _) = roots.add_parsable_certificates(certificates);
            match added {
                0 => Err((
                    "has no readable certificate".to_owned(),
                    "use the CA's X.509 certificate",
                )),
                _ => Ok(roots),
            }
        });
        match added {
            Ok(roots) => Some(roots),
            Err((what, fix)) => {
                self.wrong(place, format!("{key} {what}"), fix);
                None
            }
        }
    }

    fn identity(&mut self) -> Option<store::KeyPair> {
        let key = self.take("ssl.keystore.key");
        let chain = self.take("ssl.keystore.certificate.chain");
        let location = self.take("ssl.keystore.location");
        let store_password = self.take("ssl.keystore.password");
        let key_password = self.take("ssl.key.password");
        self.store_type("ssl.keystore.type");
        let passwords = Passwords {
            store: store_password
                .as_ref()
                .map(|(text, _)| text.expose().as_str()),
            key: key_password
                .as_ref()
                .map(|(text, _)| text.expose().as_str()),
        };
        let (name, place, read) = match (key, chain, location) {
            (None, None, None) => return None,
            (Some((key, place)), Some((chain, _)), None) => {
                let (key, chain) = (key.expose().as_bytes(), chain.expose().as_bytes());
                let read = store::pem_identity(key, chain, passwords.key);
                ("ssl.keystore.key".to_owned(), place, read)
            }
            (None, None, Some((path, place))) => {
                let path = path.expose().trim();
                let read = store::read(path).and_then(|bytes| store::identity(&bytes, passwords));
                (format!("ssl.keystore.location={path}"), place, read)
            }
            (key, chain, _) => {
                let place = key
                    .or(chain)
                    .map_or(SettingLocation::Missing, |(_, place)| place);
                let what = "ssl.keystore.key needs ssl.keystore.certificate.chain, and neither \
                            works with ssl.keystore.location";
                self.wrong(
                    place,
                    what,
                    "set the key and the chain, or only the location",
                );
                return None;
            }
        };
        match read {
            Ok(identity) => Some(identity),
            Err((what, fix)) => {
                self.wrong(place, format!("{name} {what}"), fix);
                None
            }
        }
    }

    /// The type is detected from the content; only its spelling is checked.
    fn store_type(&mut self, key: &str) {
        if let Some((text, place)) = self.take(key)
            && !["PEM", "JKS", "PKCS12"].contains(&text.expose().trim().to_uppercase().as_str())
        {
            let what = format!("{key} is not PEM, PKCS12 or JKS");
            self.wrong(place, what, "write one of them, or remove the line");
        }
    }

    fn sasl(&mut self) -> Option<SaslSettings> {
        let (mechanism, place) = match self.take("sasl.mechanism") {
            Some((text, place)) => (text.expose().trim().to_uppercase(), place),
            // Kafka's own default.
            None => ("GSSAPI".to_owned(), SettingLocation::Missing),
        };
        match mechanism.as_str() {
            "PLAIN" => self.login("PlainLoginModule").map(SaslSettings::Plain),
            "SCRAM-SHA-256" => self.scram(ScramMechanism::Sha256),
            "SCRAM-SHA-512" => self.scram(ScramMechanism::Sha512),
            "OAUTHBEARER" => self.token_source().map(SaslSettings::OauthBearer),
            "GSSAPI" => {
                let what =
                    "sasl.mechanism is GSSAPI (Kafka's default), which kgauge does not support";
                self.wrong(place, what, MECHANISMS);
                None
            }
            _ => {
                self.wrong(
                    place,
                    "kgauge does not support this sasl.mechanism",
                    MECHANISMS,
                );
                None
            }
        }
    }

    fn jaas(&mut self, module: &str) -> Option<(BTreeMap<String, Secret>, SettingLocation)> {
        let fix = format!(
            "write sasl.jaas.config=org.apache.kafka.common.security...{module} required \
             key=\"value\";"
        );
        let Some((text, place)) = self.take("sasl.jaas.config") else {
            self.wrong(SettingLocation::Missing, "sasl.jaas.config is missing", fix);
            return None;
        };
        match jaas::parse(text.expose()) {
            Ok(found) if found.module == module => Some((found.options, place)),
            Ok(_) => {
                let what = "the login module in sasl.jaas.config does not match sasl.mechanism";
                self.wrong(place, what, fix);
                None
            }
            Err(what) => {
                self.wrong(place, format!("sasl.jaas.config {what}"), fix);
                None
            }
        }
    }

    fn scram(&mut self, mechanism: ScramMechanism) -> Option<SaslSettings> {
        let login = self.login("ScramLoginModule")?;
        Some(SaslSettings::Scram(mechanism, login))
    }

    fn login(&mut self, module: &str) -> Option<Login> {
        let (mut options, place) = self.jaas(module)?;
        let is_delegation_token = options
            .remove("tokenauth")
            .is_some_and(|text| text.expose().eq_ignore_ascii_case("true"));
        match (options.remove("username"), options.remove("password")) {
            (Some(username), Some(password)) => {
                // A NUL terminates a field of PLAIN (RFC 4616).
                if username.expose().contains('\0') || password.expose().contains('\0') {
                    self.wrong(place, "sasl.jaas.config contains a NUL", "remove it");
                    return None;
                }
                Some(Login {
                    username,
                    password,
                    is_delegation_token,
                })
            }
            _ => {
                let what = "sasl.jaas.config lacks username or password";
                self.wrong(place, what, "write username=\"...\" password=\"...\";");
                None
            }
        }
    }

    fn token_source(&mut self) -> Option<TokenSource> {
        let file = self.take("kgauge.oauthbearer.token.file");
        let command = self.take("kgauge.oauthbearer.token.command");
        let url = self.take("sasl.oauthbearer.token.endpoint.url");
        self.values.remove("sasl.login.callback.handler.class");
        match (file, command, url) {
            (Some((file, _)), None, None) => Some(TokenSource::File(file.expose().trim().into())),
            (None, Some((command, _)), None) => Some(TokenSource::Command(command)),
            (None, None, Some((url, place))) => match url.expose().trim().strip_prefix("file:") {
                Some(path) => {
                    let path = path.strip_prefix("//").unwrap_or(path);
                    self.jaas_is_optional();
                    Some(TokenSource::File(path.into()))
                }
                None => {
                    let what = "sasl.oauthbearer.token.endpoint.url is not a file: URL, and \
                                kgauge does not contact token servers";
                    let fix =
                        "set kgauge.oauthbearer.token.command to a command that prints a token";
                    self.wrong(place, what, fix);
                    None
                }
            },
            (None, None, None) => self.unsecured(),
            (file, command, _) => {
                let place = file
                    .or(command)
                    .map_or(SettingLocation::Missing, |(_, place)| place);
                let what = "more than one source of the bearer token is set";
                self.wrong(place, what, "keep one of them");
                None
            }
        }
    }

    /// With another source of the token, its options have no effect.
    fn jaas_is_optional(&mut self) {
        self.values.remove("sasl.jaas.config");
    }

    fn unsecured(&mut self) -> Option<TokenSource> {
        let (options, place) = self.jaas("OAuthBearerLoginModule")?;
        let mut claims = Vec::new();
        let mut lifetime_s = 3600;
        for (key, value) in &options {
            if let Some(name) = key.strip_prefix("unsecuredLoginStringClaim_") {
                claims.push((name.to_owned(), Secret::new(token::json(value.expose()))));
            } else if let Some(name) = key.strip_prefix("unsecuredLoginNumberClaim_") {
                match value.expose().parse::<f64>() {
                    Ok(number) if number.is_finite() => {
                        claims.push((name.to_owned(), Secret::new(number.to_string())));
                    }
                    _ => {
                        let what = "a number claim in sasl.jaas.config is not a number";
                        self.wrong(place.clone(), what, "write a number");
                    }
                }
            } else if key == "unsecuredLoginLifetimeSeconds" {
                lifetime_s = value
                    .expose()
                    .parse()
                    .unwrap_or(lifetime_s)
                    .min(u64::from(u32::MAX));
            }
        }
        if claims.is_empty() {
            let what = "sasl.jaas.config gives no token";
            let fix = "write kgauge.oauthbearer.token.file=... or \
                        kgauge.oauthbearer.token.command=..., or for tests \
                        unsecuredLoginStringClaim_sub=\"name\"";
            self.wrong(place, what, fix);
            return None;
        }
        Some(TokenSource::Unsecured { claims, lifetime_s })
    }
}

const MECHANISMS: &str = "write sasl.mechanism=PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER";

fn system_roots() -> Result<Vec<rustls::pki_types::CertificateDer<'static>>, store::StoreMistake> {
    let found = rustls_native_certs::load_native_certs().certs;
    if found.is_empty() {
        return Err((
            "is missing, and this machine has no system CA certificates".to_owned(),
            "write ssl.truststore.location=...",
        ));
    }
    Ok(found)
}
