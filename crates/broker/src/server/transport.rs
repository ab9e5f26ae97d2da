//! How bytes get to and from a client: plain TCP, or TLS over it.

use std::io::{self, IoSlice, Read, Write};
use std::net::Shutdown;
use std::sync::Arc;

use mio::net::TcpStream;
use rustix::fs::sendfile;
use rustix::net::{SendFlags, send};
use rustls::ServerConfig;

use super::tls_stream::{Follow, TlsStream};
use crate::security::subject;
use crate::storage::FileSlice;

/// Most bytes of one [`Transport::send_file`], so that one reader does not keep the node to itself.
const SEND_FILE_BYTES_MAX: usize = 1 << 20;

/// Most bytes of a file that are read at once where the system cannot send them itself.
pub(super) const FILE_BUFFER_BYTES: usize = 64 << 10;

/// A client's byte stream.
#[derive(Debug)]
pub(crate) enum Transport {
    /// TCP without more.
    Plain(TcpStream),
    /// TLS.
    Tls(Box<TlsStream>),
}

impl Transport {
    /// Over a new connection.
    pub(super) fn new(tcp: TcpStream, tls: Option<&Arc<ServerConfig>>) -> io::Result<Self> {
        Ok(match tls {
            None => Self::Plain(tcp),
            Some(config) => Self::Tls(Box::new(TlsStream::new(tcp, config)?)),
        })
    }

    pub(super) fn is_handshaking(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(stream) => stream.is_handshaking(),
        }
    }

    /// The subject of the client's certificate, if it showed one. An error when it cannot be read.
    pub(super) fn peer_subject(&self) -> io::Result<Option<String>> {
        let Self::Tls(stream) = self else {
            return Ok(None);
        };
        let Some(certificate) = stream.peer_certificate() else {
            return Ok(None);
        };
        match subject(certificate) {
            Some(subject) => Ok(Some(subject)),
            None => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Reads into `buffer`; encrypted bytes by way of `wire`, which is always the same size.
    pub(crate) fn read(&mut self, buffer: &mut [u8], wire: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Tls(stream) => stream.read(buffer, wire),
        }
    }

    pub(crate) fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write_vectored(slices),
            Self::Tls(stream) => stream.write(slices, Follow::Nothing),
        }
    }

    /// Writes bytes of which more follow at once, so that no packet leaves with them alone.
    pub(crate) fn write_with_more(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => Ok(send(
                &*stream,
                bytes,
                SendFlags::MORE | SendFlags::NOSIGNAL,
            )?),
            Self::Tls(stream) => stream.write(&[IoSlice::new(bytes)], Follow::More),
        }
    }

    /// Sends bytes of a file from its `done`th on: from the page cache where the file is the
    /// system's and nothing is encrypted, else by way of `buffer`.
    pub(crate) fn send_file(
        &mut self,
        slice: &FileSlice,
        done: usize,
        buffer: &mut [u8],
    ) -> io::Result<usize> {
        let left = slice.len - done;
        let mut offset = slice.offset + done as u64;
        if let (Self::Plain(stream), Some(file)) = (&*self, slice.os_file()) {
            let count = left.min(SEND_FILE_BYTES_MAX);
            return match sendfile(stream, file, Some(&mut offset), count)? {
                0 => Err(cut()),
                sent => Ok(sent),
            };
        }
        let count = left.min(buffer.len());
        let read = slice
            .file
            .read_at(&mut buffer[..count], offset)
            .map_err(io::Error::other)?;
        if read == 0 {
            return Err(cut());
        }
        match self {
            Self::Plain(stream) => stream.write(&buffer[..read]),
            Self::Tls(stream) => stream.write(&[IoSlice::new(&buffer[..read])], Follow::Nothing),
        }
    }

    /// Whether encrypted bytes wait for the socket.
    pub(super) fn wants_write(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(stream) => stream.wants_write(),
        }
    }

    /// Hands the socket the encrypted bytes that wait; `WouldBlock` when it takes no more.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Tls(stream) => stream.flush(),
        }
    }

    /// Tells the client that nothing follows. One that is gone does not mind.
    pub(super) fn shut(&mut self) {
        match self {
            Self::Plain(stream) => {
                let _ = stream.shutdown(Shutdown::Write);
            }
            Self::Tls(stream) => stream.shut(),
        }
    }

    /// Reads and drops what the client still sends, encrypted or not.
    pub(super) fn discard(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Tls(stream) => stream.tcp().read(buffer),
        }
    }
}

fn cut() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the log was cut")
}
