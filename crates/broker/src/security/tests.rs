//! Known answers of the exchanges, and messages as broken or hostile clients send them.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use kgauge_wire::Secret;

use super::*;
use crate::random::SmallRandom;
use crate::settings::ConfigMap;

/// The nonce of [`Sevens`] in a message.
const SEVENS: &str = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH";

/// Made once: every password takes thousands of rounds.
static USERS: LazyLock<ScramUsers> = LazyLock::new(users);

fn users() -> ScramUsers {
    let credential = |mechanism| ScramCredential::of_password(mechanism, b"pencil", b"salt");
    let both = [ScramMechanism::Sha256, ScramMechanism::Sha512]
        .map(|mechanism| (mechanism, Arc::new(credential(mechanism))));
    ["a=b", "alice"]
        .map(|user| (user.to_owned(), BTreeMap::from(both.clone())))
        .into()
}

/// One exchange by these messages: the answers, and who was let in.
fn exchange(mechanism: SaslMechanism, messages: &[&[u8]]) -> (Vec<String>, Option<String>) {
    let plain = [("alice".to_owned(), Secret::new("pencil"))].into();
    let logins = Logins {
        plain: &plain,
        scram: &USERS,
        nonces: &Sevens,
    };
    let mut exchange = Exchange::new(mechanism);
    let mut answers = Vec::new();
    for message in messages {
        match exchange.step(message, &logins) {
            Ok(SaslStep::Continue { token }) => answers.push(String::from_utf8(token).unwrap()),
            Ok(SaslStep::Done { token, user }) => {
                answers.push(String::from_utf8(token).unwrap());
                return (answers, Some(user));
            }
            Err(words) => answers.push(words),
        }
    }
    (answers, None)
}

#[test]
fn scram_sha_512_gives_the_bytes_that_another_implementation_gives() {
    // Computed by Python's hashlib and hmac; the name is a=b.
    let (answers, user) = exchange(
        SaslMechanism::SCRAM_SHA_512,
        &[
            b"n,,n=a=3Db,r=rOprNGfwEbeRWgbNEkqO",
            format!(
                "c=biws,r=rOprNGfwEbeRWgbNEkqO{SEVENS},p=zI0x+BjWdIp2AQHGRtwuRvnCGFKYEiUyPUgYkTFjfo\
                 PZYfObMMr1oc8/kxdSTL4MmJZUwDBhKl7w248Ta/zCKA=="
            )
            .as_bytes(),
        ],
    );
    assert_eq!(user.as_deref(), Some("a=b"));
    assert_eq!(
        answers,
        [
            format!("r=rOprNGfwEbeRWgbNEkqO{SEVENS},s=c2FsdA==,i=4096"),
            "v=EyOCFYVp3/QGe2I1cwMw+mbfcGcBvD2V34dGCRFe5McfNQDw238JJv7b4eQ4mTSqS/BAii68pvdnJ4F2o5gZ\
             bA=="
                .to_owned(),
        ]
    );
}

const UNEXPLAINED: &str = "Authentication failed during authentication due to invalid credentials with \
                      SASL mechanism SCRAM-SHA-256";

fn scram_256(messages: &[&[u8]]) -> (Vec<String>, Option<String>) {
    exchange(SaslMechanism::SCRAM_SHA_256, messages)
}

#[test]
fn a_wrong_password_and_an_unknown_user_get_the_same_answer() {
    let (answers, user) = scram_256(&[b"n,,n=nobody,r=abc"]);
    assert_eq!((answers, user), (vec![UNEXPLAINED.to_owned()], None));
    let last = format!("c=biws,r=abc{SEVENS},p={}", STANDARD.encode([0; 32]));
    let (answers, user) = scram_256(&[b"n,,n=alice,r=abc", last.as_bytes()]);
    assert_eq!((answers[1].as_str(), user), (UNEXPLAINED, None));
}

#[test]
fn first_messages_that_break_the_rules_are_refused() {
    for message in [
        "",
        "n",
        "n,,",
        "n,,n=alice",
        "n,,r=abc,n=alice",
        "y,,n=alice,r=abc",
        "p=tls-unique,,n=alice,r=abc",
        "n,alice,n=alice,r=abc",
        "n,,m=must,n=alice,r=abc",
        "n,,n=,r=abc",
        "n,,n=alice,r=",
        "n,,n=al=ice,r=abc",
        "n,,n=alice=,r=abc",
        "n,,n=alice,r=a\u{7f}",
        "n,,n=alice,r=abc,x",
        "n,,n=alice,r=abc,tokenauth=true",
    ] {
        let (answers, user) = scram_256(&[message.as_bytes()]);
        assert_eq!(
            (answers, user),
            (vec![UNEXPLAINED.to_owned()], None),
            "{message}"
        );
    }
    let (answers, _) = scram_256(&[b"n,,n=\xffalice,r=abc"]);
    assert_eq!(answers, [UNEXPLAINED]);
}

#[test]
fn nobody_comes_in_as_somebody_else() {
    let (answers, _) = scram_256(&[b"n,a=bob,n=alice,r=abc"]);
    let words = "Authentication failed: Client requested an authorization id that is different \
                 from username";
    assert_eq!(answers, [words]);
    let (answers, user) = exchange(SaslMechanism::Plain, &[b"bob\0alice\0pencil"]);
    assert_eq!((answers, user), (vec![words.to_owned()], None));
    let (answers, _) = scram_256(&[b"n,a=alice,n=alice,r=abc"]);
    assert!(answers[0].starts_with("r=abc"), "{answers:?}");
}

#[test]
fn a_final_message_must_bring_the_header_back() {
    // c=biws is `n,,`, and the header was `n,a=alice,`.
    let last = format!("c=biws,r=abc{SEVENS},p=qMqxZ5jWsgwTkF9G1b5dxRHQ3kps2tCV01SbaZzOhFk=");
    let (answers, user) = scram_256(&[b"n,a=alice,n=alice,r=abc", last.as_bytes()]);
    assert_eq!((answers[1].as_str(), user), (UNEXPLAINED, None));
    let (_, user) = scram_256(&[b"n,,n=alice,r=abc", last.as_bytes()]);
    assert_eq!(user.as_deref(), Some("alice"));
}

#[test]
fn the_nonce_as_older_librdkafka_repeats_it_is_accepted() {
    // Computed by Python's hashlib and hmac, for a final message with this nonce.
    let last =
        |nonce: &str| format!("c=biws,r={nonce},p=/26mVFYq4yzdm3jxVSsRZMNSUkoSkS6g/xUT3lEfzqE=");
    let (_, user) = scram_256(&[
        b"n,,n=alice,r=abc",
        last(&format!("abcabc{SEVENS}")).as_bytes(),
    ]);
    assert_eq!(user.as_deref(), Some("alice"));
    let (_, user) = scram_256(&[
        b"n,,n=alice,r=abc",
        b"c=biws,r=abcabcabcBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH,\
          p=tmGoPXqQDeMU2ePIYfR+qYd/zCXvNwufHh/blCzfXzA=",
    ]);
    assert_eq!(user, None);
}

#[test]
fn plain_is_answered_in_kafkas_words() {
    let refusal = |message: &[u8]| {
        let (answers, user) = exchange(SaslMechanism::Plain, &[message]);
        assert_eq!(user, None);
        answers.into_iter().next().unwrap()
    };
    let wrong = "Authentication failed: Invalid username or password";
    assert_eq!(refusal(b"\0alice\0pencils"), wrong);
    assert_eq!(refusal(b"\0alice\0penci"), wrong);
    assert_eq!(refusal(b"\0bob\0pencil"), wrong);
    assert_eq!(refusal(b"\0\xff\0pencil"), wrong);
    assert_eq!(
        refusal(b"\0alice\0"),
        "Authentication failed: password not specified"
    );
    assert_eq!(
        refusal(b"\0\0pencil"),
        "Authentication failed: username not specified"
    );
    let count = |count| format!("Invalid SASL/PLAIN response: expected 3 tokens, got {count}");
    assert_eq!(refusal(b""), count(1));
    assert_eq!(refusal(b"alice\0pencil"), count(2));
    assert_eq!(refusal(b"\0alice\0pencil\0"), count(4));
    assert_eq!(refusal(&[0; 1000]), count(4));
    let (answers, user) = exchange(SaslMechanism::Plain, &[b"alice\0alice\0pencil"]);
    assert_eq!(
        (answers, user.as_deref()),
        (vec![String::new()], Some("alice"))
    );
}

#[test]
fn no_bytes_bring_an_exchange_down_or_in() {
    let mut random = SmallRandom::new(3);
    let samples: [(SaslMechanism, &[u8]); 3] = [
        (SaslMechanism::Plain, b"\0alice\0pencil"),
        (SaslMechanism::SCRAM_SHA_256, b"n,,n=alice,r=abc"),
        (SaslMechanism::SCRAM_SHA_512, b"n,a=alice,n=alice,r=abc,x=y"),
    ];
    for (mechanism, sample) in samples {
        for cut in 0..sample.len() {
            let (_, user) = exchange(mechanism, &[&sample[..cut], sample, sample]);
            assert_eq!(user, None, "{}", mechanism.name());
        }
        for _ in 0..2_000 {
            let mut message = sample.to_vec();
            let place = usize::try_from(random.below(message.len() as u64)).unwrap();
            let byte = random.next_u64() as u8;
            if message[place] == byte {
                continue;
            }
            message[place] = byte;
            let (_, user) = exchange(mechanism, &[&message, &message]);
            assert_eq!(user, None, "{message:?}");
        }
    }
}

#[test]
fn names_are_shown_as_java_shows_them() {
    // The subjects were encoded and shown by Java 17's X500Principal.
    for (subject, shown) in [
        (
            "303f310b3009060355040613024445310d300b060355040a13046c656164310c300a060355040b130378\
             20793113301106035504030c0a613d622c206323643b65",
            r"CN=a\=b\, c\#d\;e,OU=x y,O=lead,C=DE",
        ),
        (
            "30573111300f060a0992268993f22c64010113017531153013060a0992268993f22c64011916056b6166\
             6b613115301306092a864886f70d01090116066d6540782e793114300806035504031301613008060355\
             040b130162",
            "CN=a+OU=b,1.2.840.113549.1.9.1=#16066d6540782e79,DC=kafka,UID=u",
        ),
    ] {
        let certificate = certificate_of(&from_hex(subject));
        assert_eq!(super::subject(&certificate).as_deref(), Some(shown));
        for cut in 0..certificate.len() {
            assert_eq!(super::subject(&certificate[..cut]), None, "{cut}");
        }
        let mut random = SmallRandom::new(5);
        for _ in 0..5_000 {
            let mut broken = certificate.clone();
            let place = usize::try_from(random.below(broken.len() as u64)).unwrap();
            broken[place] = random.next_u64() as u8;
            // Any answer is fine that comes.
            let _ = super::subject(&broken);
        }
    }
}

#[test]
fn the_subject_of_a_real_certificate_is_read() {
    let mut params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    params.distinguished_name = rcgen::DistinguishedName::new();
    let subject = &mut params.distinguished_name;
    subject.push(rcgen::DnType::CountryName, "DE");
    subject.push(rcgen::DnType::OrganizationName, "kgauge, tests");
    subject.push(rcgen::DnType::CommonName, " Zoë #1 ");
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let shown = super::subject(certificate.der());
    assert_eq!(
        shown.as_deref(),
        Some(r"CN=\ Zoë \#1\ ,O=kgauge\, tests,C=DE")
    );
}

fn from_hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .bytes()
        .map(|digit| (digit as char).to_digit(16).unwrap() as u8)
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

/// The part of a certificate before and around the subject.
fn certificate_of(subject: &[u8]) -> Vec<u8> {
    fn value(tag: u8, content: &[u8]) -> Vec<u8> {
        [&[tag, 0x81, u8::try_from(content.len()).unwrap()], content].concat()
    }
    let empty = value(0x30, &[]);
    let version = value(0xa0, &[2, 1, 2]);
    let body = [&version, &[2, 1, 9][..], &empty, &empty, &empty, subject].concat();
    value(0x30, &value(0x30, &body))
}

#[test]
fn every_mistake_in_the_configuration_has_its_sentence() {
    let mistakes =
        |security: &ClusterSecurity| PreparedSecurity::make(security).map(|_| ()).unwrap_err();
    let no_tls = ClusterSecurity {
        protocol: SecurityProtocol::SaslSsl,
        ..ClusterSecurity::default()
    };
    let words = mistakes(&no_tls);
    assert_eq!(words.len(), 2, "{words:?}");
    assert!(
        words[0].contains("SASL_SSL needs a certificate"),
        "{words:?}"
    );
    let broken = ClusterSecurity::ssl(ServerTls::new("nothing", "nothing"));
    assert!(mistakes(&broken)[0].contains("ssl.keystore.certificate.chain has no PEM CERTIFICATE"));
    let sasl = Sasl::new([SaslMechanism::Plain])
        .with_user("a", "")
        .with_user("b", "x")
        .with_user("b", "y");
    let words = mistakes(&ClusterSecurity::sasl_plaintext(sasl));
    assert_eq!(words.len(), 2, "{words:?}");
    assert_eq!(words[1], "user b is defined twice");
    let nobody = ClusterSecurity::sasl_plaintext(Sasl::new([SaslMechanism::Plain]));
    assert!(mistakes(&nobody)[0].contains("no user"));
}

#[test]
fn settings_under_kafkas_names_complete_the_configuration() {
    let settings = |pairs: &[(&str, &str)]| -> ConfigMap {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        pairs.iter().map(owned).collect()
    };
    let given = ClusterSecurity {
        protocol: SecurityProtocol::SaslSsl,
        ..ClusterSecurity::default()
    };
    let read = read_settings(
        &given,
        &settings(&[
            ("num.partitions", "3"),
            ("sasl.enabled.mechanisms", "PLAIN, SCRAM-SHA-512"),
            ("ssl.client.auth", "requested"),
            ("ssl.keystore.key", "a key"),
            ("ssl.keystore.type", "PEM"),
        ]),
    )
    .unwrap();
    let tls = read.tls.as_ref().unwrap();
    assert_eq!(tls.client_auth, ClientAuth::Requested);
    assert_eq!(tls.key_pem.expose(), b"a key");
    let mechanisms = read.sasl.as_ref().unwrap().mechanisms.clone();
    assert_eq!(
        mechanisms,
        [SaslMechanism::Plain, SaslMechanism::SCRAM_SHA_512]
    );
    assert!(!format!("{read:?}").contains("a key"));
    let wrong = read_settings(
        &given,
        &settings(&[
            ("sasl.enabled.mechanisms", "GSSAPI"),
            ("ssl.client.auth", "maybe"),
            ("ssl.keystore.type", "JKS"),
        ]),
    );
    assert_eq!(wrong.unwrap_err().len(), 3);
    let unused = [
        ("ssl.client.auth", "none"),
        ("sasl.enabled.mechanisms", "PLAIN"),
    ];
    let words = read_settings(&ClusterSecurity::default(), &settings(&unused)).unwrap_err();
    assert_eq!(words.len(), 2, "{words:?}");
    assert!(words[0].contains("the listeners' protocol PLAINTEXT has no TLS"));
}
