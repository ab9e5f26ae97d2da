//! Letting clients in: what is served before, in which order, in whose words, and how long it may
//! take.

use std::num::NonZeroU32;
use std::sync::Arc;

use kgauge_wire::codec::{Bytes, Str};
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::frame::put_request;
use kgauge_wire::messages::Request;
use kgauge_wire::messages::alter_user_scram_credentials::{
    AlterUserScramCredentialsRequest, ScramCredentialDeletion, ScramCredentialUpsertion,
};
use kgauge_wire::messages::api_versions::ApiVersionsRequest;
use kgauge_wire::messages::describe_user_scram_credentials::{
    DescribeUserScramCredentialsRequest, UserName,
};
use kgauge_wire::messages::metadata::MetadataRequest;
use kgauge_wire::messages::sasl_authenticate::{SaslAuthenticateRequest, SaslAuthenticateResponse};
use kgauge_wire::messages::sasl_handshake::{SaslHandshakeRequest, SaslHandshakeResponse};
use ring::pbkdf2;

use super::Bench;
use crate::ids::ConnectionId;
use crate::node::CloseReason;
use crate::random::SmallRandom;
use crate::security::{
    ClusterSecurity, NodeSecurity, Sasl, SaslMechanism, SecurityProtocol, ServerTls, Sevens,
};

/// A node with PLAIN, by which `admin` comes in, and SCRAM-SHA-256.
fn bench(protocol: SecurityProtocol) -> Bench {
    let mechanisms = [SaslMechanism::Plain, SaslMechanism::SCRAM_SHA_256];
    let security = ClusterSecurity {
        protocol,
        tls: protocol.has_tls().then(|| ServerTls::new("", "")),
        sasl: Some(Sasl::new(mechanisms).with_user("admin", "secret")),
    };
    let mut bench = Bench::new();
    bench.node.config.security = Arc::new(NodeSecurity::new(&security, Arc::new(Sevens)));
    bench
}

fn handshake(
    bench: &mut Bench,
    on: ConnectionId,
    mechanism: &str,
) -> SaslHandshakeResponse<'static> {
    let mechanism = Str::Owned(mechanism.to_owned());
    bench.send(on, &SaslHandshakeRequest { mechanism });
    bench.answer::<SaslHandshakeRequest<'static>>(on).unwrap()
}

fn prove(bench: &mut Bench, on: ConnectionId, token: &[u8]) -> SaslAuthenticateResponse<'static> {
    let auth_bytes = Bytes::Owned(token.to_vec());
    bench.send(on, &SaslAuthenticateRequest { auth_bytes });
    bench
        .answer::<SaslAuthenticateRequest<'static>>(on)
        .unwrap()
}

fn log_in(bench: &mut Bench) -> ConnectionId {
    let connection = bench.connect();
    assert_eq!(handshake(bench, connection, "PLAIN").error_code, 0);
    let answer = prove(bench, connection, b"\0admin\0secret");
    assert_eq!((answer.error_code, answer.session_lifetime_ms), (0, 0));
    connection
}

fn is_closed(bench: &Bench, connection: ConnectionId, reason: &CloseReason) -> bool {
    bench.closed.contains(&(connection, reason.clone()))
}

#[test]
fn before_a_client_is_let_in_only_versions_are_answered() {
    let mut bench = bench(SecurityProtocol::SaslPlaintext);
    let connection = bench.connect();
    bench.send(connection, &ApiVersionsRequest::default());
    let versions = bench.answer::<ApiVersionsRequest<'static>>(connection);
    assert_eq!(versions.unwrap().error_code, 0);
    bench.send(connection, &MetadataRequest::default());
    assert!(is_closed(
        &bench,
        connection,
        &CloseReason::NotAuthenticated
    ));
    let connection = log_in(&mut bench);
    assert_eq!(bench.node.principal(connection), Some("User:admin"));
    bench.assert_serves(connection);
}

#[test]
fn a_mechanism_that_is_not_enabled_is_refused_with_those_that_are() {
    let mut bench = bench(SecurityProtocol::SaslPlaintext);
    for asked in ["SCRAM-SHA-512", "GSSAPI", "", "plain"] {
        let connection = bench.connect();
        let answer = handshake(&mut bench, connection, asked);
        let code = ErrorCode::from_i16(answer.error_code);
        assert_eq!(code, ErrorCode::UnsupportedSaslMechanism);
        assert_eq!(answer.mechanisms, ["PLAIN", "SCRAM-SHA-256"]);
        assert!(is_closed(
            &bench,
            connection,
            &CloseReason::AuthenticationFailed
        ));
    }
}

#[test]
fn a_wrong_password_is_answered_and_then_the_connection_closes() {
    let mut bench = bench(SecurityProtocol::SaslPlaintext);
    for (mechanism, token, words) in [
        (
            "PLAIN",
            &b"\0admin\0wrong"[..],
            "Authentication failed: Invalid username or password",
        ),
        (
            "SCRAM-SHA-256",
            b"n,,n=admin,r=abc",
            "Authentication failed during authentication due to invalid credentials with SASL \
             mechanism SCRAM-SHA-256",
        ),
    ] {
        let connection = bench.connect();
        handshake(&mut bench, connection, mechanism);
        let answer = prove(&mut bench, connection, token);
        let code = ErrorCode::from_i16(answer.error_code);
        assert_eq!(code, ErrorCode::SaslAuthenticationFailed);
        assert_eq!(answer.error_message.as_deref(), Some(words));
        assert!(is_closed(
            &bench,
            connection,
            &CloseReason::AuthenticationFailed
        ));
        assert_eq!(bench.node.principal(connection), None);
    }
}

#[test]
fn requests_in_the_wrong_order_close_the_connection() {
    let mut bench = bench(SecurityProtocol::SaslPlaintext);
    let connection = bench.connect();
    bench.send(connection, &SaslAuthenticateRequest::default());
    assert!(is_closed(
        &bench,
        connection,
        &CloseReason::NotAuthenticated
    ));
    for after_handshake in [false, true] {
        let connection = bench.connect();
        handshake(&mut bench, connection, "PLAIN");
        if after_handshake {
            bench.send(connection, &SaslHandshakeRequest::default());
        } else {
            bench.send(connection, &ApiVersionsRequest::default());
        }
        assert!(is_closed(
            &bench,
            connection,
            &CloseReason::NotAuthenticated
        ));
    }
}

#[test]
fn sasl_where_there_is_none_to_do_is_an_illegal_state() {
    for mut bench in [Bench::new(), bench(SecurityProtocol::SaslPlaintext)] {
        let connection = match bench.node.config.security.protocol {
            SecurityProtocol::Plaintext => bench.connect(),
            _ => log_in(&mut bench),
        };
        let answer = handshake(&mut bench, connection, "PLAIN");
        let illegal = ErrorCode::IllegalSaslState;
        assert_eq!(ErrorCode::from_i16(answer.error_code), illegal);
        let answer = prove(&mut bench, connection, b"\0admin\0secret");
        assert_eq!(ErrorCode::from_i16(answer.error_code), illegal);
        assert!(bench.closed.is_empty());
    }
}

#[test]
fn after_the_old_handshake_messages_come_bare() {
    let mut bench = bench(SecurityProtocol::SaslPlaintext);
    let begin = |bench: &mut Bench| {
        let connection = bench.connect();
        let request = SaslHandshakeRequest {
            mechanism: "PLAIN".into(),
        };
        bench.send_version(connection, 0, &request);
        let answer = bench.answer_version::<SaslHandshakeRequest<'static>>(connection, 0);
        assert_eq!(answer.unwrap().error_code, 0);
        connection
    };
    let connection = begin(&mut bench);
    bench.send_bytes(connection, &mut b"\0admin\0secret".to_vec());
    assert!(bench.node.is_let_in(connection));
    assert_eq!(bench.take_bytes(connection), Some(vec![0, 0, 0, 0]));
    let connection = begin(&mut bench);
    bench.send_bytes(connection, &mut b"\0admin\0wrong".to_vec());
    assert!(is_closed(
        &bench,
        connection,
        &CloseReason::AuthenticationFailed
    ));
    assert_eq!(bench.take_bytes(connection), None);
}

#[test]
fn a_client_that_is_not_let_in_for_ten_seconds_has_to_go() {
    for protocol in [
        SecurityProtocol::SaslPlaintext,
        SecurityProtocol::Ssl,
        SecurityProtocol::SaslSsl,
    ] {
        let mut bench = bench(protocol);
        let slow = bench.connect();
        let good = bench.connect();
        bench.node.secured(good, None);
        if protocol.has_sasl() {
            handshake(&mut bench, good, "PLAIN");
            prove(&mut bench, good, b"\0admin\0secret");
        }
        bench.pass_ms(9_999);
        assert!(bench.closed.is_empty());
        bench.pass_ms(1);
        let late = CloseReason::AuthenticationTimeout;
        assert_eq!(bench.closed, [(slow, late)]);
        assert!(bench.node.is_let_in(good));
    }
}

#[test]
fn a_certificate_names_a_client_unless_sasl_does() {
    let mut bench = bench(SecurityProtocol::Ssl);
    let shown = bench.connect();
    bench.send(shown, &ApiVersionsRequest::default());
    assert!(is_closed(&bench, shown, &CloseReason::NotAuthenticated));
    let shown = bench.connect();
    bench.node.secured(shown, Some("CN=alice,O=x"));
    assert_eq!(bench.node.principal(shown), Some("User:CN=alice,O=x"));
    let bare = bench.connect();
    bench.node.secured(bare, None);
    assert_eq!(bench.node.principal(bare), Some("User:ANONYMOUS"));
    let mut bench = self::bench(SecurityProtocol::SaslSsl);
    let both = bench.connect();
    bench.node.secured(both, Some("CN=alice"));
    assert!(!bench.node.is_let_in(both));
    handshake(&mut bench, both, "PLAIN");
    prove(&mut bench, both, b"\0admin\0secret");
    assert_eq!(bench.node.principal(both), Some("User:admin"));
}

#[test]
fn requests_of_strangers_are_small() {
    let mut bench = bench(SecurityProtocol::SaslPlaintext);
    let connection = bench.connect();
    assert_eq!(bench.node.frame_bytes_max(connection), 524_288);
    let connection = log_in(&mut bench);
    assert_eq!(bench.node.frame_bytes_max(connection), 104_857_600);
}

fn upsertion(
    user: &'static str,
    mechanism: i8,
    iterations: i32,
) -> ScramCredentialUpsertion<'static> {
    let mut salted = vec![0; 32];
    let rounds = NonZeroU32::new(iterations.unsigned_abs().max(1)).unwrap();
    pbkdf2::derive(
        pbkdf2::PBKDF2_HMAC_SHA256,
        rounds,
        b"salt",
        b"pencil",
        &mut salted,
    );
    ScramCredentialUpsertion {
        name: Str::Borrowed(user),
        mechanism,
        iterations,
        salt: Bytes::Borrowed(b"salt"),
        salted_password: Bytes::Owned(salted),
    }
}

/// The codes of an answer by user.
fn alter(
    bench: &mut Bench,
    deletions: &[(&'static str, i8)],
    upsertions: Vec<ScramCredentialUpsertion<'static>>,
) -> Vec<(String, ErrorCode)> {
    let deletion = |(user, mechanism): &(&'static str, i8)| ScramCredentialDeletion {
        name: Str::Borrowed(user),
        mechanism: *mechanism,
    };
    let request = AlterUserScramCredentialsRequest {
        deletions: deletions.iter().map(deletion).collect(),
        upsertions,
    };
    let connection = log_in(bench);
    bench.send(connection, &request);
    let answer = bench.answer::<AlterUserScramCredentialsRequest<'static>>(connection);
    let results = answer.unwrap().results.into_iter();
    results
        .map(|result| {
            (
                result.user.to_string(),
                ErrorCode::from_i16(result.error_code),
            )
        })
        .collect()
}

#[test]
fn a_user_who_was_made_comes_in_and_one_who_was_removed_does_not() {
    let mut bench = bench(SecurityProtocol::SaslPlaintext);
    let made = alter(&mut bench, &[], vec![upsertion("alice", 1, 4096)]);
    assert_eq!(made, [("alice".to_owned(), ErrorCode::None)]);
    // Both messages were computed by Python's hashlib and hmac.
    const LAST: &[u8] = b"c=biws,r=abcBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH,\
                          p=qMqxZ5jWsgwTkF9G1b5dxRHQ3kps2tCV01SbaZzOhFk=";
    let connection = bench.connect();
    handshake(&mut bench, connection, "SCRAM-SHA-256");
    let answer = prove(&mut bench, connection, b"n,,n=alice,r=abc");
    let first = b"r=abcBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH,s=c2FsdA==,i=4096";
    assert_eq!(&*answer.auth_bytes, first);
    assert!(!bench.node.is_let_in(connection));
    let answer = prove(&mut bench, connection, LAST);
    let proof = b"v=1cocZ95ksPDwRDLmuvYFV0O/XRu2zwt+Kpe3c2EEx+g=";
    assert_eq!(&*answer.auth_bytes, proof);
    assert_eq!(bench.node.principal(connection), Some("User:alice"));
    let gone = alter(&mut bench, &[("alice", 1)], Vec::new());
    assert_eq!(gone, [("alice".to_owned(), ErrorCode::None)]);
    let connection = bench.connect();
    handshake(&mut bench, connection, "SCRAM-SHA-256");
    assert_ne!(
        prove(&mut bench, connection, b"n,,n=alice,r=abc").error_code,
        0
    );
}

#[test]
fn changes_of_users_that_cannot_be_made_are_refused_one_by_one() {
    let mut bench = bench(SecurityProtocol::SaslPlaintext);
    let changes = vec![
        upsertion("few", 1, 4095),
        upsertion("many", 1, 16_385),
        upsertion("twice", 1, 4096),
        upsertion("twice", 2, 4096),
        upsertion("good", 1, 16_384),
        upsertion("unknown", 3, 4096),
        upsertion("", 1, 4096),
        upsertion("gone", 1, 4096),
    ];
    let results = alter(
        &mut bench,
        &[("gone", 1), ("nobody", 2), ("nobody", 9)],
        changes,
    );
    let expected = [
        // What was refused first stays so refused.
        ("gone", ErrorCode::ResourceNotFound),
        ("nobody", ErrorCode::ResourceNotFound),
        ("few", ErrorCode::UnacceptableCredential),
        ("many", ErrorCode::UnacceptableCredential),
        ("twice", ErrorCode::DuplicateResource),
        ("good", ErrorCode::None),
        ("unknown", ErrorCode::UnsupportedSaslMechanism),
        ("", ErrorCode::UnacceptableCredential),
    ];
    assert_eq!(
        results,
        expected.map(|(user, code)| (user.to_owned(), code))
    );
}

#[test]
fn users_are_described_without_what_is_secret() {
    let mut bench = bench(SecurityProtocol::SaslPlaintext);
    alter(
        &mut bench,
        &[],
        vec![upsertion("a", 1, 4096), upsertion("b", 2, 8192)],
    );
    alter(&mut bench, &[], vec![upsertion("a", 2, 5000)]);
    let mut describe = |users: Option<Vec<&'static str>>| {
        let name = |name| UserName {
            name: Str::Borrowed(name),
        };
        let users = users.map(|users| users.into_iter().map(name).collect());
        let connection = log_in(&mut bench);
        bench.send(connection, &DescribeUserScramCredentialsRequest { users });
        let answer = bench.answer::<DescribeUserScramCredentialsRequest<'static>>(connection);
        let results = answer.unwrap().results.into_iter();
        results
            .map(|result| {
                let infos = result.credential_infos.iter();
                let infos: Vec<_> = infos
                    .map(|info| (info.mechanism, info.iterations))
                    .collect();
                (
                    result.user.to_string(),
                    ErrorCode::from_i16(result.error_code),
                    infos,
                )
            })
            .collect::<Vec<_>>()
    };
    let a = ("a".to_owned(), ErrorCode::None, vec![(1, 4096), (2, 5000)]);
    let b = ("b".to_owned(), ErrorCode::None, vec![(2, 8192)]);
    assert_eq!(describe(None), [a.clone(), b.clone()]);
    assert_eq!(describe(Some(Vec::new())), [a.clone(), b]);
    let twice = ("b".to_owned(), ErrorCode::DuplicateResource, Vec::new());
    let nobody = ("c".to_owned(), ErrorCode::ResourceNotFound, Vec::new());
    assert_eq!(describe(Some(vec!["a", "b", "b", "c"])), [a, twice, nobody]);
}

#[test]
fn credentials_survive_a_restart() {
    let mut bench = bench(SecurityProtocol::SaslPlaintext);
    alter(&mut bench, &[], vec![upsertion("alice", 1, 4096)]);
    let security = Arc::clone(&bench.node.config.security);
    let mut bench = bench.restarted();
    bench.node.config.security = security;
    let connection = bench.connect();
    handshake(&mut bench, connection, "SCRAM-SHA-256");
    let answer = prove(&mut bench, connection, b"n,,n=alice,r=abc");
    assert_eq!(answer.error_code, 0);
}

/// A request as it goes to a node.
fn frame<'a, R: Request<'a>>(request: &R) -> Vec<u8> {
    let version = *crate::handlers::served_versions(R::KEY).unwrap().end();
    let mut frame = Vec::new();
    put_request(&mut frame, version, 7, Some("bench"), request).unwrap();
    frame.split_off(4)
}

#[test]
fn requests_cut_or_changed_at_any_byte_let_nobody_in_who_has_no_password() {
    let mut bench = bench(SecurityProtocol::SaslPlaintext);
    let mechanism = Str::Borrowed("PLAIN");
    let hello = frame(&SaslHandshakeRequest { mechanism });
    let auth_bytes = Bytes::Borrowed(b"\0admin\0wrong!");
    let proof = frame(&SaslAuthenticateRequest { auth_bytes });
    let mut random = SmallRandom::new(17);
    let mut refused = 0;
    for sample in [&hello, &proof] {
        for place in 0..sample.len() {
            let mut changed = vec![sample[..place].to_vec()];
            for _ in 0..20 {
                let mut other = sample.clone();
                other[place] = random.next_u64() as u8;
                changed.push(other);
            }
            for mut request in changed {
                let connection = bench.connect();
                if sample == &proof {
                    bench.send_bytes(connection, &mut hello.clone());
                }
                bench.send_bytes(connection, &mut request);
                bench.send_bytes(connection, &mut proof.clone());
                assert!(!bench.node.is_let_in(connection), "{request:?}");
                refused += 1;
                bench.forget(connection);
            }
        }
    }
    assert!(refused > 1_000, "{refused}");
    log_in(&mut bench);
}
