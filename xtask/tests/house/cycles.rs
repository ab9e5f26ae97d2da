//! Module cycles: files of one crate that use each other can only be understood, moved and tested together.
//!
//! A file is a node; `mod.rs` and `lib.rs` stand for their folder's own module. Paths that begin with `crate::` or
//! `super::`, in `use` trees and in code, are edges. Re-exports are followed to the file that declares the name, so a
//! module that only declares and re-exports its children is in no cycle. A parent reaches its own children by relative
//! paths, which are no edges: a type split over a folder (`impl Node` in `node/*.rs`) is one unit on purpose.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::{collect, is_generated, product_code, root};

/// Lower this whenever a cycle is broken.
const CYCLES_MAX: usize = 2;

type Module = Vec<String>;

/// A path that a file mentions, with the name it gets there by `use`.
struct Mention {
    path: Vec<String>,
    /// As what a `use` imports it.
    name: Option<String>,
    is_export: bool,
}

type Mentions = BTreeMap<Module, Vec<Mention>>;

#[test]
fn modules_that_use_each_other_become_fewer() {
    let mut cycles = Vec::new();
    let mut sources: Vec<_> = fs::read_dir(root().join("crates")).unwrap().collect();
    sources.extend(fs::read_dir(root()).unwrap());
    for entry in sources {
        let source = entry.unwrap().path().join("src");
        let mentions = mentions_of_crate(&source);
        let files: Vec<&Module> = mentions.keys().collect();
        for cycle in cycles_of(&edges(&mentions)) {
            let names: Vec<String> = cycle.iter().map(|file| files[*file].join("::")).collect();
            cycles.push(format!("{}: {}", super::short(&source), names.join(", ")));
        }
    }
    assert!(
        cycles.len() <= CYCLES_MAX,
        "{} module cycles; at most {CYCLES_MAX}: {cycles:#?}",
        cycles.len()
    );
}

fn mentions_of_crate(source: &Path) -> Mentions {
    let mut paths = Vec::new();
    collect(source, &mut paths);
    let mut mentions = Mentions::new();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(source).unwrap().with_extension("");
        let mut module: Module = name
            .iter()
            .map(|part| part.to_str().unwrap().to_owned())
            .collect();
        if module.iter().any(|part| part == "tests") || is_generated(&text) {
            continue;
        }
        if matches!(module.last().unwrap().as_str(), "mod" | "lib" | "main") {
            module.pop();
        }
        mentions.insert(module, mentions_of(&product_code(&text)));
    }
    mentions
}

/// What the `use` items and the paths of a file mention.
fn mentions_of(code: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    let lines = code
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    let code: String = lines.collect::<Vec<_>>().join("\n");
    for (number, item) in code.split(';').enumerate() {
        let start = item
            .rfind("\nuse ")
            .or_else(|| item.rfind(" use "))
            .or_else(|| (number == 0 && item.starts_with("use ")).then_some(0));
        let (before, tree) = item.split_at(start.unwrap_or(item.len()));
        let is_export = before
            .lines()
            .last()
            .is_some_and(|line| line.trim_start().starts_with("pub"));
        if let Some((_, tree)) = tree.split_once("use ") {
            expand(tree, &[], is_export, &mut found);
        }
        for prefix in ["crate::", "super::", "self::"] {
            for (at, _) in before.match_indices(prefix) {
                let is_start = !before[..at].ends_with(|letter: char| {
                    letter.is_alphanumeric() || letter == '_' || letter == ':'
                });
                let rest = &before[at..];
                let end = rest.find(|letter: char| {
                    !(letter.is_alphanumeric() || letter == '_' || letter == ':')
                });
                if is_start {
                    let path = rest[..end.unwrap_or(rest.len())].trim_end_matches(':');
                    expand(path, &[], false, &mut found);
                }
            }
        }
    }
    found
}

/// The single paths of a `use` tree.
fn expand(tree: &str, before: &[String], is_export: bool, found: &mut Vec<Mention>) {
    let segments = |text: &str| -> Vec<String> {
        let parts = text.split("::").map(str::trim);
        parts
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect()
    };
    if let Some((head, inner)) = tree.split_once('{') {
        let before = [before, &segments(head)].concat();
        let mut depth = 0;
        let inner = inner.trim_end().strip_suffix('}').unwrap_or(inner);
        for branch in inner.split(|letter| {
            depth += match letter {
                '{' => 1,
                '}' => -1,
                _ => 0,
            };
            letter == ',' && depth == 0
        }) {
            expand(branch, &before, is_export, found);
        }
        return;
    }
    let (path, alias) = match tree.split_once(" as ") {
        Some((path, alias)) => (path, Some(alias.trim().to_owned())),
        None => (tree, None),
    };
    let mut path = [before, &segments(path)].concat();
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    if let Some(last) = path.last().cloned() {
        let name = Some(alias.unwrap_or(last));
        found.push(Mention {
            path,
            name,
            is_export,
        });
    }
}

/// The path from the crate's root; none for another crate's.
fn absolute(mentions: &Mentions, module: &Module, path: &[String]) -> Option<Module> {
    let ups = path.iter().take_while(|part| *part == "super").count();
    if ups > 0 {
        let base = module.get(..module.len().checked_sub(ups)?)?;
        return Some([base, &path[ups..]].concat());
    }
    match path.first()?.as_str() {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some([module, &path[1..]].concat()),
        child => {
            let child = [&module[..], &[child.to_owned()]].concat();
            mentions
                .contains_key(&child)
                .then(|| [module, path].concat())
        }
    }
}

/// The file that declares what an absolute path names.
fn home(mentions: &Mentions, path: &[String], hops_left: usize) -> Option<Module> {
    let length = (0..=path.len())
        .rev()
        .find(|length| mentions.contains_key(&path[..*length]))?;
    let module = path[..length].to_vec();
    let Some(name) = path.get(length).filter(|_| hops_left > 0) else {
        return Some(module);
    };
    let source = mentions[&module]
        .iter()
        .find(|mention| mention.name.as_ref() == Some(name));
    let source = source.and_then(|mention| absolute(mentions, &module, &mention.path));
    match source {
        Some(source) if source != path => home(mentions, &source, hops_left - 1),
        Some(_) | None => Some(module),
    }
}

fn edges(mentions: &Mentions) -> Vec<BTreeSet<usize>> {
    let index = |module: &Module| mentions.keys().position(|other| other == module);
    let edges_from = |(module, list): (&Module, &Vec<Mention>)| {
        let upward = list.iter().filter(|mention| {
            !mention.is_export && ["crate", "super"].contains(&mention.path[0].as_str())
        });
        let paths = upward.filter_map(|mention| absolute(mentions, module, &mention.path));
        let homes = paths.filter_map(|path| home(mentions, &path, 8));
        homes
            .filter(|home| home != module)
            .filter_map(|home| index(&home))
            .collect()
    };
    mentions.iter().map(edges_from).collect()
}

/// The strongly connected components of more than one node.
fn cycles_of(edges: &[BTreeSet<usize>]) -> Vec<BTreeSet<usize>> {
    let reached: Vec<BTreeSet<usize>> = (0..edges.len())
        .map(|start| {
            let mut reached = BTreeSet::new();
            let mut open = vec![start];
            while let Some(node) = open.pop() {
                open.extend(edges[node].iter().filter(|next| reached.insert(**next)));
            }
            reached
        })
        .collect();
    let mut cycles: Vec<BTreeSet<usize>> = Vec::new();
    for node in 0..edges.len() {
        let cycle: BTreeSet<usize> = (reached[node].iter().copied())
            .filter(|other| reached[*other].contains(&node))
            .collect();
        if cycle.len() > 1 && !cycles.contains(&cycle) {
            cycles.push(cycle);
        }
    }
    cycles
}

#[test]
fn cycles_are_found_through_re_exports() {
    let files = [
        ("", "pub mod a; mod b; pub use a::Shown;"),
        ("a", "mod inner;\npub use inner::Deep;\nuse crate::b;\n"),
        ("a::inner", "fn f() { crate::b::call(); }"),
        ("b", "use super::{other, a::{Deep as D}};\nuse std::fmt;"),
        ("c", "use crate::Shown;"),
    ];
    let mentions: Mentions = files
        .iter()
        .map(|(name, code)| {
            let module = name.split("::").filter(|part| !part.is_empty());
            (module.map(str::to_owned).collect(), mentions_of(code))
        })
        .collect();
    let cycles = cycles_of(&edges(&mentions));
    assert_eq!(cycles, [BTreeSet::from([2, 3])]);
}
