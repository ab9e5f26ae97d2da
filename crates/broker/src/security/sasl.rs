//! SASL as the nodes see it: one exchange after another message, whatever the mechanism.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::scram::{LoginRefusal, ScramExchange, ScramMechanism, ScramUsers, is_same};
use super::{BrokerSecret, NonceSource};

/// Kafka's words for a client that wants to be somebody else.
pub(super) const OTHER_AUTHORIZATION: &str = "Authentication failed: Client requested an \
                                              authorization id that is different from username";

/// How clients may show that they know a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaslMechanism {
    /// As it is (RFC 4616).
    Plain,
    /// By a proof.
    Scram(ScramMechanism),
}

impl SaslMechanism {
    /// SCRAM with SHA-256.
    pub const SCRAM_SHA_256: Self = Self::Scram(ScramMechanism::Sha256);
    /// SCRAM with SHA-512.
    pub const SCRAM_SHA_512: Self = Self::Scram(ScramMechanism::Sha512);

    const ALL: [Self; 3] = [Self::Plain, Self::SCRAM_SHA_256, Self::SCRAM_SHA_512];

    /// The mechanism of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|mechanism| mechanism.name() == name)
    }

    /// Its name in the protocol and in settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "PLAIN",
            Self::SCRAM_SHA_256 => "SCRAM-SHA-256",
            Self::SCRAM_SHA_512 => "SCRAM-SHA-512",
        }
    }

    /// The hash, when it is SCRAM.
    #[must_use]
    pub fn scram(self) -> Option<ScramMechanism> {
        match self {
            Self::Plain => None,
            Self::Scram(mechanism) => Some(mechanism),
        }
    }
}

/// Who may come in.
pub(crate) struct Logins<'a> {
    pub(crate) plain: &'a BTreeMap<String, BrokerSecret>,
    pub(crate) scram: &'a ScramUsers,
    pub(crate) nonces: &'a dyn NonceSource,
}

/// What follows from a client's message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SaslStep {
    /// Another one is wanted.
    Continue {
        /// The answer to this one.
        token: Vec<u8>,
    },
    /// The client is let in.
    Done {
        /// The answer to this one.
        token: Vec<u8>,
        /// Who it is.
        user: String,
    },
}

/// An exchange that goes on.
pub(crate) struct Exchange {
    mechanism: SaslMechanism,
    state: State,
}

enum State {
    /// Nothing has come yet.
    Begun,
    /// SCRAM, the first half done.
    Halfway(Box<ScramExchange>),
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
            state: State::Begun,
        }
    }

    /// Takes a client's message. An error is what to tell the client; the exchange is over then.
    pub(crate) fn step(&mut self, message: &[u8], logins: &Logins<'_>) -> Result<SaslStep, String> {
        let state = std::mem::replace(&mut self.state, State::Over);
        let done = match (state, self.mechanism) {
            (State::Begun, SaslMechanism::Plain) => {
                return plain(message, logins.plain).map_err(|told| told.words(self.mechanism));
            }
            (State::Begun, SaslMechanism::Scram(mechanism)) => begin(mechanism, message, logins)
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
            (State::Over, _) => Err(LoginRefusal::Untold),
        };
        done.map_err(|refused| RefusalMessage::from(refused).words(self.mechanism))
    }
}

fn begin(
    mechanism: ScramMechanism,
    message: &[u8],
    logins: &Logins<'_>,
) -> Result<(ScramExchange, String), LoginRefusal> {
    let nonce = logins.nonces.nonce().map_err(|_| LoginRefusal::Untold)?;
    let nonce = STANDARD_NO_PAD.encode(nonce);
    let known = |user: &str| Some(Arc::clone(logins.scram.get(user)?.get(&mechanism)?));
    ScramExchange::begin(mechanism.hashes(), message, &nonce, known)
}

/// What a client that is not let in is told.
enum RefusalMessage {
    Nothing,
    Words(String),
}

impl From<LoginRefusal> for RefusalMessage {
    fn from(refused: LoginRefusal) -> Self {
        match refused {
            LoginRefusal::Untold => Self::Nothing,
            LoginRefusal::Told(words) => Self::Words(words.to_owned()),
        }
    }
}

impl RefusalMessage {
    /// Kafka's words (`SaslServerAuthenticator`, `PlainSaslServer`).
    fn words(self, mechanism: SaslMechanism) -> String {
        match self {
            Self::Words(words) => words,
            Self::Nothing => format!(
                "Authentication failed during authentication due to invalid credentials with \
                 SASL mechanism {}",
                mechanism.name()
            ),
        }
    }
}

/// RFC 4616: authorization id, name and password with zero bytes between.
fn plain(
    message: &[u8],
    users: &BTreeMap<String, BrokerSecret>,
) -> Result<SaslStep, RefusalMessage> {
    let told = |words: &str| Err(RefusalMessage::Words(words.to_owned()));
    let parts: Vec<&[u8]> = message.splitn(4, |byte| *byte == 0).collect();
    let &[authorization, name, password] = &parts[..] else {
        let count = parts.len();
        return told(&format!(
            "Invalid SASL/PLAIN response: expected 3 tokens, got {count}"
        ));
    };
    if name.is_empty() {
        return told("Authentication failed: username not specified");
    }
    if password.is_empty() {
        return told("Authentication failed: password not specified");
    }
    let known = std::str::from_utf8(name).ok();
    let known = known.and_then(|name| users.get_key_value(name));
    let Some((user, _)) = known.filter(|(_, right)| is_same(password, right.expose())) else {
        return told("Authentication failed: Invalid username or password");
    };
    if !authorization.is_empty() && authorization != name {
        return told(OTHER_AUTHORIZATION);
    }
    Ok(SaslStep::Done {
        token: Vec::new(),
        user: user.clone(),
    })
}
