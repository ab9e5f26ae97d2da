//! The process on this machine that listens on a port, so that the CPU of a broker that somebody else started can be
//! measured.
//!
//! Source: proc(5), `/proc/net/tcp` and `/proc/pid/fd`.

use std::collections::BTreeSet;
use std::fs;

use crate::unavailable::{Unavailable, read};

const WHAT: &str = "the process behind a port";

/// The state LISTEN in the kernel's table.
const LISTEN: &str = "0A";

/// Forwarders, which only pass a port's bytes on: their CPU is not the broker's.
const FORWARDERS: &[&str] = &[
    "docker-proxy",
    "rootlessport",
    "ssh",
    "sshd",
    "kubectl",
    "socat",
];

/// The process that listens on a TCP port of this machine.
///
/// `None` if nobody listens, if several processes do, if it is a forwarder, or if it belongs to another user, whose
/// open files the kernel does not show.
pub fn listener_pid(port: u16) -> Result<Option<u32>, Unavailable> {
    let mut sockets = listening(&read(WHAT, "/proc/net/tcp")?, port);
    // A machine without IPv6 has no such file.
    if let Ok(text) = fs::read_to_string("/proc/net/tcp6") {
        sockets.extend(listening(&text, port));
    }
    if sockets.is_empty() {
        return Ok(None);
    }
    let processes =
        fs::read_dir("/proc").map_err(|error| Unavailable::new(WHAT, format!("/proc: {error}")))?;
    let pids = processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut holders = pids.filter(|&pid| holds(pid, &sockets) && !is_forwarder(pid));
    let first = holders.next();
    Ok(first.filter(|_| holders.next().is_none()))
}

/// The inodes of the sockets that listen on `port`, from the text of `/proc/net/tcp` or `tcp6`: the second field is the
/// local address and port in hexadecimal, the fourth the state, the tenth the inode.
fn listening(text: &str, port: u16) -> BTreeSet<u64> {
    let socket = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (_, local_port) = fields.get(1)?.rsplit_once(':')?;
        let is_it =
            u16::from_str_radix(local_port, 16) == Ok(port) && fields.get(3) == Some(&LISTEN);
        if is_it {
            fields.get(9)?.parse().ok()
        } else {
            None
        }
    };
    text.lines().skip(1).filter_map(socket).collect()
}

fn holds(pid: u32, sockets: &BTreeSet<u64>) -> bool {
    let Ok(files) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return false;
    };
    files.flatten().any(|file| {
        let target = fs::read_link(file.path()).unwrap_or_default();
        let inode = target
            .to_str()
            .and_then(|text| text.strip_prefix("socket:["));
        let inode = inode.and_then(|text| text.strip_suffix(']')?.parse().ok());
        inode.is_some_and(|inode| sockets.contains(&inode))
    })
}

fn is_forwarder(pid: u32) -> bool {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    FORWARDERS.contains(&name.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listening_sockets_of_the_port_count() {
        // The fields between the state and the inode: queues, timer, retransmits, user, timeout.
        let line = |local: &str, state: &str, inode: u32| {
            format!(" 0: {local} 00000000:0000 {state} 0:0 00:0 0 0 0 {inode} 1 0 100\n")
        };
        let text = [
            "  sl  local_address rem_address st tx_queue ...\n".to_owned(),
            line("0100007F:2384", "0A", 4711),
            line("0100007F:2384", "01", 4712),
            line("0100007F:2385", "0A", 4713),
            "nonsense\n".to_owned(),
        ]
        .concat();
        let text = text.as_str();
        assert_eq!(listening(text, 0x2384), BTreeSet::from([4711]));
        assert_eq!(listening(text, 1), BTreeSet::new());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_is_found_behind_its_own_port() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert_eq!(listener_pid(port).unwrap(), Some(std::process::id()));
        drop(listener);
        assert_eq!(listener_pid(port).unwrap(), None);
    }
}
