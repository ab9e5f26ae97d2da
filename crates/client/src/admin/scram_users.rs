//! AlterUserScramCredentials: SCRAM users (KIP-554, Kafka 2.7).

use std::num::NonZeroU32;

use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::AlterUserScramCredentialsRequest;
use kgauge_wire::messages::alter_user_scram_credentials::ScramCredentialUpsertion;
use kgauge_wire::scram::{ITERATIONS_MIN, ScramMechanism};
use ring::rand::{SecureRandom, SystemRandom};

use crate::cluster::{Cluster, ClusterError, FailedAttempt};

const SALT_BYTES: usize = 24;

impl Cluster {
    /// Creates a user, or changes its password. The brokers get a salted hash (RFC 5802, `SaltedPassword`), not the
    /// password.
    pub fn put_scram_user(
        &mut self,
        user: &str,
        mechanism: ScramMechanism,
        password: &str,
    ) -> Result<(), ClusterError> {
        let mut salt = [0; SALT_BYTES];
        SystemRandom::new()
            .fill(&mut salt)
            .map_err(|_| ClusterError::Refused {
                api: ApiKey::AlterUserScramCredentials,
                code: ErrorCode::UnknownServerError,
                message: Some("the operating system provides no random numbers".to_owned()),
            })?;
        // Kafka's minimum is enough: the password is random and lives for one run.
        let iterations = NonZeroU32::new(ITERATIONS_MIN).unwrap_or(NonZeroU32::MIN);
        let salted = mechanism.salted(password.as_bytes(), &salt, iterations);
        let request = AlterUserScramCredentialsRequest {
            upsertions: vec![ScramCredentialUpsertion {
                name: user.into(),
                mechanism: mechanism.number(),
                iterations: i32::try_from(ITERATIONS_MIN).unwrap_or(i32::MAX),
                salt: salt.as_slice().into(),
                salted_password: salted.as_slice().into(),
            }],
            ..AlterUserScramCredentialsRequest::default()
        };
        self.retrying("add a SCRAM user", |cluster, _| {
            // With ZooKeeper, only the controller does it.
            let broker_id = cluster.controller()?;
            let reply = cluster.call(broker_id, &request)?;
            let answer = reply.decode().map_err(ClusterError::from)?;
            let refused = answer.results.iter().find(|one| one.error_code != 0);
            match refused {
                None => Ok(()),
                Some(one) => Err(FailedAttempt::from(ClusterError::Refused {
                    api: ApiKey::AlterUserScramCredentials,
                    code: ErrorCode::from(one.error_code),
                    message: one.error_message.as_ref().map(ToString::to_string),
                })),
            }
        })
    }
}
