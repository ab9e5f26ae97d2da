//! Disks, batches and short ways to ask a log what it holds.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kgauge_broker::log::{AppendInfo, FirstBatch, LogConfig, PartitionLog, ReadRequest};
use kgauge_broker::storage::{
    MemoryStorage, OpenMode, RealStorage, Storage, StorageFile, read_whole,
};
use kgauge_wire::record_batch::{BatchEncoder, BatchHeader, ProducerState, batches};

/// The time of all tests that do not care.
pub(crate) const NOW_MS: i64 = 1_700_000_000_000;

/// A folder for one log, in memory or on a real disk.
pub(crate) struct Lab {
    pub(crate) storage: Arc<dyn Storage>,
    /// The disk, if it is the one in memory.
    pub(crate) memory: Option<MemoryStorage>,
    pub(crate) dir: PathBuf,
    _temporary: Option<tempfile::TempDir>,
}

impl Lab {
    pub(crate) fn in_memory() -> Self {
        Self::on(MemoryStorage::new())
    }

    pub(crate) fn on(memory: MemoryStorage) -> Self {
        let dir = PathBuf::from("data/topic-0");
        memory.create_dir_all(Path::new("data")).unwrap();
        memory.sync_dir(Path::new("")).unwrap();
        Self {
            storage: memory.shared(),
            memory: Some(memory),
            dir,
            _temporary: None,
        }
    }

    pub(crate) fn on_real_disk() -> Self {
        // Through the operating system, but where there is memory behind it, flushes cost nothing.
        let in_memory = tempfile::tempdir_in("/dev/shm");
        let temporary = in_memory.or_else(|_| tempfile::tempdir()).unwrap();
        let dir = temporary.path().join("topic-0");
        Self {
            storage: RealStorage::shared(),
            memory: None,
            dir,
            _temporary: Some(temporary),
        }
    }

    pub(crate) fn both() -> [Self; 2] {
        [Self::in_memory(), Self::on_real_disk()]
    }

    pub(crate) fn memory(&self) -> &MemoryStorage {
        self.memory.as_ref().unwrap()
    }

    pub(crate) fn open(&self) -> PartitionLog {
        self.open_with(LogConfig::default())
    }

    pub(crate) fn open_with(&self, config: LogConfig) -> PartitionLog {
        PartitionLog::open(Arc::clone(&self.storage), &self.dir, config, NOW_MS).unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub(crate) fn file(&self, name: &str) -> Option<Vec<u8>> {
        read_whole(&*self.storage, &self.path(name)).unwrap()
    }

    /// Replaces a file's bytes, as damage would.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        put(&*self.storage, &self.path(name), bytes);
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.storage
            .list(&self.dir)
            .unwrap()
            .into_iter()
            .map(|entry| entry.name)
            .collect()
    }
}

fn put(storage: &dyn Storage, path: &Path, bytes: &[u8]) {
    let file: Arc<dyn StorageFile> = storage.open(path, OpenMode::CreateOrTruncate).unwrap();
    file.write_at(bytes, 0).unwrap();
}

/// A batch as a producer sends it: one record for each timestamp.
pub(crate) fn batch_at(timestamps_ms: &[i64]) -> Vec<u8> {
    produced(timestamps_ms, &ProducerState::NONE, b"v")
}

/// A batch of a number of records, all dated [`NOW_MS`].
pub(crate) fn batch(records: usize) -> Vec<u8> {
    batch_at(&vec![NOW_MS; records])
}

/// A batch of an idempotent producer.
pub(crate) fn produced_by(id: i64, epoch: i16, base_sequence: i32, records: usize) -> Vec<u8> {
    let producer = ProducerState {
        id,
        epoch,
        base_sequence,
        transactional: false,
    };
    produced(&vec![NOW_MS; records], &producer, b"v")
}

pub(crate) fn produced(timestamps_ms: &[i64], producer: &ProducerState, value: &[u8]) -> Vec<u8> {
    let mut encoder = BatchEncoder::default();
    encoder.start(timestamps_ms.first().copied().unwrap_or(0));
    for timestamp_ms in timestamps_ms {
        encoder.append(*timestamp_ms, None, Some(value), &[]);
    }
    encoder.finish(producer).to_vec()
}

/// A batch of one record with exactly this many bytes.
pub(crate) fn batch_of_bytes(bytes: usize, timestamp_ms: i64) -> Vec<u8> {
    (0..=bytes)
        .rev()
        .map(|value_bytes| {
            produced(
                &[timestamp_ms],
                &ProducerState::NONE,
                &vec![b'x'; value_bytes],
            )
        })
        .find(|batch| batch.len() <= bytes)
        .filter(|batch| batch.len() == bytes)
        .expect("a batch can have this size")
}

/// The base offsets of a log's segments.
pub(crate) fn bases(log: &PartitionLog) -> Vec<i64> {
    log.segments().map(|(base, _)| base).collect()
}

/// Appends in leader epoch 0.
pub(crate) fn append(log: &mut PartitionLog, mut batch: Vec<u8>) -> AppendInfo {
    log.append_as_leader(&mut batch, 0, NOW_MS).unwrap()
}

/// The bytes that a consumer with patience gets from an offset up to the log's end.
pub(crate) fn read_from(log: &mut PartitionLog, mut offset: i64) -> Vec<u8> {
    let mut all = Vec::new();
    while offset < log.log_end_offset() {
        let bytes = read_once(log, offset, usize::MAX);
        offset = headers(&bytes).last().unwrap().next_offset();
        all.extend_from_slice(&bytes);
    }
    all
}

/// The bytes of one read, up to the log's end.
pub(crate) fn read_once(log: &mut PartitionLog, offset: i64, bytes_max: usize) -> Vec<u8> {
    let request = ReadRequest {
        offset,
        bytes_max,
        upper_bound_offset: i64::MAX,
        first_batch: FirstBatch::Whole,
    };
    let result = log.read(&request).unwrap();
    result
        .slice
        .map_or(Vec::new(), |slice| slice.bytes().unwrap())
}

/// The headers of the batches in some bytes, which must be whole.
pub(crate) fn headers(bytes: &[u8]) -> Vec<BatchHeader> {
    let mut walk = batches(bytes);
    let headers = walk
        .by_ref()
        .map(|batch| {
            let batch = batch.unwrap();
            batch.validate_crc().unwrap();
            batch.header
        })
        .collect();
    assert!(walk.rest().is_empty(), "bytes after the last batch");
    headers
}

/// First and last offset of each batch in some bytes.
pub(crate) fn spans(bytes: &[u8]) -> Vec<(i64, i64)> {
    headers(bytes)
        .iter()
        .map(|header| (header.base_offset, header.last_offset()))
        .collect()
}
