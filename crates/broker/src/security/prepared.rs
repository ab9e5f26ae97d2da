//! Security made ready for use: what the sockets need, what the core needs, or every mistake.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kgauge_wire::Secret;
use rustls::ServerConfig;

use super::{
    ClusterSecurity, NonceSource, Sasl, SaslMechanism, SecurityProtocol, SystemNonces, User, tls,
};

/// What a node needs to let clients in.
#[derive(Debug, Clone)]
pub struct NodeSecurity {
    pub(crate) protocol: SecurityProtocol,
    pub(crate) mechanisms: Vec<SaslMechanism>,
    /// Those who may come in by PLAIN.
    pub(crate) plain_users: BTreeMap<String, Secret<Vec<u8>>>,
    pub(crate) nonces: Arc<dyn NonceSource>,
}

impl NodeSecurity {
    /// For listeners that are protected like this. Only tests give other nonces than
    /// [`SystemNonces`].
    #[must_use]
    pub fn new(security: &ClusterSecurity, nonces: Arc<dyn NonceSource>) -> Self {
        let sasl = security.sasl.clone().unwrap_or_default();
        let users = sasl.users.into_iter();
        Self {
            protocol: security.protocol,
            plain_users: users.map(|user| (user.name, user.password)).collect(),
            mechanisms: sasl.mechanisms,
            nonces,
        }
    }
}

/// Everything may be done by everybody.
impl Default for NodeSecurity {
    fn default() -> Self {
        Self::new(
            &ClusterSecurity::default(),
            Arc::new(SystemNonces::default()),
        )
    }
}

/// Security made ready for use.
#[derive(Debug)]
pub(crate) struct PreparedSecurity {
    /// For sockets, when the protocol has TLS.
    pub(crate) tls: Option<Arc<ServerConfig>>,
    /// For every node.
    pub(crate) node: Arc<NodeSecurity>,
    /// Those who come in by SCRAM.
    pub(crate) scram_users: Vec<User>,
}

impl PreparedSecurity {
    /// Prepares it, or returns one message per mistake.
    pub(crate) fn make(security: &ClusterSecurity) -> Result<Self, Vec<String>> {
        let protocol = security.protocol;
        let mut wrong = Vec::new();
        let mut config = None;
        match &security.tls {
            Some(tls) if protocol.has_tls() => match tls::server_config(tls) {
                Ok(made) => config = Some(made),
                Err(words) => wrong.push(words),
            },
            Some(_) => wrong.push(needless("certificates are set", protocol)),
            None if protocol.has_tls() => {
                wrong.push(lacking("a certificate with its key", protocol))
            }
            None => {}
        }
        match &security.sasl {
            Some(sasl) if protocol.has_sasl() => check(sasl, &mut wrong),
            Some(_) => wrong.push(needless("SASL is configured", protocol)),
            None if protocol.has_sasl() => wrong.push(lacking("mechanisms and users", protocol)),
            None => {}
        }
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let by_scram = |sasl: &&Sasl| sasl.mechanisms.iter().any(|m| m.scram().is_some());
        let sasl = security.sasl.as_ref().filter(by_scram);
        Ok(Self {
            tls: config,
            node: Arc::new(NodeSecurity::new(
                security,
                Arc::new(SystemNonces::default()),
            )),
            scram_users: sasl.map(|sasl| sasl.users.clone()).unwrap_or_default(),
        })
    }
}

fn needless(what: &str, protocol: SecurityProtocol) -> String {
    format!("{what}, but the listeners' protocol is {}", protocol.name())
}

fn lacking(what: &str, protocol: SecurityProtocol) -> String {
    format!("the listeners' protocol {} needs {what}", protocol.name())
}

fn check(sasl: &Sasl, wrong: &mut Vec<String>) {
    if sasl.mechanisms.is_empty() {
        wrong.push("no SASL mechanism is enabled".to_owned());
    }
    if sasl.users.is_empty() && !sasl.mechanisms.iter().any(|m| m.scram().is_some()) {
        wrong.push("PLAIN is enabled, but there is no user".to_owned());
    }
    let mut seen = BTreeSet::new();
    for User { name, password } in &sasl.users {
        if name.is_empty() || name.contains('\0') {
            wrong.push("a user's name is empty or holds a zero byte".to_owned());
        }
        if password.expose().is_empty() || password.expose().contains(&0) {
            wrong.push(format!(
                "the password of user {name} is empty or holds a zero byte"
            ));
        }
        if !seen.insert(name) {
            wrong.push(format!("user {name} is defined twice"));
        }
    }
}
