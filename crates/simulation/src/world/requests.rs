//! Requests as clients send them, and responses as clients read them.

use kgauge_wire::codec::Reader;
use kgauge_wire::frame::{SIZE_BYTES, put_request};
use kgauge_wire::header::ResponseHeader;
use kgauge_wire::messages::{Message, Request};

/// A request's frame without its size, as nodes take it.
pub(super) fn frame<'a, R: Request<'a>>(version: i16, correlation: i32, request: &R) -> Vec<u8> {
    let mut frame = Vec::new();
    put_request(&mut frame, version, correlation, None, request).expect("requests are well-formed");
    frame.split_off(SIZE_BYTES)
}

/// The correlation id and the response in a frame with its size; `None` if it cannot be read.
pub(super) fn read<'a, R: Request<'a>>(
    frame: &'a [u8],
    version: i16,
) -> Option<(i32, R::Response<'a>)> {
    let mut reader = Reader::new(frame.get(SIZE_BYTES..)?);
    let header_version = R::KEY.response_header_version(version);
    let header = ResponseHeader::decode(&mut reader, header_version).ok()?;
    let response = R::Response::decode(&mut reader, version).ok()?;
    Some((header.correlation_id, response))
}
