//! Room `broker`.
