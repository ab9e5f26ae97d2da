//! Disk baseline: fio, if installed, writes to the disk without the page cache.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use kgauge_results::run::{DiskBaseline, DiskWrites};
use serde_json::Value;

/// Duration of each pattern.
const SECONDS: u32 = 4;
/// Size of the file that is overwritten repeatedly.
const FILE_BYTES: u64 = 256 << 20;

/// Why there is no baseline.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// fio is not installed.
    #[error("fio is not installed (apt-get install fio)")]
    NotInstalled,
    /// fio cannot be started.
    #[error("cannot start fio: {0}")]
    Start(io::Error),
    /// fio ended with an error.
    #[error("fio failed: {0}")]
    Failed(String),
    /// The user stopped it.
    #[error("it was stopped")]
    Interrupted,
    /// fio's output cannot be parsed.
    #[error("cannot parse fio's output: {0}")]
    Answer(String),
}

/// Writes with fio in a folder for some seconds: 4 KiB at random positions, then 1 MiB sequentially, one request at a
/// time and without the page cache (`direct=1`). The file is removed afterwards. Ends early when `is_stopped` returns
/// true.
///
/// # Errors
/// See [`DiskError`]; file systems in memory do not support direct writes.
pub fn disk_baseline(dir: &Path, is_stopped: &dyn Fn() -> bool) -> Result<DiskBaseline, DiskError> {
    let (fio, random_4k) = writes(dir, ("randwrite", "4k"), is_stopped)?;
    let (_, sequential_1m) = writes(dir, ("write", "1m"), is_stopped)?;
    Ok(DiskBaseline {
        fio,
        path: dir.display().to_string(),
        random_4k,
        sequential_1m,
    })
}

/// Runs one pattern: fio's version and its results.
fn writes(
    dir: &Path,
    (pattern, block): (&str, &str),
    is_stopped: &dyn Fn() -> bool,
) -> Result<(String, DiskWrites), DiskError> {
    let file = dir.join("kgauge-fio.data");
    let child = Command::new("fio")
        .args([
            "--name=baseline",
            "--ioengine=psync",
            "--direct=1",
            "--iodepth=1",
            // Without this option fio forks, and the child would outlive it.
            "--thread",
        ])
        // Overwrites existing blocks: the first write to a block costs the file system more.
        .args([
            "--time_based",
            "--output-format=json",
            "--randseed=1",
            "--overwrite=1",
        ])
        .arg(format!("--runtime={SECONDS}"))
        .arg(format!("--size={FILE_BYTES}"))
        .arg(format!("--rw={pattern}"))
        .arg(format!("--bs={block}"))
        // fio treats a colon as the end of a name.
        .arg(format!(
            "--filename={}",
            file.display().to_string().replace(':', "\\:")
        ))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A Ctrl-C in the terminal must not reach it.
        .process_group(0)
        .spawn();
    let output = match child {
        Ok(child) => ended(child, is_stopped),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(DiskError::NotInstalled),
        Err(error) => Err(DiskError::Start(error)),
    };
    let _ = std::fs::remove_file(&file);
    answer(&output?)
}

/// Waits until it ends, or stops it. Its output fits into the pipes.
fn ended(mut child: Child, is_stopped: &dyn Fn() -> bool) -> Result<Output, DiskError> {
    /// Polling interval.
    const LOOK: Duration = Duration::from_millis(20);
    while child.try_wait().map_err(DiskError::Start)?.is_none() {
        if is_stopped() {
            let _ = child.kill();
            let _ = child.wait();
            return Err(DiskError::Interrupted);
        }
        std::thread::sleep(LOOK);
    }
    child.wait_with_output().map_err(DiskError::Start)
}

fn answer(output: &Output) -> Result<(String, DiskWrites), DiskError> {
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let first_line = stderr.lines().find(|line| !line.trim().is_empty());
        let message = first_line.map_or_else(|| output.status.to_string(), str::to_owned);
        return Err(DiskError::Failed(message));
    }
    parsed(&String::from_utf8_lossy(&output.stdout))
}

/// fio may print text before its JSON.
fn parsed(text: &str) -> Result<(String, DiskWrites), DiskError> {
    let json = text.find('{').and_then(|start| text.get(start..));
    let json = json.ok_or_else(|| DiskError::Answer("it contains no JSON".to_owned()))?;
    let value: Value =
        serde_json::from_str(json).map_err(|error| DiskError::Answer(error.to_string()))?;
    let number = |path: &str| {
        let found = value.pointer(path).and_then(Value::as_f64);
        found.ok_or_else(|| DiskError::Answer(format!("it contains no {path}")))
    };
    let fio = value.pointer("/fio version").and_then(Value::as_str);
    Ok((
        fio.unwrap_or("fio").to_owned(),
        DiskWrites {
            per_s: number("/jobs/0/write/iops")?,
            bytes_per_s: number("/jobs/0/write/bw_bytes")?,
            latency_ns_mean: number("/jobs/0/write/clat_ns/mean")?,
        },
    ))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn what_fio_prints_is_read() {
        let text = "note: both iodepth >= 1 and synchronous I/O engine are selected\n{\"fio version\": \"fio-3.33\", \
                    \"jobs\": [{\"write\": {\"iops\": 160.5, \"bw_bytes\": 657408, \"clat_ns\": {\"mean\": 6200000.5}}}]}";
        let (fio, writes) = parsed(text).unwrap();
        assert_eq!(fio, "fio-3.33");
        assert_eq!(
            (writes.per_s, writes.bytes_per_s, writes.latency_ns_mean),
            (160.5, 657_408.0, 6_200_000.5)
        );
    }

    #[test]
    fn what_is_not_its_answer_is_refused() {
        for text in [
            "",
            "fio: usage",
            "{}",
            "{\"jobs\": [{\"write\": {\"iops\": \"many\"}}]}",
        ] {
            let error = parsed(text).unwrap_err();
            assert!(matches!(error, DiskError::Answer(_)), "{text}: {error}");
        }
    }
}
