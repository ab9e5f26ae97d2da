//! Room `results`.
