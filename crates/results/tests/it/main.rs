//! Run folders from the first sample to the summary, whole and damaged.

#![allow(clippy::unwrap_used)] // All of this is tests.

mod audit;
mod compare;
mod damage;
mod folder;
mod made;
mod schema;
mod summary;
