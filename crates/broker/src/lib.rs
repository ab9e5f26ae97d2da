//! Room `broker`.
pub mod log;
pub mod storage;
