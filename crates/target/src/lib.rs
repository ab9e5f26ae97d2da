//! Room `target`.
