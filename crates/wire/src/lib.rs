//! Room `wire`.
pub mod compress;
pub mod record_batch;
