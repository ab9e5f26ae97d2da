//! The scenario with comments that a new file starts from.

/// A scenario with every common key, each with a sentence. Keys right behind a `#` are switched off.
pub const SCENARIO_TEMPLATE: &str = include_str!("template.yaml");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scenario, Size};

    fn read(text: &str) -> Scenario {
        let read = Scenario::parse("template.yaml", text);
        read.unwrap_or_else(|problems| panic!("{text}\n{problems}"))
    }

    #[test]
    fn the_template_is_a_scenario_of_one_trial() {
        assert_eq!(read(SCENARIO_TEMPLATE).trials(Size::Default).len(), 1);
    }

    #[test]
    fn keys_that_are_switched_off_can_be_switched_on() {
        let mut count = 0;
        let lines = SCENARIO_TEMPLATE
            .lines()
            .map(|line| match line.split_once('#') {
                Some((indent, key)) if !key.is_empty() && !key.starts_with(' ') => {
                    count += 1;
                    format!("{indent}{key}\n")
                }
                _ => format!("{line}\n"),
            });
        let text: String = lines.collect();
        let trials = read(&text).trials(Size::Default);
        assert_eq!((count, trials.len()), (9, 3), "{text}");
        assert_eq!(trials[0].faults.len(), 1);
    }

    #[test]
    fn lines_fit_into_the_width_of_a_page() {
        for line in SCENARIO_TEMPLATE.lines() {
            assert!(line.chars().count() <= 120, "{line}");
        }
    }
}
