//! TLS and SASL against servers of the test's own: who is let in, who is refused, in which words;
//! and that no secret is ever repeated.

#![allow(clippy::unwrap_used, reason = "a test")]

mod fake;

use std::fmt::Write as _;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

use kgauge_client::{Address, ClientConfig, ConnectError, Connection};
use kgauge_wire::api::ApiKey;
use kgauge_wire::codec::Bytes;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::{
    SaslAuthenticateRequest, SaslAuthenticateResponse, SaslHandshakeRequest, SaslHandshakeResponse,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use fake::Asked;

const PLAIN: &str = "org.apache.kafka.common.security.plain.PlainLoginModule";
const SCRAM: &str = "org.apache.kafka.common.security.scram.ScramLoginModule";

fn store(name: &str) -> String {
    let stores = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stores");
    stores.join(name).display().to_string()
}

/// A broker that speaks PLAIN: alice's password is right.
fn serve(stream: &mut (impl std::io::Read + Write)) -> Option<()> {
    loop {
        let asked = Asked::next(stream)?;
        let answer = match asked.api {
            ApiKey::ApiVersions => asked.answer(&fake::all_versions()),
            ApiKey::SaslHandshake => {
                let handshake: SaslHandshakeRequest<'_> = asked.message();
                let known = handshake.mechanism == "PLAIN";
                asked.answer(&SaslHandshakeResponse {
                    error_code: if known { 0 } else { 33 },
                    mechanisms: vec!["PLAIN".into()],
                })
            }
            _ => {
                let token: SaslAuthenticateRequest<'_> = asked.message();
                let good = *token.auth_bytes == *b"\0alice\0right";
                let failed = ErrorCode::SaslAuthenticationFailed.as_i16();
                asked.answer(&SaslAuthenticateResponse {
                    error_code: if good { 0 } else { failed },
                    error_message: (!good).then(|| "no such luck".into()),
                    auth_bytes: Bytes::Borrowed(&[]),
                    session_lifetime_ms: 0,
                })
            }
        };
        stream.write_all(&answer).ok()?;
    }
}

fn tls_broker() -> Address {
    let chain = CertificateDer::pem_file_iter(store("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(store("server-key.pem")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain.map(Result::unwrap).collect(), key)
        .unwrap();
    let config = Arc::new(config);
    fake::server(move |tcp: TcpStream| {
        let session = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
        serve(&mut rustls::StreamOwned::new(session, tcp));
    })
}

fn sasl_broker() -> Address {
    fake::server(|mut tcp: TcpStream| {
        serve(&mut tcp);
    })
}

fn config(lines: &str) -> ClientConfig {
    let text = format!("bootstrap.servers=localhost:1\n{lines}");
    ClientConfig::from_properties_text(&text, "test").unwrap()
}

fn connect(host: &str, broker: &Address, lines: &str) -> Result<Connection, ConnectError> {
    let address = Address {
        host: host.to_owned(),
        port: broker.port,
    };
    Connection::connect(&address, &config(lines))
}

fn tls(store_name: &str) -> String {
    let path = store(store_name);
    format!("security.protocol=SSL\nssl.truststore.location={path}\n")
}

fn plain(user: &str, password: &str) -> String {
    format!(
        "sasl.mechanism=PLAIN\n\
         sasl.jaas.config={PLAIN} required username=\"{user}\" password=\"{password}\";\n"
    )
}

#[test]
fn tls_works_with_every_kind_of_trust_store_and_version() {
    let broker = tls_broker();
    for (name, more) in [
        ("ca.pem", ""),
        ("ca.pem", "ssl.enabled.protocols=TLSv1.2"),
        ("trust.p12", "ssl.truststore.password=store-pass"),
        ("trust.jks", "ssl.truststore.password=store-pass"),
    ] {
        let opened = connect("localhost", &broker, &(tls(name) + more));
        assert!(opened.is_ok(), "{name} {more}: {opened:?}");
    }
}

#[test]
fn an_unknown_authority_is_refused_with_a_message() {
    let error = connect("localhost", &tls_broker(), &tls("other-ca.pem")).unwrap_err();
    assert!(
        error.to_string().contains("CA that is not trusted"),
        "{error}"
    );
    assert!(error.fix().contains("ssl.truststore"), "{}", error.fix());
}

#[test]
fn a_wrong_host_name_is_refused_unless_the_check_is_off_which_is_noted() {
    let broker = tls_broker();
    let error = connect("127.0.0.1", &broker, &tls("ca.pem")).unwrap_err();
    assert!(
        error.to_string().ends_with("for another host: localhost"),
        "{error}"
    );
    let off = tls("ca.pem") + "ssl.endpoint.identification.algorithm=\n";
    connect("127.0.0.1", &broker, &off).unwrap();
    let notes = config(&off).notes;
    assert!(
        notes[0]
            .what
            .starts_with("broker host names are not verified"),
        "{notes:?}"
    );
    // Switching the name off leaves the CA on.
    let other = tls("other-ca.pem") + "ssl.endpoint.identification.algorithm=\n";
    connect("127.0.0.1", &broker, &other).unwrap_err();
}

#[test]
fn tls_to_a_plaintext_port_says_so() {
    let broker = fake::server(drop);
    let error = connect("localhost", &broker, &tls("ca.pem")).unwrap_err();
    assert!(error.fix().contains("not a TLS listener"), "{error}");
}

#[test]
fn a_right_password_connects_and_a_wrong_one_shows_the_brokers_message() {
    let broker = sasl_broker();
    let protocol = "security.protocol=SASL_PLAINTEXT\n";
    connect(
        "localhost",
        &broker,
        &(protocol.to_owned() + &plain("alice", "right")),
    )
    .unwrap();
    let lines = protocol.to_owned() + &plain("alice", "hunter2");
    let error = connect("localhost", &broker, &lines).unwrap_err();
    let words = error.to_string();
    assert!(words.contains("SASL_AUTHENTICATION_FAILED"), "{words}");
    assert!(words.contains("no such luck"), "{words}");
    assert!(!format!("{words}{error:?}").contains("hunter2"));
}

#[test]
fn sasl_goes_over_tls() {
    let lines = tls("ca.pem").replace("=SSL", "=SASL_SSL") + &plain("alice", "right");
    connect("localhost", &tls_broker(), &lines).unwrap();
}

#[test]
fn an_unsupported_mechanism_is_reported_with_the_supported_ones() {
    let lines = format!(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\n\
         sasl.jaas.config={SCRAM} required username=a password=b;\n"
    );
    let error = connect("localhost", &sasl_broker(), &lines).unwrap_err();
    assert!(error.to_string().ends_with("only: PLAIN"), "{error}");
}

/// Every secret of these settings carries the mark; every error, note and Debug is searched for it.
#[test]
fn no_marked_secret_is_ever_repeated() {
    const MARK: &str = "cAnArY";
    let (client, trust) = (store("client.p12"), store("trust.jks"));
    let broker = sasl_broker();
    let mut output = String::new();
    for lines in [
        format!("ssl.truststore.location={trust}\nssl.truststore.password={MARK}"),
        format!("ssl.keystore.location={client}\nssl.keystore.password={MARK}"),
        format!("ssl.keystore.key={MARK}\nssl.keystore.certificate.chain={MARK}"),
        format!("ssl.truststore.certificates={MARK}"),
        format!("ssl.cipher.suites={MARK}"),
        format!("ssl.protocol={MARK}\nssl.enabled.protocols={MARK}\nssl.keystore.type={MARK}"),
        format!("ssl.key.password={MARK}\nssl.keystore.key=a"),
        format!("sasl.mechanism={MARK}"),
        format!("sasl.mechanism=PLAIN\nsasl.jaas.config={MARK}"),
        format!("sasl.mechanism=PLAIN\nsasl.jaas.config={PLAIN} required password=\"{MARK}"),
        format!("sasl.mechanism=SCRAM-SHA-256\nsasl.jaas.config={PLAIN} required x={MARK};"),
        format!("sasl.mechanism=OAUTHBEARER\nkgauge.oauthbearer.token.command=echo {MARK}"),
        format!("sasl.mechanism=OAUTHBEARER\nsasl.oauthbearer.token.endpoint.url=https://{MARK}"),
        plain(MARK, MARK),
    ] {
        for protocol in ["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] {
            let text = format!("bootstrap.servers={broker}\nsecurity.protocol={protocol}\n{lines}");
            match ClientConfig::from_properties_text(&text, "test") {
                Err(error) => write!(output, "{error} {error:?}").unwrap(),
                Ok(config) => {
                    write!(output, "{config:?}").unwrap();
                    if protocol == "SASL_PLAINTEXT" {
                        let error = Connection::connect(&broker, &config).unwrap_err();
                        write!(output, "{error} {error:?} {}", error.fix()).unwrap();
                    }
                }
            }
        }
    }
    assert!(output.len() > 10_000, "the settings provoke much text");
    assert!(!output.contains(MARK), "{output}");
}
