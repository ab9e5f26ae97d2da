//! The channel from a recorder to the writer, which returns emptied slices.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use super::write_failure::WriteFailure;
use crate::slice::{Slice, SliceKey};
use crate::stage::Stage;

/// Emptied slices kept per recorder; more are freed.
const SPARE_MAX: usize = 64;

/// One recorder's channel to the writer.
#[derive(Debug)]
pub struct SliceSink {
    parcels: SyncSender<Parcel>,
    spare: Receiver<Box<Slice>>,
    spare_back: SyncSender<Box<Slice>>,
    failure: Arc<WriteFailure>,
}

/// A message to the writer.
#[derive(Debug)]
pub(super) enum Parcel {
    /// A slice, and where to return it.
    Slice(Box<Slice>, SyncSender<Box<Slice>>),
    /// The end.
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

    /// A sink into memory, for tests and for loads without stored results.
    pub fn memory() -> (SliceSink, MemorySlices) {
        let (parcels, received) = sync_channel(65_536);
        let sink = SliceSink::new(parcels, Arc::new(WriteFailure::default()));
        (sink, MemorySlices { received })
    }

    /// An empty slice, reused if possible.
    pub(super) fn fresh(&self) -> Box<Slice> {
        self.spare.try_recv().unwrap_or_else(|_| {
            Box::new(Slice::new(SliceKey {
                flow: 0,
                stage: Stage::Hold,
                second: 0,
            }))
        })
    }

    /// Ships the slice and replaces it by an empty one.
    ///
    /// It blocks only if the writer is so far behind that the run must stop anyway; [`super::SliceWriter::failure`]
    /// reports that first.
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
    /// All slices shipped so far, including partial ones, in the order of shipping.
    pub fn take(&self) -> Vec<Slice> {
        let parcels = self.received.try_iter();
        let slices = parcels.filter_map(|parcel| match parcel {
            Parcel::Slice(slice, _) => Some(*slice),
            Parcel::End => None,
        });
        slices.collect()
    }
}
