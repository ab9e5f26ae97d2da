//! All distributions of a run in HdrHistogram's log format, for other tools.
//!
//! Format: HdrHistogram's histogram log 1.3: comments with `#`, then one line per interval with an optional tag, start
//! and length in seconds, the largest value, and the histogram.

use std::fmt::Write;
use std::path::Path;

use super::error::{Defect, FolderError};
use super::file::write_whole;
use super::layout;
use super::read::RunRead;
use super::slices::each_slice;
use crate::run::RepeatKey;
use crate::slice::{Slice, TimeKind};
use crate::stage::Stage;

/// The column names that the format requires.
pub(super) const COLUMNS: &str = concat!(
    "\"StartTimestamp\",\"Interval_Length\",",
    "\"Interval_Max\",\"Interval_Compressed_Histogram\""
);
/// Nanoseconds per millisecond, the unit of the largest value in logs.
pub(super) const LOG_MAX_DIVISOR: f64 = 1_000_000.0;

/// Writes `latency.hlog` into the folder of each repeat: the hold stage, one interval per second, with the tag
/// `<flow>.<kind>`.
pub fn write_histogram_logs(run: &RunRead) -> Result<(), FolderError> {
    for repeat in &run.repeats {
        let below = Path::new(layout::REPEATS).join(repeat.key.folder_name());
        let dir = run.dir.join(below);
        let trial = run
            .plan
            .as_ref()
            .and_then(|plan| plan.trials.get(repeat.key.trial as usize));
        let flow_name = |flow: u16| {
            let name = trial.and_then(|trial| trial.flows.get(usize::from(flow)));
            name.map_or_else(|| format!("flow-{flow}"), |flow| tag_of(flow.name()))
        };
        let started_unix_ms = repeat.record.as_ref().map(|record| record.started_unix_ms);
        let mut log = head(&run.head.run_id, repeat.key, started_unix_ms);
        let mut ignored = Vec::<Defect>::new();
        each_slice(&dir, "", &mut ignored, |slice| {
            if slice.key.stage == Stage::Hold {
                add_intervals(&mut log, &flow_name(slice.key.flow), slice);
            }
        })?;
        write_whole(&dir.join(layout::HISTOGRAM_LOG), log.as_bytes())?;
    }
    Ok(())
}

fn head(run_id: &str, key: RepeatKey, started_unix_ms: Option<u64>) -> String {
    let started_s = started_unix_ms.unwrap_or_default() as f64 / 1e3;
    format!(
        "#[kgauge {version}, run {run}, {key}: hold stage; values are nanoseconds]\n\
         #[Histogram log format version 1.3]\n\
         #[StartTime: {started_s:.3} (seconds since epoch)]\n\
         #[BaseTime: {started_s:.3} (seconds since epoch)]\n\
         {COLUMNS}\n",
        version = env!("CARGO_PKG_VERSION"),
        run = tag_of(run_id),
    )
}

fn add_intervals(log: &mut String, flow: &str, slice: &Slice) {
    for kind in TimeKind::ALL {
        let times = slice.times(kind);
        let Some(max_ns) = times.max_ns() else {
            continue;
        };
        // Writing into a String cannot fail.
        let _ = writeln!(
            log,
            "Tag={flow}.{kind},{second}.000,1.000,{max:.3},{histogram}",
            kind = kind.as_str(),
            second = slice.key.second,
            max = max_ns as f64 / LOG_MAX_DIVISOR,
            histogram = times.to_base64(),
        );
    }
}

/// A tag ends at a comma or a space, a line at its end.
fn tag_of(name: &str) -> String {
    let plain = |letter: char| {
        let taken = letter == ',' || letter.is_whitespace() || letter.is_control();
        if taken { '_' } else { letter }
    };
    name.chars().map(plain).collect()
}
