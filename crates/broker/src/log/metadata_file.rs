//! The file `partition.metadata` of a log: to which topic, by id, it belongs.
//!
//! Kafka's text form: `version: 0` and `topic_id: <22 characters of base64url>`, a line each. The
//! id tells a topic from one of the same name that was deleted before.

use std::path::Path;

use kgauge_wire::codec::Uuid;

use super::{Corruption, LogError};
use crate::storage::{Storage, read_whole, replace_file};

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
            let reason = "expected are the lines \"version: 0\" and \"topic_id: ...\"".to_owned();
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
    let text = format!("version: 0\ntopic_id: {topic_id}\n");
    Ok(replace_file(storage, &dir.join(NAME), text.as_bytes())?)
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
    use crate::storage::{MemoryStorage, OpenMode};

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
