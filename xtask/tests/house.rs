//! The house rules that no compiler knows: arrows between rooms, words, sizes, heads, dependencies.

#![allow(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Who may use whom; `cli` (package `kgauge`) and `xtask` may use all.
const ARROWS: &[(&str, &[&str])] = &[
    ("wire", &[]),
    ("scenario", &[]),
    ("client", &["wire"]),
    ("broker", &["wire"]),
    ("results", &["scenario"]),
    ("load", &["client", "wire", "scenario", "results"]),
    ("observe", &["client", "results"]),
    ("target", &["broker", "client", "scenario"]),
    ("report", &["results"]),
    ("audit", &["results"]),
];

const FILE_LINES_MAX: usize = 600;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the root")
        .to_owned()
}

/// Hand-written Rust files of the product and its tools.
fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for part in ["crates", "xtask/src", "xtask/tests", "fuzz/fuzz_targets"] {
        collect(&root().join(part), &mut found);
    }
    assert!(found.len() > 100, "the walk has lost its way");
    found
}

fn collect(dir: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                collect(&path, found);
            }
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

fn is_generated(text: &str) -> bool {
    text.lines()
        .take(5)
        .any(|line| line.contains("cargo xtask codegen"))
}

fn short(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap_or(path)
        .display()
        .to_string()
}

/// The code of a file without its unit tests, which stand at its end.
fn product_code(text: &str) -> &str {
    text.find("#[cfg(test)]").map_or(text, |at| &text[..at])
}

fn metadata() -> cargo_metadata::Metadata {
    let mut command = cargo_metadata::MetadataCommand::new();
    command
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .unwrap()
}

#[test]
fn rooms_use_only_what_the_map_allows() {
    let allowed: BTreeMap<&str, &[&str]> = ARROWS.iter().copied().collect();
    for package in metadata().packages {
        let Some(room) = package.name.strip_prefix("kgauge-") else {
            continue;
        };
        let may_use = allowed
            .get(room)
            .unwrap_or_else(|| panic!("room {room} is not on the map"));
        for dependency in &package.dependencies {
            let is_normal = dependency.kind == cargo_metadata::DependencyKind::Normal;
            let Some(used) = dependency.name.strip_prefix("kgauge-") else {
                continue;
            };
            assert!(
                !is_normal || may_use.contains(&used),
                "{room} may not use {used}"
            );
        }
    }
}

#[test]
fn every_direct_dependency_has_its_line() {
    let text = fs::read_to_string(root().join("docs/decisions/dependencies.md")).unwrap();
    let explained: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name)
        .collect();
    let packages = metadata().packages;
    let used: BTreeSet<&str> = packages
        .iter()
        .flat_map(|package| &package.dependencies)
        .map(|dependency| dependency.name.as_str())
        .filter(|name| !name.starts_with("kgauge-"))
        .collect();
    let missing: Vec<_> = used.difference(&explained).collect();
    let stale: Vec<_> = explained.difference(&used).collect();
    assert!(
        missing.is_empty(),
        "without a line in dependencies.md: {missing:?}"
    );
    assert!(stale.is_empty(), "explained but not used: {stale:?}");
}

#[test]
fn no_package_is_a_pre_release() {
    let text = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let versions = text
        .lines()
        .filter_map(|line| line.strip_prefix("version = \""));
    let early: Vec<&str> = versions
        .filter_map(|rest| rest.split(['"', '+']).next())
        .filter(|version| version.contains('-'))
        .collect();
    assert!(early.is_empty(), "pre-releases in Cargo.lock: {early:?}");
}

#[test]
fn files_are_of_a_size_that_can_be_read() {
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().count();
        assert!(
            lines <= FILE_LINES_MAX || is_generated(&text),
            "{} has {lines} lines; at most {FILE_LINES_MAX}",
            short(&path)
        );
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        let opens = text.trim_start().starts_with("//!") || is_generated(&text);
        assert!(
            opens,
            "{} does not open with a `//!` sentence",
            short(&path)
        );
    }
}

#[test]
fn every_room_states_goals_and_non_goals() {
    for (room, _) in ARROWS {
        let path = root().join("crates").join(room).join("src/lib.rs");
        let text = fs::read_to_string(path).unwrap().to_lowercase();
        let head: String = text
            .lines()
            .take_while(|line| line.starts_with("//!"))
            .collect();
        for word in ["goals", "non-goals"] {
            assert!(
                head.contains(word),
                "the head of {room} does not state its {word}"
            );
        }
        assert!(
            head.contains("start"),
            "the head of {room} does not say where to start"
        );
    }
}

#[test]
fn only_the_edges_print_exit_or_read_the_environment() {
    let banned = [
        "println!",
        "eprintln!",
        "print!(",
        "process::exit",
        "env::var",
        "env::args",
        "anyhow::",
    ];
    for path in sources() {
        let name = short(&path);
        let is_edge = ["crates/cli/", "xtask/", "fuzz/"]
            .iter()
            .any(|edge| name.starts_with(edge));
        let is_product = name.contains("/src/");
        if is_edge || !is_product {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for word in banned {
            assert!(
                !product_code(&text).contains(word),
                "{name} uses {word}: only cli may"
            );
        }
    }
}

#[test]
fn no_file_is_a_drawer_for_odds_and_ends() {
    for path in sources() {
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        for word in [
            "util", "utils", "helper", "helpers", "manager", "misc", "common",
        ] {
            assert_ne!(
                name,
                word,
                "{} wants a name that says what it holds",
                short(&path)
            );
        }
    }
}

#[test]
fn every_page_that_the_map_names_is_there() {
    for page in [
        "README.md",
        "ARCHITECTURE.md",
        "STYLE.md",
        "CHANGELOG.md",
        "LICENSE",
        "docs/internals/embedded-cluster.md",
        "docs/internals/interop.md",
        "docs/internals/run-folder.md",
        "docs/guide/scenario.md",
        "docs/guide/report.md",
        "docs/guide/client-properties.md",
        "docs/guide/drop-in-tools.md",
        "crates/broker/NOT_DONE.md",
        "fuzz/README.md",
    ] {
        assert!(root().join(page).is_file(), "{page} is missing");
    }
}
