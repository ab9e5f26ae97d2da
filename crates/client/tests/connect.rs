//! What users read when they give a host or port that is not what they think.

#![allow(clippy::unwrap_used, reason = "tests")]

mod fake;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use fake::{Asked, all_versions, closed_port, config, read_request, server};
use kgauge_client::connection::Foreign;
use kgauge_client::{Address, ConnectError, Connection, Interrupt};
use kgauge_wire::api::ApiKey;
use kgauge_wire::frame::put_response;
use kgauge_wire::messages::ApiVersionsResponse;
use kgauge_wire::messages::api_versions::ApiVersion;

fn fails(address: &Address) -> ConnectError {
    Connection::connect(address, &config(&[address])).unwrap_err()
}

/// A server that reads the first request, if it wants to, and sends these bytes.
fn says(bytes: &'static [u8]) -> Address {
    server(move |mut stream| {
        let _ = stream.write_all(bytes);
        let _ = read_request(&mut stream);
    })
}

/// The same, but it keeps the connection open until the client goes.
fn says_and_waits(bytes: &'static [u8]) -> Address {
    server(move |mut stream| {
        let _ = stream.write_all(bytes);
        let _ = stream.read_to_end(&mut Vec::new());
    })
}

#[test]
fn a_port_that_speaks_something_else_is_named() {
    for (bytes, foreign) in [
        (
            &b"HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n"[..],
            Foreign::Http,
        ),
        (b"\x15\x03\x03\x00\x02\x02\x0a", Foreign::Tls),
        (b"SSH-2.0-OpenSSH_9.2p1\r\n", Foreign::Ssh),
        (b"220 mail.example.org ESMTP\r\n", Foreign::MailOrFtp),
        (b"-ERR unknown command\r\n", Foreign::Redis),
        (b"\xff\xff\xff\xff\x01\x02\x03\x04", Foreign::Bytes),
        (b"\x7f\xff\xff\xff\x01\x02\x03\x04", Foreign::Bytes),
        (b"\0\0\0\0", Foreign::Bytes),
        (b"\0\0\0\x03abc", Foreign::Bytes),
        (b"\0\0\0\x04\0\0\0\x63", Foreign::Bytes),
        (b"\0\0\0\x0aabcdefghij", Foreign::Bytes),
        (b"\0\0\0\x0aabc", Foreign::Bytes),
    ] {
        match fails(&says(bytes)) {
            ConnectError::Foreign { foreign: found, .. } => assert_eq!(found, foreign),
            other => panic!("{}: {other}", bytes.escape_ascii()),
        }
    }
}

#[test]
fn the_words_for_http_show_what_it_sent() {
    let address = says(b"HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n");
    let error = fails(&address);
    assert_eq!(
        error.to_string(),
        format!(
            "{address}: this port answered, but not in Kafka's protocol: it looks like HTTP (it \
             sent \"HTTP/1.1 400 Bad Request\")"
        )
    );
    assert!(error.fix().contains("port of a Kafka listener"));
}

#[test]
fn a_few_bytes_and_then_silence_are_no_kafka_either() {
    let address = says_and_waits(b"hi");
    let mut config = config(&[&address]);
    config.connection_setup_timeout = Duration::from_millis(200);
    let error = Connection::connect(&address, &config).unwrap_err();
    assert!(matches!(error, ConnectError::Foreign { .. }), "{error}");
}

#[test]
fn silence_is_reported_after_the_time_limit() {
    let address = says_and_waits(b"");
    let mut config = config(&[&address]);
    config.connection_setup_timeout = Duration::from_millis(200);
    let error = Connection::connect(&address, &config).unwrap_err();
    let words = error.to_string();
    let expected = format!("{address}: this port accepted the connection but sent nothing within ");
    assert!(words.starts_with(&expected), "{words}");
}

#[test]
fn a_closed_connection_is_reported() {
    let address = server(|mut stream| {
        let _ = read_request(&mut stream);
    });
    assert!(matches!(fails(&address), ConnectError::Closed { .. }));
}

#[test]
fn a_port_that_answers_only_its_own_protocol_is_found_out() {
    // Like many TLS servers: closes without a word unless it is greeted properly.
    let tls = server(|mut stream| {
        let mut start = [0; 6];
        stream.read_exact(&mut start).unwrap();
        if start[..3] == [0x16, 3, 1] && start[5] == 1 {
            stream.write_all(b"\x15\x03\x03\x00\x02\x02\x28").unwrap();
            let _ = stream.read_to_end(&mut Vec::new());
        }
    });
    let error = fails(&tls);
    assert!(
        matches!(
            error,
            ConnectError::Foreign {
                foreign: Foreign::Tls,
                ..
            }
        ),
        "{error}"
    );
    assert!(error.fix().starts_with("set security.protocol to SSL"));

    // Like many web servers: waits for the end of the line.
    let http = server(|mut stream| {
        let mut line = Vec::new();
        let mut byte = [0];
        while !line.ends_with(b"\n") && matches!(stream.read(&mut byte), Ok(1)) {
            line.push(byte[0]);
        }
        if line == b"GET / HTTP/1.0\r\n" {
            stream.write_all(b"HTTP/1.0 200 OK\r\n").unwrap();
        }
    });
    let mut config = config(&[&http]);
    config.connection_setup_timeout = Duration::from_millis(200);
    let error = Connection::connect(&http, &config).unwrap_err();
    assert!(
        matches!(
            error,
            ConnectError::Foreign {
                foreign: Foreign::Http,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_closed_port_is_refused() {
    let address = closed_port();
    let error = fails(&address);
    assert_eq!(error.to_string(), format!("{address}: connection refused"));
    assert_eq!(
        error.fix(),
        "start the broker, or correct the host and port"
    );
}

#[test]
fn an_unknown_host_is_reported_by_name() {
    // RFC 6761 keeps .invalid out of every resolver.
    let error = fails(&Address::parse("no-such-host.invalid:9092").unwrap());
    assert!(
        error
            .to_string()
            .starts_with("no-such-host.invalid:9092: unknown host ("),
        "{error}"
    );
}

#[test]
fn an_interrupt_ends_the_wait_for_a_silent_port() {
    let address = says_and_waits(b"");
    let interrupt = Interrupt::new();
    interrupt.raise();
    let start = Instant::now();
    let limit = Duration::from_secs(60);
    let config = config(&[&address]);
    let error = Connection::connect_within(&address, &config, limit, &interrupt).unwrap_err();
    assert!(matches!(error, ConnectError::Interrupted { .. }), "{error}");
    assert!(start.elapsed() < Duration::from_secs(30));
}

fn refuse(stream: &mut TcpStream, asked: &Asked, known: &[(i16, i16, i16)]) {
    let range = |&(api_key, min_version, max_version): &(i16, i16, i16)| ApiVersion {
        api_key,
        min_version,
        max_version,
    };
    let api_keys = known.iter().map(range).collect();
    let answer = ApiVersionsResponse {
        error_code: 35,
        api_keys,
        ..Default::default()
    };
    let mut out = Vec::new();
    put_response(
        &mut out,
        ApiKey::ApiVersions,
        0,
        asked.correlation_id,
        &answer,
    )
    .unwrap();
    stream.write_all(&out).unwrap();
}

/// A broker whose newest ApiVersions is `newest`, and which says so or not.
fn old_broker(newest: i16, known: &'static [(i16, i16, i16)]) -> Address {
    server(move |mut stream| {
        while let Some(asked) = Asked::next(&mut stream) {
            if asked.version > newest {
                refuse(&mut stream, &asked, known);
            } else {
                assert_eq!(asked.version, newest, "the best that both know");
                stream.write_all(&asked.answer(&all_versions())).unwrap();
            }
        }
    })
}

#[test]
fn older_brokers_are_asked_in_their_own_version() {
    for address in [
        old_broker(0, &[]),
        old_broker(3, &[(18, 0, 3)]),
        old_broker(2, &[(0, 0, 8), (18, 0, 2)]),
    ] {
        let connection = Connection::connect(&address, &config(&[&address])).unwrap();
        assert_eq!(
            connection.api_versions().range(ApiKey::Fetch),
            Some((0, 18))
        );
    }
}

#[test]
fn a_broker_that_refuses_for_ever_is_given_up() {
    let address = server(|mut stream| {
        while let Some(asked) = Asked::next(&mut stream) {
            // It claims to know what it refuses.
            refuse(&mut stream, &asked, &[(18, 0, asked.version)]);
        }
    });
    let error = fails(&address);
    assert!(matches!(error, ConnectError::Rejected { .. }), "{error}");
}

#[test]
fn a_broken_api_versions_answer_is_an_error() {
    let address = server(|mut stream| {
        while let Some(asked) = Asked::next(&mut stream) {
            let mut frame = vec![0, 0, 0, 11];
            frame.extend(asked.correlation_id.to_be_bytes());
            // No error, and then an array that claims 4,294,967,294 elements.
            frame.extend([0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f]);
            stream.write_all(&frame).unwrap();
        }
    });
    let error = fails(&address);
    assert!(matches!(error, ConnectError::Malformed { .. }), "{error}");
}

#[test]
fn the_socket_of_a_connection_blocks_without_a_timeout() {
    let address = fake::broker(|_| None);
    let connection = Connection::connect(&address, &config(&[&address])).unwrap();
    let channel = connection.into_channel().unwrap();
    assert_eq!(channel.tcp.read_timeout().unwrap(), None);
    assert!(channel.tcp.nodelay().unwrap());
}
