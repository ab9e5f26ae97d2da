//! Bytes received from a client and not yet served.
//!
//! Most requests are read whole into the thread's own buffer and served there. Only the beginning
//! of a request whose rest has not arrived is kept with its connection, in a buffer that grows with
//! the bytes that have really arrived: a false length costs nothing, and a thousand clients that
//! send half a request hold a thousand halves.

use std::fmt;
use std::ops::Range;

use kgauge_wire::frame::{FrameError, SIZE_BYTES, frame_size};

/// A buffer's first size.
const FIRST_BYTES: usize = 4096;

/// Bytes that may lie in spare buffers.
const SPARE_BYTES_MAX: usize = 64 << 20;

/// Buffers that connections no longer need. The last one given back comes out first:
/// it is the likeliest to be in the processor's cache, and large enough.
#[derive(Default)]
pub struct Spare {
    buffers: Vec<Vec<u8>>,
    bytes: usize,
    /// Bytes of the buffers that connections have.
    lent: usize,
}

/// Requests may hold passwords, so bytes are never shown.
impl fmt::Debug for Spare {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Spare({} bytes)", self.bytes)
    }
}

impl Spare {
    fn take(&mut self) -> Vec<u8> {
        let buffer = self.buffers.pop().unwrap_or_default();
        self.bytes -= buffer.len();
        self.lent += buffer.len();
        buffer
    }

    /// Bytes of the buffers that connections have: space for partly received requests.
    pub(crate) fn lent_bytes(&self) -> usize {
        self.lent
    }

    fn give(&mut self, buffer: Vec<u8>) {
        self.lent -= buffer.len();
        if self.bytes + buffer.len() <= SPARE_BYTES_MAX {
            self.bytes += buffer.len();
            self.buffers.push(buffer);
        }
    }
}

/// The bytes of a connection that are not served.
#[derive(Default)]
pub struct Inbound {
    /// All of it is initialised; the bytes that count are `start..end`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

/// Requests may hold passwords, so bytes are never shown.
impl fmt::Debug for Inbound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Inbound({} bytes)", self.end - self.start)
    }
}

impl Inbound {
    /// Whether all bytes were served.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Where the first whole frame's payload lies, if there is one.
    pub fn frame(&self, bytes_max: usize) -> Result<Option<Range<usize>>, FrameError> {
        let frame = frame_in(&self.buffer[self.start..self.end], bytes_max)?;
        Ok(frame.map(|range| range.start + self.start..range.end + self.start))
    }

    /// The bytes at a place that [`Inbound::frame`] gave.
    pub fn payload(&mut self, frame: Range<usize>) -> &mut [u8] {
        &mut self.buffer[frame]
    }

    /// Drops everything up to the end of a frame that was served.
    pub fn served(&mut self, frame: &Range<usize>) {
        self.start = frame.end;
    }

    /// Keeps bytes for later.
    pub fn keep(&mut self, bytes: &[u8], spare: &mut Spare) {
        if self.buffer.is_empty() {
            self.buffer = spare.take();
        }
        self.make_room(bytes.len(), spare);
        self.buffer[self.end..self.end + bytes.len()].copy_from_slice(bytes);
        self.end += bytes.len();
    }

    /// Space for more of the partly received frame: no more than it needs, and at most as much as it
    /// already has.
    pub(crate) fn room(
        &mut self,
        bytes_max: usize,
        spare: &mut Spare,
    ) -> Result<&mut [u8], FrameError> {
        let have = self.end - self.start;
        let size = frame_size(&self.buffer[self.start..self.end], bytes_max)?;
        let whole = SIZE_BYTES + size.unwrap_or(0);
        let len = whole.saturating_sub(have).min(have.max(FIRST_BYTES)).max(1);
        self.make_room(len, spare);
        Ok(&mut self.buffer[self.end..self.end + len])
    }

    /// Bytes of the buffer.
    pub(crate) fn buffer_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Notes bytes that were read into [`Inbound::room`].
    pub(crate) fn filled(&mut self, count: usize) {
        self.end += count;
    }

    /// Gives the buffer back when nothing is left in it.
    pub fn release(&mut self, spare: &mut Spare) {
        if self.is_empty() && !self.buffer.is_empty() {
            spare.give(std::mem::take(&mut self.buffer));
            self.start = 0;
            self.end = 0;
        }
    }

    /// Gives the buffer back with all that is in it.
    pub fn discard(mut self, spare: &mut Spare) {
        self.start = self.end;
        self.release(spare);
    }

    fn make_room(&mut self, count: usize, spare: &mut Spare) {
        if self.start > 0 && self.end + count > self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let needed = self.end + count;
        if needed > self.buffer.len() {
            let size = needed.max(self.buffer.len() * 2).max(FIRST_BYTES);
            spare.lent += size - self.buffer.len();
            self.buffer.resize(size, 0);
        }
    }
}

/// Where the payload of the first whole frame lies.
pub(crate) fn frame_in(bytes: &[u8], bytes_max: usize) -> Result<Option<Range<usize>>, FrameError> {
    let Some(size) = frame_size(bytes, bytes_max)? else {
        return Ok(None);
    };
    let end = SIZE_BYTES + size;
    Ok((end <= bytes.len()).then_some(SIZE_BYTES..end))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 100 << 20;

    #[test]
    fn a_lying_length_costs_only_what_has_arrived() {
        let mut inbound = Inbound::default();
        let mut spare = Spare::default();
        inbound.keep(&(90i32 << 20).to_be_bytes(), &mut spare);
        assert_eq!(inbound.frame(LIMIT), Ok(None));
        assert!(inbound.room(LIMIT, &mut spare).unwrap().len() <= FIRST_BYTES);
        assert!(inbound.buffer.len() <= 2 * FIRST_BYTES);
    }

    #[test]
    fn a_frame_that_comes_in_pieces_is_put_together() {
        let payload: Vec<u8> = (0..10_000u32).map(|n| n as u8).collect();
        let mut frame = 10_000i32.to_be_bytes().to_vec();
        frame.extend_from_slice(&payload);
        let mut inbound = Inbound::default();
        let mut spare = Spare::default();
        inbound.keep(&frame[..3], &mut spare);
        let mut rest = &frame[3..];
        while !rest.is_empty() {
            let room = inbound.room(LIMIT, &mut spare).unwrap();
            let count = room.len().min(rest.len()).min(777);
            room[..count].copy_from_slice(&rest[..count]);
            inbound.filled(count);
            rest = &rest[count..];
        }
        let range = inbound.frame(LIMIT).unwrap().unwrap();
        assert_eq!(inbound.payload(range.clone()), payload);
        inbound.served(&range);
        assert!(inbound.is_empty());
        inbound.release(&mut spare);
        assert!(inbound.buffer.is_empty() && spare.bytes >= 10_004);
        assert_eq!(spare.lent, 0);
    }

    #[test]
    fn several_frames_are_served_one_after_the_other() {
        let mut inbound = Inbound::default();
        inbound.keep(
            &[0, 0, 0, 1, 7, 0, 0, 0, 2, 8, 9, 0, 0],
            &mut Spare::default(),
        );
        let first = inbound.frame(LIMIT).unwrap().unwrap();
        assert_eq!(inbound.payload(first.clone()), [7]);
        inbound.served(&first);
        let second = inbound.frame(LIMIT).unwrap().unwrap();
        assert_eq!(inbound.payload(second.clone()), [8, 9]);
        inbound.served(&second);
        assert_eq!(inbound.frame(LIMIT), Ok(None));
        assert!(!inbound.is_empty());
    }

    #[test]
    fn sizes_beyond_the_limit_are_errors() {
        assert!(frame_in(&[0x7f, 0, 0, 0], LIMIT).is_err());
        assert!(frame_in(&[0xff, 0, 0, 0], LIMIT).is_err());
    }
}
