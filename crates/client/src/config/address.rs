//! `host:port`, as `bootstrap.servers` writes it.

use std::fmt;

use crate::shown;

/// A broker's address as given or advertised: a name or a literal IP address, and a port.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    /// Host name, IPv4 or IPv6 literal; IPv6 without brackets.
    pub host: String,
    /// TCP port, never 0.
    pub port: u16,
}

/// Why a text is not an address. Its `Display` is a clause that follows the text itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressMistake {
    /// Nothing between two commas.
    #[error("is empty; remove the extra comma")]
    Empty,
    /// Only `host`.
    #[error("has no port: write host:9092")]
    NoPort,
    /// The port is not a number between 1 and 65535.
    #[error("needs a port from 1 to 65535 after its colon")]
    BadPort,
    /// `:9092`.
    #[error("has no host before its port")]
    NoHost,
    /// `::1:9092`, in which host and port cannot be distinguished.
    #[error("is an IPv6 address without brackets: write [address]:port")]
    BareIpv6,
    /// Something in brackets that is not an IPv6 address.
    #[error("has no IPv6 address between its brackets")]
    BadIpv6,
    /// `https://host:port` and the like.
    #[error("looks like a URL; write only host:port")]
    Url,
    /// A character that host names do not have.
    #[error("has a character that is not allowed in a host name")]
    BadHost,
}

impl Address {
    /// Parses `host:port` or `[ipv6]:port`. A prefix `PLAINTEXT://` is allowed, as in Kafka.
    pub fn parse(text: &str) -> Result<Address, AddressMistake> {
        let text = text.trim();
        if text.is_empty() {
            return Err(AddressMistake::Empty);
        }
        let text = match text.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("plaintext") => rest,
            Some(_) => return Err(AddressMistake::Url),
            None => text,
        };
        if let Some(rest) = text.strip_prefix('[') {
            return Self::parse_ipv6(rest);
        }
        let (host, port) = text.rsplit_once(':').ok_or(AddressMistake::NoPort)?;
        if host.contains(':') {
            return Err(AddressMistake::BareIpv6);
        }
        if host.is_empty() {
            return Err(AddressMistake::NoHost);
        }
        // Kafka allows underscores, which are not valid in DNS names but common in containers.
        if !host
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_'))
        {
            return Err(AddressMistake::BadHost);
        }
        Ok(Address {
            host: host.to_owned(),
            port: parse_port(port)?,
        })
    }

    fn parse_ipv6(rest: &str) -> Result<Address, AddressMistake> {
        let (host, after) = rest.split_once(']').ok_or(AddressMistake::BadIpv6)?;
        let literal = host
            .split_once('%')
            .map_or(host, |(literal, _zone)| literal);
        if literal.parse::<std::net::Ipv6Addr>().is_err() {
            return Err(AddressMistake::BadIpv6);
        }
        let port = after.strip_prefix(':').ok_or(AddressMistake::NoPort)?;
        Ok(Address {
            host: host.to_owned(),
            port: parse_port(port)?,
        })
    }
}

fn parse_port(text: &str) -> Result<u16, AddressMistake> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(AddressMistake::BadPort);
    }
    match text.parse() {
        Ok(0) | Err(_) => Err(AddressMistake::BadPort),
        Ok(port) => Ok(port),
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A broker may advertise anything.
        let host = shown(&self.host);
        if host.contains(':') {
            write!(formatter, "[{host}]:{}", self.port)
        } else {
            write!(formatter, "{host}:{}", self.port)
        }
    }
}

impl std::str::FromStr for Address {
    type Err = AddressMistake;

    fn from_str(text: &str) -> Result<Address, AddressMistake> {
        Address::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written_alike() {
        for text in [
            "localhost:9092",
            "10.0.0.1:1",
            "kafka_1.local-net:65535",
            "[::1]:9092",
        ] {
            assert_eq!(Address::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(
            Address::parse("[fe80::1%eth0]:9092").unwrap().host,
            "fe80::1%eth0"
        );
        assert_eq!(
            Address::parse(" PLAINTEXT://a:9092 ").unwrap().to_string(),
            "a:9092"
        );
    }

    #[test]
    fn each_mistake_has_its_own_message() {
        for (text, mistake) in [
            ("", AddressMistake::Empty),
            ("localhost", AddressMistake::NoPort),
            ("[::1]", AddressMistake::NoPort),
            ("localhost:", AddressMistake::BadPort),
            ("localhost:0", AddressMistake::BadPort),
            ("localhost:65536", AddressMistake::BadPort),
            ("localhost:+9092", AddressMistake::BadPort),
            (":9092", AddressMistake::NoHost),
            ("::1:9092", AddressMistake::BareIpv6),
            ("[::g]:9092", AddressMistake::BadIpv6),
            ("[::1:9092", AddressMistake::BadIpv6),
            ("http://localhost:9092", AddressMistake::Url),
            ("lo cal:9092", AddressMistake::BadHost),
        ] {
            assert_eq!(Address::parse(text), Err(mistake), "for {text:?}");
        }
    }
}
