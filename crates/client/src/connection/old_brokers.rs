//! The known brokers without ApiVersions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::api_versions::ApiVersions;
use crate::config::Address;

/// The known brokers without ApiVersions, shared by all copies of a configuration: the detour is made once per broker,
/// not once per connection.
#[derive(Debug, Clone, Default)]
pub struct OldBrokers(Arc<Mutex<BTreeMap<String, ApiVersions>>>);

/// Two configurations do not differ by the brokers that they have met.
impl PartialEq for OldBrokers {
    fn eq(&self, _other: &OldBrokers) -> bool {
        true
    }
}

impl Eq for OldBrokers {}

impl OldBrokers {
    /// The API versions of the broker at this address, if it is a known old one.
    pub(super) fn known(&self, address: &Address) -> Option<ApiVersions> {
        self.lock().get(&address.to_string()).cloned()
    }

    pub(super) fn note(&self, address: &Address, versions: &ApiVersions) {
        self.lock().insert(address.to_string(), versions.clone());
    }

    /// The broker is gone or was replaced: next time it is examined again.
    pub(super) fn forget(&self, address: &Address) {
        self.lock().remove(&address.to_string());
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, ApiVersions>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_brokers_are_remembered_by_address_and_by_all_copies() {
        let address: Address = "a:1".parse().unwrap();
        let versions = ApiVersions::from_ranges([(0, 0, 1)]);
        let brokers = OldBrokers::default();
        let copy = brokers.clone();
        assert_eq!(copy.known(&address), None);
        brokers.note(&address, &versions);
        assert_eq!(copy.known(&address), Some(versions));
        copy.forget(&address);
        assert_eq!(brokers.known(&address), None);
    }
}
