//! A client's TLS session over a non-blocking socket. Nothing is encrypted ahead of what the client
//! takes, but for a bounded rest.

use std::io::{self, IoSlice, Read, Write};
use std::net::Shutdown;
use std::sync::Arc;

use mio::net::TcpStream;
use rustls::{ServerConfig, ServerConnection};

/// Encrypted bytes that may wait for the socket: two chunks of a file with what TLS adds.
const PENDING_BYTES_MAX: usize = 144 << 10;

/// Whether more bytes follow at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follow {
    Nothing,
    More,
}

/// The session beside its socket.
pub(crate) struct TlsStream {
    tcp: TcpStream,
    session: ServerConnection,
    /// What waits shall leave together with what follows.
    held: bool,
    /// What was read from the socket and found no room when it was decrypted.
    unread: Vec<u8>,
    /// Why the session is over; reported after all that came before has been read.
    failed: Option<rustls::Error>,
}

/// What rustls holds is nobody's business.
impl std::fmt::Debug for TlsStream {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("TlsStream").field(&self.tcp).finish()
    }
}

impl TlsStream {
    pub(super) fn new(tcp: TcpStream, config: &Arc<ServerConfig>) -> io::Result<Self> {
        let session = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
        let mut stream = Self {
            tcp,
            session,
            held: false,
            unread: Vec::new(),
            failed: None,
        };
        stream.session.set_buffer_limit(Some(PENDING_BYTES_MAX));
        Ok(stream)
    }

    pub(super) fn tcp(&mut self) -> &mut TcpStream {
        &mut self.tcp
    }

    pub(super) fn is_handshaking(&self) -> bool {
        self.session.is_handshaking()
    }

    /// The certificate that the client showed.
    pub(super) fn peer_certificate(&self) -> Option<&[u8]> {
        let shown = self.session.peer_certificates()?;
        shown.first().map(AsRef::as_ref)
    }

    /// Reads what the client has sent, by way of `wire`, and answers what belongs to TLS itself.
    /// `InvalidData` means that the session is over, and that the alert which says why is on its
    /// way.
    pub(super) fn read(&mut self, buffer: &mut [u8], wire: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = self.failed.take() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, error));
        }
        let mut filled = 0;
        // Where encrypted bytes wait in `wire`.
        let mut waiting = 0..self.unread.len();
        wire[waiting.clone()].copy_from_slice(&std::mem::take(&mut self.unread));
        loop {
            match self.session.reader().read(&mut buffer[filled..]) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // The client left without a word, as many do.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(filled),
                Err(error) => return Err(error),
                Ok(0) => return Ok(filled),
                Ok(count) => filled += count,
            }
            if filled == buffer.len() {
                self.unread = wire[waiting].to_vec();
                return Ok(filled);
            }
            if waiting.is_empty() {
                if filled > 0 {
                    return Ok(filled);
                }
                waiting = 0..self.tcp.read(wire)?;
                if waiting.is_empty() {
                    return Ok(0);
                }
            }
            let taken = self.take(&wire[waiting.clone()]);
            waiting.start += match taken {
                // After the client's goodbye nothing counts.
                Ok(0) => return Ok(filled),
                Ok(taken) => taken,
                Err(error) if filled > 0 => {
                    self.failed = Some(error);
                    return Ok(filled);
                }
                Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
            };
        }
    }

    /// Decrypts the beginning of `bytes` and returns its length.
    fn take(&mut self, mut bytes: &[u8]) -> Result<usize, rustls::Error> {
        let taken = self.session.read_tls(&mut bytes);
        let taken = taken.map_err(|error| rustls::Error::General(error.to_string()))?;
        let processed = self.session.process_new_packets();
        // Handshake, new keys, alerts: what the socket does not take now goes when it does, and a
        // socket that is broken will say so when it is read.
        let _ = self.flush();
        processed.map(|_| taken)
    }

    /// Encrypts as much as may wait, and sends it unless more follows.
    pub(super) fn write(&mut self, slices: &[IoSlice<'_>], follow: Follow) -> io::Result<usize> {
        loop {
            if !std::mem::take(&mut self.held) {
                self.flush()?;
            }
            let count = self.session.writer().write_vectored(slices)?;
            if count == 0 && slices.iter().any(|slice| !slice.is_empty()) {
                // What was held back fills the buffer: it must go first.
                continue;
            }
            if follow == Follow::More {
                self.held = true;
                return Ok(count);
            }
            return match self.flush() {
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
                _ => Ok(count),
            };
        }
    }

    pub(super) fn wants_write(&self) -> bool {
        self.session.wants_write()
    }

    /// Hands the socket what waits; `WouldBlock` when it takes no more.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        while self.session.wants_write() {
            match self.session.write_tls(&mut self.tcp) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Says goodbye, and that nothing follows.
    pub(super) fn shut(&mut self) {
        self.session.send_close_notify();
        // A client that is gone hears nothing.
        let _ = self.flush();
        let _ = self.tcp.shutdown(Shutdown::Write);
    }
}
