//! Crate `results`: from samples to a run folder, and back from the folder.
//!
//! **Goals.** No sample is dropped, clipped or moved to another stage. Recording costs a few
//! nanoseconds and neither allocates nor locks. What was measured is on disk within about a second,
//! and a folder that was cut short can still be read.
//!
//! **Non-goals.** No socket, no clock, no sampling of hosts (that is `observe`), no conclusions
//! (that is `analyze`).
//!
//! **Where to start.** [`Recorder`] is what the load engine calls; [`mod@slice`] is what it makes;
//! [`recorder::SliceWriter`] brings slices to disk. The layout of a run folder is in
//! `docs/internals/run-folder.md`.

pub mod folder;
pub mod histogram;
pub mod pace;
pub mod recorder;
pub mod run;
pub mod slice;
pub mod stage;

pub use folder::{FolderError, RepeatFolder, RunFolder, RunRead};
pub use histogram::{Histogram, Quantile};
pub use pace::PaceSeries;
pub use recorder::{
    AnsweredRequest, RecordLateness, Recorder, SliceSink, SliceWriter, SlicesWritten, WriteError,
};
pub use slice::errors::client_code;
pub use slice::{
    Counts, ErrorCounts, LATE_AFTER_NS, SendOutcome, Slice, SliceKey, TimeKind, error_name,
};
pub use stage::{SECOND_NS, Stage, StageBorders};
