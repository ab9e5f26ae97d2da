//! Run folders from the first sample to the summary, whole and damaged.

#![allow(clippy::unwrap_used)] // All of this is tests.

mod answer;
mod answer_counts;
mod audit;
mod blame;
mod capacity;
mod compare;
mod damage;
mod drivers;
mod folder;
mod gate;
mod groups;
mod host;
mod intervals;
mod judge;
mod limit;
mod limit_causes;
mod limit_network;
mod made;
mod mirrors;
mod recorded;
mod resume;
mod shares;
mod sides;
mod steady;
mod summary;
mod texts;
mod tune;
mod verified;
mod wire;
mod work;
