//! The thread that writes slices to disk.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;

use super::sink::{Parcel, SliceSink};
use super::write_failure::{QUEUE_MAX, WriteError, WriteFailure};
use crate::slice::line::write_line;
use crate::slice::{Slice, SliceKey};

/// Called with every slice on the writer's thread: it must be fast and must not wait.
pub type SliceTap = Arc<dyn Fn(&Slice) + Send + Sync>;

/// Lines are collected up to this size before they are written.
const PENDING_BYTES_MAX: usize = 1 << 20;

/// Writes the slices of one repeat to a file during the run.
///
/// Each line is passed to the operating system as soon as nothing else waits. A killed run therefore loses only what
/// its recorders had not shipped.
#[derive(Debug)]
pub struct SliceWriter {
    path: PathBuf,
    parcels: SyncSender<Parcel>,
    failure: Arc<WriteFailure>,
    thread: Option<JoinHandle<SlicesWritten>>,
}

/// Totals of a writer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlicesWritten {
    /// Partial slices.
    pub lines: u64,
    /// Size of the file in bytes.
    pub bytes: u64,
}

impl SliceWriter {
    /// Creates the file and starts the thread. The file must not exist.
    pub fn start(path: &Path) -> io::Result<SliceWriter> {
        SliceWriter::start_tapped(path, None)
    }

    /// The same, with an observer.
    pub(crate) fn start_tapped(path: &Path, tap: Option<SliceTap>) -> io::Result<SliceWriter> {
        let file = File::create_new(path)?;
        SliceWriter::start_on(path, SliceFile::new(file), tap)
    }

    /// Writes lines to a stream instead of a file: each write gets whole lines. `name` stands for it in messages.
    pub fn start_streaming(
        name: &str,
        stream: impl Write + Send + 'static,
        tap: Option<SliceTap>,
    ) -> io::Result<SliceWriter> {
        let file = SliceFile::new(LineStream(stream));
        SliceWriter::start_on(Path::new(name), file, tap)
    }

    fn start_on<F: Target>(
        path: &Path,
        file: SliceFile<F>,
        tap: Option<SliceTap>,
    ) -> io::Result<SliceWriter> {
        let (parcels, received) = sync_channel(QUEUE_MAX);
        let failure = Arc::new(WriteFailure::of(path));
        let thread_failure = Arc::clone(&failure);
        let thread = std::thread::Builder::new()
            .name("slice-writer".to_owned())
            .spawn(move || write_all(&received, file, &thread_failure, tap.as_ref()))?;
        Ok(SliceWriter {
            path: path.to_owned(),
            parcels,
            failure,
            thread: Some(thread),
        })
    }

    /// A sink for one more recorder.
    pub fn sink(&self) -> SliceSink {
        SliceSink::new(self.parcels.clone(), Arc::clone(&self.failure))
    }

    /// The first error, if any. Check it about once per second: a run whose slices cannot be written must stop, with
    /// this message.
    pub fn failure(&self) -> Option<WriteError> {
        self.failure.get()
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until everything shipped is on disk. Finish the recorders first.
    pub fn finish(mut self) -> Result<SlicesWritten, WriteError> {
        let written = self.join();
        match self.failure.get() {
            Some(error) => Err(error),
            None => Ok(written),
        }
    }

    fn join(&mut self) -> SlicesWritten {
        let Some(thread) = self.thread.take() else {
            return SlicesWritten::default();
        };
        // An error means that the thread has ended; joining it gives the reason.
        let _ = self.parcels.send(Parcel::End);
        thread.join().unwrap_or_else(|_| {
            let path = self.path.clone();
            let why = "the writer thread panicked".to_owned();
            self.failure.note(WriteError::Refused { path, why });
            SlicesWritten::default()
        })
    }
}

impl Drop for SliceWriter {
    fn drop(&mut self) {
        self.join();
    }
}

/// Destination of the lines: a file, or in tests one that fails.
trait Target: Write + Send + 'static {
    fn cut(&mut self, length: u64) -> io::Result<()>;
    fn sync(&mut self) -> io::Result<()>;
}

impl Target for File {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

/// A stream that takes what it gets.
struct LineStream<W>(W);

impl<W: Write> Write for LineStream<W> {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        self.0.write(lines)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl<W: Write + Send + 'static> Target for LineStream<W> {
    fn cut(&mut self, _length: u64) -> io::Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The file, and buffered lines.
struct SliceFile<F> {
    target: F,
    pending: Vec<u8>,
    written: SlicesWritten,
}

impl<F: Target> SliceFile<F> {
    fn new(target: F) -> SliceFile<F> {
        SliceFile {
            target,
            pending: Vec::with_capacity(PENDING_BYTES_MAX),
            written: SlicesWritten::default(),
        }
    }

    fn add(&mut self, slice: &Slice) -> io::Result<()> {
        write_line(slice, &mut self.pending)?;
        self.written.lines += 1;
        if self.pending.len() >= PENDING_BYTES_MAX {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Err(error) = self.target.write_all(&self.pending) {
            // Removes a partial line if possible; otherwise readers skip it.
            let _ = self.target.cut(self.written.bytes);
            return Err(error);
        }
        self.written.bytes += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }
}

/// After a failure, slices are still accepted and returned: the load must not hang on the writer.
fn write_all<F: Target>(
    received: &Receiver<Parcel>,
    mut file: SliceFile<F>,
    failure: &WriteFailure,
    tap: Option<&SliceTap>,
) -> SlicesWritten {
    let mut failed = false;
    let mut note = |result: io::Result<()>| {
        if let Err(error) = result {
            failure.note_io(&error);
            failed = true;
        }
        failed
    };
    let mut dead = false;
    loop {
        let parcel = match received.try_recv() {
            Ok(parcel) => parcel,
            Err(TryRecvError::Disconnected) => break,
            Err(TryRecvError::Empty) => {
                if !dead {
                    dead = note(file.flush());
                }
                match received.recv() {
                    Ok(parcel) => parcel,
                    Err(_) => break,
                }
            }
        };
        let Parcel::Slice(mut slice, back) = parcel else {
            break;
        };
        if let Some(tap) = tap {
            tap(&slice);
        }
        if !dead {
            dead = note(file.add(&slice));
        }
        slice.reset(SliceKey { ..slice.key });
        // A recorder that has ended, or has enough spare slices, does not need it.
        let _ = back.try_send(slice);
    }
    if !dead && !note(file.flush()) {
        note(file.target.sync());
    }
    file.written
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::recorder::Recorder;
    use crate::stage::StageBorders;

    /// A disk with this much space; truncated bytes are free again.
    struct SmallDisk {
        content: Arc<Mutex<Vec<u8>>>,
        room: usize,
    }

    impl Write for SmallDisk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut content = self.content.lock().unwrap();
            let fits = bytes.len().min(self.room - content.len());
            if fits == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            content.extend_from_slice(&bytes[..fits]);
            Ok(fits)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Target for SmallDisk {
        fn cut(&mut self, length: u64) -> io::Result<()> {
            self.content.lock().unwrap().truncate(length as usize);
            Ok(())
        }

        fn sync(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn run_on(room: usize, seconds: u64) -> (Result<SlicesWritten, WriteError>, Vec<u8>) {
        let content = Arc::new(Mutex::new(Vec::new()));
        let disk = SmallDisk {
            content: Arc::clone(&content),
            room,
        };
        let path = Path::new("slices.jsonl");
        let writer = SliceWriter::start_on(path, SliceFile::new(disk), None).unwrap();
        let mut recorder = Recorder::new(0, StageBorders::open(0), writer.sink());
        for second in 0..seconds {
            recorder.sent(second * 1_000_000_000, 1);
            recorder.tick();
        }
        recorder.finish();
        let written = writer.finish();
        let content = content.lock().unwrap().clone();
        (written, content)
    }

    #[test]
    fn every_tick_is_a_line() {
        let (written, content) = run_on(1 << 20, 20);
        let written = written.unwrap();
        assert_eq!(written.lines, 20);
        assert_eq!(written.bytes, content.len() as u64);
        assert_eq!(content.iter().filter(|byte| **byte == b'\n').count(), 20);
    }

    #[test]
    fn a_full_disk_is_said_in_words_and_leaves_whole_lines() {
        let (written, content) = run_on(500, 1_000);
        let error = written.unwrap_err();
        assert!(matches!(error, WriteError::DiskFull { .. }));
        assert_eq!(
            error.to_string(),
            "no space left for results in slices.jsonl: free some or choose another folder with \
             --out"
        );
        assert!(content.is_empty() || content.ends_with(b"\n"));
        assert!(content.len() <= 500);
    }

    #[test]
    fn samples_after_the_end_are_an_error_and_not_a_panic() {
        let content = Arc::new(Mutex::new(Vec::new()));
        let disk = SmallDisk {
            content,
            room: 1 << 20,
        };
        let path = Path::new("slices.jsonl");
        let writer = SliceWriter::start_on(path, SliceFile::new(disk), None).unwrap();
        let failure = Arc::clone(&writer.failure);
        let mut recorder = Recorder::new(0, StageBorders::open(0), writer.sink());
        recorder.sent(1, 1);
        writer.finish().unwrap();
        recorder.finish();
        assert!(matches!(failure.get(), Some(WriteError::Closed { .. })));
    }
}
