//! Rust names for the definitions' names.

/// Words that need the raw form as field names.
const KEYWORDS: &[&str] = &[
    "box", "enum", "fn", "impl", "in", "loop", "match", "mod", "move", "ref", "type", "use",
];

/// Names that the generated functions use themselves.
const TAKEN: &[&str] = &[
    "item", "lengths", "out", "reader", "self", "tag", "tagged", "version",
];

/// `ThrottleTimeMs` -> `throttle_time_ms`; runs of capitals stay together (`ISRNodes` ->
/// `isr_nodes`).
pub(super) fn snake(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut out = String::new();
    for (index, letter) in letters.iter().enumerate() {
        let after_lower = index > 0 && !letters[index - 1].is_uppercase();
        let before_lower = letters
            .get(index + 1)
            .is_some_and(|next| next.is_lowercase());
        if letter.is_uppercase() && index > 0 && (after_lower || before_lower) {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    out
}

/// The Rust name of a field.
pub(super) fn field(name: &str) -> anyhow::Result<String> {
    let snake = snake(name);
    anyhow::ensure!(
        !TAKEN.contains(&snake.as_str()),
        "{name} would hide a name of the code"
    );
    Ok(if KEYWORDS.contains(&snake.as_str()) {
        format!("r#{snake}")
    } else {
        snake
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_snake_case() {
        assert_eq!(snake("ThrottleTimeMs"), "throttle_time_ms");
        assert_eq!(snake("V3AndBelowTopics"), "v3_and_below_topics");
        assert_eq!(snake("ISRNodes"), "isr_nodes");
        assert_eq!(field("Match").ok().as_deref(), Some("r#match"));
    }
}
