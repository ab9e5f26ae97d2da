//! Facts about an existing cluster.

use std::net::{ToSocketAddrs, UdpSocket};

use kgauge_client::Address;

/// Whether all of these brokers run on this machine; `None` if an address cannot be resolved.
///
/// An address is this machine's own if a socket can be bound to it.
pub(crate) fn is_same_machine(addresses: &[Address]) -> Option<bool> {
    let mut all = true;
    for address in addresses {
        let mut resolved = (address.host.as_str(), address.port)
            .to_socket_addrs()
            .ok()?;
        all &= resolved.any(|found| UdpSocket::bind((found.ip(), 0)).is_ok());
    }
    (!addresses.is_empty()).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(host: &str) -> Address {
        Address {
            host: host.to_owned(),
            port: 9092,
        }
    }

    #[test]
    fn loopback_is_this_machine_and_others_are_not() {
        assert_eq!(is_same_machine(&[address("127.0.0.1")]), Some(true));
        // TEST-NET-3 of RFC 5737 is assigned to nobody.
        assert_eq!(is_same_machine(&[address("203.0.113.7")]), Some(false));
        let mixed = [address("127.0.0.1"), address("203.0.113.7")];
        assert_eq!(is_same_machine(&mixed), Some(false));
        assert_eq!(is_same_machine(&[address("no-such-host.invalid")]), None);
        assert_eq!(is_same_machine(&[]), None);
    }
}
