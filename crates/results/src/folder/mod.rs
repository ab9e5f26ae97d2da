//! The run folder: the files of one run, written during the run and read by everything else.
//!
//! `docs/internals/run-folder.md` describes the layout.

mod agent_files;
mod error;
mod file;
mod intervals;
pub mod layout;
mod lines;
mod list;
mod logs;
mod origin;
mod read;
mod resume;
mod slices;
mod write;

pub use agent_files::{AgentFiles, AgentLinesError};
pub use error::{Defect, FolderError};
pub use intervals::{IntervalLog, LoggedTrial, write_interval_logs};
pub use lines::{LineLog, LineTap};
pub use list::{ListedRun, PruneRule, RemoveError, RunList};
pub use logs::write_histogram_logs;
pub use origin::{RunOrigin, note_origin};
pub use read::{RepeatRead, RunRead, ScenarioText};
pub use resume::{KilledRepeat, ResumeError, ResumedRun};
pub use slices::{FlowRead, SecondRead, TimesRead};
pub use write::{RepeatFolder, RunFolder, write_report, write_summary};
