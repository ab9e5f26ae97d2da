//! Room `client`.
pub mod config;
mod secret;
pub use config::{Address, ClientConfig, ConfigError, Settings};
pub use secret::Secret;
