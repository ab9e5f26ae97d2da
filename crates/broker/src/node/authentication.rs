//! Letting clients in: what a listener wants to know first, step by step, and not for ever.

use super::connections::{ConnectionStage, ConnectionState};
use super::{BrokerNode, CloseReason, Timer};
use crate::ids::ConnectionId;
use crate::security::{
    Exchange, LET_IN_MS, Logins, STRANGER_FRAME_BYTES_MAX, SaslMechanism, SaslStep,
    SecurityProtocol,
};
use crate::time::Now;

/// What a message of an exchange is answered with.
pub(crate) enum Proof {
    /// This token; the stage shows whether the client is let in.
    Token(Vec<u8>),
    /// These words; the connection must close.
    Refused(String),
}

impl BrokerNode {
    /// Where a new connection begins. One that is not let in at once has a time for it.
    pub(super) fn first_stage(&mut self, now: Now, connection: ConnectionId) -> ConnectionStage {
        let stage = match self.config.security.protocol {
            SecurityProtocol::Plaintext => return ConnectionStage::Authenticated,
            SecurityProtocol::Ssl | SecurityProtocol::SaslSsl => ConnectionStage::Securing,
            SecurityProtocol::SaslPlaintext => ConnectionStage::Naming,
        };
        let due_ns = now.after_ms(LET_IN_MS);
        self.timers.set(due_ns, Timer::LetIn(connection));
        stage
    }

    pub(super) fn let_in_due(&mut self, connection: ConnectionId) {
        if self.connections.get(connection).is_some() && !self.is_let_in(connection) {
            self.close(connection, CloseReason::AuthenticationTimeout);
        }
    }

    /// A connection's TLS handshake is done. `subject` is that of the client's certificate, if it
    /// showed one.
    pub fn secured(&mut self, connection: ConnectionId, subject: Option<&str>) {
        let has_sasl = self.config.security.protocol.has_sasl();
        let Some(known) = self.connections.get_mut(connection) else {
            return;
        };
        if known.stage != ConnectionStage::Securing {
            return;
        }
        if has_sasl {
            known.stage = ConnectionStage::Naming;
            return;
        }
        known.stage = ConnectionStage::Authenticated;
        if let Some(subject) = subject {
            known.principal = format!("User:{subject}").into();
        }
    }

    /// Whether everything is served to a connection.
    #[must_use]
    pub fn is_let_in(&self, connection: ConnectionId) -> bool {
        let known = self.connections.get(connection);
        known.is_some_and(|known| known.stage == ConnectionStage::Authenticated)
    }

    /// Who a client is, in Kafka's form: `User:name`, `User:CN=...` or `User:ANONYMOUS`.
    #[must_use]
    pub fn principal(&self, connection: ConnectionId) -> Option<&str> {
        let known = self.connections.get(connection)?;
        Some(&known.principal)
    }

    /// The largest request that is taken from a connection now.
    #[must_use]
    pub fn frame_bytes_max(&self, connection: ConnectionId) -> usize {
        let most = self.request_bytes_max();
        if self.is_let_in(connection) {
            most
        } else {
            most.min(STRANGER_FRAME_BYTES_MAX)
        }
    }

    /// Begins an exchange, if the connection is where one may begin.
    pub(crate) fn begin_exchange(
        &mut self,
        connection: ConnectionId,
        mechanism: SaslMechanism,
        proving: ConnectionStage,
    ) {
        if let Some(known) = self.connections.get_mut(connection)
            && known.stage == ConnectionStage::Naming
        {
            known.stage = proving;
            known.exchange = Some(Exchange::new(mechanism));
        }
    }

    /// Takes a message of a connection's exchange; `None` when it has none.
    pub(crate) fn prove(&mut self, connection: ConnectionId, message: &[u8]) -> Option<Proof> {
        let logins = Logins {
            plain: &self.config.security.plain_users,
            scram: &self.image.scram_users,
            nonces: &*self.config.security.nonces,
        };
        let known: &mut ConnectionState = self.connections.get_mut(connection)?;
        Some(match known.exchange.as_mut()?.step(message, &logins) {
            Ok(SaslStep::Continue { token }) => Proof::Token(token),
            Ok(SaslStep::Done { token, user }) => {
                known.stage = ConnectionStage::Authenticated;
                known.principal = format!("User:{user}").into();
                known.exchange = None;
                Proof::Token(token)
            }
            Err(words) => {
                known.exchange = None;
                Proof::Refused(words)
            }
        })
    }
}
