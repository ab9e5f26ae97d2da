//! Asks a port whether a broker serves there.
//!
//! A few bytes by hand: what is started here judges kgauge's own client, and so must not need it.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(2);

/// No answer to our question is longer; what is longer comes from something else.
const ANSWER_BYTES_MAX: u32 = 1 << 16;

/// Metadata, version 4, with header version 1: no topic, none to be created. Fields in the order
/// of Kafka's `MetadataRequest.json`.
const QUESTION: &[u8] = &[
    0, 0, 0, 15, // bytes that follow
    0, 3, // Metadata
    0, 4, // version
    0, 0, 0, 7, // correlation id
    255, 255, // no client id
    0, 0, 0, 0, // topics
    0, // allow auto topic creation
];

/// True when the broker there is registered and may lead partitions.
pub(super) fn serves(address: SocketAddr) -> bool {
    ask(address).is_ok_and(|answer| brokers(&answer).is_some_and(|count| count > 0))
}

fn ask(address: SocketAddr) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(QUESTION)?;
    let mut size = [0; 4];
    stream.read_exact(&mut size)?;
    let size = u32::from_be_bytes(size);
    if size > ANSWER_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut answer = vec![0; size as usize];
    stream.read_exact(&mut answer)?;
    Ok(answer)
}

/// How many brokers the answer lists: after correlation id and throttle time, 4 bytes each.
fn brokers(answer: &[u8]) -> Option<i32> {
    let number = |at: usize| {
        let bytes = answer.get(at..at + 4)?;
        Some(i32::from_be_bytes(bytes.try_into().ok()?))
    };
    (number(0)? == 7).then(|| number(8)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_says_its_own_length() {
        assert_eq!(usize::from(QUESTION[3]), QUESTION.len() - 4);
    }

    #[test]
    fn brokers_are_counted_in_an_answer_to_our_question_only() {
        let answer = [0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 1, 99];
        assert_eq!(brokers(&answer), Some(1));
        assert_eq!(brokers(&answer[..11]), None);
        let foreign = [0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1];
        assert_eq!(brokers(&foreign), None);
    }
}
