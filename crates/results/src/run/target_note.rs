//! Facts about a target that readers of its figures must know.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// A fact about how the target was started or reached that affects its figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(missing_docs)] // The fields' names say it.
pub enum TargetNote {
    /// Clients do not verify the host names in the brokers' certificates.
    HostNamesUnchecked,
    /// Clients of an embedded cluster do not connect in plain text.
    EmbeddedSecurity { security: String },
    /// Brokers differ in a setting of the flush policy.
    FlushesDiffer { setting: String },
    /// The release has no idempotent producers: the flows ran without idempotence.
    NoIdempotence { flows: Vec<String> },
    /// The disk was not measured; without `error`, because the brokers' disks are on other machines.
    NoDiskBaseline { error: Option<String> },
    /// Trials ran on several clusters; the record describes the first.
    SeveralClusters,
    /// Equipment for the faults of the run, which the brokers had in all trials.
    FaultEquipment {
        preload: bool,
        proxy: bool,
        fake_clock: bool,
    },
    /// Brokers were not warmed before the first trial.
    NotWarmed,
    /// Echo flows of these scenarios read a copy on a second cluster.
    Mirrored { scenarios: Vec<String> },
    /// The sentence of an earlier version.
    Sentence { text: String },
}

/// Reads notes. Those of earlier versions are sentences; unknown ones of newer versions are left out.
pub(super) fn read_notes<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<TargetNote>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum WrittenNote {
        Typed(TargetNote),
        Sentence(String),
        Unknown {},
    }
    let notes = Vec::<WrittenNote>::deserialize(from)?.into_iter();
    let notes = notes.filter_map(|written| match written {
        WrittenNote::Typed(note) => Some(note),
        WrittenNote::Sentence(text) => Some(TargetNote::Sentence { text }),
        WrittenNote::Unknown {} => None,
    });
    Ok(notes.collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn sentences_of_older_records_are_read_and_unknown_notes_are_left_out() {
        let text = r#"["It is slow.", {"kind": "not-warmed"}, {"kind": "haunted", "by": 3}]"#;
        let notes = read_notes(&mut serde_json::Deserializer::from_str(text)).unwrap();
        let sentence = TargetNote::Sentence {
            text: "It is slow.".to_owned(),
        };
        assert_eq!(notes, [sentence, TargetNote::NotWarmed]);
    }

    #[test]
    fn notes_are_read_as_they_were_written() {
        let note = TargetNote::NoDiskBaseline { error: None };
        let text = serde_json::to_string(&[&note]).unwrap();
        let notes = read_notes(&mut serde_json::Deserializer::from_str(&text)).unwrap();
        assert_eq!(notes, [note]);
    }
}
