//! The header of every request and response: Kafka's `RequestHeader` and `ResponseHeader`.

use crate::api::ApiKey;
use crate::codec::{
    DecodeError, EncodeError, Lengths, Reader, Str, put_i16, put_i32, put_null_string, put_string,
    put_unsigned_varint,
};

/// The newest version of the request header.
const REQUEST_HEADER_VERSION_MAX: i16 = 2;
/// The newest version of the response header.
const RESPONSE_HEADER_VERSION_MAX: i16 = 1;

/// The header of a request, versions 0 to 2.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestHeader<'a> {
    /// The API's key as received: a broker must read keys that it does not know.
    pub api_key: i16,
    /// The version of the request.
    pub api_version: i16,
    /// Comes back in the response's header.
    pub correlation_id: i32,
    /// Who asks, for the broker's logs and quotas; headers of version 0 do not carry it.
    pub client_id: Option<Str<'a>>,
}

impl<'a> RequestHeader<'a> {
    /// Appends the header in the given header version.
    pub fn encode(&self, out: &mut Vec<u8>, version: i16) -> Result<(), EncodeError> {
        if !(0..=REQUEST_HEADER_VERSION_MAX).contains(&version) {
            return Err(EncodeError::Version {
                message: "RequestHeader",
                version,
            });
        }
        put_i16(out, self.api_key);
        put_i16(out, self.api_version);
        put_i32(out, self.correlation_id);
        if version >= 1 {
            // Two length bytes in version 2 as well, so that any broker can read this far.
            match &self.client_id {
                Some(id) => put_string(out, Lengths::Fixed, id, "RequestHeader.ClientId")?,
                None => put_null_string(out, Lengths::Fixed),
            }
        }
        if version >= 2 {
            put_unsigned_varint(out, 0);
        }
        Ok(())
    }

    /// Reads the header in the given header version.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        if !(0..=REQUEST_HEADER_VERSION_MAX).contains(&version) {
            return Err(DecodeError::Version {
                message: "RequestHeader",
                version,
            });
        }
        reader.at("RequestHeader.RequestApiKey");
        let api_key = reader.read_i16()?;
        reader.at("RequestHeader.RequestApiVersion");
        let api_version = reader.read_i16()?;
        reader.at("RequestHeader.CorrelationId");
        let correlation_id = reader.read_i32()?;
        let client_id = if version >= 1 {
            reader.at("RequestHeader.ClientId");
            reader.read_nullable_string(Lengths::Fixed)?
        } else {
            None
        };
        if version >= 2 {
            reader.at("RequestHeader (tagged fields)");
            reader.skip_tagged()?;
        }
        Ok(Self {
            api_key,
            api_version,
            correlation_id,
            client_id,
        })
    }

    /// Reads the header in the version that its own key and request version imply. Behind a key
    /// that kgauge does not carry, version 1 is assumed: it reads up to the client id.
    pub fn decode_implied(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut ahead = reader.clone();
        ahead.at("RequestHeader.RequestApiKey");
        let api_key = ahead.read_i16()?;
        ahead.at("RequestHeader.RequestApiVersion");
        let api_version = ahead.read_i16()?;
        let version =
            ApiKey::from_i16(api_key).map_or(1, |api| api.request_header_version(api_version));
        Self::decode(reader, version)
    }
}

/// The header of a response, versions 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ResponseHeader {
    /// That of the request which is answered.
    pub correlation_id: i32,
}

impl ResponseHeader {
    /// Appends the header in the given header version.
    pub fn encode(&self, out: &mut Vec<u8>, version: i16) -> Result<(), EncodeError> {
        if !(0..=RESPONSE_HEADER_VERSION_MAX).contains(&version) {
            return Err(EncodeError::Version {
                message: "ResponseHeader",
                version,
            });
        }
        put_i32(out, self.correlation_id);
        if version >= 1 {
            put_unsigned_varint(out, 0);
        }
        Ok(())
    }

    /// Reads the header in the given header version.
    pub fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        if !(0..=RESPONSE_HEADER_VERSION_MAX).contains(&version) {
            return Err(DecodeError::Version {
                message: "ResponseHeader",
                version,
            });
        }
        reader.at("ResponseHeader.CorrelationId");
        let correlation_id = reader.read_i32()?;
        if version >= 1 {
            reader.at("ResponseHeader (tagged fields)");
            reader.skip_tagged()?;
        }
        Ok(Self { correlation_id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> RequestHeader<'static> {
        RequestHeader {
            api_key: 3,
            api_version: 9,
            correlation_id: 7,
            client_id: Some("me".into()),
        }
    }

    #[test]
    fn a_request_header_has_these_bytes() {
        let mut out = Vec::new();
        header().encode(&mut out, 2).unwrap();
        assert_eq!(out, [0, 3, 0, 9, 0, 0, 0, 7, 0, 2, b'm', b'e', 0]);
        let mut reader = Reader::new(&out);
        assert_eq!(RequestHeader::decode_implied(&mut reader), Ok(header()));
        assert!(reader.is_empty());
    }

    #[test]
    fn a_header_of_version_0_has_no_client_id() {
        let mut out = Vec::new();
        header().encode(&mut out, 0).unwrap();
        let read = RequestHeader::decode(&mut Reader::new(&out), 0).unwrap();
        assert_eq!(
            read,
            RequestHeader {
                client_id: None,
                ..header()
            }
        );
    }

    #[test]
    fn the_header_of_an_unknown_api_is_read_up_to_the_client_id() {
        let bytes = [0x7f, 0, 0, 1, 0, 0, 0, 7, 0xff, 0xff, 9, 9];
        let read = RequestHeader::decode_implied(&mut Reader::new(&bytes)).unwrap();
        assert_eq!(
            (read.api_key, read.correlation_id, read.client_id),
            (0x7f00, 7, None)
        );
    }

    #[test]
    fn unknown_header_versions_are_errors() {
        assert!(header().encode(&mut Vec::new(), 3).is_err());
        assert!(RequestHeader::decode(&mut Reader::new(&[0; 16]), -1).is_err());
        assert!(ResponseHeader::decode(&mut Reader::new(&[0; 16]), 2).is_err());
    }

    #[test]
    fn unknown_tagged_fields_in_a_response_header_are_skipped() {
        let bytes = [0, 0, 0, 5, 1, 9, 2, 0xaa, 0xbb, 0x77];
        let mut reader = Reader::new(&bytes);
        assert_eq!(
            ResponseHeader::decode(&mut reader, 1)
                .unwrap()
                .correlation_id,
            5
        );
        assert_eq!(reader.remaining(), 1);
    }
}
