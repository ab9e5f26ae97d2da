//! One open connection to each broker, opened when first needed and again after it broke.

use std::collections::BTreeMap;
use std::time::Instant;

use super::error::ClusterError;
use super::metadata::{Broker, MetadataView};
use crate::backoff::Backoff;
use crate::config::{Address, ClientConfig};
use crate::connection::{ConnectError, Connection};
use crate::interrupt::Interrupt;

#[derive(Debug, Default)]
pub(super) struct Pool {
    brokers: BTreeMap<i32, Slot>,
}

#[derive(Debug)]
struct Slot {
    address: Address,
    connection: Option<Connection>,
    /// There was a connection to the same address before.
    was_up: bool,
    /// Set while the broker cannot be reached: the growing pause, and its end.
    trouble: Option<(Backoff, Instant)>,
}

impl Pool {
    /// Whether a broker can be asked without connecting first.
    pub(super) fn has(&self, broker_id: i32) -> bool {
        let slot = self.brokers.get(&broker_id);
        slot.and_then(|slot| slot.connection.as_ref())
            .is_some_and(Connection::is_usable)
    }

    /// The connection to a broker, opened if necessary.
    pub(super) fn connection(
        &mut self,
        broker: &Broker,
        config: &ClientConfig,
        interrupt: &Interrupt,
        deadline: Instant,
    ) -> Result<&mut Connection, ClusterError> {
        let slot = self.brokers.entry(broker.id).or_insert_with(|| Slot {
            address: broker.address.clone(),
            connection: None,
            was_up: false,
            trouble: None,
        });
        let usable = slot.connection.take().filter(|open| {
            let fresh = config
                .connection_idle_max
                .is_none_or(|max| open.idle() < max);
            fresh && open.is_usable() && slot.address == broker.address
        });
        let connection = match usable {
            Some(open) => open,
            None => slot.open(broker, config, interrupt, deadline)?,
        };
        Ok(slot.connection.insert(connection))
    }

    /// Whether there was a connection to a broker at this address.
    pub(super) fn was_up(&self, broker_id: i32, address: &Address) -> bool {
        let slot = self.brokers.get(&broker_id);
        slot.is_some_and(|slot| slot.was_up && slot.address == *address)
    }

    /// Forgets brokers that the cluster no longer lists.
    pub(super) fn keep(&mut self, metadata: &MetadataView) {
        self.brokers.retain(|&id, _| metadata.broker(id).is_some());
    }

    pub(super) fn set_interrupt(&mut self, interrupt: &Interrupt) {
        for connection in self
            .brokers
            .values_mut()
            .filter_map(|slot| slot.connection.as_mut())
        {
            connection.set_interrupt(interrupt.clone());
        }
    }

    /// The metadata from the first bootstrap server that answers; each is tried once.
    pub(super) fn bootstrap(
        &mut self,
        config: &ClientConfig,
        interrupt: &Interrupt,
        topics: &[String],
        deadline: Instant,
    ) -> Result<MetadataView, ClusterError> {
        let mut attempts = Vec::new();
        for address in &config.bootstrap_servers {
            let left = deadline.saturating_duration_since(Instant::now());
            let limit = config.connection_setup_timeout.min(left);
            let found = Connection::connect_within(address, config, limit, interrupt)
                .map_err(ClusterError::Bootstrap)
                .and_then(|mut connection| {
                    let metadata = super::ask(&mut connection, topics, config.request_timeout)?;
                    Ok((connection, metadata))
                });
            match found {
                Ok((connection, metadata)) => {
                    self.keep(&metadata);
                    self.adopt(connection, &metadata);
                    return Ok(metadata);
                }
                Err(_) if interrupt.is_raised() => return Err(ClusterError::Interrupted),
                Err(error) => attempts.push(error),
            }
        }
        Err(ClusterError::NoServer { attempts })
    }

    /// Keeps a bootstrap connection if the server advertises the same address.
    fn adopt(&mut self, connection: Connection, metadata: &MetadataView) {
        let same = |broker: &&Broker| broker.address == *connection.address();
        if let Some(broker) = metadata.brokers.iter().find(same) {
            let address = broker.address.clone();
            let slot = Slot {
                address,
                connection: Some(connection),
                was_up: true,
                trouble: None,
            };
            self.brokers.insert(broker.id, slot);
        }
    }
}

impl Slot {
    /// Connects, after the pause that earlier failures require, and with a matching time limit.
    fn open(
        &mut self,
        broker: &Broker,
        config: &ClientConfig,
        interrupt: &Interrupt,
        deadline: Instant,
    ) -> Result<Connection, ClusterError> {
        if self.address != broker.address {
            self.address = broker.address.clone();
            self.was_up = false;
            self.trouble = None;
        }
        if let Some((_, not_before)) = &self.trouble {
            interrupt.sleep(
                not_before.saturating_duration_since(Instant::now()),
                deadline,
            );
        }
        let failures = self
            .trouble
            .as_ref()
            .map_or(0, |(backoff, _)| backoff.attempts());
        let doubled = config
            .connection_setup_timeout
            .saturating_mul(1 << failures.min(16));
        let patience = doubled.min(config.connection_setup_timeout_max);
        let limit = patience.min(deadline.saturating_duration_since(Instant::now()));
        let opened = Connection::connect_within(&broker.address, config, limit, interrupt);
        match opened {
            Ok(connection) => {
                self.trouble = None;
                self.was_up = true;
                Ok(connection)
            }
            Err(ConnectError::Interrupted { .. }) => Err(ClusterError::Interrupted),
            // Nothing was tried, so nothing is known about the broker.
            Err(error @ ConnectError::NoTime { .. }) => Err(ClusterError::Connect {
                broker_id: broker.id,
                was_up: self.was_up,
                error,
            }),
            Err(error) => {
                let backoff = self.trouble.take().map(|(backoff, _)| backoff);
                let mut backoff = backoff.unwrap_or_else(|| {
                    Backoff::new(config.reconnect_backoff, config.reconnect_backoff_max)
                });
                let not_before = Instant::now() + backoff.pause();
                self.trouble = Some((backoff, not_before));
                Err(ClusterError::Connect {
                    broker_id: broker.id,
                    was_up: self.was_up,
                    error,
                })
            }
        }
    }
}
