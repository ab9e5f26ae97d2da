//! Rules that no compiler checks: dependencies between crates, names, sizes, file heads, packages.

#![allow(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

#[path = "house/cycles.rs"]
mod cycles;
#[path = "house/identifiers.rs"]
mod identifiers;
#[path = "house/sentences.rs"]
mod sentences;

/// Who may use whom; `cli` (package `kgauge`) and `xtask` may use all.
const ARROWS: &[(&str, &[&str])] = &[
    ("wire", &[]),
    ("faults", &[]),
    ("scenario", &["faults"]),
    ("client", &["wire"]),
    ("broker", &["faults", "wire"]),
    ("results", &["scenario"]),
    ("verify", &["faults", "results", "scenario"]),
    ("kubernetes", &["client", "wire"]),
    ("load", &["client", "wire", "scenario", "results", "verify"]),
    ("observe", &["client", "results"]),
    (
        "agents",
        &["client", "load", "observe", "results", "scenario", "wire"],
    ),
    ("simulation", &["broker", "results", "verify", "wire"]),
    ("target", &["broker", "client", "faults", "scenario"]),
    ("analyze", &["results", "scenario"]),
    ("report", &["analyze", "results", "scenario"]),
    ("audit", &["analyze", "scenario"]),
    (
        "runner",
        &[
            "agents",
            "analyze",
            "audit",
            "client",
            "kubernetes",
            "load",
            "observe",
            "report",
            "results",
            "scenario",
            "target",
            "verify",
            "wire",
        ],
    ),
    (
        "live",
        &["analyze", "load", "report", "results", "runner", "scenario"],
    ),
    (
        "truth",
        &[
            "analyze", "client", "observe", "results", "runner", "scenario", "target", "wire",
        ],
    ),
    (
        "tools",
        &["client", "wire", "scenario", "load", "report", "results"],
    ),
];

const FILE_LINES_MAX: usize = 600;

/// rustfmt leaves comments and strings alone.
const COMMENT_COLUMNS_MAX: usize = 120;

const PACKAGES_MAX: usize = 225;

/// Type names that every crate may use for its own: they mean the same everywhere.
const SHARED_TYPE_NAMES: [&str; 3] = ["Error", "Iter", "Kind"];

/// Names that say nothing about the thing: participles, and metaphors that need a glossary.
const BANNED_TYPE_NAMES: [&str; 38] = [
    "Asked", "Asker", "Begun", "Blow", "Board", "Chosen", "Clerk", "Course", "Desk", "Ended",
    "Found", "Given", "Ground", "Grounds", "Known", "Look", "Looker", "Made", "Measured", "Moved",
    "Named", "Noted", "Part", "Place", "Put", "Refused", "Room", "Said", "Seat", "Seen", "Shown",
    "Site", "Taken", "Told", "Typed", "Wanted", "Whole", "Word",
];

/// Functions are verbs that say what they do. Words that may name nothing at all are in `house/identifiers.rs`.
const BANNED_FUNCTION_NAMES: [&str; 8] = [
    "cure", "heal", "look", "looks", "say", "strike", "suit", "whose",
];

/// Words of earlier names that may not come back as the end of a longer one.
const BANNED_TYPE_ENDINGS: [&str; 3] = ["Look", "Looks", "Board"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the root")
        .to_owned()
}

/// Hand-written Rust files of the product and its tools, tests included: path and text.
fn sources() -> Vec<(String, String)> {
    let mut paths = Vec::new();
    for part in [
        "crates",
        "xtask/src",
        "xtask/tests",
        "fuzz/fuzz_targets",
        "fuzz/src",
    ] {
        collect(&root().join(part), &mut paths);
    }
    assert!(paths.len() > 100, "the search has lost its way");
    for (name, _) in ARROWS {
        let library = root().join("crates").join(name).join("src/lib.rs");
        assert!(paths.contains(&library), "crate {name} is not searched");
    }
    let read = |path: &PathBuf| (short(path), fs::read_to_string(path).unwrap());
    let mut sources: Vec<_> = paths.iter().map(read).collect();
    sources.retain(|(_, text)| !is_generated(text));
    sources
}

fn collect(dir: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            // Cargo marks its folders so; the crate `target` has the same name.
            if !path.join("CACHEDIR.TAG").exists() {
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

/// The code of a file without what is compiled for tests only, wherever that is in the file. Relies on rustfmt: an item
/// ends at its own indentation.
fn product_code(text: &str) -> String {
    let mut code = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            code.push_str(line);
            code.push('\n');
            continue;
        }
        let indentation = &line[..line.len() - line.trim_start().len()];
        let mut is_first = true;
        for line in lines.by_ref() {
            let Some(item) = line.strip_prefix(indentation) else {
                continue;
            };
            if item.starts_with("#[") || item.starts_with("///") {
                continue;
            }
            let is_whole = is_first && item.ends_with([';', '}', ',']);
            let is_end = item.starts_with('}') || item.starts_with(')') && item.ends_with(';');
            is_first = false;
            if is_whole || is_end {
                break;
            }
        }
    }
    code
}

/// The names that follow a keyword at the start of an item, with whether the item is visible outside of its module.
fn declared<'a>(code: &'a str, keywords: &[&str]) -> Vec<(&'a str, bool)> {
    let mut found = Vec::new();
    for line in code.lines().map(str::trim_start) {
        let (is_visible, item) = match line.strip_prefix("pub") {
            Some(rest) => match rest.strip_prefix('(') {
                Some(scope) => (true, scope.split_once(") ").map_or("", |(_, item)| item)),
                None => (true, rest.trim_start()),
            },
            None => (false, line),
        };
        let item = item.strip_prefix("const ").unwrap_or(item);
        let name = keywords
            .iter()
            .find_map(|keyword| item.strip_prefix(keyword));
        let ends = |letter: char| !letter.is_alphanumeric() && letter != '_';
        let name = name.and_then(|rest| rest.split(ends).next());
        found.extend(
            name.filter(|name| !name.is_empty())
                .map(|name| (name, is_visible)),
        );
    }
    found
}

/// Hand-written code of the product and its tools, tests left out: path and code.
fn hand_written() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (name, text) in sources() {
        let is_test = name.contains("/tests/") || name.ends_with("/tests.rs");
        if name.contains("/src/") && !is_test {
            found.push((name, product_code(&text)));
        }
    }
    found
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
fn crates_use_only_what_the_map_allows() {
    let allowed: BTreeMap<&str, &[&str]> = ARROWS.iter().copied().collect();
    for package in metadata().packages {
        let Some(user) = package.name.strip_prefix("kgauge-") else {
            continue;
        };
        let may_use = allowed
            .get(user)
            .unwrap_or_else(|| panic!("crate {user} is not on the map"));
        for dependency in &package.dependencies {
            let is_normal = dependency.kind == cargo_metadata::DependencyKind::Normal;
            let Some(used) = dependency.name.strip_prefix("kgauge-") else {
                continue;
            };
            assert!(
                !is_normal || may_use.contains(&used),
                "{user} may not use {used}"
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
    for (name, text) in sources() {
        let lines = text.lines().count();
        assert!(
            lines <= FILE_LINES_MAX,
            "{name} has {lines} lines; at most {FILE_LINES_MAX}"
        );
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    for (name, text) in sources() {
        let opens = text.trim_start().starts_with("//!");
        assert!(opens, "{name} does not open with a `//!` sentence");
    }
}

#[test]
fn every_crate_states_goals_and_non_goals() {
    for (name, _) in ARROWS {
        let path = root().join("crates").join(name).join("src/lib.rs");
        let text = fs::read_to_string(path).unwrap().to_lowercase();
        let head: String = text
            .lines()
            .take_while(|line| line.starts_with("//!"))
            .collect();
        for word in ["goals", "non-goals"] {
            assert!(
                head.contains(word),
                "the head of {name} does not state its {word}"
            );
        }
        assert!(
            head.contains("start"),
            "the head of {name} does not say where to start"
        );
    }
}

/// Whether comments contain an example that rustdoc would compile.
fn has_doctest(text: &str) -> bool {
    let mut is_open = false;
    for line in text.lines().map(str::trim_start) {
        let comment = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"));
        let Some(comment) = comment else {
            is_open = false;
            continue;
        };
        if let Some(language) = comment.trim_start().strip_prefix("```") {
            if !is_open && ["", "no_run", "rust"].contains(&language) {
                return true;
            }
            is_open = !is_open;
        }
    }
    false
}

/// rustdoc reads a whole crate to find that it has none, which takes a second or two.
#[test]
fn doctests_are_on_exactly_where_there_are_some() {
    let sources = sources();
    for package in metadata().packages {
        let Some(library) = package.targets.iter().find(|target| target.is_lib()) else {
            continue;
        };
        let path = short(library.src_path.as_std_path());
        let folder = path.trim_end_matches("lib.rs");
        let mut files = sources.iter().filter(|(name, _)| name.starts_with(folder));
        let expected = files.any(|(_, text)| has_doctest(text));
        assert_eq!(
            library.doctest, expected,
            "set doctest of [lib] in the Cargo.toml of {}",
            package.name
        );
    }
}

#[test]
fn code_for_tests_is_cut_out_wherever_it_is() {
    let text = "use a;\n#[cfg(test)]\nuse b;\nfn c() {}\n#[cfg(test)]\nmod d {\n    fn e() {}\n}\nfn f() {}\n\
                impl G {\n    #[cfg(test)]\n    fn h() {\n        i();\n    }\n    fn j() {}\n}\n#[cfg(test)]\nfn k() {}\nl();\n";
    let left = "use a;\nfn c() {}\nfn f() {}\nimpl G {\n    fn j() {}\n}\nl();\n";
    assert_eq!(product_code(text), left);
}

#[test]
fn declarations_are_found_with_their_visibility() {
    let code = "pub struct A<T>(T);\n    pub(in crate::b) enum C {}\nstruct D;\npub const fn e() {}\n// struct F\n";
    assert_eq!(
        declared(code, &["struct ", "enum "]),
        [("A", true), ("C", true), ("D", false)]
    );
    assert_eq!(declared(code, &["fn "]), [("e", true)]);
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
    for (name, code) in hand_written() {
        let edges = ["crates/cli/", "xtask/", "fuzz/"];
        if edges.iter().any(|edge| name.starts_with(edge)) {
            continue;
        }
        for word in banned {
            assert!(!code.contains(word), "{name} uses {word}: only cli may");
        }
    }
}

#[test]
fn a_type_name_means_one_thing() {
    let mut homes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, code) in hand_written() {
        for (type_name, is_visible) in declared(&code, &["struct ", "enum ", "trait "]) {
            if is_visible && !SHARED_TYPE_NAMES.contains(&type_name) {
                homes
                    .entry(type_name.to_owned())
                    .or_default()
                    .push(name.clone());
            }
        }
    }
    assert!(homes.len() > 500, "the search has lost its way");
    homes.retain(|_, homes| homes.len() > 1);
    assert!(homes.is_empty(), "types that share a name: {homes:#?}");
}

#[test]
fn names_say_what_a_thing_is_or_does() {
    let mut found = Vec::new();
    for (name, code) in hand_written() {
        for (type_name, _) in declared(&code, &["struct ", "enum ", "trait "]) {
            let ends = BANNED_TYPE_ENDINGS
                .iter()
                .any(|end| type_name.ends_with(end));
            if BANNED_TYPE_NAMES.contains(&type_name) || ends {
                found.push(format!("{name}: {type_name}"));
            }
        }
        for (function, _) in declared(&code, &["fn "]) {
            if BANNED_FUNCTION_NAMES.contains(&function) {
                found.push(format!("{name}: {function}()"));
            }
        }
    }
    assert!(
        found.is_empty(),
        "docs/internals/glossary.md has better names: {found:#?}"
    );
}

#[test]
fn comments_fit_into_the_width_of_a_page() {
    let mut found = Vec::new();
    for (name, text) in sources() {
        for (number, line) in text.lines().enumerate() {
            let is_comment = line.trim_start().starts_with("//");
            if is_comment && line.chars().count() > COMMENT_COLUMNS_MAX {
                found.push(format!("{name}:{}", number + 1));
            }
        }
    }
    assert!(
        found.is_empty(),
        "more than {COMMENT_COLUMNS_MAX} columns: {found:#?}"
    );
}

#[test]
fn the_lock_file_stays_small() {
    let text = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let packages = text.matches("[[package]]").count();
    assert!(
        packages <= PACKAGES_MAX,
        "{packages} packages; at most {PACKAGES_MAX}"
    );
}

#[test]
fn no_file_or_folder_is_for_odds_and_ends() {
    let banned = [
        "util", "utils", "helper", "helpers", "manager", "misc", "common",
    ];
    for (name, _) in sources() {
        let stem = name.trim_end_matches(".rs");
        for part in stem.split('/') {
            assert!(
                !banned.contains(&part),
                "{name} needs a name that says what it holds"
            );
        }
    }
}

#[test]
fn every_page_that_the_map_names_is_there() {
    for page in [
        "README.md",
        "CONTRIBUTING.md",
        "ARCHITECTURE.md",
        "STYLE.md",
        "CHANGELOG.md",
        "LICENSE",
        "docs/internals/embedded-cluster.md",
        "docs/internals/glossary.md",
        "docs/internals/interop.md",
        "docs/internals/run-folder.md",
        "docs/internals/writing.md",
        "docs/guide/README.md",
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
