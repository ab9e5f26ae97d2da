//! One non-blocking connection to a broker: frames out, frames in.

use std::collections::VecDeque;
use std::io::{self, IoSlice, Read, Write};
use std::ops::Range;

use kgauge_client::security::{Channel, TlsSession};
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};

use crate::inbox::{InboxError, InboxRead, ReceiveBuffer};

/// Slices per system call; a request with many partitions takes several calls.
const SLICES_MAX: usize = 64;

/// A request to be sent: its own bytes, with batches in between that are stored elsewhere.
///
/// Batches are not copied into the frame: the kernel gathers them from where they were encoded.
#[derive(Debug, Default)]
pub(crate) struct OutgoingFrame {
    /// Everything but the batches.
    pub(crate) head: Vec<u8>,
    /// Batches, each with the length of the head before it.
    pub(crate) cuts: Vec<BatchSlot>,
    written: usize,
}

/// The position of a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchSlot {
    /// Bytes of the head before the batch.
    pub(crate) head_end: usize,
    /// The batch's index in its producer's slab.
    pub(crate) batch: u32,
}

/// Finds a batch's bytes by its index.
pub(crate) trait Bodies {
    /// The encoded bytes of that batch.
    fn body(&self, batch: u32) -> &[u8];
}

/// For frames without batches.
pub(crate) struct NoBodies;

impl Bodies for NoBodies {
    fn body(&self, _batch: u32) -> &[u8] {
        &[]
    }
}

impl OutgoingFrame {
    fn reset(&mut self) {
        self.head.clear();
        self.cuts.clear();
        self.written = 0;
    }

    /// Bytes on the wire, including the size prefix.
    pub(crate) fn wire_bytes(&self, bodies: &impl Bodies) -> usize {
        self.head.len()
            + self
                .cuts
                .iter()
                .map(|cut| bodies.body(cut.batch).len())
                .sum::<usize>()
    }

    /// Writes the size prefix, once all batches are known.
    pub(crate) fn seal(&mut self, bodies: &impl Bodies) {
        let size = (self.wire_bytes(bodies) - 4) as u32;
        if let Some(prefix) = self.head.first_chunk_mut::<4>() {
            *prefix = size.to_be_bytes();
        }
    }

    /// Collects the unwritten slices from `filled` on; returns how many there are now. Slices that do not fit are left
    /// for the next call.
    fn unwritten<'a>(
        &'a self,
        bodies: &'a impl Bodies,
        slices: &mut [IoSlice<'a>; SLICES_MAX],
        filled: usize,
    ) -> usize {
        let (mut skip, mut count, mut head_start) = (self.written, filled, 0);
        let mut push = |piece: &'a [u8]| {
            if skip >= piece.len() {
                skip -= piece.len();
            } else if count < SLICES_MAX {
                slices[count] = IoSlice::new(&piece[skip..]);
                skip = 0;
                count += 1;
            }
        };
        for cut in &self.cuts {
            push(&self.head[head_start..cut.head_end]);
            push(bodies.body(cut.batch));
            head_start = cut.head_end;
        }
        push(&self.head[head_start..]);
        count
    }
}

/// A non-blocking socket, with or without TLS.
#[derive(Debug)]
struct Stream {
    tcp: TcpStream,
    tls: Option<Box<TlsSession>>,
}

impl Stream {
    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.tcp.write_vectored(slices),
            Some(session) => session.write_vectored(&mut self.tcp, slices),
        }
    }

    /// Encrypted bytes of complete frames may still wait for the socket.
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.tls {
            None => Ok(()),
            Some(session) => match session.flush(&mut self.tcp) {
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
                _ => Ok(()),
            },
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.tcp.read(buffer),
            Some(session) => session.read_all(&mut self.tcp, buffer),
        }
    }
}

/// A connection with its queues. A link survives the loss of its connection and later gets a new stream.
#[derive(Debug)]
pub(crate) struct Link {
    stream: Option<Stream>,
    token: Token,
    inbox: ReceiveBuffer,
    outbox: VecDeque<OutgoingFrame>,
    spare: Vec<OutgoingFrame>,
    correlation_id: i32,
    has_heard: bool,
}

impl Link {
    /// A link without a connection.
    pub(crate) fn new(token: Token, frame_bytes_max: usize) -> Self {
        Self {
            stream: None,
            token,
            inbox: ReceiveBuffer::new(frame_bytes_max),
            outbox: VecDeque::new(),
            spare: Vec::new(),
            correlation_id: 0,
            has_heard: false,
        }
    }

    /// Whether bytes have arrived since the last call.
    pub(crate) fn take_heard(&mut self) -> bool {
        std::mem::take(&mut self.has_heard)
    }

    /// Takes over a connected stream that has completed its handshake.
    pub(crate) fn open(&mut self, channel: Channel, registry: &Registry) -> io::Result<()> {
        channel.tcp.set_nonblocking(true)?;
        let mut tcp = TcpStream::from_std(channel.tcp);
        registry.register(
            &mut tcp,
            self.token,
            Interest::READABLE | Interest::WRITABLE,
        )?;
        let tls = channel.tls;
        self.stream = Some(Stream { tcp, tls });
        Ok(())
    }

    /// Drops the connection and everything that was queued on it.
    pub(crate) fn close(&mut self, registry: &Registry) {
        if let Some(mut stream) = self.stream.take() {
            // A stream that cannot be deregistered is removed from the selector when it closes.
            let _ = registry.deregister(&mut stream.tcp);
        }
        self.inbox.clear();
        while let Some(frame) = self.outbox.pop_front() {
            self.spare.push(frame);
        }
    }

    /// Whether there is a connection.
    pub(crate) fn is_open(&self) -> bool {
        self.stream.is_some()
    }

    /// An empty frame, and the correlation id that its header must contain.
    pub(crate) fn new_frame(&mut self) -> (OutgoingFrame, i32) {
        let mut frame = self.spare.pop().unwrap_or_default();
        frame.reset();
        self.correlation_id = self.correlation_id.wrapping_add(1);
        (frame, self.correlation_id)
    }

    /// Queues a sealed frame.
    pub(crate) fn push(&mut self, frame: OutgoingFrame) {
        self.outbox.push_back(frame);
    }

    /// Writes as much as the kernel accepts. Returns how many frames were sent completely.
    pub(crate) fn write(&mut self, bodies: &impl Bodies) -> io::Result<usize> {
        let Some(stream) = &mut self.stream else {
            return Ok(0);
        };
        stream.flush()?;
        let mut complete = 0;
        while !self.outbox.is_empty() {
            // Small requests that are ready together cost one call.
            let mut slices = [IoSlice::new(&[]); SLICES_MAX];
            let mut count = 0;
            for frame in &self.outbox {
                count = frame.unwritten(bodies, &mut slices, count);
                if count == SLICES_MAX {
                    break;
                }
            }
            match stream.write_vectored(&slices[..count]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(bytes) => {
                    complete += note_written(&mut self.outbox, &mut self.spare, bodies, bytes)
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(complete),
                Err(error) => return Err(error),
            }
        }
        Ok(complete)
    }

    /// Reads once from the socket.
    pub(crate) fn read(&mut self) -> io::Result<InboxRead> {
        match &mut self.stream {
            Some(stream) => {
                let arrived = self.inbox.read_from(stream)?;
                self.has_heard |= arrived.bytes > 0;
                Ok(arrived)
            }
            None => Ok(InboxRead {
                bytes: 0,
                closed: false,
                more: false,
            }),
        }
    }

    /// The next complete frame that has arrived.
    pub(crate) fn next_frame(&mut self) -> Result<Option<Range<usize>>, InboxError> {
        self.inbox.next_frame()
    }

    /// The bytes of a frame.
    pub(crate) fn frame(&self, at: Range<usize>) -> &[u8] {
        self.inbox.frame(at)
    }
}

/// The kernel has accepted this many bytes of the first frames. Removes the complete ones and returns their number.
fn note_written(
    outbox: &mut VecDeque<OutgoingFrame>,
    spare: &mut Vec<OutgoingFrame>,
    bodies: &impl Bodies,
    mut bytes: usize,
) -> usize {
    let mut complete = 0;
    while let Some(frame) = outbox.front_mut() {
        let left = frame.wire_bytes(bodies) - frame.written;
        if bytes < left {
            frame.written += bytes;
            break;
        }
        bytes -= left;
        spare.extend(outbox.pop_front());
        complete += 1;
    }
    complete
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Two([Vec<u8>; 2]);

    impl Bodies for Two {
        fn body(&self, batch: u32) -> &[u8] {
            &self.0[batch as usize]
        }
    }

    fn frame() -> (OutgoingFrame, Two) {
        let head = vec![0, 0, 0, 0, b'a', b'b', b'c', b'd'];
        let cuts = vec![
            BatchSlot {
                head_end: 6,
                batch: 1,
            },
            BatchSlot {
                head_end: 7,
                batch: 0,
            },
        ];
        let mut frame = OutgoingFrame {
            head,
            cuts,
            written: 0,
        };
        let bodies = Two([b"ONE".to_vec(), b"SECOND".to_vec()]);
        frame.seal(&bodies);
        (frame, bodies)
    }

    #[test]
    fn batches_stand_between_the_pieces_of_the_head() {
        let (frame, bodies) = frame();
        let mut slices = [IoSlice::new(&[]); SLICES_MAX];
        let count = frame.unwritten(&bodies, &mut slices, 0);
        let all: Vec<u8> = slices[..count]
            .iter()
            .flat_map(|piece| piece.to_vec())
            .collect();
        assert_eq!(all, b"\0\0\0\x0dabSECONDcONEd");
    }

    #[test]
    fn a_write_goes_on_where_the_last_one_ended() {
        let (mut frame, bodies) = frame();
        let whole = b"\0\0\0\x0dabSECONDcONEd";
        for written in 0..=whole.len() {
            frame.written = written;
            let mut slices = [IoSlice::new(&[]); SLICES_MAX];
            let count = frame.unwritten(&bodies, &mut slices, 0);
            let rest: Vec<u8> = slices[..count]
                .iter()
                .flat_map(|piece| piece.to_vec())
                .collect();
            assert_eq!(rest, whole[written..], "after {written} bytes");
        }
    }

    #[test]
    fn frames_that_wait_together_go_together_and_end_one_by_one() {
        let all = b"\0\0\0\x0dabSECONDcONEd".len();
        for first in 1..=2 * all {
            let (one, bodies) = frame();
            let (two, _) = frame();
            let mut slices = [IoSlice::new(&[]); SLICES_MAX];
            let count = one.unwritten(&bodies, &mut slices, 0);
            let count = two.unwritten(&bodies, &mut slices, count);
            let gathered: usize = slices[..count].iter().map(|piece| piece.len()).sum();
            assert_eq!(gathered, 2 * all);

            let (mut outbox, mut spare) = (VecDeque::from([one, two]), Vec::new());
            let before = note_written(&mut outbox, &mut spare, &bodies, first);
            assert_eq!(before, first / all, "after {first} bytes");
            let left: usize = outbox
                .iter()
                .map(|frame| frame.wire_bytes(&bodies) - frame.written)
                .sum();
            assert_eq!(left, 2 * all - first);
            let after = note_written(&mut outbox, &mut spare, &bodies, left);
            assert_eq!((before + after, outbox.len(), spare.len()), (2, 0, 2));
        }
    }
}
