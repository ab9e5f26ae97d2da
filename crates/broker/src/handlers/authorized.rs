//! The operations that a client may do, as bits: all of them, for no request is refused by rights.
//!
//! Bit n stands for the operation with code n of Kafka's `AclOperation`: READ 3, WRITE 4, CREATE 5,
//! DELETE 6, ALTER 7, DESCRIBE 8, CLUSTER_ACTION 9, DESCRIBE_CONFIGS 10, ALTER_CONFIGS 11,
//! IDEMPOTENT_WRITE 12.

/// What Kafka says to changes of access rights without an authorizer.
pub(super) const NO_AUTHORIZER: &str = "No Authorizer is configured.";

/// "Nobody asked."
pub(crate) const UNASKED: i32 = i32::MIN;

/// READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS.
pub(crate) const ON_TOPIC: i32 = 0b1101_1111_1000;

/// CREATE, ALTER, DESCRIBE, CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE.
pub(crate) const ON_CLUSTER: i32 = 0b1_1111_1010_0000;

/// READ, DELETE, DESCRIBE.
pub(crate) const ON_GROUP: i32 = 0b1_0100_1000;

/// `operations` when somebody asked for them.
pub(crate) fn if_asked(asked: bool, operations: i32) -> i32 {
    if asked { operations } else { UNASKED }
}
