//! Stores samples in a run folder, and reads run folders.
//!
//! # Goals
//!
//! * No sample is dropped, clipped or moved to another stage.
//! * Recording costs a few nanoseconds and neither allocates nor locks.
//! * Samples are on disk within about a second, and a folder that was cut short is readable.
//!
//! # Non-goals
//!
//! * Sockets, clocks, sampling of hosts (`observe`), conclusions (`analyze`).
//!
//! # Where to start
//!
//! The load engine calls [`Recorder`], which fills [`mod@slice`]s; [`recorder::SliceWriter`] writes them to disk.
//! `docs/internals/run-folder.md` describes the run folder.

pub mod folder;
pub mod histogram;
pub mod metrics;
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
