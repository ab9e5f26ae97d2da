//! The brokers without ApiVersions that were met.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::api_versions::ApiVersions;
use crate::config::Address;

/// The old brokers that were met, shared by all copies of a configuration: the detour is made once a
/// broker, not once a connection.
#[derive(Debug, Clone, Default)]
pub struct OldBrokers(Arc<Mutex<BTreeMap<String, ApiVersions>>>);

/// What was met says nothing about how two configurations differ.
impl PartialEq for OldBrokers {
    fn eq(&self, _other: &OldBrokers) -> bool {
        true
    }
}

impl Eq for OldBrokers {}

impl OldBrokers {
    /// What the broker at this address knows, if it is an old one that was met before.
    pub(super) fn known(&self, address: &Address) -> Option<ApiVersions> {
        let met = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        met.get(&address.to_string()).cloned()
    }

    pub(super) fn note(&self, address: &Address, versions: &ApiVersions) {
        let mut met = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        met.insert(address.to_string(), versions.clone());
    }

    /// It is gone, or another one: next time it is asked again.
    pub(super) fn forget(&self, address: &Address) {
        let mut met = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        met.remove(&address.to_string());
    }
}
