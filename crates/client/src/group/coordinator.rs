//! The connection to the group's coordinator. The client looks up the coordinator, and does so again when it moves.

use std::ops::RangeInclusive;
use std::time::Duration;

use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::Request;

use super::error::GroupError;
use crate::cluster::{Cluster, ClusterError};
use crate::connection::{CallError, Connection, Decoded};
use crate::interrupt::Interrupt;

/// A member's own connection: joining blocks it while the group rebalances.
#[derive(Debug)]
pub(super) struct Coordinator {
    pub(super) cluster: Cluster,
    pub(super) group: String,
    link: Option<Connection>,
}

impl Coordinator {
    pub(super) fn new(cluster: Cluster, group: &str) -> Coordinator {
        Coordinator {
            cluster,
            group: group.to_owned(),
            link: None,
        }
    }

    /// The coordinator may have changed.
    pub(super) fn forget(&mut self) {
        self.link = None;
    }

    pub(super) fn set_interrupt(&mut self, interrupt: &Interrupt) {
        self.cluster.set_interrupt(interrupt.clone());
        if let Some(link) = &mut self.link {
            link.set_interrupt(interrupt.clone());
        }
    }

    /// The version of `api` that requests will have.
    pub(super) fn version(
        &mut self,
        api: ApiKey,
        versions: RangeInclusive<i16>,
    ) -> Result<i16, GroupError> {
        let version = self.link().map(|link| link.version(api, versions));
        match version {
            Ok(Ok(version)) => Ok(version),
            Ok(Err(CallError::Unsupported { theirs: None, .. })) if api == ApiKey::JoinGroup => {
                Err(GroupError::NoGroups {
                    group: self.group.clone(),
                })
            }
            Ok(Err(CallError::Unsupported { .. })) if api == ApiKey::ConsumerGroupHeartbeat => {
                Err(GroupError::NoConsumerProtocol {
                    group: self.group.clone(),
                })
            }
            Ok(Err(error)) => Err(self.failed(error.into())),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// One request and its response. After an error the next call looks up the coordinator again.
    pub(super) fn call<'a, R: Request<'a>>(
        &mut self,
        request: &R,
        version: i16,
        limit: Duration,
    ) -> Result<Decoded<R>, GroupError> {
        let called = self.link().and_then(|link| {
            let reply = link.call_between(request, version..=version, limit);
            reply.map_err(ClusterError::from)
        });
        called.map_err(|error| {
            self.forget();
            self.failed(error)
        })
    }

    /// The error of a failed request, with the group.
    pub(super) fn failed(&self, error: ClusterError) -> GroupError {
        GroupError::Cluster {
            group: self.group.clone(),
            error: Box::new(error),
        }
    }

    pub(super) fn refused(&self, api: ApiKey, code: ErrorCode) -> GroupError {
        GroupError::Refused {
            group: self.group.clone(),
            api,
            code,
        }
    }

    pub(super) fn outdated(&self, code: ErrorCode) -> GroupError {
        GroupError::Outdated {
            group: self.group.clone(),
            code,
        }
    }

    pub(super) fn nonsense(&self, what: impl Into<String>) -> GroupError {
        GroupError::Nonsense {
            group: self.group.clone(),
            what: what.into(),
        }
    }

    fn link(&mut self) -> Result<&mut Connection, ClusterError> {
        let link = match self.link.take().filter(Connection::is_usable) {
            Some(link) => link,
            None => {
                let broker_id = self.cluster.group_coordinator(&self.group)?;
                self.cluster.open(broker_id)?
            }
        };
        Ok(self.link.insert(link))
    }
}
