//! The two disks behind the storage traits: what they have in common, and what the one in memory
//! can lose.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use kgauge_broker::storage::{
    Crash, DiskFault, EntryKind, FileSlice, MemoryStorage, OpenMode, Operation, Storage,
    StorageFile, read_whole, replace_file,
};

use crate::support::Lab;

fn open(storage: &dyn Storage, path: &Path) -> Arc<dyn StorageFile> {
    storage.open(path, OpenMode::CreateOrOpen).unwrap()
}

#[test]
fn files_are_read_and_written_at_positions() {
    for lab in Lab::both() {
        lab.storage.create_dir_all(&lab.dir).unwrap();
        let file = open(&*lab.storage, &lab.path("f"));
        assert!(file.is_empty().unwrap());
        file.write_at(b"hello", 0).unwrap();
        file.write_at(b"J", 0).unwrap();
        file.write_at(b"!", 7).unwrap();
        assert_eq!(lab.file("f").unwrap(), b"Jello\0\0!", "a gap is zeros");
        let mut buffer = [9; 4];
        assert_eq!(
            file.read_at(&mut buffer, 6).unwrap(),
            2,
            "fewer bytes only at the end"
        );
        assert_eq!(buffer, [0, b'!', 9, 9]);
        assert_eq!(file.read_at(&mut buffer, 100).unwrap(), 0);
        file.truncate(2).unwrap();
        file.truncate(4).unwrap();
        assert_eq!(lab.file("f").unwrap(), b"Je\0\0");
        assert_eq!(file.len().unwrap(), 4);
        file.sync_data().unwrap();
        let again = lab
            .storage
            .open(&lab.path("f"), OpenMode::CreateOrTruncate)
            .unwrap();
        assert_eq!(
            (again.len().unwrap(), file.len().unwrap()),
            (0, 0),
            "one file, two handles"
        );
    }
}

#[test]
fn names_are_made_listed_changed_and_removed() {
    for lab in Lab::both() {
        let storage = &*lab.storage;
        storage.create_dir_all(&lab.path("sub")).unwrap();
        storage.create_dir_all(&lab.path("sub")).unwrap();
        open(storage, &lab.path("b")).write_at(b"12", 0).unwrap();
        open(storage, &lab.path("sub/deep"));
        replace_file(storage, &lab.path("a"), b"old").unwrap();
        replace_file(storage, &lab.path("a"), b"new").unwrap();
        assert_eq!(lab.file("a").unwrap(), b"new");
        let entries = storage.list(&lab.dir).unwrap();
        let seen: Vec<_> = entries
            .iter()
            .map(|e| (e.name.as_str(), e.kind, e.len))
            .collect();
        let file = EntryKind::File;
        assert_eq!(
            seen,
            [("a", file, 3), ("b", file, 2), ("sub", EntryKind::Dir, 0)]
        );
        storage
            .rename(&lab.path("sub"), &lab.path("moved"))
            .unwrap();
        assert_eq!(lab.file("moved/deep").unwrap(), b"");
        storage.remove_file(&lab.path("b")).unwrap();
        assert_eq!(lab.file("b"), None);
        assert!(
            storage
                .remove_file(&lab.path("b"))
                .unwrap_err()
                .is_not_found()
        );
        storage.sync_dir(&lab.dir).unwrap();
        storage.remove_dir_all(&lab.dir).unwrap();
        assert!(storage.list(&lab.dir).unwrap_err().is_not_found());
        assert!(storage.space(Path::new("/")).unwrap().bytes_free > 0);
    }
}

#[test]
fn errors_name_operation_and_path() {
    for lab in Lab::both() {
        lab.storage.create_dir_all(&lab.dir).unwrap();
        let path = lab.path("missing");
        let error = lab.storage.open(&path, OpenMode::Existing).unwrap_err();
        assert_eq!(
            (error.operation, error.path.as_path()),
            (Operation::Open, path.as_path())
        );
        assert!(error.is_not_found() && !error.is_disk_full());
        assert!(
            error
                .to_string()
                .starts_with(&format!("cannot open {}: ", path.display()))
        );
    }
}

#[test]
fn a_slice_gives_its_bytes_even_when_the_name_is_gone_and_never_fewer() {
    for lab in Lab::both() {
        lab.storage.create_dir_all(&lab.dir).unwrap();
        let file = open(&*lab.storage, &lab.path("f"));
        file.write_at(b"0123456789", 0).unwrap();
        let slice = FileSlice {
            file: Arc::clone(&file),
            offset: 3,
            len: 4,
        };
        lab.storage.remove_file(&lab.path("f")).unwrap();
        assert_eq!(slice.bytes().unwrap(), b"3456");
        file.truncate(5).unwrap();
        let error = slice.bytes().unwrap_err();
        assert_eq!(error.source.kind(), ErrorKind::UnexpectedEof);
        assert!(
            error.to_string().contains("2 of 4 bytes at position 3"),
            "{error}"
        );
    }
}

/// A disk with one durable file of two bytes, to which two more were written.
fn half_flushed() -> MemoryStorage {
    let disk = MemoryStorage::new();
    let file = open(&disk, Path::new("f"));
    file.write_at(b"AB", 0).unwrap();
    file.sync_data().unwrap();
    disk.sync_dir(Path::new("")).unwrap();
    file.write_at(b"CD", 2).unwrap();
    disk
}

fn contents(disk: &MemoryStorage) -> Option<Vec<u8>> {
    read_whole(disk, Path::new("f")).unwrap()
}

#[test]
fn a_crash_keeps_what_was_flushed_and_the_chosen_part_of_the_rest() {
    for (crash, expected) in [
        (Crash::KeepEverything, b"ABCD".as_slice()),
        (Crash::LoseUnflushed, b"AB"),
        (Crash::TearLastWrite { bytes_kept: 1 }, b"ABC"),
        (Crash::TearLastWrite { bytes_kept: 0 }, b"AB"),
    ] {
        let disk = half_flushed();
        disk.crash(crash);
        assert_eq!(contents(&disk).as_deref(), Some(expected), "{crash:?}");
        disk.crash(Crash::LoseUnflushed);
        assert_eq!(
            contents(&disk).as_deref(),
            Some(expected),
            "what a crash left is durable"
        );
    }
}

#[test]
fn a_random_crash_never_touches_what_was_flushed_and_is_the_same_for_a_seed() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..200 {
        let [one, other] = [half_flushed(), half_flushed()];
        one.crash(Crash::Random { seed });
        other.crash(Crash::Random { seed });
        let left = contents(&one).unwrap();
        assert_eq!(Some(&left), contents(&other).as_ref());
        assert!(left.starts_with(b"AB"));
        seen.insert(left);
    }
    let expected = [b"AB".to_vec(), b"ABC".to_vec(), b"ABCD".to_vec()];
    assert_eq!(
        seen.into_iter().collect::<Vec<_>>(),
        expected,
        "each kind of loss comes up"
    );
}

#[test]
fn a_name_is_durable_only_when_its_folder_was_flushed() {
    let disk = half_flushed();
    open(&disk, Path::new("new")).sync_data().unwrap();
    disk.rename(Path::new("f"), Path::new("g")).unwrap();
    disk.crash(Crash::LoseUnflushed);
    let names: Vec<String> = disk
        .list(Path::new(""))
        .unwrap()
        .into_iter()
        .map(|entry| entry.name)
        .collect();
    assert_eq!(names, ["f"], "the new file and the new name are lost");
    disk.rename(Path::new("f"), Path::new("g")).unwrap();
    disk.sync_dir(Path::new("")).unwrap();
    disk.crash(Crash::LoseUnflushed);
    assert_eq!(disk.list(Path::new("")).unwrap()[0].name, "g");
}

#[test]
fn a_full_disk_takes_what_fits() {
    let disk = half_flushed();
    disk.set_capacity(Some(6));
    let file = open(&disk, Path::new("f"));
    let error = file.write_at(b"EFGH", 4).unwrap_err();
    assert!(error.is_disk_full());
    assert_eq!(contents(&disk).unwrap(), b"ABCDEF");
    assert_eq!(disk.space(Path::new("")).unwrap().bytes_free, 0);
    file.write_at(b"ef", 4).unwrap();
    file.truncate(0).unwrap();
    assert_eq!(disk.used_bytes(), 0);
}

#[test]
fn faults_strike_where_and_as_often_as_they_are_set() {
    let disk = half_flushed();
    let file = open(&disk, Path::new("f"));
    let mut fault = DiskFault::once(Operation::Write, "f", ErrorKind::Other);
    fault.successes_before = 1;
    disk.inject(fault);
    file.write_at(b"1", 0).unwrap();
    assert_eq!(
        file.write_at(b"2", 0).unwrap_err().source.kind(),
        ErrorKind::Other
    );
    file.write_at(b"3", 0).unwrap();
    disk.inject(DiskFault::always(
        Operation::SyncData,
        "g",
        ErrorKind::Other,
    ));
    file.sync_data().unwrap();
    disk.inject(DiskFault::always(Operation::SyncData, "", ErrorKind::Other));
    assert!(file.sync_data().is_err() && file.sync_data().is_err());
    disk.clear_faults();
    file.sync_data().unwrap();
}
