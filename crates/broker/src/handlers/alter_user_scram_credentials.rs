//! `AlterUserScramCredentials` (key 51), version 0: users who log in by SCRAM, by way of the
//! controller. What comes is a salted hash of a password; what is kept does not let one log in.
//!
//! * A user that occurs twice in the request, with any mechanism: DUPLICATE_RESOURCE. Rounds
//!   outside of 4096 to 16384 and empty names: UNACCEPTABLE_CREDENTIAL. Unknown mechanisms:
//!   UNSUPPORTED_SASL_MECHANISM. Taking away what is not there: RESOURCE_NOT_FOUND.
//! * A connection that was let in stays, also when its user goes, as with Kafka.

use kgauge_wire::codec::Str;
use kgauge_wire::messages::alter_user_scram_credentials::{
    AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
};

use super::RequestBody;
use super::controller_decisions::{ControllerDecisions, error_fields};
use crate::controller::{ControllerReply, ControllerRequest, Refusal, ScramChange, ScramNew};
use crate::node::{BrokerNode, CloseReason, ControllerQuestion, PendingRequest, Reply};

/// The users that were named, for an answer that names none.
#[derive(Debug)]
pub(crate) struct PendingScramChange(Vec<String>);

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: AlterUserScramCredentialsRequest<'_> = body.decode(call.version())?;
    let deletions = request.deletions.iter().map(|deletion| ScramChange {
        user: deletion.name.to_string(),
        mechanism: deletion.mechanism,
        new: None,
    });
    let upsertions = request.upsertions.iter().map(|upsertion| ScramChange {
        user: upsertion.name.to_string(),
        mechanism: upsertion.mechanism,
        new: Some(ScramNew {
            iterations: upsertion.iterations,
            salt: upsertion.salt.to_vec(),
            salted_password: kgauge_wire::Secret::new(upsertion.salted_password.to_vec()),
        }),
    });
    let changes: Vec<ScramChange> = deletions.chain(upsertions).collect();
    let mut users: Vec<String> = changes.iter().map(|change| change.user.clone()).collect();
    users.sort_unstable();
    users.dedup();
    let asked = ControllerQuestion::AlterScramUsers(call.reply, PendingScramChange(users));
    node.ask(call.now, ControllerRequest::AlterScramUsers(changes), asked);
    Ok(())
}

impl PendingScramChange {
    /// Answers with the controller's results.
    pub(crate) fn finish(self, node: &mut BrokerNode, reply: Reply, answer: ControllerReply) {
        let results = match answer {
            ControllerReply::AlterScramUsers(results) => results,
            other => {
                let mut decided = ControllerDecisions::without_results(other);
                let users = self.0.into_iter();
                users.map(|user| (user, decided.next(None))).collect()
            }
        };
        let response = AlterUserScramCredentialsResponse {
            results: results.into_iter().map(entry).collect(),
            ..AlterUserScramCredentialsResponse::default()
        };
        node.respond(reply, &response);
    }
}

fn entry(
    (user, outcome): (String, Result<(), Refusal>),
) -> AlterUserScramCredentialsResult<'static> {
    let (error_code, error_message) = error_fields(outcome);
    AlterUserScramCredentialsResult {
        user: Str::Owned(user),
        error_code,
        error_message,
    }
}
