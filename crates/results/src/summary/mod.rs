//! The summary.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
/// Summary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {}
