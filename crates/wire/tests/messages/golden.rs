//! The bytes are those of Kafka's own Java classes: `tests/golden`, remade by `cargo xtask golden`.

use std::fs;
use std::path::{Path, PathBuf};

use kgauge_wire::codec::Reader;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::header::{RequestHeader, ResponseHeader};

use crate::sampler::{Sampler, Variant};
use crate::samples::cases;

/// A line of a golden file.
pub(crate) struct Golden {
    pub(crate) message: String,
    pub(crate) version: i16,
    pub(crate) variant: String,
    pub(crate) bytes: Vec<u8>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn lines(file: &str) -> Vec<String> {
    let text = fs::read_to_string(folder().join(file)).unwrap();
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

fn parse(line: &str) -> Golden {
    let mut words = line.split(' ');
    let mut word = || words.next().unwrap();
    let (message, version, variant, hex) = (word(), word(), word(), word());
    let byte = |index| u8::from_str_radix(&hex[index..index + 2], 16).unwrap();
    Golden {
        message: message.to_owned(),
        version: version.parse().unwrap(),
        variant: variant.to_owned(),
        bytes: (0..hex.len()).step_by(2).map(byte).collect(),
    }
}

/// Every message, version and variant of the golden files, headers left out.
pub(crate) fn messages() -> Vec<Golden> {
    let mut golden = Vec::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".txt") && name != "headers.txt" && name != "error_codes.txt" {
            golden.extend(lines(&name).iter().map(|line| parse(line)));
        }
    }
    golden
}

fn variant(name: &str) -> Option<Variant> {
    match name {
        "full" => Some(Variant::Full),
        "null" => Some(Variant::Null),
        "empty" => Some(Variant::Empty),
        "default" => None,
        unknown => panic!("unknown variant {unknown}"),
    }
}

#[test]
fn every_message_has_the_bytes_that_kafka_writes() {
    let golden = messages();
    let mut checked = 0;
    for case in cases() {
        for version in case.versions.clone() {
            let of_case = |line: &&Golden| line.message == case.name && line.version == version;
            let lines: Vec<_> = golden.iter().filter(of_case).collect();
            assert_eq!(lines.len(), 4, "{} {version}", case.name);
            for line in lines {
                let bytes = match variant(&line.variant) {
                    Some(variant) => (case.round_trip)(variant, version),
                    None => (case.round_trip_default)(version),
                };
                assert_eq!(
                    bytes, line.bytes,
                    "{} {version} {}",
                    case.name, line.variant
                );
                checked += 1;
            }
        }
    }
    assert_eq!(checked, golden.len());
}

#[test]
fn headers_have_the_bytes_that_kafka_writes() {
    for line in lines("headers.txt").iter().map(|line| parse(line)) {
        let mut bytes = Vec::new();
        if line.message == "ResponseHeader" {
            let header = response_header(&line);
            header.encode(&mut bytes, line.version).unwrap();
            let read = ResponseHeader::decode(&mut Reader::new(&bytes), line.version);
            assert_eq!(read, Ok(header));
        } else {
            let header = request_header(&line);
            header.encode(&mut bytes, line.version).unwrap();
            let read = RequestHeader::decode(&mut Reader::new(&bytes), line.version);
            assert_eq!(read, Ok(header));
        }
        assert_eq!(
            bytes, line.bytes,
            "{} {} {}",
            line.message, line.version, line.variant
        );
    }
}

fn response_header(line: &Golden) -> ResponseHeader {
    let Some(variant) = variant(&line.variant) else {
        return ResponseHeader::default();
    };
    let mut sampler = Sampler::new(variant, "ResponseHeader");
    ResponseHeader {
        correlation_id: sampler.number("CorrelationId") as i32,
    }
}

fn request_header(line: &Golden) -> RequestHeader<'static> {
    // Kafka's default client id is empty; ours is absent.
    let client_id = (line.version >= 1).then_some("".into());
    let Some(variant) = variant(&line.variant) else {
        return RequestHeader {
            client_id,
            ..RequestHeader::default()
        };
    };
    let mut sampler = Sampler::new(variant, "RequestHeader");
    RequestHeader {
        api_key: sampler.number("RequestApiKey") as i16,
        api_version: sampler.number("RequestApiVersion") as i16,
        correlation_id: sampler.number("CorrelationId") as i32,
        client_id: match line.version {
            0 => None,
            _ => sampler.nullable(|sampler| sampler.string("ClientId")),
        },
    }
}

#[test]
fn the_table_of_error_codes_is_that_of_kafka() {
    let ours = ErrorCode::ALL.iter().map(|error| {
        let kind = match (error.refreshes_metadata(), error.is_retriable()) {
            (true, _) => "refresh",
            (false, true) => "retry",
            (false, false) => "final",
        };
        format!("{} {} {kind}", error.as_i16(), error.name())
    });
    assert_eq!(ours.collect::<Vec<_>>(), lines("error_codes.txt"));
}
