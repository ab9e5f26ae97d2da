//! The files of one agent in a repeat's folder.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::error::FolderError;
use super::layout;
use super::lines::LINE_BYTES_MAX;
use crate::recorder::SliceTap;
use crate::run::{Evidence, EvidenceKind, RepeatKey, Subject};
use crate::slice::line::{LineError, LineKey, LineReader};

/// Takes the lines that an agent sends during a repeat.
pub struct AgentFiles {
    key: RepeatKey,
    slices: LinesFile,
    evidence: LinesFile,
    tap: Option<SliceTap>,
    /// For the tap.
    reader: Box<LineReader>,
}

/// Why an agent's lines are not kept.
#[derive(Debug, thiserror::Error)]
pub enum AgentLinesError {
    /// A line is not what it should be.
    #[error("it sent a line that is no {what}: {why}")]
    Line {
        /// `slice` or `evidence`.
        what: &'static str,
        /// What the parser says.
        why: String,
    },
    /// The file cannot be written.
    #[error(transparent)]
    Folder(#[from] FolderError),
}

impl AgentFiles {
    pub(super) fn create(
        (dir, key): (&Path, RepeatKey),
        agent: u32,
        tap: Option<SliceTap>,
    ) -> Result<Self, FolderError> {
        Ok(Self {
            key,
            slices: LinesFile::create(dir.join(layout::agent_slices(agent)))?,
            evidence: LinesFile::create(dir.join(layout::agent_evidence(agent)))?,
            tap,
            reader: Box::default(),
        })
    }

    /// Keeps lines of slices, each with its end. Histograms are decoded only for an observer: the reader adds them.
    pub fn add_slices(&mut self, lines: &[u8]) -> Result<(), AgentLinesError> {
        let refused = |why: String| AgentLinesError::Line { what: "slice", why };
        for line in whole_lines(lines).map_err(refused)? {
            match &self.tap {
                None => {
                    let key: Result<LineKey, _> = serde_json::from_slice(line);
                    key.map_err(|error| refused(error.to_string()))?;
                }
                Some(tap) => {
                    let slice = self.reader.read(line);
                    tap(slice.map_err(|error: LineError| refused(error.to_string()))?);
                }
            }
        }
        Ok(self.slices.append(lines)?)
    }

    /// Keeps a reading of the agent's clock.
    pub fn add_clock(
        &mut self,
        at_ns: u64,
        low_ns: i64,
        high_ns: i64,
    ) -> Result<(), AgentLinesError> {
        let seen = Evidence {
            at_unix_ms: 0,
            repeat: Some(self.key),
            at_ns: Some(at_ns),
            subject: Subject::Generator,
            kind: EvidenceKind::ClockOffset { low_ns, high_ns },
        };
        let mut line = serde_json::to_vec(&seen).map_err(|error| AgentLinesError::Line {
            what: "evidence",
            why: error.to_string(),
        })?;
        line.push(b'\n');
        Ok(self.evidence.append(&line)?)
    }

    /// Keeps lines of evidence, each with its end.
    pub fn add_evidence(&mut self, lines: &[u8]) -> Result<(), AgentLinesError> {
        let refused = |why: String| AgentLinesError::Line {
            what: "evidence",
            why,
        };
        for line in whole_lines(lines).map_err(refused)? {
            let parsed: Result<Evidence, _> = serde_json::from_slice(line);
            parsed.map_err(|error| refused(error.to_string()))?;
        }
        Ok(self.evidence.append(lines)?)
    }
}

/// The lines of a text that ends with a line's end.
fn whole_lines(text: &[u8]) -> Result<impl Iterator<Item = &[u8]>, String> {
    let Some(text) = text.strip_suffix(b"\n") else {
        return Err("its end is missing".to_owned());
    };
    let lines = || text.split(|byte| *byte == b'\n');
    match lines().any(|line| line.len() as u64 > LINE_BYTES_MAX) {
        true => Err("it is too long".to_owned()),
        false => Ok(lines()),
    }
}

/// A file that gets whole lines.
struct LinesFile {
    file: File,
    path: PathBuf,
    bytes: u64,
}

impl LinesFile {
    fn create(path: PathBuf) -> Result<Self, FolderError> {
        match File::create_new(&path) {
            Ok(file) => Ok(Self {
                file,
                path,
                bytes: 0,
            }),
            Err(source) => Err(FolderError::io("create", &path, source)),
        }
    }

    fn append(&mut self, lines: &[u8]) -> Result<(), FolderError> {
        let written: io::Result<()> = self.file.write_all(lines);
        if let Err(source) = written {
            // Removes a partial line if possible; otherwise readers skip it.
            let _ = self.file.set_len(self.bytes);
            return Err(FolderError::io("write", &self.path, source));
        }
        self.bytes += lines.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::slice::line::write_line;
    use crate::slice::{Slice, SliceKey};
    use crate::stage::Stage;

    const KEY: RepeatKey = RepeatKey {
        trial: 0,
        repeat: 0,
    };

    #[test]
    fn whole_lines_are_kept_and_others_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let mut files = AgentFiles::create((dir.path(), KEY), 3, None).unwrap();
        let mut slice = Slice::new(SliceKey {
            flow: 1,
            stage: Stage::Hold,
            second: 7,
        });
        slice.counts.records_acked = 5;
        let mut lines = Vec::new();
        write_line(&slice, &mut lines).unwrap();
        write_line(&slice, &mut lines).unwrap();
        files.add_slices(&lines).unwrap();
        for wrong in [&b"{}\n"[..], b"{\"flow\":1", b"\n", b""] {
            assert!(files.add_slices(wrong).is_err(), "{wrong:?}");
            assert!(files.add_evidence(wrong).is_err(), "{wrong:?}");
        }
        let kept = std::fs::read(dir.path().join("slices-3.jsonl")).unwrap();
        assert_eq!(kept, lines);
    }
}
