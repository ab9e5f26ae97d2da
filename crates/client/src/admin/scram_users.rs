//! AlterUserScramCredentials: users who log in by SCRAM (KIP-554, Kafka 2.7).

use std::num::NonZeroU32;

use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::AlterUserScramCredentialsRequest;
use kgauge_wire::messages::alter_user_scram_credentials::ScramCredentialUpsertion;
use ring::pbkdf2;
use ring::rand::{SecureRandom, SystemRandom};
use zeroize::Zeroizing;

use crate::cluster::{Cluster, ClusterError, FailedAttempt};

/// The hash of a SCRAM mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScramHash {
    /// SCRAM-SHA-256.
    Sha256,
    /// SCRAM-SHA-512.
    Sha512,
}

impl ScramHash {
    /// Number in the protocol (`ScramMechanism` of Kafka), algorithm, bytes of a hash.
    fn facts(self) -> (i8, pbkdf2::Algorithm, usize) {
        match self {
            ScramHash::Sha256 => (1, pbkdf2::PBKDF2_HMAC_SHA256, 32),
            ScramHash::Sha512 => (2, pbkdf2::PBKDF2_HMAC_SHA512, 64),
        }
    }
}

/// Kafka's least (`ScramMechanism.minIterations`): the password is random, and lives for a run.
const ITERATIONS: u32 = 4_096;

const SALT_BYTES: usize = 24;

impl Cluster {
    /// Makes a user, or gives one another password. The brokers get a salted hash of it (RFC 5802,
    /// `SaltedPassword`), not the password.
    pub fn put_scram_user(
        &mut self,
        user: &str,
        hash: ScramHash,
        password: &str,
    ) -> Result<(), ClusterError> {
        let (mechanism, algorithm, bytes) = hash.facts();
        let mut salt = [0; SALT_BYTES];
        let mut salted = Zeroizing::new(vec![0; bytes]);
        let iterations = NonZeroU32::new(ITERATIONS).unwrap_or(NonZeroU32::MIN);
        SystemRandom::new()
            .fill(&mut salt)
            .map_err(|_| ClusterError::Refused {
                api: ApiKey::AlterUserScramCredentials,
                code: ErrorCode::UnknownServerError,
                message: Some("the operating system provides no random numbers".to_owned()),
            })?;
        pbkdf2::derive(
            algorithm,
            iterations,
            &salt,
            password.as_bytes(),
            &mut salted,
        );
        let request = AlterUserScramCredentialsRequest {
            upsertions: vec![ScramCredentialUpsertion {
                name: user.into(),
                mechanism,
                iterations: i32::try_from(ITERATIONS).unwrap_or(i32::MAX),
                salt: salt.as_slice().into(),
                salted_password: salted.as_slice().into(),
            }],
            ..AlterUserScramCredentialsRequest::default()
        };
        self.retrying("add a SCRAM user", |cluster, _| {
            // With ZooKeeper only the controller does it.
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
