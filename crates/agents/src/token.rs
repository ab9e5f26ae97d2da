//! The secret that a lead and its agents share.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use kgauge_wire::Secret;
use ring::rand::{SecureRandom, SystemRandom};

/// A shorter token could be guessed by whoever sees one proof of it.
const TOKEN_BYTES_MIN: usize = 16;

/// A longer file is not a token.
const TOKEN_BYTES_MAX: usize = 4_096;

/// The name of a file that stands for standard input.
const STDIN: &str = "-";

/// The secret of a run's agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentToken(Secret);

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum AgentTokenError {
    /// The file cannot be read.
    #[error("--token-file {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
    /// Its content cannot be a token.
    #[error(
        "--token-file {}: the token has fewer than {TOKEN_BYTES_MIN} or more than {TOKEN_BYTES_MAX} bytes, or is not \
         UTF-8\n  make one: openssl rand -hex 32 > FILE",
        path.display()
    )]
    Unusable {
        /// The file.
        path: PathBuf,
    },
    /// The system has no random numbers.
    #[error("the operating system gave no random numbers for a token")]
    NoRandomness,
}

impl AgentToken {
    /// A new random token of 256 bits.
    pub fn random() -> Result<Self, AgentTokenError> {
        let mut bytes = [0_u8; 32];
        let filled = SystemRandom::new().fill(&mut bytes);
        filled.map_err(|_| AgentTokenError::NoRandomness)?;
        let mut text = String::new();
        for byte in bytes {
            let _ = write!(text, "{byte:02x}");
        }
        Ok(Self(Secret::new(text)))
    }

    /// The first line of a file; `-` is standard input.
    pub fn read(path: &Path) -> Result<Self, AgentTokenError> {
        let read = match path.as_os_str() == STDIN {
            true => first_line(io::stdin().lock()),
            false => File::open(path).and_then(first_line),
        };
        let text = read.map_err(|source| AgentTokenError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        let unusable = || AgentTokenError::Unusable {
            path: path.to_owned(),
        };
        let text = String::from_utf8(text).map_err(|_| unusable())?;
        let text = text.trim();
        match (TOKEN_BYTES_MIN..=TOKEN_BYTES_MAX).contains(&text.len()) {
            true => Ok(Self(Secret::new(text))),
            false => Err(unusable()),
        }
    }

    /// For the Secret of a run in pods.
    pub fn into_secret(self) -> Secret {
        self.0
    }

    /// For a proof, or for a process that kgauge starts.
    pub(crate) fn expose(&self) -> &str {
        self.0.expose()
    }
}

/// Reads byte by byte: whoever writes to a pipe keeps it open after the line.
fn first_line(mut reader: impl Read) -> io::Result<Vec<u8>> {
    let (mut line, mut byte) = (Vec::new(), [0_u8]);
    while line.len() <= TOKEN_BYTES_MAX {
        match reader.read(&mut byte) {
            Ok(0) => break,
            Ok(_) if byte[0] == b'\n' => break,
            Ok(_) => line.push(byte[0]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(line)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn random_tokens_differ_and_are_never_shown() {
        let (one, other) = (AgentToken::random().unwrap(), AgentToken::random().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.expose().len(), 64);
        assert!(!format!("{one:?}").contains(one.expose()));
    }

    #[test]
    fn only_the_first_line_of_a_file_counts() {
        let dir = std::env::temp_dir().join(format!("kgauge-token-{}", std::process::id()));
        std::fs::write(&dir, "0123456789abcdef \nrest").unwrap();
        assert_eq!(AgentToken::read(&dir).unwrap().expose(), "0123456789abcdef");
        std::fs::write(&dir, "short\n").unwrap();
        let error = AgentToken::read(&dir).unwrap_err().to_string();
        assert!(error.contains("openssl rand"), "{error}");
        assert!(!error.contains("short"), "{error}");
        std::fs::remove_file(&dir).unwrap();
        assert!(AgentToken::read(&dir).is_err());
    }
}
