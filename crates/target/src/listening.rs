//! Listeners of an embedded cluster: `listeners` and `advertised.listeners` of one node, or `--listen`, `--advertise`
//! and `--port` for several.

use std::net::{IpAddr, Ipv4Addr, ToSocketAddrs};

use serde::{Deserialize, Serialize};

/// The name of a KRaft controller's listener in Kafka's sample server.properties.
const CONTROLLER: &str = "CONTROLLER";

/// Bind and advertised addresses of the nodes. The default is free loopback ports.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListenOptions {
    /// The address that nodes bind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    /// The first node's port; the others follow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The advertised host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advertised_host: Option<String>,
    /// The advertised port of the first node; the others follow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advertised_port: Option<u16>,
}

impl ListenOptions {
    /// The address that nodes bind.
    pub fn bound(&self) -> IpAddr {
        self.address.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST))
    }

    pub(crate) fn is_default(&self) -> bool {
        *self == ListenOptions::default()
    }

    /// Parses `listeners`, as in `PLAINTEXT://0.0.0.0:9092`. The error is a message for the user.
    pub(crate) fn set_listeners(&mut self, value: &str, protocol: &str) -> Result<(), String> {
        let listener = client_listener("listeners", value, protocol)?;
        self.address = Some(resolve(listener.host)?);
        self.port = Some(listener.port).filter(|port| *port != 0);
        Ok(())
    }

    /// Parses `advertised.listeners`. The error is a message for the user.
    pub(crate) fn set_advertised(&mut self, value: &str, protocol: &str) -> Result<(), String> {
        let listener = client_listener("advertised.listeners", value, protocol)?;
        if listener.host.is_empty() || listener.port == 0 {
            return Err(format!(
                "advertised.listeners={value}: clients need a host and a port, such as \
                 {protocol}://my-host:9092"
            ));
        }
        self.advertised_host = Some(listener.host.to_owned());
        self.advertised_port = Some(listener.port);
        Ok(())
    }
}

/// One entry of a list of listeners.
struct Listener<'a> {
    host: &'a str,
    port: u16,
}

/// The only client listener in a list, which may also contain a controller's.
fn client_listener<'a>(key: &str, value: &'a str, protocol: &str) -> Result<Listener<'a>, String> {
    let mut found = None;
    for entry in value.split(',').map(str::trim) {
        let wrong = || {
            format!(
                "{key}={value}: write {protocol}://HOST:PORT, such as {protocol}://0.0.0.0:9092"
            )
        };
        let (name, address) = entry.split_once("://").ok_or_else(wrong)?;
        let (host, port) = address.rsplit_once(':').ok_or_else(wrong)?;
        let port = port.parse().map_err(|_| wrong())?;
        if name.eq_ignore_ascii_case(CONTROLLER) {
            continue;
        }
        if !name.eq_ignore_ascii_case(protocol) {
            return Err(format!(
                "{key}={value}: the nodes' listener speaks {protocol}; write \
                 {protocol}://HOST:PORT, or use security=... for another protocol"
            ));
        }
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if found.replace(Listener { host, port }).is_some() {
            return Err(format!(
                "{key}={value}: a node of the embedded cluster has one listener for clients"
            ));
        }
    }
    found.ok_or_else(|| format!("{key}={value}: there is no listener for clients"))
}

/// The bind address of a host; an empty host means all addresses, as in Kafka.
pub fn resolve(host: &str) -> Result<IpAddr, String> {
    if host.is_empty() {
        return Ok(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    }
    let addresses: Vec<IpAddr> = match (host, 0).to_socket_addrs() {
        Ok(addresses) => addresses.map(|address| address.ip()).collect(),
        Err(error) => return Err(format!("cannot listen on {host}: {error}")),
    };
    // Clients connect to 127.0.0.1, so it must be bound.
    let first = addresses.iter().find(|address| address.is_ipv4());
    let first = first.or(addresses.first()).copied();
    first.ok_or_else(|| format!("cannot listen on {host}: it has no address"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listeners_name_an_address_and_a_port() {
        let read = |value: &str| {
            let mut listening = ListenOptions::default();
            let set = listening.set_listeners(value, "PLAINTEXT");
            set.map(|()| (listening.bound().to_string(), listening.port))
        };
        let ok = |address: &str, port| Ok((address.to_owned(), port));
        assert_eq!(read("PLAINTEXT://:9092"), ok("0.0.0.0", Some(9092)));
        assert_eq!(read("plaintext://127.0.0.2:0"), ok("127.0.0.2", None));
        assert_eq!(read("PLAINTEXT://[::1]:9092"), ok("::1", Some(9092)));
        assert_eq!(
            read("PLAINTEXT://:9092,CONTROLLER://:9093"),
            ok("0.0.0.0", Some(9092))
        );
        let wrong = |value: &str| read(value).unwrap_err();
        assert!(wrong("9092").contains("write PLAINTEXT://HOST:PORT"));
        assert!(wrong("PLAINTEXT://a:b").contains("write PLAINTEXT://HOST:PORT"));
        assert!(wrong("SSL://:9092").contains("security=..."));
        assert!(wrong("PLAINTEXT://:1,PLAINTEXT://:2").contains("has one listener"));
        assert!(wrong("CONTROLLER://:9093").contains("no listener for clients"));
    }

    #[test]
    fn clients_are_told_a_host_and_a_port() {
        let mut listening = ListenOptions::default();
        assert!(listening.is_default());
        listening
            .set_advertised("PLAINTEXT://kafka.example:19092", "PLAINTEXT")
            .unwrap();
        assert_eq!(listening.advertised_host.as_deref(), Some("kafka.example"));
        assert_eq!(listening.advertised_port, Some(19_092));
        let nobody = listening.set_advertised("PLAINTEXT://:9092", "PLAINTEXT");
        assert!(nobody.unwrap_err().contains("need a host and a port"));
    }
}
