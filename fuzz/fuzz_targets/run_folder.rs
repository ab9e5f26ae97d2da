//! A file of a run folder, whatever is in it: the first byte says which, the rest is its content. Everything else of
//! the folder is whole, so that readers get far.

#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use kgauge_fuzz::run_folder;
use kgauge_report::{
    TerminalStyle, render_comparison_html, render_comparison_markdown, render_csv, render_html,
    render_markdown, render_terminal,
};
use kgauge_analyze::{RunToCompare, Series, Summary, compare};
use kgauge_results::RunRead;
use libfuzzer_sys::fuzz_target;

/// The folder of this process, made once.
fn folder() -> &'static PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        // Kept as long as the process: libFuzzer ends it without unwinding.
        let dir = tempfile::tempdir().expect("a temporary folder").keep();
        run_folder::make(&dir).expect("a run folder");
        dir
    })
}

fuzz_target!(|input: &[u8]| {
    let Some((path, bytes)) = run_folder::choose(input) else {
        return;
    };
    let file = folder().join(path);
    let kept = fs::read(&file).expect("it is there");
    fs::write(&file, bytes).expect("a full disk?");
    look();
    fs::write(&file, kept).expect("a full disk?");
});

fn look() {
    let run = match RunRead::open(folder()) {
        Ok(run) => run,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let summary = Summary::of(&run);
    Series::of(&run, 0);
    let pages = [render_html(&run, &summary), {
        let one = RunToCompare {
            run: &run,
            summary: &summary,
        };
        let comparison = compare(&[one, one], 0).expect("two runs can be compared");
        let comment = render_comparison_markdown(&comparison);
        assert!(comment.len() <= 60_000);
        render_comparison_html(&comparison)
    }];
    for page in pages {
        assert!(page.len() < 8 << 20, "{} bytes", page.len());
        // The page's own: one block of data and one script.
        assert!(page.matches("<script").count() <= 2);
    }
    assert!(render_markdown(&run, &summary).len() <= 60_000);
    let text = render_terminal(&run, &summary, TerminalStyle::default());
    assert!(!text.contains('\u{1b}'));
    render_csv(&run, &summary);
}
