//! Names and labels of objects.

use std::collections::BTreeMap;

use serde::Serialize;

/// Labels or annotations.
pub(crate) type LabelMap = BTreeMap<String, String>;

/// `ObjectMeta`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Meta {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) labels: LabelMap,
}
