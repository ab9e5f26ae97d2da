//! A warning in one short sentence, for the top of a page: what it rests on is told apart from it.

use kgauge_analyze::summary::WarningKind;

use crate::view::WarningItem;

/// What is said of a run that ended early.
pub(super) const NOT_FINISHED: &str = "This run did not finish.";
/// A sentence of more letters is no short one.
const LETTERS_MAX: usize = 110;
/// Places of more letters are not named in it.
const PLACE_LETTERS_MAX: usize = 40;

/// A warning, told apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Short {
    pub(super) short: String,
    /// What the sentence leaves unsaid.
    pub(super) evidence: Vec<WarningItem>,
}

/// `shared` is the sentence that all items began with, and which they have no more; empty if there is none.
pub(super) fn of(
    kind: WarningKind,
    shared: &str,
    items: &[WarningItem],
    is_everywhere: bool,
) -> Short {
    let whole = |short: &str| Short {
        short: short.to_owned(),
        evidence: items.to_vec(),
    };
    // Why it ended is a text from anywhere: it is no sentence to cut one from.
    if kind == WarningKind::NotFinished && !items.iter().all(|item| is_going_on(&item.words)) {
        return whole(NOT_FINISHED);
    }
    match items {
        _ if !shared.is_empty() && shared.chars().count() <= LETTERS_MAX => whole(shared),
        [item] => of_one(item, is_everywhere).unwrap_or_else(|| whole(title(kind))),
        _ => whole(title(kind)),
    }
}

fn is_going_on(words: &str) -> bool {
    words.starts_with("The run is still in progress")
}

/// The first sentence of a single item, and the rest of it; `None` if it is too long.
fn of_one(item: &WarningItem, is_everywhere: bool) -> Option<Short> {
    let end = item
        .words
        .find(". ")
        .map_or(item.words.len(), |dot| dot + 1);
    let (sentence, rest) = item.words.split_at_checked(end)?;
    if sentence.chars().count() > LETTERS_MAX {
        return None;
    }
    let names_place =
        !item.place.is_empty() && !is_everywhere && item.place.chars().count() <= PLACE_LETTERS_MAX;
    let is_said = item.place.is_empty() || is_everywhere || names_place;
    let rest = WarningItem {
        place: if is_said {
            String::new()
        } else {
            item.place.clone()
        },
        words: rest.trim_start().to_owned(),
    };
    Some(Short {
        short: match names_place {
            true => format!("{}: {sentence}", item.place),
            false => sentence.to_owned(),
        },
        evidence: match (is_said, rest.words.is_empty()) {
            (true, true) => Vec::new(),
            (false, true) => vec![item.clone()],
            _ => vec![rest],
        },
    })
}

/// The matter where its places differ, or where its own words are long.
fn title(kind: WarningKind) -> &'static str {
    match kind {
        WarningKind::NotFinished => NOT_FINISHED,
        WarningKind::CountsDisagree => "Broker record counts differ from the acked records.",
        WarningKind::CopyIncomplete => "Records acked by the source are missing from the copy.",
        WarningKind::CorruptRecords => "Records have a wrong checksum.",
        WarningKind::SendsFailed => "Records failed permanently.",
        WarningKind::SendsIndeterminate => "Records may or may not have been written.",
        WarningKind::NoWorkDone => "A flow did no work.",
        WarningKind::ConnectionsBroken => "Broker connections were lost.",
        WarningKind::RecordsUnresolved => "Records have no known outcome.",
        WarningKind::GeneratorLimited => {
            "The generator was the bottleneck; the target can do more than these figures show."
        }
        WarningKind::GeneratorLate => "The generator was late; latencies include its own delay.",
        WarningKind::NotSteady => "The target was not steady during measurement.",
        WarningKind::OtherPrograms => "Other programs used CPU on this machine.",
        WarningKind::ProcessorsExhausted => {
            "The load generator and the target ran short of CPU; latencies include the delay."
        }
        WarningKind::BrokerOutage => "A broker stopped responding.",
        WarningKind::DebugBuild => "kgauge was built without optimisation.",
        // They stand below the answer, with all of their words.
        _ => "There are more caveats.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(place: &str, words: &str) -> WarningItem {
        WarningItem {
            place: place.to_owned(),
            words: words.to_owned(),
        }
    }

    #[test]
    fn one_item_gives_its_first_sentence_and_keeps_the_rest_apart() {
        let late = item(
            "paced",
            "The generator was late. 1.5 % of 200 records were. Its cores had no time.",
        );
        let said = of(
            WarningKind::GeneratorLate,
            "",
            std::slice::from_ref(&late),
            false,
        );
        assert_eq!(said.short, "paced: The generator was late.");
        let rest = item("", "1.5 % of 200 records were. Its cores had no time.");
        assert_eq!(said.evidence, [rest]);
        let everywhere = of(WarningKind::GeneratorLate, "", &[late], true);
        assert_eq!(everywhere.short, "The generator was late.");
    }

    #[test]
    fn nothing_is_lost_of_a_place_too_long_to_be_named() {
        let place = "a-scenario-with-a-name, and.a.factor = 12, and.another = 13";
        let failed = item(place, "12 records failed permanently.");
        let said = of(
            WarningKind::SendsFailed,
            "",
            std::slice::from_ref(&failed),
            false,
        );
        assert_eq!(said.short, "12 records failed permanently.");
        assert_eq!(said.evidence, [failed]);
    }

    #[test]
    fn items_that_differ_and_long_ones_get_the_matter_s_own_sentence() {
        let two = [
            item("a", "1 record failed permanently."),
            item("b", "2 records failed permanently."),
        ];
        let said = of(WarningKind::SendsFailed, "", &two, false);
        assert_eq!(said.short, "Records failed permanently.");
        assert_eq!(said.evidence, two);
        let long = [item("", &"word ".repeat(40))];
        let said = of(WarningKind::CountsDisagree, "", &long, true);
        assert_eq!(said.short, title(WarningKind::CountsDisagree));
        assert_eq!(said.evidence, long);
    }

    #[test]
    fn why_a_run_ended_is_evidence() {
        let why = [item(
            "",
            "This run did not finish (failed: broker 1 is gone. Look at it).",
        )];
        let said = of(WarningKind::NotFinished, "", &why, true);
        assert_eq!(
            (said.short.as_str(), said.evidence.as_slice()),
            (NOT_FINISHED, &why[..])
        );
    }
}
