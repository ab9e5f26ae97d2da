//! Suggestions for unknown flags. clap compares whole names, but `--size` is a part of `--record-size`.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, CommandFactory as _};

use crate::args::Arguments;

/// Suggests the flags of the command that have an unknown one as a part. `words` begin with the command.
pub(crate) fn suggest_flags(error: &mut clap::Error, words: &[String]) {
    let is_unknown = error.kind() == ErrorKind::UnknownArgument;
    if !is_unknown || error.get(ContextKind::SuggestedArg).is_some() {
        return;
    }
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else {
        return;
    };
    let unknown = unknown.trim_start_matches('-');
    let program = Arguments::command();
    let mut command = &program;
    for word in words {
        match command.find_subcommand(word) {
            Some(subcommand) => command = subcommand,
            None => break,
        }
    }
    let flags = command.get_arguments().filter(|flag| !flag.is_hide_set());
    let names = flags.filter_map(Arg::get_long);
    let similar = names.filter(|name| name.split('-').any(|part| part == unknown));
    let similar: Vec<String> = similar.map(|name| format!("--{name}")).collect();
    if !similar.is_empty() {
        error.insert(ContextKind::SuggestedArg, ContextValue::Strings(similar));
        // That it could be a value is no help.
        error.remove(ContextKind::Suggested);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use clap::Parser;

    use super::*;

    fn message(words: &[&str]) -> String {
        let call = ["kgauge"].iter().chain(words);
        let mut error = Arguments::try_parse_from(call).unwrap_err();
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        suggest_flags(&mut error, &words);
        error.to_string()
    }

    #[test]
    fn a_part_of_a_flag_suggests_the_flag() {
        let text = message(&["run", "latency", "--size", "1 kB"]);
        assert!(
            text.contains("exist: '--record-size', '--batch-size'"),
            "{text}"
        );
        assert!(!text.contains("-- --size"), "{text}");
        // What clap suggests stays.
        let text = message(&["run", "latency", "--compress", "lz4"]);
        assert!(text.contains("exists: '--compression'"), "{text}");
    }
}
