//! Users who log in by SCRAM: only what recognises their passwords is kept.

use std::collections::BTreeMap;

use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::scram::{ITERATIONS_MAX, ITERATIONS_MIN};

use super::Controller;
use super::messages::{ControllerReply, Refusal, ScramChange};
use super::records::MetadataRecord;
use crate::security::{NonceSource, ScramCredential, ScramMechanism, User};

/// A change that can be made, or why not.
type Outcome = Result<MetadataRecord, Refusal>;

impl Controller {
    /// Makes the changes that can be made, all at once. A user occurs once in a request: Kafka's
    /// controller counts by name, whatever the mechanism.
    pub(super) fn alter_scram_users(&mut self, changes: Vec<ScramChange>) -> ControllerReply {
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let mut outcomes: Vec<(String, Outcome)> = Vec::with_capacity(changes.len());
        for change in changes {
            match places.get(&change.user) {
                // What was refused stays refused for that reason.
                Some(place) if outcomes[*place].1.is_err() => {}
                Some(place) => {
                    let words = "A user credential cannot be altered twice in the same request";
                    outcomes[*place].1 = Err(Refusal::new(ErrorCode::DuplicateResource, words));
                }
                None => {
                    places.insert(change.user.clone(), outcomes.len());
                    outcomes.push((change.user.clone(), self.changed_scram_user(&change)));
                }
            }
        }
        let possible = outcomes
            .iter()
            .filter_map(|(_, outcome)| outcome.clone().ok());
        let records: Vec<MetadataRecord> = possible.collect();
        if !records.is_empty()
            && let Err(refusal) = self.commit(records)
        {
            return ControllerReply::Failed(refusal);
        }
        let result = |(user, outcome): (String, Outcome)| (user, outcome.map(|_| ()));
        ControllerReply::AlterScramUsers(outcomes.into_iter().map(result).collect())
    }

    fn changed_scram_user(&self, change: &ScramChange) -> Outcome {
        let refuse = |code, words: &str| Err(Refusal::new(code, words));
        let user = change.user.clone();
        if user.is_empty() {
            return refuse(
                ErrorCode::UnacceptableCredential,
                "Username must not be empty",
            );
        }
        let Some(mechanism) = ScramMechanism::from_number(change.mechanism) else {
            let code = ErrorCode::UnsupportedSaslMechanism;
            return refuse(code, "Unknown SCRAM mechanism");
        };
        let Some(new) = &change.new else {
            let users = &self.metadata.image.scram_users;
            let known = users.get(&user).is_some_and(|c| c.contains_key(&mechanism));
            if !known {
                let words = "Attempt to delete a user credential that does not exist";
                return refuse(ErrorCode::ResourceNotFound, words);
            }
            return Ok(MetadataRecord::ScramUserDeleted { user, mechanism });
        };
        let rounds = u32::try_from(new.iterations).unwrap_or(0);
        let words = match rounds {
            ..ITERATIONS_MIN => "Too few iterations",
            ITERATIONS_MIN..=ITERATIONS_MAX => "",
            _ => "Too many iterations",
        };
        if !words.is_empty() {
            return refuse(ErrorCode::UnacceptableCredential, words);
        }
        let salted = new.salted_password.expose();
        if salted.is_empty() {
            return refuse(ErrorCode::UnacceptableCredential, "Empty salted password");
        }
        let credential = ScramCredential::of_salted(mechanism, salted, &new.salt, rounds);
        Ok(MetadataRecord::ScramUser {
            user,
            mechanism,
            credential,
        })
    }

    /// Sees to it that users who are given at the start may log in by these mechanisms. Who may
    /// already with the same password is left alone, so that a restart writes nothing.
    pub(crate) fn give_scram_users(
        &mut self,
        users: &[User],
        mechanisms: &[ScramMechanism],
        nonces: &dyn NonceSource,
    ) -> Result<(), Refusal> {
        let mut records = Vec::new();
        for user in users {
            for mechanism in mechanisms {
                let known = self.metadata.image.scram_users.get(&user.name);
                let known = known.and_then(|credentials| credentials.get(mechanism));
                let password = user.password.expose();
                if known.is_some_and(|credential| credential.is_of(*mechanism, password)) {
                    continue;
                }
                let salt = nonces.nonce().map_err(|error| {
                    Refusal::new(ErrorCode::UnknownServerError, error.to_string())
                })?;
                records.push(MetadataRecord::ScramUser {
                    user: user.name.clone(),
                    mechanism: *mechanism,
                    credential: ScramCredential::of_password(*mechanism, password, &salt),
                });
            }
        }
        if records.is_empty() {
            return Ok(());
        }
        self.commit(records)
    }
}
