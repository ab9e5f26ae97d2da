//! Room `broker`.
pub mod log;
pub mod storage;

pub mod controller;
mod groups;
pub mod handlers;
pub mod ids;
pub mod image;
pub mod node;
pub mod random;
pub mod settings;
pub mod time;
mod timers;
