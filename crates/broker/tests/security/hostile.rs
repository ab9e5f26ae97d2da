//! Peers that break the rules: nothing they do disturbs the others.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use kgauge_broker::security::ClientAuth;
use kgauge_wire::codec::Bytes;
use kgauge_wire::messages::{
    ApiVersionsRequest, MetadataRequest, SaslAuthenticateRequest, SaslHandshakeRequest,
};

use crate::certificates::Age;
use crate::harness::{Client, batch, produce_request};
use crate::secured::{PASSWORD, Secured, USER, showing};
use crate::tls_client::session;

/// Reads until the other side closes; how many bytes came.
fn read_to_close(stream: &mut TcpStream) -> usize {
    let mut rest = Vec::new();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    match stream.read_to_end(&mut rest) {
        Ok(_) => rest.len(),
        Err(error) => {
            assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "not closed");
            rest.len()
        }
    }
}

fn log_in(address: SocketAddr) -> Client {
    let mut client = Client::connect(address);
    let mechanism = "PLAIN".into();
    assert_eq!(
        client
            .ask(1, &SaslHandshakeRequest { mechanism })
            .error_code,
        0
    );
    let token = format!("\0{USER}\0{PASSWORD}").into_bytes();
    let auth_bytes = Bytes::Owned(token);
    assert_eq!(
        client
            .ask(2, &SaslAuthenticateRequest { auth_bytes })
            .error_code,
        0
    );
    client
}

#[test]
fn plaintext_and_garbage_on_a_tls_listener_are_answered_by_an_alert_and_an_end() {
    let secured = Secured::ssl(ClientAuth::None);
    let address = secured.handle.addresses()[0];
    let hello_without_end = [22, 3, 1, 0x40, 0, 1, 0, 0x3f, 0xfc];
    let first: [&[u8]; 4] = [
        &[0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0xff, 0xff],
        b"GET / HTTP/1.1\r\n\r\n",
        &[0xff; 70_000],
        &hello_without_end,
    ];
    for bytes in first {
        let mut stream = TcpStream::connect(address).unwrap();
        // It may close while we still write.
        let _ = stream.write_all(bytes);
        if bytes.len() == hello_without_end.len() {
            // So far it breaks no rule; what follows does.
            let _ = stream.write_all(&[0xff; 0x4000]);
        }
        assert!(read_to_close(&mut stream) <= 64);
    }
    secured.connect(&secured.trusting()).unwrap();
}

#[test]
fn a_client_that_never_finishes_its_handshake_is_closed_in_time() {
    let secured = Secured::ssl(ClientAuth::None);
    let start = Instant::now();
    let mut stream = TcpStream::connect(secured.handle.addresses()[0]).unwrap();
    stream.write_all(&[22, 3, 1, 0, 200, 1]).unwrap();
    read_to_close(&mut stream);
    let waited = start.elapsed();
    // No more than the ten seconds and what a busy machine takes.
    let expected = Duration::from_millis(9_900)..Duration::from_secs(60);
    assert!(expected.contains(&waited), "{waited:?}");
}

#[test]
fn half_open_connections_by_the_hundred_hinder_nobody() {
    let secured = Secured::ssl(ClientAuth::None);
    let address = secured.handle.addresses()[0];
    let open: Vec<TcpStream> = (0..300)
        .map(|number| {
            let mut stream = TcpStream::connect(address).unwrap();
            stream
                .write_all(&[22, 3, 1, 0, 200, 1][..number % 7])
                .unwrap();
            stream
        })
        .collect();
    secured.connect(&secured.trusting()).unwrap();
    drop(open);
}

#[test]
fn a_refusal_is_heard_although_more_requests_follow_it() {
    let secured = Secured::sasl_plaintext();
    for _ in 0..20 {
        let mut client = Client::connect(secured.handle.addresses()[0]);
        client.send(
            1,
            &SaslHandshakeRequest {
                mechanism: "PLAIN".into(),
            },
        );
        let auth_bytes = Bytes::Borrowed(b"\0alice\0wrong");
        client.send(2, &SaslAuthenticateRequest { auth_bytes });
        for _ in 0..100 {
            client.send(12, &MetadataRequest::default());
        }
        assert_eq!(
            client
                .receive::<SaslHandshakeRequest<'static>>(1)
                .error_code,
            0
        );
        let answer = client.receive::<SaslAuthenticateRequest<'static>>(2);
        assert_eq!(answer.error_code, 58);
        assert!(client.is_closed());
    }
}

#[test]
fn a_stranger_cannot_make_the_node_take_large_requests() {
    let secured = Secured::sasl_plaintext();
    let address = secured.handle.addresses()[0];
    let mut client = Client::connect(address);
    // One byte more than `sasl.server.max.receive.size`.
    client.stream.write_all(&524_289_i32.to_be_bytes()).unwrap();
    assert!(client.is_closed());
    // Who is let in may, also when the large request comes in one go with the last token.
    let mut client = log_in(address);
    client.create_topic("t", 1);
    assert_eq!(client.produce("t", 0, batch(900, 1_000)), 0);
    let mut client = Client::connect(address);
    client.send(
        1,
        &SaslHandshakeRequest {
            mechanism: "PLAIN".into(),
        },
    );
    let token = format!("\0{USER}\0{PASSWORD}").into_bytes();
    client.send(
        2,
        &SaslAuthenticateRequest {
            auth_bytes: Bytes::Owned(token),
        },
    );
    client.send(12, &produce_request("t", 0, 1, batch(900, 1_000)));
    client.receive::<SaslHandshakeRequest<'static>>(1);
    client.receive::<SaslAuthenticateRequest<'static>>(2);
    let answer = client.receive::<kgauge_wire::messages::ProduceRequest<'static>>(12);
    assert_eq!(answer.responses[0].partition_responses[0].base_offset, 900);
}

#[test]
fn the_old_handshake_with_bare_tokens_is_served() {
    let secured = Secured::sasl_plaintext();
    let mut client = Client::connect(secured.handle.addresses()[0]);
    let mechanism = "PLAIN".into();
    assert_eq!(
        client
            .ask(0, &SaslHandshakeRequest { mechanism })
            .error_code,
        0
    );
    let token = format!("\0{USER}\0{PASSWORD}").into_bytes();
    let size = i32::try_from(token.len()).unwrap();
    client.stream.write_all(&size.to_be_bytes()).unwrap();
    client.stream.write_all(&token).unwrap();
    let mut answer = [1; 4];
    client.stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer, [0; 4]);
    assert!(
        !client
            .ask(12, &MetadataRequest::default())
            .brokers
            .is_empty()
    );
}

#[test]
fn before_login_only_versions_are_answered() {
    let secured = Secured::sasl_plaintext();
    let mut client = Client::connect(secured.handle.addresses()[0]);
    let versions = client.ask(3, &ApiVersionsRequest::default());
    assert!(
        versions
            .api_keys
            .iter()
            .any(|api| api.api_key == 17 && api.max_version == 1)
    );
    client.send(12, &MetadataRequest::default());
    assert!(client.is_closed());
}

#[test]
fn a_first_message_of_tls_that_is_cut_or_changed_at_any_byte_harms_nobody() {
    let secured = Secured::ssl(ClientAuth::Required);
    let address = secured.handle.addresses()[0];
    let mut hello = Vec::new();
    let mut session = session(&secured.authority, &rustls::version::TLS13);
    session.write_tls(&mut hello).unwrap();
    for place in 0..hello.len() {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(&hello[..place]).unwrap();
        let mut changed = hello.clone();
        changed[place] ^= 0x55;
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(&changed).unwrap();
        // Some changes are harmless, and the node answers; nobody goes on here.
        let _ = stream.shutdown(std::net::Shutdown::Write);
        read_to_close(&mut stream);
    }
    let identity = secured.authority.client("alice", Age::Valid);
    secured
        .connect(&(secured.trusting() + &showing(&identity)))
        .unwrap();
}
