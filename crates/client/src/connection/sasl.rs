//! SASL over Kafka's requests: SaslHandshake names the mechanism, and SaslAuthenticate carries its messages; to brokers
//! before 1.0 they are sent as bare frames (KIP-43, KIP-152).

use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use kgauge_wire::Secret;
use kgauge_wire::api::ApiKey;
use kgauge_wire::codec::Bytes;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::{SaslAuthenticateRequest, SaslHandshakeRequest};
use kgauge_wire::scram::{ScramClient, ScramError, ScramMechanism};
use ring::rand::{SecureRandom, SystemRandom};

use super::{CallError, ConnectError, Connection};
use crate::security::{Login, SaslSettings, token};
use crate::shown;

/// What went wrong, without any message of the exchange.
struct SaslFailure {
    words: String,
    fix: &'static str,
}

impl SaslFailure {
    fn new(words: impl Into<String>, fix: &'static str) -> SaslFailure {
        SaslFailure {
            words: words.into(),
            fix,
        }
    }
}

impl From<ScramError> for SaslFailure {
    fn from(error: ScramError) -> SaslFailure {
        const LOG: &str = "check the broker's log";
        match error {
            ScramError::Malformed => SaslFailure::new("its SCRAM response is invalid", LOG),
            ScramError::Rounds(rounds) => SaslFailure::new(
                format!("it requires {rounds} SCRAM iterations; kgauge accepts 4096 to 10000000"),
                "reset the user's iterations with kafka-configs",
            ),
            ScramError::ServerProof => SaslFailure::new(
                "it could not prove that it knows the password",
                "this may not be your broker; check its address",
            ),
            ScramError::Refused => SaslFailure::new("it rejected the SCRAM exchange", LOG),
        }
    }
}

/// Authenticates this client. Returns when the session ends, if the broker limits it (KIP-368).
pub(crate) fn authenticate(
    connection: &mut Connection,
    settings: &SaslSettings,
    deadline: Instant,
) -> Result<Option<Instant>, ConnectError> {
    let mut exchange = Exchange {
        connection,
        deadline,
        bare: false,
        session_end: None,
    };
    let done = exchange
        .agree(settings.mechanism())
        .and_then(|()| match settings {
            SaslSettings::Plain(login) => exchange.plain(login),
            SaslSettings::Scram(mechanism, login) => exchange.scram(*mechanism, login),
            SaslSettings::OauthBearer(source) => {
                let interrupt = exchange.connection.interrupt();
                match token::fetch(source, deadline, &interrupt) {
                    Ok(token) => exchange.oauthbearer(&token),
                    Err(words) => Err(SaslFailure::new(words, "correct the token's source")),
                }
            }
        });
    let session_end = exchange.session_end;
    done.map(|()| session_end)
        .map_err(|failure| ConnectError::Sasl {
            address: connection.address().clone(),
            words: format!("{}: {}", settings.mechanism(), failure.words).into(),
            fix: failure.fix,
        })
}

struct Exchange<'a> {
    connection: &'a mut Connection,
    deadline: Instant,
    /// The broker supports only SaslHandshake 0: messages are sent without a request around them.
    bare: bool,
    session_end: Option<Instant>,
}

impl Exchange<'_> {
    fn agree(&mut self, mechanism: &'static str) -> Result<(), SaslFailure> {
        const OLD: &str = "use a SASL listener of Kafka 0.10 or newer";
        let known = self.connection.api_versions();
        let version = known
            .highest_common(ApiKey::SaslHandshake, 0..=1)
            .ok_or_else(|| SaslFailure::new("it does not support SASL", OLD))?;
        self.bare = version == 0 || known.range(ApiKey::SaslAuthenticate).is_none();
        let version = if self.bare { 0 } else { version };
        let request = SaslHandshakeRequest {
            mechanism: mechanism.into(),
        };
        let left = self.deadline.saturating_duration_since(Instant::now());
        let reply = self
            .connection
            .call_between(&request, version..=version, left)
            .map_err(|error| call_failure(&error))?;
        let answer = reply.decode().map_err(|error| call_failure(&error))?;
        match ErrorCode::from(answer.error_code) {
            ErrorCode::None => Ok(()),
            ErrorCode::UnsupportedSaslMechanism => {
                let offered: Vec<_> = answer.mechanisms.iter().map(|name| &**name).collect();
                Err(SaslFailure::new(
                    format!(
                        "it does not offer this mechanism, only: {}",
                        offered.join(", ")
                    ),
                    "set sasl.mechanism to one of those, or enable it in the broker's \
                     sasl.enabled.mechanisms",
                ))
            }
            ErrorCode::IllegalSaslState => Err(SaslFailure::new(
                "this listener does not use SASL",
                "set security.protocol to PLAINTEXT or SSL, or use another listener",
            )),
            code => Err(SaslFailure::new(
                format!("it answered {code}"),
                "check the broker's log",
            )),
        }
    }

    fn plain(&mut self, login: &Login) -> Result<(), SaslFailure> {
        let (name, password) = (login.username.expose(), login.password.expose());
        // Authorization id, user, password (RFC 4616); Kafka's client leaves the first empty.
        self.send(
            Secret::<String>::new(format!("\0{name}\0{password}"))
                .expose()
                .as_bytes(),
        )?;
        Ok(())
    }

    fn scram(&mut self, mechanism: ScramMechanism, login: &Login) -> Result<(), SaslFailure> {
        let mut nonce = [0; 24];
        SystemRandom::new().fill(&mut nonce).map_err(|_| {
            SaslFailure::new(
                "the operating system provides no random numbers",
                "try again",
            )
        })?;
        let mut scram = ScramClient::new(
            mechanism,
            login.username.expose(),
            login.password.expose(),
            STANDARD_NO_PAD.encode(nonce),
            login.is_delegation_token,
        );
        let answer = self.send(scram.first().as_bytes())?;
        let last = scram.last(&answer)?;
        let answer = self.send(last.as_bytes())?;
        Ok(scram.check(&answer)?)
    }

    fn oauthbearer(&mut self, token: &Secret) -> Result<(), SaslFailure> {
        let first: Secret = Secret::new(format!("n,,\x01auth=Bearer {}\x01\x01", token.expose()));
        let answer = self.send(first.expose().as_bytes())?;
        if answer.is_empty() {
            return Ok(());
        }
        // The server's reason; it refuses only after this byte (RFC 7628, section 3.2.3).
        let reason = shown(&String::from_utf8_lossy(&answer));
        let fix = "get a token that the broker accepts";
        match self.send(b"\x01") {
            Err(failure) => Err(SaslFailure::new(
                format!("{} ({reason})", failure.words),
                fix,
            )),
            Ok(_) => Err(SaslFailure::new(
                format!("it rejected the token ({reason})"),
                fix,
            )),
        }
    }

    /// Sends one message and receives the response.
    fn send(&mut self, message: &[u8]) -> Result<Vec<u8>, SaslFailure> {
        if self.bare {
            return self
                .connection
                .exchange_bare(message, self.deadline)
                .ok_or_else(|| {
                    SaslFailure::new(
                        "it closed the connection: the name, password or token is wrong",
                        "correct sasl.jaas.config",
                    )
                });
        }
        let request = SaslAuthenticateRequest {
            auth_bytes: Bytes::Borrowed(message),
        };
        let left = self.deadline.saturating_duration_since(Instant::now());
        let sent = Instant::now();
        let reply = self
            .connection
            .call_between(&request, 0..=2, left)
            .map_err(|error| call_failure(&error))?;
        let answer = reply.decode().map_err(|error| call_failure(&error))?;
        let code = ErrorCode::from(answer.error_code);
        if !code.is_none() {
            let words = answer.error_message.as_deref().unwrap_or_default();
            let words = if words.is_empty() {
                code.to_string()
            } else {
                format!("{code} (\"{}\")", shown(words))
            };
            return Err(SaslFailure::new(
                words,
                "correct the name and password or token in sasl.jaas.config, and check that the \
                 user exists on the broker",
            ));
        }
        if let Ok(lifetime_ms @ 1..) = u64::try_from(answer.session_lifetime_ms) {
            self.session_end = sent.checked_add(std::time::Duration::from_millis(lifetime_ms));
        }
        Ok(answer.auth_bytes.to_vec())
    }
}

fn call_failure(error: &CallError) -> SaslFailure {
    match error {
        CallError::Closed { .. } => SaslFailure::new(
            "it closed the connection during authentication",
            "check the broker's log",
        ),
        other => SaslFailure::new(other.to_string(), other.fix()),
    }
}
