//! Builds a program in the cache, once per source and compiler.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use kgauge_client::Interrupt;

use super::error::DriverBuildError;
use crate::kafka::{KafkaError, KafkaSetup, fetch};

/// Polling interval for processes.
const LOOK: Duration = Duration::from_millis(20);

/// A program and how to build it.
pub(super) struct DriverBuild<'a> {
    /// Its name in the cache.
    pub(super) name: String,
    /// The source's file name and text.
    pub(super) source: (&'a str, &'a str),
    pub(super) compiler: &'a Path,
    /// Arguments, for the source's folder.
    pub(super) arguments: Vec<OsString>,
    /// The output file.
    pub(super) product: &'a str,
}

impl DriverBuild<'_> {
    /// The folder with the output, which is built if it is missing.
    pub(super) fn output_dir(
        &self,
        setup: &KafkaSetup,
        interrupt: &Interrupt,
    ) -> Result<PathBuf, DriverBuildError> {
        let (file, text) = self.source;
        let drivers = setup.cache_dir.join("drivers");
        // Another source or another command is another program.
        let mut content = text.as_bytes().to_vec();
        for argument in &self.arguments {
            content.extend_from_slice(argument.as_encoded_bytes());
            content.push(0);
        }
        let digest = ring::digest::digest(&ring::digest::SHA256, &content);
        let short: String = digest.as_ref()[..8]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let dir = drivers.join(format!("{}-{short}", self.name));
        if dir.join(self.product).is_file() {
            return Ok(dir);
        }
        fs::create_dir_all(&drivers).map_err(DriverBuildError::file(&drivers))?;
        // A second process waits, and then finds the output.
        let _lock = fetch::lock(&drivers.join("lock"), interrupt).map_err(of_cache)?;
        if dir.join(self.product).is_file() {
            return Ok(dir);
        }
        let partial = drivers.join("partial");
        fetch::remove(&partial).map_err(of_cache)?;
        fs::create_dir(&partial).map_err(DriverBuildError::file(&partial))?;
        let source = partial.join(file);
        fs::write(&source, text).map_err(DriverBuildError::file(&source))?;
        let result = run(self.compiler, &self.arguments, &partial, interrupt)?;
        if !result.is_good || !partial.join(self.product).is_file() {
            return Err(DriverBuildError::Compiler {
                program: self.compiler.to_owned(),
                output: result.output,
            });
        }
        fetch::remove(&dir).map_err(of_cache)?;
        fs::rename(&partial, &dir).map_err(DriverBuildError::file(&dir))?;
        Ok(dir)
    }
}

fn of_cache(error: KafkaError) -> DriverBuildError {
    match error {
        KafkaError::Interrupted => DriverBuildError::Interrupted,
        KafkaError::File { path, error } => DriverBuildError::File { path, error },
        other => DriverBuildError::Fetch(other),
    }
}

/// The result of a compiler's process.
struct CompilerResult {
    is_good: bool,
    /// The beginning of its output.
    output: String,
}

/// Runs a compiler in a folder to its end.
fn run(
    program: &Path,
    arguments: &[OsString],
    dir: &Path,
    interrupt: &Interrupt,
) -> Result<CompilerResult, DriverBuildError> {
    // Into a file, so that nobody has to read a pipe meanwhile.
    let path = dir.join("build.log");
    let log = fs::File::create(&path).map_err(DriverBuildError::file(&path))?;
    let log_too = log.try_clone().map_err(DriverBuildError::file(&path))?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(log_too);
    let mut child = command.spawn().map_err(DriverBuildError::file(program))?;
    let status = loop {
        match child.try_wait().map_err(DriverBuildError::file(program))? {
            Some(status) => break status,
            None if interrupt.is_raised() => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(DriverBuildError::Interrupted);
            }
            None => std::thread::sleep(LOOK),
        }
    };
    Ok(CompilerResult {
        is_good: status.success(),
        output: first_lines(&fs::read(&path).unwrap_or_default()),
    })
}

/// Enough of a program's output to recognise the problem.
pub(super) fn first_lines(output: &[u8]) -> String {
    const LINES_MAX: usize = 12;
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.lines().take(LINES_MAX).collect();
    lines.join("\n")
}
