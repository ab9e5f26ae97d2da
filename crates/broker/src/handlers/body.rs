//! A request's bytes: decoded where they lie, and for record batches changed where they lie.

use std::ops::Range;

use kgauge_wire::codec::{DecodeError, Reader};
use kgauge_wire::header::RequestHeader;
use kgauge_wire::messages::Message;

use crate::node::CloseReason;

/// A request: its frame, and where behind the header its message begins.
#[derive(Debug)]
pub(crate) struct RequestBody<'f> {
    frame: &'f mut [u8],
    message_at: usize,
}

impl<'f> RequestBody<'f> {
    pub(super) fn new(frame: &'f mut [u8], message_at: usize) -> Self {
        Self { frame, message_at }
    }

    /// The message. Bytes behind it are left alone, as Kafka does: librdkafka 2.16 sends some.
    pub(crate) fn decode<'a, M: Message<'a>>(&'a self, version: i16) -> Result<M, CloseReason> {
        let bytes = self.frame.get(self.message_at..).unwrap_or_default();
        M::decode(&mut Reader::new(bytes), version)
            .map_err(|error: DecodeError| CloseReason::Malformed(error.to_string()))
    }

    /// Bytes of the whole request, its header included.
    pub(crate) fn bytes(&self) -> usize {
        self.frame.len()
    }

    /// The client's id; empty if it sends none.
    pub(crate) fn client_id(&self) -> &str {
        let header = RequestHeader::decode_implied(&mut Reader::new(self.frame));
        match header.map(|header| header.client_id) {
            Ok(Some(std::borrow::Cow::Borrowed(id))) => id,
            _ => "",
        }
    }

    /// Where in the frame `part` lies, which a message borrowed from it.
    pub(crate) fn range_of(&self, part: &[u8]) -> Option<Range<usize>> {
        let start = (part.as_ptr() as usize).checked_sub(self.frame.as_ptr() as usize)?;
        let end = start.checked_add(part.len())?;
        (end <= self.frame.len()).then_some(start..end)
    }

    /// The bytes at a place that [`RequestBody::range_of`] gave, to be changed.
    pub(crate) fn part(&mut self, range: Range<usize>) -> &mut [u8] {
        self.frame.get_mut(range).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use kgauge_wire::messages::metadata::MetadataRequest;

    use super::RequestBody;

    #[test]
    fn bytes_behind_the_message_are_left_alone() {
        // All topics, as librdkafka 2.16 asks for them in Metadata version 13.
        let mut frame = [0, 0, 0, 0, 1, 0, 0];
        let body = RequestBody::new(&mut frame, 0);
        let request: MetadataRequest<'_> = body.decode(13).unwrap();
        assert_eq!(request.topics, None);
    }

    #[test]
    fn a_part_is_found_where_it_lies() {
        let mut frame = [0, 1, 2, 3, 4, 5];
        let mut body = RequestBody::new(&mut frame, 1);
        let part: &[u8] = &body.frame[2..5];
        let range = body.range_of(part).unwrap();
        assert_eq!(range, 2..5);
        body.part(range)[0] = 9;
        assert_eq!(body.range_of(&[7; 3]), None);
        assert_eq!(frame, [0, 1, 9, 3, 4, 5]);
    }
}
