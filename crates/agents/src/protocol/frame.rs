//! Frames: where one message ends and the next begins. No I/O, and no allocation beyond what has arrived.

use std::fmt;

/// The longest frame. The longest content is the lines of some slices: the recorder's writer collects a mebibyte, and a
/// line has at most eight mebibytes.
pub const FRAME_BYTES_MAX: usize = 12 << 20;

/// The longest frame before both sides have proved that they know the token.
pub(crate) const GREETING_BYTES_MAX: usize = 1 << 10;

/// Bytes of a frame before its content.
const HEAD_BYTES: usize = 5;

/// What a frame contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// The first frame of each side: protocol version and proof.
    Greeting,
    /// A message in JSON.
    Message,
    /// Lines of slices, each with its end.
    Slices,
    /// Lines of evidence, each with its end.
    Evidence,
    /// A chunk of a client's ledger.
    Ledger,
}

impl FrameKind {
    const ALL: [Self; 5] = [
        Self::Greeting,
        Self::Message,
        Self::Slices,
        Self::Evidence,
        Self::Ledger,
    ];

    fn byte(self) -> u8 {
        match self {
            Self::Greeting => b'G',
            Self::Message => b'M',
            Self::Slices => b'S',
            Self::Evidence => b'E',
            Self::Ledger => b'L',
        }
    }
}

/// A complete frame.
#[derive(Clone, PartialEq, Eq)]
pub struct AgentFrame {
    /// What it contains.
    pub kind: FrameKind,
    /// Its content.
    pub content: Vec<u8>,
}

impl fmt::Debug for AgentFrame {
    /// The content may hold the cluster's passwords.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?} of {} bytes", self.kind, self.content.len())
    }
}

/// Why bytes are not a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AgentFrameError {
    /// The length exceeds what is allowed.
    #[error("a frame of {bytes} bytes is longer than the {allowed} that are allowed")]
    TooLong {
        /// What the frame claims.
        bytes: u64,
        /// What is allowed.
        allowed: usize,
    },
    /// The length leaves no byte for the kind.
    #[error("a frame is empty")]
    Empty,
    /// The kind is unknown.
    #[error("a frame has the unknown kind {kind}")]
    Kind {
        /// The byte.
        kind: u8,
    },
}

/// Appends a frame to `bytes`.
pub fn encode_frame(
    kind: FrameKind,
    content: &[u8],
    bytes: &mut Vec<u8>,
) -> Result<(), AgentFrameError> {
    let length = content.len() + 1;
    let too_long = AgentFrameError::TooLong {
        bytes: length as u64,
        allowed: FRAME_BYTES_MAX,
    };
    if length > FRAME_BYTES_MAX {
        return Err(too_long);
    }
    let length = u32::try_from(length).map_err(|_| too_long)?;
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.push(kind.byte());
    bytes.extend_from_slice(content);
    Ok(())
}

/// Collects bytes until they are a frame.
#[derive(Debug)]
pub struct FrameBuffer {
    bytes: Vec<u8>,
    /// Bytes in front that were taken.
    taken: usize,
    length_max: usize,
}

impl FrameBuffer {
    /// An empty buffer that refuses longer frames.
    pub fn new(length_max: usize) -> Self {
        Self {
            bytes: Vec::new(),
            taken: 0,
            length_max,
        }
    }

    /// Changes the limit for later frames.
    pub fn allow(&mut self, length_max: usize) {
        self.length_max = length_max;
    }

    /// Adds bytes that have arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.taken > 0 {
            self.bytes.drain(..self.taken);
            self.taken = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next complete frame.
    ///
    /// # Errors
    /// The bytes are no frame; whatever follows cannot be understood either.
    pub fn take(&mut self) -> Result<Option<AgentFrame>, AgentFrameError> {
        let left = self.bytes.get(self.taken..).unwrap_or_default();
        let Some((head, rest)) = left.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes(*head);
        if u64::from(length) > self.length_max as u64 {
            return Err(AgentFrameError::TooLong {
                bytes: u64::from(length),
                allowed: self.length_max,
            });
        }
        let Some(kind) = rest.first() else {
            return match length {
                0 => Err(AgentFrameError::Empty),
                _ => Ok(None),
            };
        };
        let Some(content_bytes) = (length as usize).checked_sub(1) else {
            return Err(AgentFrameError::Empty);
        };
        let mut kinds = FrameKind::ALL.into_iter();
        let known = kinds.find(|known| known.byte() == *kind);
        let known = known.ok_or(AgentFrameError::Kind { kind: *kind })?;
        let Some(content) = rest.get(1..1 + content_bytes) else {
            return Ok(None);
        };
        let content = content.to_vec();
        self.taken += HEAD_BYTES + content_bytes;
        Ok(Some(AgentFrame {
            kind: known,
            content,
        }))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn encoded(kind: FrameKind, content: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode_frame(kind, content, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn frames_come_out_whole_however_their_bytes_arrive() {
        let mut bytes = encoded(FrameKind::Greeting, b"hello");
        bytes.extend(encoded(FrameKind::Slices, b""));
        bytes.extend(encoded(FrameKind::Message, &[7; 300]));
        for step in [1, 2, 7, bytes.len()] {
            let mut buffer = FrameBuffer::new(FRAME_BYTES_MAX);
            let mut found = Vec::new();
            for part in bytes.chunks(step) {
                buffer.push(part);
                while let Some(frame) = buffer.take().unwrap() {
                    found.push((frame.kind, frame.content.len()));
                }
            }
            assert_eq!(
                found,
                [
                    (FrameKind::Greeting, 5),
                    (FrameKind::Slices, 0),
                    (FrameKind::Message, 300)
                ]
            );
        }
    }

    #[test]
    fn a_lying_length_is_an_error_before_anything_is_collected() {
        let mut buffer = FrameBuffer::new(GREETING_BYTES_MAX);
        buffer.push(&[0xff, 0xff, 0xff, 0xff]);
        assert!(matches!(
            buffer.take(),
            Err(AgentFrameError::TooLong { .. })
        ));
        let mut buffer = FrameBuffer::new(GREETING_BYTES_MAX);
        buffer.push(&[0, 0, 0, 0, b'G']);
        assert_eq!(buffer.take(), Err(AgentFrameError::Empty));
        // What a browser would send.
        let mut buffer = FrameBuffer::new(GREETING_BYTES_MAX);
        buffer.push(b"GET / HTTP/1.1\r\n");
        assert!(matches!(
            buffer.take(),
            Err(AgentFrameError::TooLong { .. })
        ));
        let mut buffer = FrameBuffer::new(GREETING_BYTES_MAX);
        buffer.push(&[0, 0, 0, 1, b'?']);
        assert_eq!(buffer.take(), Err(AgentFrameError::Kind { kind: b'?' }));
    }

    #[test]
    fn a_frame_that_nobody_would_accept_is_not_written() {
        let mut bytes = Vec::new();
        let content = vec![0; FRAME_BYTES_MAX];
        assert!(encode_frame(FrameKind::Slices, &content, &mut bytes).is_err());
        assert!(bytes.is_empty());
    }
}
