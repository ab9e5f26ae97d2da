//! Child processes: run to their end within a time, or kept behind a handle that stops them.

use std::cell::RefCell;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::stop;

/// The pause between two polls.
const PAUSE: Duration = Duration::from_millis(20);

/// How long a process may take to end after SIGTERM.
const END_MAX: Duration = Duration::from_secs(60);

/// Tries until there is a result, the time is over (none) or the user wants to stop (error).
pub(crate) fn poll<T>(
    time_max: Duration,
    mut attempt: impl FnMut() -> Result<Option<T>>,
) -> Result<Option<T>> {
    let start = Instant::now();
    loop {
        stop::check()?;
        if let Some(result) = attempt()? {
            return Ok(Some(result));
        }
        if start.elapsed() >= time_max {
            return Ok(None);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Runs a command to its end, with this process's streams. A signal to this process ends it.
pub(crate) fn status(command: &mut Command) -> Result<ExitStatus> {
    let name = command.get_program().to_string_lossy().into_owned();
    ChildProcess::start(&name, command)?.finish()
}

/// The same without input; also what it printed on stdout.
pub(crate) fn printed(command: &mut Command) -> Result<(ExitStatus, String)> {
    let mut stdout = tempfile::tempfile()?;
    let status = status(command.stdin(Stdio::null()).stdout(stdout.try_clone()?))?;
    Ok((status, text(&mut stdout)?))
}

/// A child process. Dropping it ends it: SIGTERM first, SIGKILL when that does not help.
#[derive(Debug)]
pub(crate) struct ChildProcess {
    name: String,
    child: RefCell<Child>,
    leads_group: bool,
}

impl ChildProcess {
    /// Starts `command`; `name` is what messages call it.
    pub(crate) fn start(name: &str, command: &mut Command) -> Result<ChildProcess> {
        let child = command
            .spawn()
            .with_context(|| format!("{name} could not be started"))?;
        Ok(ChildProcess {
            name: name.to_owned(),
            child: RefCell::new(child),
            leads_group: false,
        })
    }

    /// The same for a program that starts others and leaves them behind when it is ended: they are killed with it.
    pub(crate) fn start_group(name: &str, command: &mut Command) -> Result<ChildProcess> {
        let mut started = ChildProcess::start(name, command.process_group(0))?;
        started.leads_group = true;
        Ok(started)
    }

    /// How it ended; none while it runs.
    pub(crate) fn ended(&self) -> Result<Option<ExitStatus>> {
        let ended = self.child.borrow_mut().try_wait();
        ended.with_context(|| format!("{} cannot be waited for", self.name))
    }

    /// Waits for its end; none when it still runs after `time_max`.
    pub(crate) fn wait(&self, time_max: Duration) -> Result<Option<ExitStatus>> {
        poll(time_max, || self.ended())
    }

    /// Waits for its end, however long that takes.
    pub(crate) fn finish(&self) -> Result<ExitStatus> {
        let ended = self.wait(Duration::MAX)?;
        ended.with_context(|| format!("{} does not end", self.name))
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.borrow().id()
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        if let Some(status) = self.ended()? {
            bail!("{} has ended already: {status}", self.name);
        }
        let pid = Pid::from_child(&self.child.borrow());
        kill_process(pid, signal).with_context(|| format!("{} takes no signal", self.name))
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        if matches!(self.ended(), Ok(None)) {
            let _ = self.signal(Signal::TERM);
            let start = Instant::now();
            // Not `poll`: a user who wants to stop must not cut this short.
            while start.elapsed() < END_MAX && matches!(self.ended(), Ok(None)) {
                std::thread::sleep(PAUSE);
            }
            let mut child = self.child.borrow_mut();
            let _ = child.kill();
            let _ = child.wait();
        }
        if self.leads_group {
            let _ = kill_process_group(Pid::from_child(&self.child.borrow()), Signal::KILL);
        }
    }
}

/// A command that is to run to its end.
#[derive(Debug)]
pub(crate) struct Job {
    /// What was asked for, as messages show it.
    pub(crate) words: String,
    /// What is run; its streams are taken care of.
    pub(crate) command: Command,
    /// Its standard input; empty when there is none.
    pub(crate) input: Option<File>,
    /// It is ended when it takes longer.
    pub(crate) time_max: Duration,
}

impl Job {
    /// A command without input, named by `words`.
    pub(crate) fn new(words: String, command: Command, time_max: Duration) -> Job {
        Job {
            words,
            command,
            input: None,
            time_max,
        }
    }

    /// The same with text on its standard input.
    pub(crate) fn with_input(mut self, text: &str) -> Result<Job> {
        let mut file = tempfile::tempfile()?;
        std::io::Write::write_all(&mut file, text.as_bytes())?;
        file.rewind()?;
        self.input = Some(file);
        Ok(self)
    }

    /// Runs it. A bad exit status or a timeout is no error here; see [`FinishedJob::success`].
    pub(crate) fn run(mut self) -> Result<FinishedJob> {
        // Files, not pipes: nothing has to be read while it runs, and no output is lost.
        let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
        let input = self.input.map_or_else(Stdio::null, Stdio::from);
        self.command
            .stdin(input)
            .stdout(stdout.try_clone()?)
            .stderr(stderr.try_clone()?);
        let start = Instant::now();
        let running = ChildProcess::start(&self.words, &mut self.command)?;
        let status = running.wait(self.time_max)?;
        let took = start.elapsed();
        drop(running);
        Ok(FinishedJob {
            words: self.words,
            status,
            took,
            stdout: text(&mut stdout)?,
            stderr: text(&mut stderr)?,
        })
    }
}

fn text(file: &mut File) -> Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct FinishedJob {
    /// What was asked for.
    pub(crate) words: String,
    /// How it ended; none when its time was over.
    pub(crate) status: Option<ExitStatus>,
    /// From start to end.
    pub(crate) took: Duration,
    /// All that it wrote there.
    pub(crate) stdout: String,
    /// All that it wrote there.
    pub(crate) stderr: String,
}

impl FinishedJob {
    /// Itself when it ended with status 0.
    pub(crate) fn success(self) -> Result<FinishedJob> {
        self.ended_with(0)
    }

    /// Itself when it ended with this exit status.
    pub(crate) fn ended_with(self, code: i32) -> Result<FinishedJob> {
        match self.status {
            Some(status) if status.code() == Some(code) => Ok(self),
            Some(status) => bail!("{} ended with {status}, not {code}", self.words),
            None => bail!("{} did not end within {:?}", self.words, self.took),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_prints_and_how_it_ends_is_known() {
        let script = "echo one; exit 3";
        let (ended, stdout) = printed(Command::new("sh").args(["-c", script])).unwrap();
        assert_eq!((ended.code(), stdout.as_str()), (Some(3), "one\n"));
        assert!(status(&mut Command::new("true")).unwrap().success());
        assert!(status(&mut Command::new("no-such-program")).is_err());
    }

    #[test]
    fn what_a_dropped_leader_of_a_group_has_started_is_killed() {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", "sleep 600 & echo $!; wait"])
            .stdout(Stdio::piped());
        let shell = ChildProcess::start_group("sh", &mut shell).unwrap();
        let stdout = shell.child.borrow_mut().stdout.take().unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).unwrap();
        let sleeper = format!("/proc/{}/stat", line.trim());
        let is_alive = || {
            let stat = std::fs::read_to_string(&sleeper).unwrap_or_default();
            stat.contains("(sleep) S")
        };
        while !is_alive() {
            std::thread::yield_now();
        }
        drop(shell);
        while is_alive() {
            std::thread::yield_now();
        }
    }
}
