//! Parses the address at which a run is served.

use std::net::{SocketAddr, TcpListener, ToSocketAddrs};

/// A listening socket.
pub(crate) struct Listener {
    pub(crate) socket: TcpListener,
    /// Its address, with the real port.
    pub(crate) address: SocketAddr,
}

/// Listens at `HOST:PORT` or at a port of the loopback; port 0 takes a free one.
pub(crate) fn listen(text: &str) -> Result<Listener, String> {
    let addresses = read(text)?;
    let socket = TcpListener::bind(addresses.as_slice()).map_err(|error| {
        let fix = match error.kind() {
            std::io::ErrorKind::AddrInUse => {
                "\n  another program uses this port; choose another, or 0 for a free one"
            }
            std::io::ErrorKind::PermissionDenied => {
                "\n  ports below 1024 need privileges; choose a higher one"
            }
            _ => "",
        };
        format!("--serve {text}: {error}{fix}")
    })?;
    let address = socket
        .local_addr()
        .map_err(|error| format!("--serve {text}: {error}"))?;
    Ok(Listener { socket, address })
}

fn read(text: &str) -> Result<Vec<SocketAddr>, String> {
    let wrong = |why: &str| {
        format!(
            "--serve {text}: {why}\n  give HOST:PORT or a port, as in 127.0.0.1:8080, 8080 or 0"
        )
    };
    let bare = text.strip_prefix(':').unwrap_or(text);
    if !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_digit()) {
        let port: u16 = bare.parse().map_err(|_| wrong("a port is at most 65535"))?;
        return Ok(vec![SocketAddr::from(([127, 0, 0, 1], port))]);
    }
    if !text.contains(':') {
        let is_number = text.starts_with(|c: char| c.is_ascii_digit());
        return Err(wrong(if is_number {
            "this is not a port number"
        } else {
            "the port is missing"
        }));
    }
    let found = text
        .to_socket_addrs()
        .map_err(|error| wrong(&error.to_string()))?;
    let found: Vec<SocketAddr> = found.collect();
    if found.is_empty() {
        return Err(wrong("no such host"));
    }
    Ok(found)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_bare_port_means_the_loopback() {
        for text in ["8080", ":8080", "127.0.0.1:8080"] {
            assert_eq!(read(text).unwrap(), ["127.0.0.1:8080".parse().unwrap()]);
        }
        assert_eq!(read("[::1]:9").unwrap(), ["[::1]:9".parse().unwrap()]);
        assert_eq!(read("0.0.0.0:9").unwrap(), ["0.0.0.0:9".parse().unwrap()]);
    }

    #[test]
    fn other_texts_are_refused_with_the_reason() {
        for (text, word) in [
            ("", "the port is missing"),
            ("80x", "not a port number"),
            ("localhost", "the port is missing"),
            ("65536", "at most 65535"),
            ("99999999999999999999", "at most 65535"),
            ("127.0.0.1:", "HOST:PORT"),
            ("127.0.0.1:http", "HOST:PORT"),
            ("-1", "the port is missing"),
            ("[::1:80", "HOST:PORT"),
        ] {
            let words = read(text).unwrap_err();
            assert!(words.contains(word), "{text}: {words}");
        }
    }

    #[test]
    fn a_port_in_use_is_an_error() {
        let first = listen("0").unwrap();
        assert!(first.address.ip().is_loopback() && first.address.port() > 0);
        let words = listen(&first.address.to_string()).err().unwrap();
        assert!(words.contains("another program uses this port"), "{words}");
    }
}
