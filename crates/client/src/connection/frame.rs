//! Complete frames over a blocking socket, limited in size and time.

use std::io::{self, Read, Write};
use std::time::Instant;

use super::foreign::PREVIEW_BYTES_MAX;
use crate::interrupt::{Interrupt, WAIT_SLICE};
use crate::security::Channel;

/// Memory for a body grows in these steps: a false length allocates no more than the bytes that arrive.
const READ_STEP_BYTES: usize = 256 * 1024;

/// Why no frame was transferred.
#[derive(Debug)]
pub(super) enum FrameIoError {
    /// The peer closed; with the bytes of the frame that it had sent, including the length.
    Closed { received: Vec<u8> },
    /// Time is over; with the first bytes of the frame that had arrived.
    TimedOut { received: Vec<u8> },
    /// The first four bytes are not a valid length; with them and what followed.
    Length { length: i64, received: Vec<u8> },
    /// Somebody raised the flag.
    Interrupted,
    /// The operating system's message.
    Io(io::Error),
}

/// Deadline and interrupt of a transfer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience<'a> {
    pub(super) deadline: Instant,
    pub(super) interrupt: &'a Interrupt,
}

impl Patience<'_> {
    /// The next wait, or why there is none.
    fn slice(&self, received: &[u8]) -> Result<std::time::Duration, FrameIoError> {
        if self.interrupt.is_raised() {
            return Err(FrameIoError::Interrupted);
        }
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let received = received[..received.len().min(PREVIEW_BYTES_MAX)].to_vec();
            return Err(FrameIoError::TimedOut { received });
        }
        Ok(left.min(WAIT_SLICE))
    }
}

fn is_pause(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

/// Writes all of `bytes`.
pub(super) fn write_all(
    stream: &mut Channel,
    mut bytes: &[u8],
    patience: Patience<'_>,
) -> Result<(), FrameIoError> {
    while !bytes.is_empty() {
        stream
            .set_write_timeout(Some(patience.slice(&[])?))
            .map_err(FrameIoError::Io)?;
        match stream.write(bytes) {
            Ok(0) => {
                return Err(FrameIoError::Closed {
                    received: Vec::new(),
                });
            }
            Ok(count) => bytes = &bytes[count..],
            Err(error) if is_pause(&error) => {}
            Err(error) => return Err(classify(error, Vec::new())),
        }
    }
    Ok(())
}

/// Reads one frame's body: a length of 4 bytes, big-endian and signed, then as many bytes.
pub(super) fn read_frame(
    stream: &mut Channel,
    body_bytes_max: usize,
    patience: Patience<'_>,
) -> Result<Vec<u8>, FrameIoError> {
    // Every response begins with a correlation id of 4 bytes.
    read_sized(stream, 4..=body_bytes_max, patience)
}

/// Reads a SASL message of a broker before 1.0, which may be empty.
pub(super) fn read_bare(
    stream: &mut Channel,
    body_bytes_max: usize,
    patience: Patience<'_>,
) -> Result<Vec<u8>, FrameIoError> {
    read_sized(stream, 0..=body_bytes_max, patience)
}

fn read_sized(
    stream: &mut Channel,
    allowed: std::ops::RangeInclusive<usize>,
    patience: Patience<'_>,
) -> Result<Vec<u8>, FrameIoError> {
    let mut head = Vec::with_capacity(4);
    fill(stream, &mut head, 4, patience)?;
    let length = i32::from_be_bytes([head[0], head[1], head[2], head[3]]);
    let body_bytes = usize::try_from(length).unwrap_or(usize::MAX);
    if !allowed.contains(&body_bytes) {
        return Err(FrameIoError::Length {
            length: length.into(),
            received: and_what_follows(stream, head),
        });
    }
    let mut body = Vec::new();
    while body.len() < body_bytes {
        let step = (body_bytes - body.len()).min(READ_STEP_BYTES);
        let target_bytes = body.len() + step;
        body.reserve(step);
        if let Err(error) = fill(stream, &mut body, target_bytes, patience) {
            return Err(match error {
                FrameIoError::Closed { received } => FrameIoError::Closed {
                    received: [head, received].concat(),
                },
                FrameIoError::TimedOut { received } => FrameIoError::TimedOut {
                    received: [head, received].concat(),
                },
                other => other,
            });
        }
    }
    Ok(body)
}

/// Reads until the length of `bytes` is `target_bytes`.
fn fill(
    stream: &mut Channel,
    bytes: &mut Vec<u8>,
    target_bytes: usize,
    patience: Patience<'_>,
) -> Result<(), FrameIoError> {
    let mut filled = bytes.len();
    bytes.resize(target_bytes, 0);
    while filled < target_bytes {
        let wait = patience.slice(&bytes[..filled]);
        let read = wait.and_then(|wait| {
            stream
                .set_read_timeout(Some(wait))
                .map_err(FrameIoError::Io)?;
            match stream.read(&mut bytes[filled..]) {
                Ok(0) => Err(FrameIoError::Closed {
                    received: Vec::new(),
                }),
                Ok(count) => Ok(count),
                Err(error) if is_pause(&error) => Ok(0),
                Err(error) => Err(classify(error, Vec::new())),
            }
        });
        match read {
            Ok(count) => filled += count,
            Err(FrameIoError::Closed { .. }) => {
                let received = bytes[..filled].to_vec();
                return Err(FrameIoError::Closed { received });
            }
            Err(other) => return Err(other),
        }
    }
    Ok(())
}

/// A reset counts as a closed connection.
fn classify(error: io::Error, received: Vec<u8>) -> FrameIoError {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    match error.kind() {
        BrokenPipe | ConnectionAborted | ConnectionReset => FrameIoError::Closed { received },
        _ => FrameIoError::Io(error),
    }
}

/// What followed bytes that are not a frame, to recognise the sender.
fn and_what_follows(stream: &mut Channel, head: Vec<u8>) -> Vec<u8> {
    let mut rest = [0u8; PREVIEW_BYTES_MAX];
    let count = match stream.set_read_timeout(Some(WAIT_SLICE)) {
        Ok(()) => stream.read(&mut rest).unwrap_or(0),
        Err(_) => 0,
    };
    [head, rest[..count].to_vec()].concat()
}
