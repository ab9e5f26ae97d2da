//! Room `load`.
