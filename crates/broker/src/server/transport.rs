//! How bytes get to and from a client: plain TCP now, TLS at the same place later.

use std::io::{self, IoSlice, Read, Write};

use mio::net::TcpStream;
use rustix::fs::sendfile;
use rustix::net::{SendFlags, send};

use crate::storage::FileSlice;

/// Most bytes of one [`Transport::send_file`], so that one reader does not keep the node to itself.
const SEND_FILE_BYTES_MAX: usize = 1 << 20;

/// A client's byte stream.
#[derive(Debug)]
pub(crate) enum Transport {
    /// TCP without more.
    Plain(TcpStream),
}

impl Transport {
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
        }
    }

    pub(crate) fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write_vectored(slices),
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
        }
    }

    /// Sends bytes of a file from its `done`th on, from the page cache where the file is the
    /// system's.
    pub(crate) fn send_file(&mut self, slice: &FileSlice, done: usize) -> io::Result<usize> {
        let left = slice.len - done;
        let count = left.min(SEND_FILE_BYTES_MAX);
        let mut offset = slice.offset + done as u64;
        match (self, slice.os_file()) {
            (Self::Plain(stream), Some(file)) => {
                match sendfile(&*stream, file, Some(&mut offset), count)? {
                    0 => Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        "the log was cut",
                    )),
                    sent => Ok(sent),
                }
            }
            (Self::Plain(stream), None) => {
                let mut bytes = vec![0; count.min(1 << 16)];
                let read = slice
                    .file
                    .read_at(&mut bytes, offset)
                    .map_err(io::Error::other)?;
                if read == 0 {
                    return Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        "the log was cut",
                    ));
                }
                stream.write(&bytes[..read])
            }
        }
    }
}
