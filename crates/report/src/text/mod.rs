//! All sentences about figures and findings: typed values in, text out.
//!
//! One file for each kind of finding. Terminal, pages, Markdown and JSON show the same texts.

pub mod bottleneck;
pub mod capacity;
pub mod comparison;
pub mod driver;
pub(crate) mod event;
pub mod flow;
pub(crate) mod gate;
pub mod generator;
pub mod goal;
pub mod live;
pub mod partitions;
mod setting_names;
pub mod warning;
pub(crate) mod warning_kind;
