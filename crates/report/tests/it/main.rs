//! Reports of real run folders: made by the recorder, read back, rendered.

// Nothing here is shipped; a test that cannot go on should stop at once.
#![allow(clippy::unwrap_used)]

mod answers;
mod compare;
mod compared;
mod effect_lists;
mod forms;
mod heat;
mod hostile;
mod live;
mod machine;
mod made;
mod metrics;
mod mutated;
mod page;
mod scenarios;
mod schema;
mod shared;
mod tags;
mod terminal;
mod traffic;
