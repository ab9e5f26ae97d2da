//! Request and response headers in every version.

#![no_main]

use kgauge_wire::codec::Reader;
use kgauge_wire::header::{RequestHeader, ResponseHeader};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let _ = RequestHeader::decode_implied(&mut Reader::new(input));
    for version in -1..=3 {
        if let Ok(header) = RequestHeader::decode(&mut Reader::new(input), version) {
            let mut out = Vec::new();
            header
                .encode(&mut out, version)
                .expect("what was read can be written");
            assert_eq!(
                RequestHeader::decode(&mut Reader::new(&out), version),
                Ok(header)
            );
        }
        if let Ok(header) = ResponseHeader::decode(&mut Reader::new(input), version) {
            let mut out = Vec::new();
            header
                .encode(&mut out, version)
                .expect("what was read can be written");
            assert_eq!(
                ResponseHeader::decode(&mut Reader::new(&out), version),
                Ok(header)
            );
        }
    }
});
