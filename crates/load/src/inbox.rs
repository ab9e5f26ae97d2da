//! Splits the bytes of a connection into Kafka's size-prefixed frames.

use std::io::{self, Read};
use std::ops::Range;

/// The minimum space that a read gets.
const READ_BYTES_MIN: usize = 64 * 1024;

/// Protocol violations of a broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InboxError {
    /// A negative size, or one above the limit.
    #[error("the broker announced a frame of {bytes} bytes; at most {bytes_max} are accepted")]
    Size {
        /// The size in the prefix.
        bytes: i32,
        /// The limit of this connection.
        bytes_max: usize,
    },
}

/// The result of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InboxRead {
    /// Bytes read.
    pub(crate) bytes: usize,
    /// The other side has closed the connection.
    pub(crate) closed: bool,
    /// There may be more: the socket did not report that it is empty.
    pub(crate) more: bool,
}

/// A reusable receive buffer.
#[derive(Debug)]
pub(crate) struct ReceiveBuffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    frame_bytes_max: usize,
}

impl ReceiveBuffer {
    /// An inbox that accepts frames of at most `frame_bytes_max`.
    pub(crate) fn new(frame_bytes_max: usize) -> Self {
        Self {
            bytes: vec![0; READ_BYTES_MIN],
            start: 0,
            end: 0,
            frame_bytes_max,
        }
    }

    /// Clears everything, for a new connection.
    pub(crate) fn clear(&mut self) {
        self.start = 0;
        self.end = 0;
    }

    /// Reads once from the socket.
    pub(crate) fn read_from(&mut self, stream: &mut impl Read) -> io::Result<InboxRead> {
        self.make_room();
        loop {
            let room = self.bytes.len() - self.end;
            match stream.read(&mut self.bytes[self.end..]) {
                Ok(0) => {
                    return Ok(InboxRead {
                        bytes: 0,
                        closed: true,
                        more: false,
                    });
                }
                Ok(bytes) => {
                    self.end += bytes;
                    return Ok(InboxRead {
                        bytes,
                        closed: false,
                        more: bytes == room,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(InboxRead {
                        bytes: 0,
                        closed: false,
                        more: false,
                    });
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The position of the next complete frame (without its size), if there is one. [`ReceiveBuffer::frame`] returns it
    /// until the next read.
    pub(crate) fn next_frame(&mut self) -> Result<Option<Range<usize>>, InboxError> {
        let Some(size) = self.announced()? else {
            return Ok(None);
        };
        let whole = self.start + 4 + size;
        if self.end < whole {
            return Ok(None);
        }
        let frame = self.start + 4..whole;
        self.start = whole;
        Ok(Some(frame))
    }

    /// The bytes of a frame found by [`ReceiveBuffer::next_frame`].
    pub(crate) fn frame(&self, at: Range<usize>) -> &[u8] {
        &self.bytes[at]
    }

    /// The size of the next frame, once its four bytes have arrived.
    fn announced(&self) -> Result<Option<usize>, InboxError> {
        let Some(prefix) = self.bytes[self.start..self.end].first_chunk::<4>() else {
            return Ok(None);
        };
        let bytes = i32::from_be_bytes(*prefix);
        match usize::try_from(bytes) {
            Ok(size) if size <= self.frame_bytes_max => Ok(Some(size)),
            _ => Err(InboxError::Size {
                bytes,
                bytes_max: self.frame_bytes_max,
            }),
        }
    }

    /// Moves the remaining bytes to the front, and grows for the frame that is arriving. Growth is by doubling, so that
    /// an announced size alone never allocates memory.
    fn make_room(&mut self) {
        if self.start == self.end {
            self.clear();
        }
        let required_bytes = match self.announced() {
            Ok(Some(size)) => (self.end - self.start).max((4 + size).min(self.bytes.len() * 2)),
            _ => self.end - self.start,
        };
        let short = self.bytes.len() - self.start < required_bytes + 4
            || self.bytes.len() - self.end < READ_BYTES_MIN / 4;
        if short && self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.bytes.len() - self.end < READ_BYTES_MIN / 4 || self.bytes.len() < required_bytes {
            self.bytes.resize(self.bytes.len() * 2, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames_of(
        stream: &[u8],
        piece: usize,
        bytes_max: usize,
    ) -> Result<Vec<Vec<u8>>, InboxError> {
        let mut inbox = ReceiveBuffer::new(bytes_max);
        let mut frames = Vec::new();
        for mut part in stream.chunks(piece) {
            while !part.is_empty() {
                inbox.read_from(&mut part).unwrap();
                while let Some(at) = inbox.next_frame()? {
                    frames.push(inbox.frame(at).to_vec());
                }
            }
        }
        Ok(frames)
    }

    fn framed(bodies: &[Vec<u8>]) -> Vec<u8> {
        let mut stream = Vec::new();
        for body in bodies {
            stream.extend_from_slice(&(body.len() as i32).to_be_bytes());
            stream.extend_from_slice(body);
        }
        stream
    }

    #[test]
    fn frames_survive_any_cut() {
        let bodies: Vec<Vec<u8>> = [0, 1, 3, 70_000, 5, 400_000, 2]
            .iter()
            .map(|&n| vec![n as u8; n])
            .collect();
        let stream = framed(&bodies);
        for piece in [1, 2, 3, 5, 4_096, 65_536, 100_000, stream.len()] {
            assert_eq!(
                frames_of(&stream, piece, 1 << 20).unwrap(),
                bodies,
                "cut in {piece}"
            );
        }
    }

    #[test]
    fn a_lying_size_is_an_error_and_no_allocation() {
        let stream = i32::MAX.to_be_bytes();
        let error = frames_of(&stream, 4, 1 << 20).unwrap_err();
        assert_eq!(
            error,
            InboxError::Size {
                bytes: i32::MAX,
                bytes_max: 1 << 20
            }
        );
        assert!(frames_of(&(-5_i32).to_be_bytes(), 4, 1 << 20).is_err());
    }

    #[test]
    fn an_announced_frame_does_not_reserve_its_size() {
        let mut inbox = ReceiveBuffer::new(100 << 20);
        let announced = (100_i32 << 20).to_be_bytes();
        inbox.read_from(&mut announced.as_slice()).unwrap();
        inbox.read_from(&mut [1_u8, 2, 3].as_slice()).unwrap();
        assert!(inbox.bytes.len() <= 4 * READ_BYTES_MIN);
    }
}
