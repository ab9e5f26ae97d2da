//! The two run folders that most tests look at, made once.

use std::sync::LazyLock;

use kgauge_analyze::Summary;
use kgauge_results::RunRead;
use tempfile::TempDir;

use crate::made::{CALM, End, make};
use crate::scenarios;

/// A run folder, read.
pub(crate) struct Made {
    pub(crate) run: RunRead,
    pub(crate) summary: Summary,
    _keep: TempDir,
}

fn made(end: End) -> Made {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let (run, summary) = make(
        &dir,
        Some(scenarios::study()),
        &scenarios::all(),
        &CALM,
        end,
    );
    Made {
        run,
        summary,
        _keep: keep,
    }
}

/// A run that went well.
pub(crate) fn complete() -> &'static Made {
    static MADE: LazyLock<Made> = LazyLock::new(|| made(End::Complete));
    &MADE
}

/// A run that was killed in its last repeat.
pub(crate) fn killed() -> &'static Made {
    static MADE: LazyLock<Made> = LazyLock::new(|| made(End::Killed));
    &MADE
}
