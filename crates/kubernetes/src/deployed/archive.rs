//! A folder as a stream: `tar`, compressed with gzip.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use tar::{Archive, Builder, EntryType};

/// A run folder has some dozens of files.
const ENTRIES_MAX: usize = 100_000;

/// Why a folder could not be sent or received.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The stream or a file.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// An entry that kgauge does not write.
    #[error("the archive has an unexpected entry: {0}")]
    Entry(String),
}

/// Writes a folder.
pub fn pack(dir: &Path, to: impl Write) -> Result<(), ArchiveError> {
    let mut builder = Builder::new(GzEncoder::new(to, Compression::fast()));
    builder.follow_symlinks(false);
    builder.append_dir_all("", dir)?;
    builder.into_inner()?.finish()?.flush()?;
    Ok(())
}

/// Reads a folder into a new one, which must not exist. Only plain files and folders within it are accepted.
///
/// # Errors
/// The stream was cut or changed, has something else, or cannot be written; what was written before stays.
pub fn unpack(from: impl Read, dir: &Path) -> Result<(), ArchiveError> {
    let mut archive = Archive::new(GzDecoder::new(from));
    fs::create_dir(dir)?;
    for (index, entry) in archive.entries()?.enumerate() {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        let unexpected = || ArchiveError::Entry(path.display().to_string());
        let place = within(dir, &path).ok_or_else(unexpected)?;
        if index >= ENTRIES_MAX {
            return Err(unexpected());
        }
        match entry.header().entry_type() {
            EntryType::Directory => fs::create_dir_all(&place)?,
            EntryType::Regular => {
                if let Some(parent) = place.parent() {
                    fs::create_dir_all(parent)?;
                }
                io::copy(&mut entry, &mut fs::File::create_new(&place)?)?;
            }
            _ => return Err(unexpected()),
        }
    }
    // Its end has the checksum, and whoever writes the stream must not find it closed.
    io::copy(&mut archive.into_inner(), &mut io::sink())?;
    Ok(())
}

fn within(dir: &Path, path: &Path) -> Option<PathBuf> {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    path.components().all(is_plain).then(|| dir.join(path))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use tar::Header;

    use super::*;

    #[test]
    fn a_folder_arrives_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let from = dir.path().join("from");
        fs::create_dir_all(from.join("run/logs")).unwrap();
        fs::write(from.join("status"), "1\n").unwrap();
        fs::write(from.join("run/logs/a.jsonl"), vec![7_u8; 100_000]).unwrap();
        let mut stream = Vec::new();
        pack(&from, &mut stream).unwrap();
        let to = dir.path().join("to");
        unpack(stream.as_slice(), &to).unwrap();
        assert_eq!(fs::read(to.join("status")).unwrap(), b"1\n");
        assert_eq!(
            fs::read(to.join("run/logs/a.jsonl")).unwrap().len(),
            100_000
        );
        // The last four bytes are the length, those before them the checksum.
        for cut in [1, 8, 20] {
            let to = dir.path().join(format!("cut-{cut}"));
            assert!(unpack(&stream[..stream.len() - cut], &to).is_err(), "{cut}");
        }
        let error = unpack(stream.as_slice(), &to).unwrap_err().to_string();
        assert!(error.contains("exists"), "{error}");
    }

    #[test]
    fn entries_outside_of_the_folder_and_links_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        for (index, (name, kind)) in [
            ("../out", EntryType::Regular),
            ("/etc/out", EntryType::Regular),
            ("link", EntryType::Symlink),
        ]
        .into_iter()
        .enumerate()
        {
            let mut header = Header::new_gnu();
            header.set_entry_type(kind);
            header.set_size(0);
            // The safe setter refuses such names; hostile writers have no such scruples.
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
            builder.append(&header, io::empty()).unwrap();
            let stream = builder.into_inner().unwrap().finish().unwrap();
            let to = dir.path().join(index.to_string());
            let error = unpack(stream.as_slice(), &to).unwrap_err();
            assert!(matches!(error, ArchiveError::Entry(_)), "{name}: {error}");
        }
    }
}
