//! A connected socket with TLS over it, or without.

use std::io::{self, IoSlice, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::tls::{TlsSession, is_pause};
use crate::config::{Address, ClientConfig};
use crate::connection::ConnectError;
use crate::interrupt::{Interrupt, WAIT_SLICE};

/// A blocking socket and, with TLS, the session that encrypts for it.
#[derive(Debug)]
pub struct Channel {
    /// The socket. With TLS, only the session may read or write it.
    pub tcp: TcpStream,
    /// Set with `security.protocol` SSL and SASL_SSL.
    pub tls: Option<Box<TlsSession>>,
}

impl Channel {
    /// Wraps a connected socket, after a complete TLS handshake if configured.
    pub(crate) fn open(
        tcp: TcpStream,
        address: &Address,
        config: &ClientConfig,
        deadline: Instant,
        interrupt: &Interrupt,
    ) -> Result<Channel, ConnectError> {
        let Some(settings) = &config.security.tls else {
            return Ok(Channel { tcp, tls: None });
        };
        let failed = |error: &rustls::Error| {
            let (words, fix) = super::tls::words(error);
            ConnectError::Tls {
                address: address.clone(),
                words: words.into(),
                fix,
            }
        };
        let session = TlsSession::new(settings, address).map_err(|error| failed(&error))?;
        let mut channel = Channel {
            tcp,
            tls: Some(Box::new(session)),
        };
        let start = Instant::now();
        while let Some(session) = channel.tls.as_mut().filter(|tls| tls.is_handshaking()) {
            let left = deadline.saturating_duration_since(Instant::now());
            if interrupt.is_raised() {
                return Err(ConnectError::Interrupted {
                    address: address.clone(),
                });
            }
            if left.is_zero() {
                return Err(ConnectError::Silent {
                    address: address.clone(),
                    waited: start.elapsed(),
                });
            }
            let slice = Some(left.min(WAIT_SLICE));
            let step = (channel.tcp.set_read_timeout(slice))
                .and_then(|()| channel.tcp.set_write_timeout(slice))
                .and_then(|()| session.flush(&mut channel.tcp))
                .and_then(|()| {
                    if session.is_handshaking() {
                        session.pull(&mut channel.tcp)
                    } else {
                        Ok(true)
                    }
                });
            match step {
                Ok(true) => {}
                Ok(false) => return Err(closed(address)),
                Err(error) if is_pause(&error) => {}
                Err(error) => {
                    // Sends the alert, so that the broker's log has the reason too.
                    let _ = session.flush(&mut channel.tcp);
                    return Err(match super::tls::failure(&error) {
                        Some(error) => failed(error),
                        None => closed(address),
                    });
                }
            }
        }
        Ok(channel)
    }

    pub(crate) fn set_read_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
        self.tcp.set_read_timeout(limit)
    }

    pub(crate) fn set_write_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
        self.tcp.set_write_timeout(limit)
    }
}

fn closed(address: &Address) -> ConnectError {
    ConnectError::Tls {
        address: address.clone(),
        words: "the connection was closed during the TLS handshake".into(),
        fix: "this is probably not a TLS listener; use one, or set security.protocol to \
               PLAINTEXT or SASL_PLAINTEXT. Otherwise check the broker's log",
    }
}

impl Read for Channel {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.tcp.read(buffer),
            Some(session) => {
                session.flush(&mut self.tcp)?;
                session.read_some(&mut self.tcp, buffer)
            }
        }
    }
}

impl Write for Channel {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.tcp.write(bytes),
            Some(session) => session.write_vectored(&mut self.tcp, &[IoSlice::new(bytes)]),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.tls {
            None => Ok(()),
            Some(session) => session.flush(&mut self.tcp),
        }
    }
}
