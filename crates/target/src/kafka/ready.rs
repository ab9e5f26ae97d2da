//! Checks whether a broker serves on a port, with a few bytes that every release understands.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(5);

/// The time limit if other tasks are waiting.
const LITTLE_PATIENCE: Duration = Duration::from_millis(100);

/// Responses to this request are much smaller; a larger one comes from something else.
const ANSWER_BYTES_MAX: u32 = 1 << 24;

/// Whether something listens on a port of the loopback.
pub(crate) fn is_open(port: u16) -> bool {
    connect(port).is_ok()
}

/// The kernel's name of the thread that writes ZooKeeper's transactions (`SyncRequestProcessor`).
const ZOOKEEPER_WRITER: &str = "SyncThread:";

/// Whether a ZooKeeper process has opened its database, judged by its threads, so that it is not disturbed.
///
/// It opens its port before its database. If a connection ends in between, ZooKeeper 3.4 (Kafka up to 2.3) fails on the
/// missing database (a `NullPointerException` in `NIOServerCnxn.close`). It then keeps the dead connection and logs
/// about it without a pause: a core is busy, and the log fills the disk.
pub(crate) fn zookeeper_works(pid: u32) -> bool {
    has_thread(pid, ZOOKEEPER_WRITER)
}

/// Whether a process has a thread whose name has this prefix. The kernel keeps 15 bytes of a name.
fn has_thread(pid: u32, name: &str) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return false;
    };
    threads.flatten().any(|thread| {
        let own = fs::read_to_string(thread.path().join("comm"));
        own.is_ok_and(|own| own.starts_with(name))
    })
}

fn connect(port: u16) -> io::Result<TcpStream> {
    TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), PATIENCE)
}

/// The number of brokers that the broker on this port knows; `None` if it does not answer, or is not part of a complete
/// cluster yet.
pub(crate) fn brokers_known(port: u16, modern: bool) -> Option<usize> {
    let answer = ask(port, modern, PATIENCE).ok()?;
    count(&answer, modern)
}

/// The same, if the broker answers at once.
pub(crate) fn brokers_known_at_once(port: u16, modern: bool) -> Option<usize> {
    let answer = ask(port, modern, LITTLE_PATIENCE).ok()?;
    count(&answer, modern)
}

/// A Metadata request for no particular topic: version 4, which Kafka 4 still supports, or 0, which 0.8 to 3 support
/// (KIP-896 removed it in 4.0). Fields in the order of `MetadataRequest.json`.
fn question(modern: bool) -> Vec<u8> {
    let (version, rest): (u8, &[u8]) = if modern {
        // No topics, and no automatic creation.
        (4, &[0, 0, 0, 0, 0])
    } else {
        // No topics, which means all.
        (0, &[0, 0, 0, 0])
    };
    // API key 3, version, correlation id 7, no client id.
    let mut body = vec![0, 3, 0, version, 0, 0, 0, 7, 255, 255];
    body.extend_from_slice(rest);
    let mut bytes = u32::try_from(body.len())
        .unwrap_or(0)
        .to_be_bytes()
        .to_vec();
    bytes.extend(body);
    bytes
}

fn ask(port: u16, modern: bool, patience: Duration) -> io::Result<Vec<u8>> {
    let mut stream = connect(port)?;
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))?;
    stream.write_all(&question(modern))?;
    let mut size = [0; 4];
    stream.read_exact(&mut size)?;
    let size = u32::from_be_bytes(size);
    if size > ANSWER_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut answer = Vec::new();
    stream.take(size.into()).read_to_end(&mut answer)?;
    Ok(answer)
}

/// The brokers in a response. A modern one must also know a controller.
fn count(answer: &[u8], modern: bool) -> Option<usize> {
    let mut rest = answer;
    if take_i32(&mut rest)? != 7 {
        return None;
    }
    if modern {
        take_i32(&mut rest)?;
    }
    let brokers = usize::try_from(take_i32(&mut rest)?).ok()?;
    for _ in 0..brokers {
        take_i32(&mut rest)?;
        skip_text(&mut rest)?;
        take_i32(&mut rest)?;
        if modern {
            skip_text(&mut rest)?;
        }
    }
    if modern {
        skip_text(&mut rest)?;
        if take_i32(&mut rest)? < 0 {
            return None;
        }
    }
    Some(brokers)
}

fn take_i32(rest: &mut &[u8]) -> Option<i32> {
    let (bytes, after) = rest.split_first_chunk::<4>()?;
    *rest = after;
    Some(i32::from_be_bytes(*bytes))
}

/// A nullable string: null has length -1.
fn skip_text(rest: &mut &[u8]) -> Option<()> {
    let (bytes, after) = rest.split_first_chunk::<2>()?;
    let length = usize::try_from(i16::from_be_bytes(*bytes)).unwrap_or(0);
    *rest = after.get(length..)?;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_known_by_its_name_while_it_runs() {
        let pid = std::process::id();
        assert!(!has_thread(pid, "SomeWriter:"));
        let (stop_sender, stop_receiver) = std::sync::mpsc::channel::<()>();
        let (start_sender, start_receiver) = std::sync::mpsc::channel();
        let body = move || {
            let _ = start_sender.send(());
            let _ = stop_receiver.recv();
        };
        let thread = std::thread::Builder::new().name("SomeWriter:0".to_owned());
        let thread = thread.spawn(body).unwrap();
        start_receiver.recv().unwrap();
        assert!(has_thread(pid, "SomeWriter:"));
        drop(stop_sender);
        thread.join().unwrap();
        assert!(!has_thread(u32::MAX, "SomeWriter:"));
    }

    #[test]
    fn answers_of_both_ages_are_counted() {
        // Correlation id 7; one broker: id 1, host "a", port 9; no topics.
        let old = [
            0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, b'a', 0, 0, 0, 9, 0, 0, 0, 0,
        ];
        assert_eq!(count(&old, false), Some(1));
        // With throttle time, no rack, a cluster id "c", and the controller.
        let new = |controller: u8| {
            let mut bytes = vec![
                0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, b'a', 0, 0, 0, 9,
            ];
            bytes.extend([255, 255, 0, 1, b'c']);
            bytes.extend([controller; 4]);
            bytes
        };
        assert_eq!(count(&new(0), true), Some(1));
        assert_eq!(count(&new(255), true), None, "no controller yet");
        for end in 0..old.len() - 4 {
            assert_eq!(count(&old[..end], false), None, "cut at {end}");
        }
    }
}
