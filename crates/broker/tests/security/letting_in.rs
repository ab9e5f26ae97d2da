//! Who comes in and who does not, with every protocol and mechanism.

use kgauge_broker::security::{ClientAuth, ClusterSecurity, SaslMechanism, ServerTls};
use kgauge_broker::{ClusterConfig, EmbeddedCluster, StartError};
use kgauge_client::Connection;
use kgauge_wire::messages::MetadataRequest;

use crate::certificates::{Age, Authority};
use crate::secured::{MECHANISMS, PASSWORD, Secured, USER, logging_in, sasl, server_tls, showing};

fn is_served(connection: &mut Connection) -> bool {
    let reply = connection.call(&MetadataRequest::default()).unwrap();
    !reply.decode().unwrap().brokers.is_empty()
}

fn protocol(name: &str) -> String {
    format!("security.protocol={name}\n")
}

#[test]
fn every_mechanism_lets_the_right_password_in_and_no_other() {
    let secured = Secured::sasl_plaintext();
    for mechanism in MECHANISMS {
        let lines = |user: &str, password: &str| {
            protocol("SASL_PLAINTEXT") + &logging_in(mechanism, user, password)
        };
        let mut connection = secured.connect(&lines(USER, PASSWORD)).unwrap();
        assert!(is_served(&mut connection));
        for (user, password) in [(USER, "wrong"), ("mallory", PASSWORD), ("=,", "x")] {
            let error = secured.connect(&lines(user, password)).unwrap_err();
            let words = match mechanism {
                SaslMechanism::Plain => "Invalid username or password".to_owned(),
                _ => format!(
                    "invalid credentials with SASL mechanism {}",
                    mechanism.name()
                ),
            };
            assert!(error.contains(&words), "{error}");
        }
    }
    secured.handle.stop().unwrap();
}

#[test]
fn every_mechanism_works_inside_of_tls() {
    let secured = Secured::sasl_ssl();
    for mechanism in MECHANISMS {
        let lines = |password: &str| {
            let trust = secured.trusting().replace("=SSL\n", "=SASL_SSL\n");
            trust + &logging_in(mechanism, USER, password)
        };
        assert!(is_served(&mut secured.connect(&lines(PASSWORD)).unwrap()));
        let error = secured.connect(&lines("wrong")).unwrap_err();
        assert!(error.contains(mechanism.name()), "{error}");
    }
    // TLS alone lets nobody in.
    let mut connection = secured.connect(&secured.trusting()).unwrap();
    assert!(connection.call(&MetadataRequest::default()).is_err());
}

#[test]
fn a_mechanism_that_is_not_offered_is_refused_with_those_that_are() {
    let secured = Secured::start(|_| {
        let mut sasl = sasl();
        sasl.mechanisms = vec![SaslMechanism::SCRAM_SHA_512];
        ClusterSecurity::sasl_plaintext(sasl)
    });
    let plain = logging_in(SaslMechanism::Plain, USER, PASSWORD);
    let error = secured
        .connect(&(protocol("SASL_PLAINTEXT") + &plain))
        .unwrap_err();
    assert!(
        error.contains("does not offer this mechanism, only: SCRAM-SHA-512"),
        "{error}"
    );
}

#[test]
fn tls_needs_a_client_that_trusts_the_authority() {
    let secured = Secured::ssl(ClientAuth::None);
    assert!(is_served(
        &mut secured.connect(&secured.trusting()).unwrap()
    ));
    let stranger = Authority::new("another authority");
    let lines = secured.trusting().replace(
        &secured.authority.pem.replace('\n', "\\n"),
        &stranger.pem.replace('\n', "\\n"),
    );
    let error = secured.connect(&lines).unwrap_err();
    assert!(
        error.contains("signed by a CA that is not trusted"),
        "{error}"
    );
    // The node serves on.
    assert!(is_served(
        &mut secured.connect(&secured.trusting()).unwrap()
    ));
}

#[test]
fn with_required_certificates_only_good_ones_come_in() {
    let secured = Secured::ssl(ClientAuth::Required);
    let lines = |identity| secured.trusting() + &showing(identity);
    let good = secured.authority.client("alice", Age::Valid);
    assert!(is_served(&mut secured.connect(&lines(&good)).unwrap()));
    let refused = |lines: &str| {
        // With TLS 1.3 a client may believe that it is in until it reads the alert.
        match secured.connect(lines) {
            Err(error) => error,
            Ok(mut connection) => connection
                .call(&MetadataRequest::default())
                .unwrap_err()
                .to_string(),
        }
    };
    let error = refused(&secured.trusting());
    assert!(error.contains("requires a client certificate"), "{error}");
    let expired = secured.authority.client("alice", Age::Expired);
    let error = refused(&lines(&expired));
    assert!(error.contains("CertificateExpired"), "{error}");
    let foreign = Authority::new("another authority").client("alice", Age::Valid);
    let error = refused(&lines(&foreign));
    assert!(
        error.contains("rejects this client's certificate"),
        "{error}"
    );
}

#[test]
fn requested_certificates_may_be_left_out_but_not_be_bad() {
    let secured = Secured::ssl(ClientAuth::Requested);
    assert!(is_served(
        &mut secured.connect(&secured.trusting()).unwrap()
    ));
    let good = secured.authority.client("alice", Age::Valid);
    let lines = secured.trusting() + &showing(&good);
    assert!(is_served(&mut secured.connect(&lines).unwrap()));
    let bad = Authority::new("another authority").client("alice", Age::Valid);
    let lines = secured.trusting() + &showing(&bad);
    let let_in = secured
        .connect(&lines)
        .ok()
        .is_some_and(|mut connection| connection.call(&MetadataRequest::default()).is_ok());
    assert!(!let_in);
}

#[test]
fn users_of_the_start_survive_a_restart_and_take_new_passwords() {
    let dir = tempfile::tempdir().unwrap();
    let with = |password: &str| {
        let sasl = kgauge_broker::security::Sasl::new([SaslMechanism::SCRAM_SHA_256])
            .with_user(USER, password);
        let config = ClusterConfig::new(dir.path());
        EmbeddedCluster::start(config.with_security(ClusterSecurity::sasl_plaintext(sasl))).unwrap()
    };
    let journal = dir.path().join("controller/metadata.journal");
    let lets_in = |servers: String, password: &str| {
        let login = logging_in(SaslMechanism::SCRAM_SHA_256, USER, password);
        let text = format!(
            "bootstrap.servers={servers}\n{}{login}",
            protocol("SASL_PLAINTEXT")
        );
        let config = kgauge_client::ClientConfig::from_properties_text(&text, "a test").unwrap();
        Connection::connect(&config.bootstrap_servers[0], &config).is_ok()
    };
    let first = with("one password");
    assert!(lets_in(first.bootstrap_servers(), "one password"));
    first.stop().unwrap();
    let kept = std::fs::read_to_string(&journal).unwrap();
    assert!(
        kept.contains("scram-user") && !kept.contains("one password"),
        "{kept}"
    );
    let line = |text: &str| {
        let found = text.lines().find(|line| line.contains("scram-user"));
        found.unwrap().to_owned()
    };
    let again = with("one password");
    assert!(lets_in(again.bootstrap_servers(), "one password"));
    again.stop().unwrap();
    let unchanged = std::fs::read_to_string(&journal).unwrap();
    assert_eq!(line(&unchanged), line(&kept));
    let other = with("other password");
    assert!(!lets_in(other.bootstrap_servers(), "one password"));
    assert!(lets_in(other.bootstrap_servers(), "other password"));
    other.stop().unwrap();
}

#[test]
fn what_is_wrong_with_certificates_is_reported_before_the_start() {
    let authority = Authority::new("authority");
    let (one, other) = (authority.server(), authority.server());
    let dir = tempfile::tempdir().unwrap();
    let start = |tls: ServerTls| {
        let config = ClusterConfig::new(dir.path()).with_security(ClusterSecurity::ssl(tls));
        match EmbeddedCluster::start(config) {
            Err(StartError::Config(words)) => words.join("; "),
            other => panic!("{other:?}"),
        }
    };
    let words = start(ServerTls::new(one.chain_pem.clone(), other.key_pem));
    assert!(words.contains("ssl.keystore.*"), "{words}");
    let mut tls = server_tls(&authority, ClientAuth::Required);
    tls.client_ca_pem = None;
    let words = start(tls);
    assert!(
        words.contains("ssl.truststore.certificates is not set"),
        "{words}"
    );
}

#[test]
fn nothing_secret_is_shown() {
    let authority = Authority::new("authority");
    let tls = server_tls(&authority, ClientAuth::None);
    let key = authority.server().key_pem;
    let config = ClusterConfig::new("nowhere")
        .with_security(ClusterSecurity::sasl_ssl(sasl(), tls))
        .with_setting("ssl.keystore.key", &key);
    let shown = format!("{config:?}");
    assert!(
        !shown.contains("PRIVATE KEY") && !shown.contains(PASSWORD),
        "{shown}"
    );
    assert!(shown.contains(USER), "{shown}");
}
