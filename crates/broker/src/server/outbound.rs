//! Answers on their way to a client that may be slow to take them.

use std::collections::VecDeque;
use std::io::{self, IoSlice};

use super::transport::Transport;
use crate::counts::{RequestPhase, RequestTiming};
use crate::node::{Chunk, EncodedResponse};

/// Answers that may wait for a slow client, and bytes in memory that they may hold. Beyond either,
/// no request of the client is read until it takes what is there.
pub(super) const RESPONSES_MAX: usize = 64;
pub(super) const BYTES_HELD_MAX: usize = 4 << 20;

/// Pieces handed to the system at once.
const SLICES_MAX: usize = 32;

/// Answers in order, and how much of the first piece has gone.
#[derive(Debug, Default)]
pub(crate) struct Outbound {
    chunks: VecDeque<Piece>,
    done: usize,
    bytes_held: usize,
    responses: usize,
    /// The ways of the requests that are answered here, in order.
    courses: VecDeque<Option<RequestTiming>>,
    /// The number of requests at the end of `courses` whose sending has not started.
    waiting: usize,
    /// The ways of those whose answers have gone since [`Outbound::gone`].
    gone: Vec<RequestTiming>,
}

#[derive(Debug)]
struct Piece {
    chunk: Chunk,
    ends_response: bool,
}

/// How far a flush came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlushOutcome {
    /// Everything has gone.
    All,
    /// The client must take some first.
    Blocked,
    /// The share of this turn has gone; more can go at once.
    Turn,
}

impl Outbound {
    pub(crate) fn push(&mut self, response: EncodedResponse) {
        let pieces = response
            .chunks
            .into_iter()
            .filter(|chunk| !chunk.is_empty());
        let mut any = false;
        for chunk in pieces {
            if let Chunk::Bytes(bytes) = &chunk {
                self.bytes_held += bytes.len();
            }
            self.chunks.push_back(Piece {
                chunk,
                ends_response: false,
            });
            any = true;
        }
        if let Some(last) = self.chunks.back_mut().filter(|_| any) {
            last.ends_response = true;
            self.responses += 1;
            self.courses.push_back(response.course);
            self.waiting += 1;
        }
    }

    /// Whether the client has too much to take already.
    pub(crate) fn is_full(&self) -> bool {
        self.responses >= RESPONSES_MAX || self.bytes_held >= BYTES_HELD_MAX
    }

    /// What was pushed is to be sent from this moment on.
    pub(crate) fn send_from(&mut self, at_ns: u64) {
        let waiting = std::mem::take(&mut self.waiting);
        for course in self.courses.iter_mut().rev().take(waiting).flatten() {
            course.go_on(RequestPhase::ResponseSend, at_ns);
        }
    }

    /// The ways of the requests whose answers have gone since the last call.
    pub(crate) fn gone(&mut self) -> std::vec::Drain<'_, RequestTiming> {
        self.gone.drain(..)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Writes what the client takes, `bytes_max` at most and a piece more.
    pub(crate) fn flush(
        &mut self,
        transport: &mut Transport,
        file_buffer: &mut [u8],
        bytes_max: usize,
    ) -> io::Result<FlushOutcome> {
        let mut left = bytes_max;
        while !self.chunks.is_empty() {
            if left == 0 {
                return Ok(FlushOutcome::Turn);
            }
            match self.write_some(transport, file_buffer) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    self.advance(count);
                    left = left.saturating_sub(count);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(FlushOutcome::Blocked);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        // What was taken may still wait to be sent.
        match transport.flush() {
            Ok(()) => Ok(FlushOutcome::All),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(FlushOutcome::Blocked),
            Err(error) => Err(error),
        }
    }

    fn write_some(&self, transport: &mut Transport, file_buffer: &mut [u8]) -> io::Result<usize> {
        let next = self.chunks.get(1).map(|piece| &piece.chunk);
        match (self.chunks.front().map(|piece| &piece.chunk), next) {
            (Some(Chunk::File(slice)), _) => transport.send_file(slice, self.done, file_buffer),
            (Some(Chunk::Bytes(bytes)), Some(Chunk::File(_))) => {
                transport.write_with_more(&bytes[self.done..])
            }
            _ => {
                let mut slices = [IoSlice::new(&[]); SLICES_MAX];
                let mut count = 0;
                let mut skip = self.done;
                for (slot, piece) in slices.iter_mut().zip(&self.chunks) {
                    let Chunk::Bytes(bytes) = &piece.chunk else {
                        break;
                    };
                    *slot = IoSlice::new(&bytes[std::mem::take(&mut skip)..]);
                    count += 1;
                }
                transport.write_vectored(&slices[..count])
            }
        }
    }

    /// Drops the bytes that have gone.
    fn advance(&mut self, mut count: usize) {
        while let Some(piece) = self.chunks.front() {
            let left = piece.chunk.len() - self.done;
            if count < left {
                self.done += count;
                return;
            }
            count -= left;
            self.done = 0;
            if piece.ends_response {
                self.responses -= 1;
                self.gone.extend(self.courses.pop_front().flatten());
            }
            if let Chunk::Bytes(bytes) = &piece.chunk {
                self.bytes_held -= bytes.len();
            }
            self.chunks.pop_front();
        }
    }
}
