//! All sentences about figures and findings: typed values in, text out.
//!
//! One file for each kind of finding. Terminal, pages, Markdown and JSON show the same texts.

pub mod ab;
pub mod agents;
pub mod answer;
pub mod bottleneck;
pub(crate) mod bottlenecks;
pub mod capacity;
pub mod checkup;
pub mod comparison;
pub(crate) mod conditions;
pub mod count_check;
pub mod driver;
pub(crate) mod event;
pub mod flow;
pub(crate) mod gate;
pub mod generator;
pub mod goal;
pub(crate) mod hot_broker;
pub mod live;
pub mod partitions;
pub(crate) mod published;
pub(crate) mod replicas;
pub(crate) mod series;
pub(crate) mod setting_names;
pub mod size;
pub mod target;
mod target_note;
pub(crate) mod trial;
pub mod tune;
pub mod verification;
pub mod warning;
pub(crate) mod warning_kind;
pub(crate) mod warning_line;
