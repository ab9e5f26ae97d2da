//! Hostile and slow answers to requests.

#![allow(clippy::unwrap_used, reason = "tests")]

mod fake;

use std::io::Write;
use std::time::{Duration, Instant};

use fake::{Asked, all_versions, config, server};
use kgauge_client::{Address, CallError, ClientConfig, Connection};
use kgauge_wire::api::ApiKey;
use kgauge_wire::messages::{HeartbeatRequest, HeartbeatResponse, MetadataRequest};

/// Answers ApiVersions, then every other request with what `answer` makes of it.
fn answers(mut answer: impl FnMut(&Asked) -> Vec<u8> + Send + 'static) -> Address {
    server(move |mut stream| {
        while let Some(asked) = Asked::next(&mut stream) {
            let bytes = match asked.api {
                ApiKey::ApiVersions => asked.answer(&all_versions()),
                _ => answer(&asked),
            };
            stream.write_all(&bytes).unwrap();
        }
    })
}

fn connect(address: &Address) -> Connection {
    Connection::connect(address, &config(&[address])).unwrap()
}

fn patience(address: &Address, limit: Duration) -> ClientConfig {
    ClientConfig {
        request_timeout: limit,
        ..config(&[address])
    }
}

#[test]
fn an_answer_is_decoded_in_the_version_agreed_on() {
    let address = answers(|asked| {
        assert_eq!(asked.version, 4);
        asked.answer(&HeartbeatResponse {
            throttle_time_ms: 7,
            error_code: 27,
        })
    });
    let mut connection = connect(&address);
    let reply = connection.call(&HeartbeatRequest::default()).unwrap();
    assert_eq!(reply.version(), 4);
    assert_eq!(reply.decode().unwrap().error_code, 27);
}

#[test]
fn a_late_answer_is_a_timeout_and_ends_the_connection() {
    let address = answers(|_| Vec::new());
    let config = patience(&address, Duration::from_millis(150));
    let mut connection = Connection::connect(&address, &config).unwrap();
    let start = Instant::now();
    let error = connection.call(&HeartbeatRequest::default()).unwrap_err();
    assert!(start.elapsed() >= Duration::from_millis(150));
    // The time is the one that was measured.
    let words = error.to_string();
    let expected = format!("{address} did not answer Heartbeat within ");
    assert!(
        words.starts_with(&expected) && words.ends_with("s"),
        "{words}"
    );
    assert!(error.may_have_been_done());
    assert!(connection.is_broken());
    let error = connection.call(&HeartbeatRequest::default()).unwrap_err();
    assert!(matches!(error, CallError::Closed { .. }), "{error}");
}

#[test]
fn an_answer_to_another_request_is_refused() {
    let address = answers(|asked| {
        let mut bytes = asked.answer(&HeartbeatResponse::default());
        bytes[7] ^= 0x40;
        bytes
    });
    let mut connection = connect(&address);
    let error = connection.call(&HeartbeatRequest::default()).unwrap_err();
    assert!(
        matches!(
            error,
            CallError::Correlation {
                expected: 2,
                received: 66,
                ..
            }
        ),
        "{error}"
    );
    assert!(connection.is_broken());
}

#[test]
fn an_answer_beyond_the_limit_is_not_read() {
    let address = answers(|_| vec![0, 0, 0x10, 1]);
    let mut config = config(&[&address]);
    config.response_bytes_max = 0x1000;
    let mut connection = Connection::connect(&address, &config).unwrap();
    let error = connection.call(&HeartbeatRequest::default()).unwrap_err();
    assert!(
        matches!(
            error,
            CallError::Length {
                bytes: 0x1001,
                bytes_max: 0x1000,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_long_answer_that_never_comes_costs_no_memory() {
    // It claims 100 MiB, sends two bytes of it, and closes.
    let address = server(|mut stream| {
        let asked = Asked::next(&mut stream).unwrap();
        stream.write_all(&asked.answer(&all_versions())).unwrap();
        let _ = Asked::next(&mut stream);
        stream.write_all(&[0x06, 0x40, 0, 0, 1, 2]).unwrap();
    });
    let mut connection = connect(&address);
    let error = connection.call(&HeartbeatRequest::default()).unwrap_err();
    assert!(matches!(error, CallError::Closed { .. }), "{error}");
}

#[test]
fn a_mangled_answer_is_malformed() {
    let address = answers(|asked| {
        let mut frame = vec![0, 0, 0, 8];
        frame.extend(asked.correlation_id.to_be_bytes());
        frame.extend([0xff; 4]);
        frame
    });
    let mut connection = connect(&address);
    let reply = connection.call(&MetadataRequest::default()).unwrap();
    let error = reply.decode().unwrap_err();
    assert!(
        matches!(
            error,
            CallError::Malformed {
                api: ApiKey::Metadata,
                ..
            }
        ),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .starts_with(&format!("{address} answered Metadata version 13"))
    );
}

#[test]
fn an_unsupported_version_is_reported() {
    let address = answers(|_| Vec::new());
    let mut connection = connect(&address);
    let error = connection
        .call_version(&HeartbeatRequest::default(), 9)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{address} cannot answer Heartbeat: it supports versions 0 to 4; kgauge needs 9 to 9"
        )
    );
    assert!(!error.may_have_been_done());
    assert!(!connection.is_broken());
}
