//! Recorder tests.
