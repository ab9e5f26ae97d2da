//! A driver's child that sends nothing anywhere: it tells of records what the test wants.

use std::io::{Read, Write};
use std::process::ExitCode;
use std::time::Duration;

/// The first argument of a child.
pub(crate) const CHILD: &str = "fake-driver";

const MS: i64 = 1_000_000;

/// In place of an intended time.
const AT_WILL: i64 = -1;

pub(crate) fn main(mode: &str) -> ExitCode {
    if mode == "stillborn" {
        return ExitCode::from(3);
    }
    let (kind, body) = next();
    assert_eq!(kind, 1, "settings come first");
    assert!(body.windows(17).any(|part| part == b"bootstrap.servers"));
    match mode {
        "refuses" => return say_and_wait(2, b"fake 1.0 has no acks"),
        "fails" => return say_and_wait(9, b"no cluster there"),
        _ => {}
    }
    let here = if mode == "clock" { 0 } else { now_ns() };
    say(1, &[&here.to_be_bytes()[..], b"fake 1.0"].concat());
    let (kind, start) = next();
    assert_eq!(kind, 2, "then the start");
    let number = |at: usize| i64::from_be_bytes(start[at..at + 8].try_into().unwrap());
    assert_eq!(number(32), i64::from(mode == "placed"), "of verified flows");
    send_all(mode, number(24))
}

fn send_all(mode: &str, records_max: i64) -> ExitCode {
    let mut index = 0_i64;
    loop {
        let (kind, body) = next();
        if kind == 4 {
            break;
        }
        assert_eq!((kind, body.len()), (3, 22 + 100), "a record");
        assert_eq!(body[22..26] == *b"kgv1", mode == "placed", "its identity");
        let intended_ns = i64::from_be_bytes(body[..8].try_into().unwrap());
        match mode {
            "dies" if index == 100 => {
                let _ = writeln!(std::io::stderr(), "there is nothing to live for");
                return ExitCode::from(7);
            }
            "hangs" if index == 100 => loop {
                say(4, &[0; 16]);
                std::thread::sleep(Duration::from_millis(20));
            },
            _ => {}
        }
        if intended_ns == AT_WILL && records_max >= 0 && index >= records_max {
            if index == records_max {
                say(6, &now_ns().to_be_bytes());
            }
            outcome(index, 0, 0, 4, 0);
        } else {
            tell(mode, index, intended_ns);
        }
        index += 1;
    }
    say(6, &now_ns().to_be_bytes());
    say_and_wait(8, &77_u64.to_be_bytes())
}

/// Tells what became of a record, when it is time.
fn tell(mode: &str, index: i64, intended_ns: i64) {
    let (sent_ns, end_ns) = match intended_ns {
        AT_WILL => (now_ns() - MS, now_ns()),
        due => (due + MS, due + 5 * MS),
    };
    let early_ns = u64::try_from(end_ns - now_ns()).unwrap_or(0);
    std::thread::sleep(Duration::from_nanos(early_ns));
    let (kind, code) = match (mode, index % 5) {
        ("fates", 1) => (1, 10),
        ("fates" | "placed", 2) => (2, -103),
        ("fates", 3) => (3, 0),
        ("fates", 4) => (1, -104),
        _ => (0, 0),
    };
    if mode == "fates" && index == 0 {
        say(5, &[end_ns.to_be_bytes(), (3 * MS).to_be_bytes()].concat());
        say(7, b"\0\x0atoo large for this world");
    }
    match mode {
        "twice" if index == 50 => outcome(index - 1, sent_ns, end_ns, 0, 0),
        "future" if index == 50 => outcome(index, sent_ns, now_ns() + 1_000 * MS, 0, 0),
        "garbage" if index == 50 => say(3, b"no outcome"),
        "placed" => placed_outcome(index, sent_ns, end_ns, kind, code),
        _ => outcome(index, sent_ns, end_ns, kind, code),
    }
}

fn outcome(index: i64, sent_ns: i64, end_ns: i64, kind: u8, code: i16) {
    say(3, &outcome_bytes([index, sent_ns, end_ns], kind, code));
}

/// Acked records are in partition 0, at ten times their index.
fn placed_outcome(index: i64, sent_ns: i64, end_ns: i64, kind: u8, code: i16) {
    let mut body = outcome_bytes([index, sent_ns, end_ns], kind, code);
    let (partition, offset) = match kind {
        0 => (0, index * 10),
        _ => (-1, -1),
    };
    body.extend_from_slice(&i32::to_be_bytes(partition));
    body.extend_from_slice(&i64::to_be_bytes(offset));
    say(10, &body);
}

fn outcome_bytes(numbers: [i64; 3], kind: u8, code: i16) -> Vec<u8> {
    let mut body = numbers.map(i64::to_be_bytes).concat();
    body.push(kind);
    body.extend_from_slice(&code.to_be_bytes());
    body
}

/// Says a frame; a parent that does not listen any more ends the child.
fn say(kind: u8, body: &[u8]) {
    let mut frame = (body.len() as u32).to_be_bytes().to_vec();
    frame.push(kind);
    frame.extend_from_slice(body);
    let mut stdout = std::io::stdout().lock();
    if stdout
        .write_all(&frame)
        .and_then(|()| stdout.flush())
        .is_err()
    {
        std::process::exit(0);
    }
}

/// Says the last word and waits to be let go.
fn say_and_wait(kind: u8, body: &[u8]) -> ExitCode {
    say(kind, body);
    let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
    ExitCode::SUCCESS
}

/// The next frame; without one the child ends.
fn next() -> (u8, Vec<u8>) {
    let mut stdin = std::io::stdin().lock();
    let mut head = [0; 5];
    if stdin.read_exact(&mut head).is_err() {
        std::process::exit(0);
    }
    let length = u32::from_be_bytes(head[..4].try_into().unwrap());
    let mut body = vec![0; length as usize];
    stdin.read_exact(&mut body).unwrap();
    (head[4], body)
}

fn now_ns() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec * 1_000_000_000 + i64::from(now.tv_nsec as i32)
}
