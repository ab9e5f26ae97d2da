//! Every key that a scenario or a study may have: one table for each kind of map, with the rules that combine keys.

pub(crate) mod audit;
pub(crate) mod consumer;
pub(crate) mod faults;
pub(crate) mod figures;
pub(crate) mod flow;
pub(crate) mod kafka_names;
pub(crate) mod producer;
pub(crate) mod record;
pub(crate) mod scenario;
pub(crate) mod search;
pub(crate) mod shape;
pub(crate) mod stages;
pub(crate) mod study;
pub(crate) mod target;
pub(crate) mod topic;
