//! How repeats and runs end.

/// How a repeat, or a run, ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepeatEnd {
    /// The next one can begin.
    Complete,
    /// The user stopped it.
    Interrupted,
}
