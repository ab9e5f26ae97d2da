//! What threads of a process give to the thread of a connection.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use serde::Serialize;

use crate::protocol::{FrameKind, encode};

/// Frames that may wait for the connection. Then whoever sends waits, which is never a load thread during the load.
const WAITING_MAX: usize = 256;

/// A frame to send, or the end.
#[derive(Debug)]
pub(crate) enum Outgoing {
    /// A frame.
    Frame(FrameKind, Vec<u8>),
    /// Nothing follows.
    End,
}

/// Gives frames to the thread of a connection.
#[derive(Debug, Clone)]
pub(crate) struct OutgoingFrames(SyncSender<Outgoing>);

/// The connection has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ConnectionOver;

impl OutgoingFrames {
    pub(crate) fn new() -> (Self, Receiver<Outgoing>) {
        let (sender, receiver) = sync_channel(WAITING_MAX);
        (Self(sender), receiver)
    }

    /// Sends a message.
    pub(crate) fn message(&self, message: &impl Serialize) -> Result<(), ConnectionOver> {
        // Messages are plain data; what cannot be encoded cannot be sent.
        let content = encode(message).map_err(|_| ConnectionOver)?;
        self.frame(FrameKind::Message, content)
    }

    /// Sends a frame.
    pub(crate) fn frame(&self, kind: FrameKind, content: Vec<u8>) -> Result<(), ConnectionOver> {
        let sent = self.0.send(Outgoing::Frame(kind, content));
        sent.map_err(|_| ConnectionOver)
    }

    /// Sends a frame unless too many wait; then it returns the content.
    pub(crate) fn try_frame(
        &self,
        kind: FrameKind,
        content: Vec<u8>,
    ) -> Result<Option<Vec<u8>>, ConnectionOver> {
        match self.0.try_send(Outgoing::Frame(kind, content)) {
            Ok(()) | Err(TrySendError::Full(Outgoing::End)) => Ok(None),
            Err(TrySendError::Full(Outgoing::Frame(_, content))) => Ok(Some(content)),
            Err(TrySendError::Disconnected(_)) => Err(ConnectionOver),
        }
    }

    /// Ends the connection once everything is sent.
    pub(crate) fn end(&self) {
        let _ = self.0.send(Outgoing::End);
    }
}

/// Sends the lines of slices.
pub(crate) struct SliceLines(pub(crate) OutgoingFrames);

impl Write for SliceLines {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        let sent = self.0.frame(FrameKind::Slices, lines.to_vec());
        match sent {
            Ok(()) => Ok(lines.len()),
            Err(ConnectionOver) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
