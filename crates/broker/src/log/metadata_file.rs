//! The file `partition.metadata` of a log: to which topic, by id, it belongs.
//!
//! Kafka's text form: `version: 0` and `topic_id: <22 characters of base64url>`, a line each. The
//! id tells a topic from one of the same name that was deleted before.

use std::path::Path;
use std::sync::Arc;

use kgauge_wire::codec::Uuid;

use super::state_file::LogState;
use super::{Corruption, LogError};
use crate::storage::{OpenMode, Storage, StorageFile, StorageResult, read_whole, replace_file};

const NAME: &str = "partition.metadata";

/// Reads the topic id of the log in a folder; `None` when it has none yet.
pub fn read_topic_id(storage: &dyn Storage, dir: &Path) -> Result<Option<Uuid>, LogError> {
    let path = dir.join(NAME);
    let Some(bytes) = read_whole(storage, &path)? else {
        return Ok(None);
    };
    match parse(&bytes) {
        Some(topic_id) => Ok(Some(topic_id)),
        None => {
            let reason = "expected the lines \"version: 0\" and \"topic_id: ...\"".to_owned();
            Err(Corruption {
                file: path,
                position: 0,
                reason,
            }
            .into())
        }
    }
}

/// Writes the topic id of the log in a folder, which must exist. The name is durable after the
/// log's next flush.
pub fn write_topic_id(storage: &dyn Storage, dir: &Path, topic_id: Uuid) -> Result<(), LogError> {
    let text = text(topic_id);
    Ok(replace_file(storage, &dir.join(NAME), text.as_bytes())?)
}

/// The same, and nothing of it is durable before the log's first flush, which flushes
/// [`open_topic_id`] too. What a crash leaves until then, [`is_half_made`] knows.
pub(super) fn begin_topic_id(
    storage: &dyn Storage,
    dir: &Path,
    topic_id: Uuid,
) -> StorageResult<()> {
    let file = storage.open(&dir.join(NAME), OpenMode::CreateOrTruncate)?;
    file.write_at(text(topic_id).as_bytes(), 0)
}

/// The file, for flushing it.
pub(super) fn open_topic_id(
    storage: &dyn Storage,
    dir: &Path,
) -> StorageResult<Arc<dyn StorageFile>> {
    storage.open(&dir.join(NAME), OpenMode::Existing)
}

/// Whether a crash of the machine came before the first flush of the log in a folder: no state was
/// ever written there, and the topic's id is not whole. Nothing that the log holds was promised.
pub fn is_half_made(storage: &dyn Storage, dir: &Path) -> Result<bool, LogError> {
    let bytes = read_whole(storage, &dir.join(NAME))?;
    let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
    let cut_short = bytes.is_none_or(|bytes| lines(&bytes) < 2);
    Ok(cut_short && !LogState::is_there(storage, dir)?)
}

fn text(topic_id: Uuid) -> String {
    format!("version: 0\ntopic_id: {topic_id}\n")
}

fn parse(bytes: &[u8]) -> Option<Uuid> {
    let mut lines = std::str::from_utf8(bytes).ok()?.lines();
    if lines.next()? != "version: 0" {
        return None;
    }
    let topic_id = lines.next()?.strip_prefix("topic_id: ")?.parse().ok()?;
    lines.next().is_none().then_some(topic_id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::MemoryStorage;

    #[test]
    fn the_topic_id_is_kept_in_kafkas_words() {
        let disk = MemoryStorage::new();
        let dir = Path::new("t-0");
        disk.create_dir_all(dir).unwrap();
        assert_eq!(read_topic_id(&disk, dir).unwrap(), None);
        let topic_id: Uuid = "ZXhhbXBsZS10b3BpYy1pZA".parse().unwrap();
        write_topic_id(&disk, dir, topic_id).unwrap();
        let text = read_whole(&disk, &dir.join(NAME)).unwrap().unwrap();
        assert_eq!(text, b"version: 0\ntopic_id: ZXhhbXBsZS10b3BpYy1pZA\n");
        assert_eq!(read_topic_id(&disk, dir).unwrap(), Some(topic_id));
    }

    #[test]
    fn a_log_is_half_made_until_its_id_or_its_state_is_there() {
        let disk = MemoryStorage::new();
        let dir = Path::new("t-0");
        disk.create_dir_all(dir).unwrap();
        assert!(is_half_made(&disk, dir).unwrap());
        let topic_id: Uuid = "ZXhhbXBsZS10b3BpYy1pZA".parse().unwrap();
        begin_topic_id(&disk, dir, topic_id).unwrap();
        assert_eq!(read_topic_id(&disk, dir).unwrap(), Some(topic_id));
        assert!(!is_half_made(&disk, dir).unwrap());
        // The first line alone is eleven bytes.
        for len in [30, 11, 0] {
            open_topic_id(&disk, dir).unwrap().truncate(len).unwrap();
            assert!(is_half_made(&disk, dir).unwrap(), "{len}");
        }
        LogState::default().write(&disk, dir).unwrap();
        assert!(!is_half_made(&disk, dir).unwrap(), "that is damage");
    }

    #[test]
    fn a_damaged_file_is_an_error_that_names_it() {
        let disk = MemoryStorage::new();
        let file = disk
            .open(Path::new("partition.metadata"), OpenMode::CreateOrOpen)
            .unwrap();
        file.write_at(b"version: 1\n", 0).unwrap();
        let error = read_topic_id(&disk, Path::new("")).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("partition.metadata is corrupt at position 0")
        );
    }
}
