//! What followers are sent, in buffers that are used again once no follower reads them: a new one for
//! each answer would cost more than its copy, in pages that the system has to clear.

use std::sync::Arc;

use crate::storage::{FileSlice, StorageResult};

/// More than that are not kept.
const BUFFERS_MAX: usize = 8;

/// A larger one is not kept.
const BUFFER_BYTES_MAX: usize = 2 << 20;

/// The buffers of a leader.
#[derive(Debug, Default)]
pub(super) struct Buffers(Vec<Arc<Vec<u8>>>);

impl Buffers {
    /// A slice's bytes.
    pub(super) fn read(&mut self, slice: &FileSlice) -> StorageResult<Arc<Vec<u8>>> {
        let mut kept = self.0.iter_mut();
        let free = kept.position(|buffer| Arc::get_mut(buffer).is_some());
        let mut buffer = match free {
            Some(index) => self.0.swap_remove(index),
            None => Arc::default(),
        };
        // Nobody else has it.
        slice.read_over(Arc::make_mut(&mut buffer))?;
        if self.0.len() < BUFFERS_MAX && buffer.capacity() <= BUFFER_BYTES_MAX {
            self.0.push(Arc::clone(&buffer));
        }
        Ok(buffer)
    }

    /// Gives their memory back, when followers have nothing to read for a while.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::storage::{MemoryStorage, OpenMode, Storage};

    #[test]
    fn a_buffer_is_used_again_when_nobody_reads_it() {
        let storage = MemoryStorage::new();
        storage.create_dir_all(Path::new("/d")).unwrap();
        let mode = OpenMode::CreateOrOpen;
        let file = storage.open(Path::new("/d/f"), mode).unwrap();
        file.write_at(b"0123456789", 0).unwrap();
        let slice = |offset, len| FileSlice {
            file: Arc::clone(&file),
            offset,
            len,
        };
        let mut buffers = Buffers::default();
        let first = buffers.read(&slice(0, 10)).unwrap();
        let second = buffers.read(&slice(2, 3)).unwrap();
        assert_eq!((&first[..], &second[..]), (&b"0123456789"[..], &b"234"[..]));
        let place = first.as_ptr();
        drop(first);
        let third = buffers.read(&slice(7, 2)).unwrap();
        assert_eq!((&third[..], third.as_ptr()), (&b"78"[..], place));
        assert_eq!(&second[..], b"234");
        assert!(buffers.read(&slice(7, 4)).is_err(), "there are but ten");
    }
}
