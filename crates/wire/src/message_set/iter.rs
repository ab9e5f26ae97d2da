//! Walks over the messages of a set.

use super::error::MessageError;
use super::message::MessageHead;

/// The messages of a set, wrappers as they are; ends before one that is cut off, or after an error.
#[derive(Debug, Clone)]
pub struct Entries<'a> {
    rest: &'a [u8],
    is_over: bool,
}

/// The messages in `bytes`.
pub fn messages(bytes: &[u8]) -> Entries<'_> {
    Entries {
        rest: bytes,
        is_over: false,
    }
}

impl<'a> Entries<'a> {
    /// What follows the last message that was given.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<MessageHead<'a>, MessageError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        match MessageHead::read(self.rest) {
            Ok(Some(entry)) => {
                self.rest = &self.rest[entry.bytes().len()..];
                Some(Ok(entry))
            }
            Ok(None) => {
                self.is_over = true;
                None
            }
            Err(error) => {
                self.is_over = true;
                Some(Err(error))
            }
        }
    }
}
