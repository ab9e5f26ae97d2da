//! Facts and texts: `analyze` finds typed facts, `results` records them, `report` makes the sentences about them.

use super::hand_written;

/// Names and labels have fewer words.
const WORDS_MIN: usize = 4;

/// The one name that is as long.
const LONG_NAME: &str = "quotas of this user";

/// Attributes whose texts are not shown in reports: messages of error types, and reasons for the compiler.
const ATTRIBUTES: [&str; 3] = ["#[error(", "#[allow(", "#[expect("];

/// Where facts are found and recorded. The tables of metrics and kinds in `results` have names and no sentences.
const FACTS: [&str; 2] = ["crates/analyze/", "crates/results/src/run/"];

/// Files of tests only.
const TEST_FILES: &str = "coverage";

#[test]
fn analyze_and_results_make_no_sentences() {
    let files = hand_written().into_iter();
    let sentences = files
        .filter(|(file, _)| FACTS.iter().any(|facts| file.starts_with(facts)))
        .filter(|(file, _)| !file.contains(TEST_FILES))
        .flat_map(|(file, code)| {
            let texts = sentences(&code).into_iter();
            texts.map(move |text| format!("{file}: {text}"))
        });
    let sentences: Vec<String> = sentences.collect();
    assert!(
        sentences.is_empty(),
        "texts belong to crates/report/src/text; return a typed fact instead:\n{}",
        sentences.join("\n")
    );
}

/// The string literals of several words.
fn sentences(code: &str) -> Vec<String> {
    let lines = code.lines().map(str::trim_start);
    let lines = lines.filter(|line| !line.starts_with("//"));
    let mut code = lines.collect::<Vec<_>>().join("\n");
    for attribute in ATTRIBUTES {
        while let Some(start) = code.find(attribute) {
            let end = code[start..]
                .find(")]")
                .map_or(code.len(), |end| start + end);
            code.replace_range(start..end, "");
        }
    }
    let literals = code.split('"').skip(1).step_by(2);
    let is_word = |word: &&str| word.chars().any(char::is_alphabetic) && !word.contains('{');
    literals
        .filter(|text| text.split_whitespace().filter(is_word).count() >= WORDS_MIN)
        .filter(|text| *text != LONG_NAME)
        .map(str::to_owned)
        .collect()
}

#[test]
fn sentences_are_told_from_names_and_errors() {
    let code = r#"
        // "A comment has as many words as it likes."
        #[error("no file {name} in that folder: {why}")]
        let name = format!("{flow} of {trial}");
        let text = "The target was slow.";
    "#;
    assert_eq!(sentences(code), ["The target was slow."]);
}
