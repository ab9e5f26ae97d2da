//! What the searches of a kind come to: how often they were right, and what they cost.

use std::collections::BTreeSet;

use super::SearchAnswer;
use super::beside::OtherSearches;
use super::kinds::SearchKind;

/// One in this number of searches may be wrong.
const WRONG_PER: usize = 20;
/// The verdict that rules out a gain.
const NOTHING_HELPS: &str = "nothing-helps";

/// The searches of a kind.
pub(super) struct KindOutcome<'a> {
    kind: SearchKind,
    answers: &'a [SearchAnswer],
    /// The number of searches to make.
    of: usize,
}

/// Whether a kind is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KindState {
    Good,
    /// Searches are to be made that may still be right.
    Open,
    Failed,
}

impl<'a> KindOutcome<'a> {
    /// Those that have an answer, of as many.
    pub(super) fn of(kind: SearchKind, answers: &'a [SearchAnswer], of: usize) -> KindOutcome<'a> {
        KindOutcome { kind, answers, of }
    }

    /// Whether all were made, and enough of them are right.
    pub(super) fn is_good(&self) -> bool {
        self.state() == KindState::Good
    }

    fn state(&self) -> KindState {
        let wrong = self.answers.len() - self.count(SearchKind::is_right);
        match wrong > self.of / WRONG_PER {
            true => KindState::Failed,
            false if self.answers.len() < self.of => KindState::Open,
            false => KindState::Good,
        }
    }

    fn count(&self, is_it: fn(&SearchKind, &[String]) -> bool) -> usize {
        let found = self.answers.iter();
        let found = found.filter(|one| is_it(&self.kind, &one.recommended));
        found.count()
    }

    fn mean(&self, value: fn(&SearchAnswer) -> f64) -> f64 {
        self.answers.iter().map(value).sum::<f64>() / self.answers.len().max(1) as f64
    }

    /// What is printed: the searches, and what others would have found.
    pub(super) fn lines(&self) -> Vec<String> {
        let answered = self.answers.len();
        let state = match self.state() {
            KindState::Good => "ok  ",
            KindState::Open => "open",
            KindState::Failed => "FAIL",
        };
        let what = match self.kind.planted {
            Some(_) => "found",
            None => "left alone",
        };
        let left = match self.of - answered {
            0 => String::new(),
            left => format!(" ({left} more to make)"),
        };
        let builds: BTreeSet<&str> = self.answers.iter().map(|one| &*one.build).collect();
        let builds = match builds.len() {
            0 | 1 => String::new(),
            count => format!("; made by {count} builds of kgauge"),
        };
        let mut lines = vec![format!(
            "{state}  {}: {what} in {} of {answered} searches{left}, {}; {:.1} repeats and {:.0} s on average{builds}",
            self.kind.name,
            self.count(SearchKind::is_right),
            self.more(),
            self.mean(|one| one.repeats),
            self.mean(|one| one.seconds),
        )];
        lines.extend(self.others());
        lines
    }

    /// How many found the planted setting and nothing else; or how many have ruled out that anything helps.
    fn more(&self) -> String {
        let sure = self.answers.iter();
        let sure = sure.filter(|one| one.verdict == NOTHING_HELPS).count();
        match self.kind.planted {
            Some(_) => format!("exactly in {}", self.count(SearchKind::is_exact)),
            None => format!("ruled out in {sure}"),
        }
    }

    /// What the other searches chose, as far as they were measured.
    fn others(&self) -> Option<String> {
        let others = self.answers.iter().filter_map(|one| one.beside.as_ref());
        let others: Vec<&OtherSearches> = others.collect();
        let first = others.first()?;
        let exact = |chosen: fn(&OtherSearches) -> &[String]| {
            let found = others.iter();
            found.filter(|one| self.kind.is_exact(chosen(one))).count()
        };
        let seconds = others.iter().map(|one| one.seconds).sum::<f64>() / others.len() as f64;
        Some(format!(
            "      a grid of {} combinations: exactly in {} of {}, {seconds:.0} s; a random search in half of it: \
             exactly in {}, {:.0} s",
            first.combinations,
            exact(|one| &one.grid),
            others.len(),
            exact(|one| &one.random),
            seconds / 2.0,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch() -> SearchKind {
        SearchKind::named("batch").unwrap()
    }

    fn answer(recommended: &[&str]) -> SearchAnswer {
        SearchAnswer {
            verdict: "better".to_owned(),
            recommended: recommended.iter().map(|&name| name.to_owned()).collect(),
            repeats: 40.0,
            seconds: 80.0,
            build: "one".to_owned(),
            beside: None,
        }
    }

    #[test]
    fn one_of_twenty_searches_may_be_wrong_and_all_have_to_be_made() {
        let state = |right: usize, wrong: usize| {
            let mut answers = vec![answer(&["batch.size"]); right];
            answers.extend(vec![answer(&[]); wrong]);
            KindOutcome::of(batch(), &answers, 20).state()
        };
        assert_eq!(state(20, 0), KindState::Good);
        assert_eq!(state(19, 1), KindState::Good);
        assert_eq!(state(18, 2), KindState::Failed);
        assert_eq!(state(18, 1), KindState::Open);
        assert_eq!(state(0, 0), KindState::Open);
        // It cannot become right any more.
        assert_eq!(state(3, 2), KindState::Failed);
    }

    #[test]
    fn searches_of_nothing_that_are_inconclusive_are_told_from_answers() {
        let mut answers = vec![answer(&[]); 2];
        answers[0].verdict = NOTHING_HELPS.to_owned();
        answers[1].verdict = "inconclusive".to_owned();
        let kind = SearchKind::named("null").unwrap();
        let lines = KindOutcome::of(kind, &answers, 2).lines();
        assert_eq!(
            lines,
            [
                "ok    null: left alone in 2 of 2 searches, ruled out in 1; 40.0 repeats and 80 s on average"
            ]
        );
    }

    #[test]
    fn what_is_open_and_what_others_chose_is_printed() {
        let mut answers = vec![answer(&["batch.size"]), answer(&["batch.size", "retries"])];
        answers[1].build = "another".to_owned();
        answers[0].beside = Some(OtherSearches {
            combinations: 32,
            seconds: 70.0,
            grid: vec!["batch.size".to_owned()],
            random: vec!["retries".to_owned()],
        });
        let lines = KindOutcome::of(batch(), &answers, 20).lines();
        assert_eq!(
            lines,
            [
                "open  batch: found in 2 of 2 searches (18 more to make), exactly in 1; 40.0 repeats and 80 s on \
                 average; made by 2 builds of kgauge",
                "      a grid of 32 combinations: exactly in 1 of 1, 70 s; a random search in half of it: exactly in \
                 0, 35 s",
            ]
        );
    }
}
