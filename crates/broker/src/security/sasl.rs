//! The server side of SASL: one exchange, message by message, for any mechanism.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use kgauge_wire::Secret;
use kgauge_wire::scram::{ScramRefusal, ScramServer, is_same};

use super::{NonceSource, SaslMechanism, ScramCredential, ScramMechanism};

/// Kafka's text for a client that logs in on behalf of another user.
const OTHER_AUTHORIZATION: &str = "Authentication failed: Client requested an authorization id \
                                   that is different from username";

/// SCRAM credentials by user, then by mechanism.
pub(crate) type ScramUsers = BTreeMap<String, BTreeMap<ScramMechanism, Arc<ScramCredential>>>;

/// Who may log in.
pub(crate) struct Logins<'a> {
    pub(crate) plain: &'a BTreeMap<String, Secret<Vec<u8>>>,
    pub(crate) scram: &'a ScramUsers,
    pub(crate) nonces: &'a dyn NonceSource,
}

/// The result of a client's message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SaslStep {
    /// Another message must follow.
    Continue {
        /// The answer to this one.
        token: Vec<u8>,
    },
    /// The client is let in.
    Done {
        /// The answer to this one.
        token: Vec<u8>,
        /// The user.
        user: String,
    },
}

/// An exchange in progress.
pub(crate) struct Exchange {
    mechanism: SaslMechanism,
    state: State,
}

enum State {
    /// No message yet.
    Initial,
    /// SCRAM after its first half.
    Halfway(Box<ScramServer>),
    /// It failed or succeeded.
    Over,
}

/// Nothing of an exchange is ever shown.
impl fmt::Debug for Exchange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Exchange({})", self.mechanism.name())
    }
}

impl Exchange {
    pub(crate) fn new(mechanism: SaslMechanism) -> Self {
        Self {
            mechanism,
            state: State::Initial,
        }
    }

    /// Takes a client's message. An error is the text for the client; the exchange is over then.
    pub(crate) fn step(&mut self, message: &[u8], logins: &Logins<'_>) -> Result<SaslStep, String> {
        let state = std::mem::replace(&mut self.state, State::Over);
        let done = match (state, self.mechanism) {
            (State::Initial, SaslMechanism::Plain) => return plain(message, logins.plain),
            (State::Initial, SaslMechanism::Scram(mechanism)) => begin(mechanism, message, logins)
                .map(|(exchange, token)| {
                    self.state = State::Halfway(Box::new(exchange));
                    SaslStep::Continue {
                        token: token.into_bytes(),
                    }
                }),
            (State::Halfway(exchange), _) => {
                exchange
                    .finish(message)
                    .map(|(user, token)| SaslStep::Done {
                        token: token.into_bytes(),
                        user,
                    })
            }
            (State::Over, _) => Err(ScramRefusal::Unexplained),
        };
        done.map_err(|refusal| refusal_text(refusal, self.mechanism))
    }
}

fn begin(
    mechanism: ScramMechanism,
    message: &[u8],
    logins: &Logins<'_>,
) -> Result<(ScramServer, String), ScramRefusal> {
    let nonce = logins
        .nonces
        .nonce()
        .map_err(|_| ScramRefusal::Unexplained)?;
    let nonce = STANDARD_NO_PAD.encode(nonce);
    let known = |user: &str| Some(Arc::clone(logins.scram.get(user)?.get(&mechanism)?));
    ScramServer::begin(mechanism, message, &nonce, known)
}

/// The error text for a client that is not let in, as in Kafka's `SaslServerAuthenticator`.
fn refusal_text(refusal: ScramRefusal, mechanism: SaslMechanism) -> String {
    match refusal {
        ScramRefusal::OtherAuthorization => OTHER_AUTHORIZATION.to_owned(),
        ScramRefusal::Unexplained => format!(
            "Authentication failed during authentication due to invalid credentials with SASL \
             mechanism {}",
            mechanism.name()
        ),
    }
}

/// RFC 4616: authorization id, name and password with zero bytes between. The errors are those of Kafka's
/// `PlainSaslServer`.
fn plain(message: &[u8], users: &BTreeMap<String, Secret<Vec<u8>>>) -> Result<SaslStep, String> {
    let refuse = |words: &str| Err(words.to_owned());
    let parts: Vec<&[u8]> = message.splitn(4, |byte| *byte == 0).collect();
    let &[authorization, name, password] = &parts[..] else {
        let count = parts.len();
        return refuse(&format!(
            "Invalid SASL/PLAIN response: expected 3 tokens, got {count}"
        ));
    };
    if name.is_empty() {
        return refuse("Authentication failed: username not specified");
    }
    if password.is_empty() {
        return refuse("Authentication failed: password not specified");
    }
    let known = std::str::from_utf8(name).ok();
    let known = known.and_then(|name| users.get_key_value(name));
    let Some((user, _)) = known.filter(|(_, right)| is_same(password, right.expose())) else {
        return refuse("Authentication failed: Invalid username or password");
    };
    if !authorization.is_empty() && authorization != name {
        return refuse(OTHER_AUTHORIZATION);
    }
    Ok(SaslStep::Done {
        token: Vec::new(),
        user: user.clone(),
    })
}
