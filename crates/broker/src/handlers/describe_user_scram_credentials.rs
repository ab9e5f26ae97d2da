//! `DescribeUserScramCredentials` (key 50), version 0: who may log in by SCRAM, by which mechanisms
//! and with how many rounds. The answer never contains keys or salts.
//!
//! * No users named: all of them. A user named twice: DUPLICATE_RESOURCE; one without credentials:
//!   RESOURCE_NOT_FOUND.

use std::collections::BTreeMap;
use std::sync::Arc;

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::describe_user_scram_credentials::{
    CredentialInfo, DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
};

use super::RequestBody;
use crate::node::{BrokerNode, CloseReason, PendingRequest};

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: DescribeUserScramCredentialsRequest<'_> = body.decode(call.version())?;
    let image = Arc::clone(&node.image);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    match request.users.as_deref().unwrap_or_default() {
        [] => counts.extend(image.scram_users.keys().map(|user| (user.as_str(), 1))),
        users => {
            for user in users {
                *counts.entry(&user.name).or_default() += 1;
            }
        }
    }
    let describe = |(user, count): (&&str, &usize)| {
        let none = |code: ErrorCode, words: String| DescribeUserScramCredentialsResult {
            user: Str::Owned((*user).to_owned()),
            error_code: code.as_i16(),
            error_message: Some(Str::Owned(words)),
            credential_infos: Vec::new(),
        };
        if *count > 1 {
            let words = "Cannot describe SCRAM credentials for the same user twice in a single \
                         request: ";
            return none(ErrorCode::DuplicateResource, format!("{words}{user}"));
        }
        let Some(credentials) = image.scram_users.get(*user) else {
            let words = "Attempt to describe a user credential that does not exist: ";
            return none(ErrorCode::ResourceNotFound, format!("{words}{user}"));
        };
        let infos = credentials
            .iter()
            .map(|(mechanism, credential)| CredentialInfo {
                mechanism: mechanism.number(),
                iterations: i32::try_from(credential.iterations()).unwrap_or(i32::MAX),
            });
        DescribeUserScramCredentialsResult {
            user: Str::Owned((*user).to_owned()),
            error_message: None,
            credential_infos: infos.collect(),
            ..DescribeUserScramCredentialsResult::default()
        }
    };
    let forced = node.faults.forced;
    let response = DescribeUserScramCredentialsResponse {
        error_code: forced.map_or(0, ErrorCode::as_i16),
        error_message: None,
        results: match forced {
            Some(_) => Vec::new(),
            None => counts.iter().map(describe).collect(),
        },
        ..DescribeUserScramCredentialsResponse::default()
    };
    node.respond(call.reply, &response);
    Ok(())
}
