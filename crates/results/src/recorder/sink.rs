//! Where a recorder ships its slices to, and gets empty ones back from.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use super::writer::WriteFailure;
use crate::slice::{Slice, SliceKey};
use crate::stage::Stage;

/// Slices that may wait for the writer. At a hundred recorders with two slices a second that is
/// ten seconds of a disk that does not answer; then the run must stop.
pub(super) const QUEUE_MAX: usize = 2_048;
/// Empty slices that wait to be used again, per recorder; more are given back to the system.
const SPARE_MAX: usize = 64;

/// One recorder's way to the writer.
#[derive(Debug)]
pub struct SliceSink {
    parcels: SyncSender<Parcel>,
    spare: Receiver<Box<Slice>>,
    spare_back: SyncSender<Box<Slice>>,
    failure: Arc<WriteFailure>,
}

/// What goes to the writer.
#[derive(Debug)]
pub(super) enum Parcel {
    /// A slice, and where to bring it back, emptied.
    Slice(Box<Slice>, SyncSender<Box<Slice>>),
    /// There is no more to come.
    End,
}

impl SliceSink {
    pub(super) fn new(parcels: SyncSender<Parcel>, failure: Arc<WriteFailure>) -> SliceSink {
        let (spare_back, spare) = sync_channel(SPARE_MAX);
        SliceSink {
            parcels,
            spare,
            spare_back,
            failure,
        }
    }

    /// A sink into memory, for tests and for loads whose results nobody keeps.
    pub fn memory() -> (SliceSink, MemorySlices) {
        let (parcels, received) = sync_channel(65_536);
        let sink = SliceSink::new(parcels, Arc::new(WriteFailure::default()));
        (sink, MemorySlices { received })
    }

    /// An empty slice, used before if there is one.
    pub(super) fn fresh(&self) -> Box<Slice> {
        self.spare.try_recv().unwrap_or_else(|_| {
            Box::new(Slice::new(SliceKey {
                flow: 0,
                stage: Stage::Hold,
                second: 0,
            }))
        })
    }

    /// Sends the slice off and puts an empty one in its place.
    ///
    /// It waits only when the writer is so far behind that the run has to stop anyway; that is
    /// said first ([`super::SliceWriter::failure`]).
    pub(super) fn ship(&self, slice: &mut Box<Slice>) {
        let full = std::mem::replace(slice, self.fresh());
        let parcel = Parcel::Slice(full, self.spare_back.clone());
        match self.parcels.try_send(parcel) {
            Ok(()) => {}
            Err(TrySendError::Full(parcel)) => {
                self.failure.note_stalled();
                if self.parcels.send(parcel).is_err() {
                    self.failure.note_closed();
                }
            }
            Err(TrySendError::Disconnected(_)) => self.failure.note_closed(),
        }
    }
}

/// The other end of [`SliceSink::memory`].
#[derive(Debug)]
pub struct MemorySlices {
    received: Receiver<Parcel>,
}

impl MemorySlices {
    /// All slices shipped so far, partial ones too, in the order of shipping.
    pub fn take(&self) -> Vec<Slice> {
        let parcels = self.received.try_iter();
        let slices = parcels.filter_map(|parcel| match parcel {
            Parcel::Slice(slice, _) => Some(*slice),
            Parcel::End => None,
        });
        slices.collect()
    }
}
