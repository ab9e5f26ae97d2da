//! Ledgers on their way to the lead, while the load goes on. Nothing of them is on the agent's disk.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kgauge_load::{LedgerName, LedgerSink, LedgerStore};

use super::outgoing::{ConnectionOver, OutgoingFrames};
use crate::protocol::{CHUNK_HEAD_BYTES, FrameKind, chunk_head};

/// Bytes of all ledgers that may wait for the connection. It takes them within three seconds or ends; 100,000 batches
/// per second are 5 MB in that time. One chunk with all of them is shorter than the longest frame.
const WAITING_BYTES_MAX: usize = 8 << 20;

/// Sends the ledgers of a repeat.
#[derive(Debug, Clone)]
pub(super) struct LedgerStreams {
    outgoing: OutgoingFrames,
    /// Bytes of all ledgers for which the connection had no room.
    waiting_bytes: Arc<AtomicUsize>,
}

impl LedgerStreams {
    pub(super) fn new(outgoing: OutgoingFrames) -> Self {
        Self {
            outgoing,
            waiting_bytes: Arc::default(),
        }
    }
}

impl LedgerStore for LedgerStreams {
    fn begin(&self, name: LedgerName) -> io::Result<Box<dyn LedgerSink>> {
        let head = chunk_head(name);
        Ok(Box::new(LedgerStream {
            streams: self.clone(),
            head,
            chunk: head.to_vec(),
        }))
    }
}

/// Sends one ledger.
#[derive(Debug)]
struct LedgerStream {
    streams: LedgerStreams,
    head: [u8; CHUNK_HEAD_BYTES],
    /// The head of the next chunk, and what waits behind it.
    chunk: Vec<u8>,
}

impl LedgerStream {
    fn take_chunk(&mut self) -> Vec<u8> {
        std::mem::replace(&mut self.chunk, self.head.to_vec())
    }

    fn note_sent(&self, chunk_bytes: usize) {
        let bytes = chunk_bytes.saturating_sub(CHUNK_HEAD_BYTES);
        let waiting = &self.streams.waiting_bytes;
        waiting.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Write for LedgerStream {
    /// Sends the entries, or keeps them until the next ones if too many frames wait: a load thread must not.
    fn write(&mut self, entries: &[u8]) -> io::Result<usize> {
        let waiting = &self.streams.waiting_bytes;
        let before = waiting.fetch_add(entries.len(), Ordering::Relaxed);
        if before.saturating_add(entries.len()) > WAITING_BYTES_MAX {
            waiting.fetch_sub(entries.len(), Ordering::Relaxed);
            return Err(io::Error::other("the connection to the lead is too slow"));
        }
        self.chunk.extend_from_slice(entries);
        let chunk = self.take_chunk();
        let bytes = chunk.len();
        match self.streams.outgoing.try_frame(FrameKind::Ledger, chunk) {
            Ok(None) => self.note_sent(bytes),
            Ok(Some(chunk)) => self.chunk = chunk,
            Err(ConnectionOver) => return Err(io::ErrorKind::BrokenPipe.into()),
        }
        Ok(entries.len())
    }

    /// Sends what waits. This is the end of a ledger, so its thread has nothing else to do.
    fn flush(&mut self) -> io::Result<()> {
        if self.chunk.len() == CHUNK_HEAD_BYTES {
            return Ok(());
        }
        let chunk = self.take_chunk();
        let bytes = chunk.len();
        match self.streams.outgoing.frame(FrameKind::Ledger, chunk) {
            Ok(()) => self.note_sent(bytes),
            Err(ConnectionOver) => return Err(io::ErrorKind::BrokenPipe.into()),
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::sync::mpsc::Receiver;

    use super::*;
    use crate::agent::Outgoing;
    use crate::protocol::LedgerChunk;

    /// The entries of the frames so far, which all are of one ledger.
    fn entries(frames: &Receiver<Outgoing>, name: LedgerName) -> Vec<u8> {
        let mut all = Vec::new();
        while let Ok(Outgoing::Frame(kind, content)) = frames.try_recv() {
            let chunk = LedgerChunk::decode(&content).unwrap();
            assert_eq!((kind, chunk.name), (FrameKind::Ledger, name));
            all.extend_from_slice(chunk.entries);
        }
        all
    }

    #[test]
    fn entries_that_found_no_room_follow_later_in_order() {
        let (outgoing, frames) = OutgoingFrames::new();
        let streams = LedgerStreams::new(outgoing);
        let name = LedgerName::of_producer(1, 2);
        let mut ledger = streams.begin(name).unwrap();
        let sent: Vec<u8> = (0..1_000_u32).flat_map(u32::to_be_bytes).collect();
        for entry in sent.chunks(4) {
            ledger.write_all(entry).unwrap();
        }
        assert!(streams.waiting_bytes.load(Ordering::Relaxed) > 0);
        let mut received = entries(&frames, name);
        ledger.write_all(b"last").unwrap();
        ledger.flush().unwrap();
        assert_eq!(streams.waiting_bytes.load(Ordering::Relaxed), 0);
        received.extend(entries(&frames, name));
        assert_eq!(received, [&sent[..], b"last"].concat());
    }

    #[test]
    fn a_connection_that_takes_nothing_ends_the_ledger_and_not_the_memory() {
        let (outgoing, frames) = OutgoingFrames::new();
        let streams = LedgerStreams::new(outgoing);
        let mut ledger = streams.begin(LedgerName::of_consumer(0, 0)).unwrap();
        let entries = vec![7; 64 << 10];
        let refused = (0..1_000).find_map(|_| ledger.write_all(&entries).err());
        assert!(refused.unwrap().to_string().contains("too slow"));
        let waiting = streams.waiting_bytes.load(Ordering::Relaxed);
        assert!(waiting <= WAITING_BYTES_MAX, "{waiting}");
        drop(frames);
        let over = ledger.flush().unwrap_err();
        assert_eq!(over.kind(), io::ErrorKind::BrokenPipe);
    }
}
