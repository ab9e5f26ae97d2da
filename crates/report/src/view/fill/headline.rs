//! A warning in one short sentence, for the top of a page; its reason is a separate text.

use crate::text::warning::WarningText;
use crate::view::WarningItem;

/// A sentence of more letters is no short one.
const LETTERS_MAX: usize = 110;
/// Places of more letters are not named in it.
const PLACE_LETTERS_MAX: usize = 40;

/// Whether a sentence can be shown alone.
pub(super) fn is_short(sentence: &str) -> bool {
    sentence.chars().count() <= LETTERS_MAX
}

/// The opening of a single text, with its place where that is short, and what it leaves unsaid; `None` if the opening
/// is too long.
pub(super) fn of_one(
    place: &str,
    text: &WarningText,
    is_everywhere: bool,
) -> Option<(String, Vec<WarningItem>)> {
    let WarningText { opening, rest } = text;
    if !is_short(opening) {
        return None;
    }
    let has_place = !place.is_empty() && !is_everywhere;
    let names_place = has_place && place.chars().count() <= PLACE_LETTERS_MAX;
    let item = |place: &str, words: &str| WarningItem {
        place: place.to_owned(),
        words: words.to_owned(),
    };
    let evidence = match (has_place && !names_place, rest.is_empty()) {
        (false, true) => Vec::new(),
        (false, false) => vec![item("", rest)],
        (true, true) => vec![item(place, opening)],
        (true, false) => vec![item(place, rest)],
    };
    let short = match names_place {
        true => format!("{place}: {opening}"),
        false => opening.clone(),
    };
    Some((short, evidence))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(opening: &str, rest: &str) -> WarningText {
        WarningText {
            opening: opening.to_owned(),
            rest: rest.to_owned(),
        }
    }

    #[test]
    fn one_text_gives_its_opening_and_keeps_the_rest_apart() {
        let rest = "1.5 % of 200 records were. Its cores had no time.";
        let late = text("The generator was late.", rest);
        let (short, evidence) = of_one("paced", &late, false).unwrap();
        assert_eq!(short, "paced: The generator was late.");
        assert_eq!(evidence[0].words, rest);
        assert_eq!(evidence[0].place, "");
        let (short, _) = of_one("paced", &late, true).unwrap();
        assert_eq!(short, "The generator was late.");
    }

    #[test]
    fn nothing_is_lost_of_a_place_too_long_to_be_named() {
        let place = "a-scenario-with-a-name, and.a.factor = 12, and.another = 13";
        let failed = text("12 records failed permanently.", "");
        let (short, evidence) = of_one(place, &failed, false).unwrap();
        assert_eq!(short, failed.opening);
        assert_eq!(evidence[0].place, place);
        assert_eq!(evidence[0].words, failed.opening);
        assert_eq!(of_one("", &text(&"word ".repeat(40), ""), true), None);
    }
}
