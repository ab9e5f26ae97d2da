//! On what machine, with what programs, and how busy it was before.

use std::fmt;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::folders::root;

/// What a figure must not be read without.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct BenchMachine {
    /// Processors that can be used.
    pub(super) processors: usize,
    /// Their name.
    pub(super) processor: String,
    /// Memory in GiB, rounded down.
    pub(super) memory_gib: u64,
    /// The kernel's release.
    pub(super) kernel: String,
    /// Runnable processes, averaged over the last minute.
    pub(super) load_average: f64,
    /// What `java -version` says first.
    pub(super) java: String,
    /// What `rustc --version` says.
    pub(super) rustc: String,
    /// The checkout's commit, marked when files differ from it.
    pub(super) commit: String,
}

impl BenchMachine {
    /// True when something else takes a part of the processors that shows.
    pub(super) fn is_busy(&self) -> bool {
        let processors = u32::try_from(self.processors).unwrap_or(u32::MAX);
        self.load_average > 0.3 * f64::from(processors)
    }

    /// A folder's name for it: `2x-intel-xeon-2-50ghz`.
    pub(super) fn slug(&self) -> String {
        let mut slug = format!("{}x", self.processors);
        let lower = self.processor.to_lowercase();
        let noise = ["(r)", "(tm)", "processor", "cpu"];
        let plain = noise
            .iter()
            .fold(lower, |name, word| name.replace(word, " "));
        for word in plain.split(|c: char| !c.is_ascii_alphanumeric()) {
            if !word.is_empty() {
                slug.push('-');
                slug.push_str(word);
            }
        }
        slug
    }
}

impl fmt::Display for BenchMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} x {}, {} GiB, Linux {}, {}; load average before: {:.1}",
            self.processors,
            self.processor,
            self.memory_gib,
            self.kernel,
            self.java,
            self.load_average
        )
    }
}

/// Asks for all of it.
pub(super) fn facts() -> Result<BenchMachine> {
    let read = |path: &str| fs::read_to_string(path).with_context(|| format!("no {path}"));
    let load = read("/proc/loadavg")?;
    let load = load.split_whitespace().next().unwrap_or_default();
    let kib = value(&read("/proc/meminfo")?, "MemTotal");
    let kib = kib.and_then(|kib| kib.split_whitespace().next()?.parse::<u64>().ok());
    let commit = text("git", &["rev-parse", "--short=12", "HEAD"])?;
    let changed = text("git", &["status", "--porcelain", "--untracked-files=no"])?;
    Ok(BenchMachine {
        processors: std::thread::available_parallelism()?.get(),
        processor: value(&read("/proc/cpuinfo")?, "model name").unwrap_or("unknown".to_owned()),
        memory_gib: kib.unwrap_or(0) >> 20,
        kernel: read("/proc/sys/kernel/osrelease")?.trim().to_owned(),
        load_average: load.parse()?,
        java: text("java", &["-version"])?,
        rustc: text("rustc", &["--version"])?,
        commit: if changed.is_empty() {
            commit
        } else {
            format!("{commit}, with changes")
        },
    })
}

/// The first line `name : value` of such a file.
fn value(text: &str, name: &str) -> Option<String> {
    let of_line = |line: &str| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    };
    text.lines().find_map(of_line)
}

/// The first line that a program says, on whichever stream.
fn text(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .output()
        .with_context(|| format!("{program} could not be started"))?;
    let first = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.lines().next().unwrap_or_default().to_owned()
    };
    let line = first(&output.stdout);
    Ok(if line.is_empty() {
        first(&output.stderr)
    } else {
        line
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(processor: &str, load_average: f64) -> BenchMachine {
        BenchMachine {
            processors: 2,
            processor: processor.to_owned(),
            memory_gib: 23,
            kernel: "6.1".to_owned(),
            load_average,
            java: String::new(),
            rustc: String::new(),
            commit: String::new(),
        }
    }

    #[test]
    fn a_folder_is_named_after_the_hardware() {
        let slug = machine("Intel(R) Xeon(R) Processor @ 2.50GHz", 0.0).slug();
        assert_eq!(slug, "2x-intel-xeon-2-50ghz");
        assert_eq!(machine("", 0.0).slug(), "2x");
    }

    #[test]
    fn a_machine_that_others_use_is_busy() {
        assert!(machine("", 0.7).is_busy());
        assert!(!machine("", 0.5).is_busy());
    }

    #[test]
    fn values_are_found_by_their_whole_name() {
        let text = "model\t\t: 85\nmodel name\t: Xeon\nmodel name\t: other\n";
        assert_eq!(value(text, "model name"), Some("Xeon".to_owned()));
        assert_eq!(value(text, "name"), None);
    }
}
