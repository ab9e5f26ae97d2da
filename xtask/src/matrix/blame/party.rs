//! Whom a run blames.

use serde_json::Value;

/// The parties that can be to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BlamedParty {
    /// Nothing limited it, or the verdict is uncertain.
    Nobody,
    /// kgauge itself.
    Generator,
    /// The brokers, what they wait for, and what they are allowed.
    Target,
    /// Programs that are no part of the measurement.
    Others,
    /// The machine that load and target share.
    Machine,
    /// The settings of the load's clients.
    Settings,
}

/// What one run says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BlameVerdict {
    /// The bottleneck's word and party.
    pub(super) word: String,
    limit: BlamedParty,
    /// Whether the verdict names the generator as late, or as the limit.
    accuses_generator: bool,
    /// The party that caused the lateness, by the verdict.
    lateness: BlamedParty,
    pub(super) sentence: String,
}

impl BlameVerdict {
    pub(super) fn of(trial: &Value) -> BlameVerdict {
        let text = |value: &Value| value.as_str().unwrap_or("none").to_owned();
        let word = text(&trial["limit"]["word"]);
        let generator = &trial["generator"];
        BlameVerdict {
            limit: party_of(&word),
            accuses_generator: matches!(generator["word"].as_str(), Some("late" | "limited")),
            lateness: match generator["blame"]["cause"].as_str() {
                Some("generator") => BlamedParty::Generator,
                Some("target" | "fault") => BlamedParty::Target,
                Some("other-programs" | "hypervisor") => BlamedParty::Others,
                Some("shared-processors") => BlamedParty::Machine,
                _ => BlamedParty::Nobody,
            },
            sentence: text(&trial["limit"]["sentence"]),
            word,
        }
    }

    /// Somebody is blamed who had no part in it.
    pub(super) fn is_wrong(&self, party: BlamedParty) -> bool {
        // A machine that is full of others is full.
        let is_full = |named| party == BlamedParty::Others && named == BlamedParty::Machine;
        let accuses = |named| named != BlamedParty::Nobody && named != party && !is_full(named);
        let generator = self.accuses_generator && party != BlamedParty::Generator;
        accuses(self.limit) || accuses(self.lateness) || generator
    }

    /// The guilty party is named, and no other one.
    pub(super) fn is_right(&self, party: BlamedParty) -> bool {
        !self.is_wrong(party) && (self.limit == party || self.lateness == party)
    }

    pub(super) fn mark(&self, party: BlamedParty) -> &'static str {
        match (self.is_wrong(party), self.is_right(party)) {
            (true, _) => "WRONG",
            (false, true) => "right",
            (false, false) => "vague",
        }
    }

    /// The sentence with its numbers taken out, so that equal ones can be counted.
    pub(super) fn form(&self) -> String {
        let mut form = String::new();
        for letter in self.sentence.chars() {
            let is_in_number = form.ends_with('#');
            if !(letter.is_ascii_digit() || letter == '.' && is_in_number) {
                form.push(letter);
            } else if !is_in_number {
                form.push('#');
            }
        }
        form
    }
}

fn party_of(word: &str) -> BlamedParty {
    match word {
        "generator" => BlamedParty::Generator,
        "broker" | "target" | "quota" | "cpu-limit" | "disk" | "hot-broker" | "replication"
        | "request-handlers" | "network-threads" | "network-card" => BlamedParty::Target,
        "other-programs" | "hypervisor" => BlamedParty::Others,
        "processors" => BlamedParty::Machine,
        "batching" | "buffer" | "consumer" => BlamedParty::Settings,
        _ => BlamedParty::Nobody,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blamed(word: &str, generator: &str, cause: &str) -> BlameVerdict {
        BlameVerdict::of(&serde_json::json!({
            "limit": {"word": word, "sentence": "Broker 1 at 127.0.0.1:9092 did not answer for 3.25 s."},
            "generator": {"word": generator, "blame": {"cause": cause}},
        }))
    }

    #[test]
    fn a_generator_that_is_called_late_is_wrong_beside_a_dead_broker() {
        assert!(blamed("broker", "fine", "target").is_right(BlamedParty::Target));
        assert!(blamed("broker", "late", "generator").is_wrong(BlamedParty::Target));
        assert!(blamed("processors", "fine", "none").is_wrong(BlamedParty::Target));
        assert!(blamed("broker", "fine", "other-programs").is_wrong(BlamedParty::Target));
        assert!(blamed("generator", "limited", "other-programs").is_wrong(BlamedParty::Generator));
        assert_eq!(
            blamed("undecided", "fine", "none").mark(BlamedParty::Target),
            "vague"
        );
    }

    #[test]
    fn neighbours_may_show_by_lateness_or_by_a_full_machine() {
        assert!(blamed("load", "crowded", "other-programs").is_right(BlamedParty::Others));
        assert_eq!(
            blamed("processors", "fine", "none").mark(BlamedParty::Others),
            "vague"
        );
        assert!(blamed("disk", "fine", "none").is_wrong(BlamedParty::Others));
    }

    #[test]
    fn sentences_are_counted_without_their_numbers() {
        let form = blamed("broker", "fine", "none").form();
        assert_eq!(form, "Broker # at #:# did not answer for # s.");
    }
}
