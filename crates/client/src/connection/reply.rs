//! A response: its bytes, and the parameters to decode them.

use std::marker::PhantomData;

use kgauge_wire::codec::Reader;
use kgauge_wire::header::ResponseHeader;
use kgauge_wire::messages::{Message, Request};

use super::error::CallError;
use crate::config::Address;

/// The response to an `R`: it owns the bytes, from which decoded messages borrow.
#[derive(Debug)]
pub struct Decoded<R> {
    body: Vec<u8>,
    version: i16,
    broker: Address,
    request: PhantomData<fn() -> R>,
}

impl<R> Decoded<R> {
    /// `body` is a frame without its length; it has at least the 4 bytes of the correlation id.
    pub(super) fn new(body: Vec<u8>, version: i16, broker: Address) -> Decoded<R> {
        Decoded {
            body,
            version,
            broker,
            request: PhantomData,
        }
    }

    /// The version of request and response.
    pub fn version(&self) -> i16 {
        self.version
    }

    /// The broker.
    pub fn broker(&self) -> &Address {
        &self.broker
    }

    pub(super) fn correlation_id(&self) -> i32 {
        self.body
            .first_chunk()
            .map_or(-1, |bytes| i32::from_be_bytes(*bytes))
    }

    /// Decodes the response.
    pub fn decode<'q, 'r>(&'r self) -> Result<R::Response<'r>, CallError>
    where
        R: Request<'q>,
    {
        let header_version = R::KEY.response_header_version(self.version);
        let mut reader = Reader::new(&self.body);
        ResponseHeader::decode(&mut reader, header_version)
            .and_then(|_| R::Response::decode(&mut reader, self.version))
            .map_err(|error| CallError::Malformed {
                broker: self.broker.clone(),
                api: R::KEY,
                version: self.version,
                error,
            })
    }
}
