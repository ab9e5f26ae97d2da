//! Secured clusters on temporary folders, and clients of them.

use kgauge_broker::security::{ClientAuth, ClusterSecurity, Sasl, SaslMechanism, ServerTls};
use kgauge_broker::{ClusterConfig, ClusterHandle, EmbeddedCluster};
use kgauge_client::{ClientConfig, Connection};
use tempfile::TempDir;

use crate::certificates::{Authority, Identity};

pub(crate) const USER: &str = "alice";
pub(crate) const PASSWORD: &str = "correct horse=battery,staple";

pub(crate) const MECHANISMS: [SaslMechanism; 3] = [
    SaslMechanism::Plain,
    SaslMechanism::SCRAM_SHA_256,
    SaslMechanism::SCRAM_SHA_512,
];

/// A cluster of one node.
pub(crate) struct Secured {
    pub(crate) handle: ClusterHandle,
    pub(crate) authority: Authority,
    _dir: TempDir,
}

/// The nodes' side of TLS.
pub(crate) fn server_tls(authority: &Authority, auth: ClientAuth) -> ServerTls {
    let identity = authority.server();
    let tls = ServerTls::new(identity.chain_pem, identity.key_pem);
    match auth {
        ClientAuth::None => tls,
        _ => tls.with_clients(authority.pem.clone(), auth),
    }
}

/// All mechanisms, and one user.
pub(crate) fn sasl() -> Sasl {
    Sasl::new(MECHANISMS).with_user(USER, PASSWORD)
}

impl Secured {
    pub(crate) fn start(make: impl FnOnce(&Authority) -> ClusterSecurity) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let authority = Authority::new("authority of a test");
        let config = ClusterConfig::new(dir.path()).with_security(make(&authority));
        Self {
            handle: EmbeddedCluster::start(config).unwrap(),
            authority,
            _dir: dir,
        }
    }

    pub(crate) fn ssl(auth: ClientAuth) -> Self {
        Self::start(|authority| ClusterSecurity::ssl(server_tls(authority, auth)))
    }

    pub(crate) fn sasl_ssl() -> Self {
        Self::start(|authority| {
            ClusterSecurity::sasl_ssl(sasl(), server_tls(authority, ClientAuth::None))
        })
    }

    pub(crate) fn sasl_plaintext() -> Self {
        Self::start(|_| ClusterSecurity::sasl_plaintext(sasl()))
    }

    /// A client.properties with these lines.
    pub(crate) fn client(&self, lines: &str) -> ClientConfig {
        let servers = self.handle.bootstrap_servers();
        let text = format!("bootstrap.servers={servers}\n{lines}");
        ClientConfig::from_properties_text(&text, "a test").unwrap()
    }

    pub(crate) fn connect(&self, lines: &str) -> Result<Connection, String> {
        let config = self.client(lines);
        let address = &config.bootstrap_servers[0];
        Connection::connect(address, &config).map_err(|error| error.to_string())
    }

    /// The lines of a client that trusts the authority.
    pub(crate) fn trusting(&self) -> String {
        format!(
            "security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.certificates={}\n",
            in_one_line(&self.authority.pem)
        )
    }
}

/// The lines of a client that shows a certificate.
pub(crate) fn showing(identity: &Identity) -> String {
    format!(
        "ssl.keystore.type=PEM\nssl.keystore.certificate.chain={}\nssl.keystore.key={}\n",
        in_one_line(&identity.chain_pem),
        in_one_line(&identity.key_pem)
    )
}

/// The lines of a client that logs in.
pub(crate) fn logging_in(mechanism: SaslMechanism, user: &str, password: &str) -> String {
    let module = match mechanism {
        SaslMechanism::Plain => "plain.PlainLoginModule",
        SaslMechanism::Scram(_) => "scram.ScramLoginModule",
    };
    format!(
        "sasl.mechanism={}\nsasl.jaas.config=org.apache.kafka.common.security.{module} required \
         username=\"{user}\" password=\"{password}\";\n",
        mechanism.name()
    )
}

/// A PEM text as the value of a property.
fn in_one_line(pem: &str) -> String {
    pem.replace('\n', "\\n")
}
