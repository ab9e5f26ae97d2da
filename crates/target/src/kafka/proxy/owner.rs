//! Which process has opened a connection on this machine, according to the kernel.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;

/// The kernel's code of an established connection.
const ESTABLISHED: &str = "01";

/// The process among `pids` that has the other end of an accepted connection: from `peer` to the port on which it was
/// accepted.
pub(super) fn owner(pids: &[(u16, u32)], peer: SocketAddr, port: u16) -> Option<u16> {
    // Java's connections are those of IPv6 sockets.
    let tables = ["/proc/net/tcp6", "/proc/net/tcp"];
    let inode = tables.into_iter().find_map(|table| {
        let table = fs::read_to_string(table).ok()?;
        inode_of(&table, peer.port(), port)
    })?;
    let link = format!("socket:[{inode}]");
    let found = pids.iter().find(|(_, pid)| has_open(*pid, &link));
    found.map(|(node, _)| *node)
}

/// The inode of the socket at a local port that is connected to another port.
fn inode_of(table: &str, local: u16, remote: u16) -> Option<u64> {
    let port = |address: &str| {
        let (_, port) = address.rsplit_once(':')?;
        u16::from_str_radix(port, 16).ok()
    };
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, from, to, state, ..] = fields.as_slice() else {
            return None;
        };
        let is_it = *state == ESTABLISHED && port(from) == Some(local) && port(to) == Some(remote);
        let inode = fields.get(9).filter(|_| is_it)?.parse().ok()?;
        (inode != 0).then_some(inode)
    })
}

/// Whether a process has a file open.
fn has_open(pid: u32, link: &str) -> bool {
    let Ok(files) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return false;
    };
    files
        .flatten()
        .any(|file| fs::read_link(file.path()).is_ok_and(|to| to == Path::new(link)))
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    use super::*;

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 101 1 0
   1: 0100007F:C001 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 102 1 0
   2: 0100007F:1F90 0100007F:C001 01 00000000:00000000 00:00000000 00000000     0        0 103 1 0
   3: 0100007F:C002 0100007F:1F90 06 00000000:00000000 00:00000000 00000000     0        0 0 1 0
";

    #[test]
    fn a_connection_is_found_by_its_two_ports() {
        assert_eq!(inode_of(TABLE, 0xc001, 0x1f90), Some(102));
        assert_eq!(inode_of(TABLE, 0x1f90, 0xc001), Some(103));
        assert_eq!(inode_of(TABLE, 0xc002, 0x1f90), None);
        assert_eq!(inode_of("", 1, 2), None);
    }

    #[test]
    fn the_owner_of_a_connection_is_this_process() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let _client = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        let (_accepted, peer) = listener.accept().unwrap();
        let pids = [(7, 1), (8, std::process::id())];
        // The first process has no such connection, or may not be looked into.
        assert_eq!(owner(&pids, peer, port), Some(8));
        assert_eq!(owner(&pids[..1], peer, port), None);
    }
}
