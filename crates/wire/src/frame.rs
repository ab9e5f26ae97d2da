//! Frames: a four-byte size, then a header and a message. The owner of the socket provides the
//! buffers; nothing here reads or writes a socket.

use thiserror::Error;

use crate::api::ApiKey;
use crate::codec::{EncodeError, Str};
use crate::header::{RequestHeader, ResponseHeader};
use crate::messages::{Message, Request};

/// Bytes of the size in front of every frame.
pub const SIZE_BYTES: usize = 4;

/// Why the bytes at the start of a buffer are no frame. The connection cannot be used further:
/// where the next frame begins is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FrameError {
    /// The size is negative.
    #[error("a frame claims a size of {size} bytes")]
    Negative {
        /// The size as received.
        size: i32,
    },
    /// The size is above what the receiver accepts.
    #[error("a frame claims {size} bytes, above the limit of {size_max}")]
    TooLarge {
        /// The size as received.
        size: usize,
        /// The limit.
        size_max: usize,
    },
}

/// A frame found at the start of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Everything after the size: header and message.
    pub payload: &'a [u8],
    /// How many bytes of the buffer the frame takes, its size field included.
    pub bytes: usize,
}

/// The size that the buffer's first frame claims, once four bytes are there: for receivers that
/// want to make room before the frame is complete.
pub fn frame_size(buffer: &[u8], size_max: usize) -> Result<Option<usize>, FrameError> {
    let Some(size) = buffer.first_chunk() else {
        return Ok(None);
    };
    let size = i32::from_be_bytes(*size);
    let size = usize::try_from(size).map_err(|_| FrameError::Negative { size })?;
    if size > size_max {
        return Err(FrameError::TooLarge { size, size_max });
    }
    Ok(Some(size))
}

/// The first frame of a buffer, or nothing while it is not complete. A negative size, or one above
/// `size_max`, is an error as soon as its four bytes are there.
pub fn split_frame(buffer: &[u8], size_max: usize) -> Result<Option<Frame<'_>>, FrameError> {
    let Some(size) = frame_size(buffer, size_max)? else {
        return Ok(None);
    };
    let payload = buffer[SIZE_BYTES..].get(..size);
    Ok(payload.map(|payload| Frame {
        payload,
        bytes: SIZE_BYTES + size,
    }))
}

/// Appends a request as a whole frame. After an error `out` is as long as before.
pub fn put_request<'a, R: Request<'a>>(
    out: &mut Vec<u8>,
    version: i16,
    correlation_id: i32,
    client_id: Option<&str>,
    request: &R,
) -> Result<(), EncodeError> {
    let header = RequestHeader {
        api_key: R::KEY.as_i16(),
        api_version: version,
        correlation_id,
        client_id: client_id.map(Str::Borrowed),
    };
    put_frame(out, |out| {
        header.encode(out, R::KEY.request_header_version(version))?;
        request.encode(out, version)
    })
}

/// Appends a response as a whole frame. After an error `out` is as long as before.
pub fn put_response<'a, M: Message<'a>>(
    out: &mut Vec<u8>,
    api: ApiKey,
    version: i16,
    correlation_id: i32,
    response: &M,
) -> Result<(), EncodeError> {
    put_frame(out, |out| {
        let header = ResponseHeader { correlation_id };
        header.encode(out, api.response_header_version(version))?;
        response.encode(out, version)
    })
}

/// Appends a frame whose payload `write` appends. After an error `out` is as long as before.
pub fn put_frame(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    let start = out.len();
    out.extend_from_slice(&[0; SIZE_BYTES]);
    let result = write(out).and_then(|()| {
        let length = out.len() - start - SIZE_BYTES;
        let length_max = i32::MAX as usize;
        i32::try_from(length).map_err(|_| EncodeError::TooLong {
            what: "frame",
            length,
            length_max,
        })
    });
    match result {
        Ok(size) => {
            out[start..start + SIZE_BYTES].copy_from_slice(&size.to_be_bytes());
            Ok(())
        }
        Err(error) => {
            out.truncate(start);
            Err(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{ApiVersionsRequest, HeartbeatResponse};

    #[test]
    fn a_request_becomes_one_frame() {
        let mut out = vec![0xee];
        put_request(&mut out, 0, 5, Some("me"), &ApiVersionsRequest::default()).unwrap();
        assert_eq!(
            out,
            [0xee, 0, 0, 0, 12, 0, 18, 0, 0, 0, 0, 0, 5, 0, 2, b'm', b'e']
        );
    }

    #[test]
    fn a_response_becomes_one_frame() {
        let mut out = Vec::new();
        let response = HeartbeatResponse {
            throttle_time_ms: 1,
            error_code: 27,
        };
        put_response(&mut out, ApiKey::Heartbeat, 4, 5, &response).unwrap();
        assert_eq!(out, [0, 0, 0, 12, 0, 0, 0, 5, 0, 0, 0, 0, 1, 0, 27, 0]);
    }

    #[test]
    fn a_failed_request_leaves_nothing_behind() {
        let mut out = vec![0xee];
        assert!(put_request(&mut out, 99, 5, None, &ApiVersionsRequest::default()).is_err());
        assert_eq!(out, [0xee]);
    }

    #[test]
    fn frames_are_split_as_they_become_complete() {
        let bytes = [0, 0, 0, 2, 7, 8, 0, 0, 0, 0];
        for length in 0..6 {
            assert_eq!(split_frame(&bytes[..length], 10), Ok(None));
        }
        let frame = split_frame(&bytes, 10).unwrap().unwrap();
        assert_eq!(
            frame,
            Frame {
                payload: &[7, 8],
                bytes: 6
            }
        );
        let rest = split_frame(&bytes[frame.bytes..], 10).unwrap().unwrap();
        assert_eq!(
            rest,
            Frame {
                payload: &[],
                bytes: 4
            }
        );
    }

    #[test]
    fn a_lying_size_is_an_error_before_the_frame_is_complete() {
        assert_eq!(
            split_frame(&[0xff; 4], 10),
            Err(FrameError::Negative { size: -1 })
        );
        let too_large = FrameError::TooLarge {
            size: 11,
            size_max: 10,
        };
        assert_eq!(split_frame(&[0, 0, 0, 11], 10), Err(too_large));
    }
}
