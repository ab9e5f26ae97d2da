//! Room `results`: from samples to a run folder, and from a run folder to a summary.
//!
//! **Goals.** No sample is dropped, clipped, moved to another stage or averaged as a percentile.
//! Recording costs a few nanoseconds and neither allocates nor locks. What was measured is on
//! disk within about a second, and a folder that was cut short can still be read. Every figure
//! carries its spread, and the summary of a folder is the same byte for byte each time.
//!
//! **Non-goals.** No socket, no clock, no sampling of hosts (that is `observe`), no rendering
//! (that is `report`).
//!
//! **Where to start.** [`Recorder`] is what the load engine calls; [`mod@slice`] is what it makes;
//! [`recorder::SliceWriter`] brings slices to disk. The layout of a run folder stands in
//! `docs/internals/run-folder.md`.

pub mod compare;
pub mod folder;
pub mod histogram;
pub mod live;
pub mod pace;
pub mod recorder;
pub mod run;
pub mod series;
pub mod slice;
pub mod stage;
pub mod statistics;
pub mod summary;

pub use compare::{Comparison, RunToCompare, compare, compare_sides};
pub use folder::{FolderError, RepeatFolder, RunFolder, RunRead};
pub use histogram::{Histogram, Quantile};
pub use pace::PaceSeries;
pub use recorder::{
    AnsweredRequest, RecordLateness, Recorder, SliceSink, SliceWriter, SlicesWritten, WriteError,
};
pub use series::Series;
pub use slice::errors::client_code;
pub use slice::{
    Counts, ErrorCounts, LATE_AFTER_NS, SendOutcome, Slice, SliceKey, TimeKind, error_name,
};
pub use stage::{SECOND_NS, Stage, StageBorders};
pub use summary::Summary;
