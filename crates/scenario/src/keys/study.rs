//! The keys of a study's own file.

use serde::{Deserialize, Serialize};

use super::audit::AuditFacts;
use crate::key_definition::ValueForm;
use crate::key_map::key_map;
use crate::problem::SourceLocation;
use crate::reader::ValueReader;
use crate::suggest::shorten;
use crate::tree::YamlNode;
use crate::units;
use crate::value_kind::{ValueKind, count, flag, list, map, text, version};

key_map! {
    /// A study as written, without its scenarios.
    #[derive(Clone, Debug)]
    pub(crate) struct WrittenStudy, StudyKeys, "Study" {
        /// Version of this file format.
        let _version: () = "kgauge" [required], version();
        /// The title of the report.
        pub title: String = "title" [required], text();
        /// The question of the study, in one sentence.
        pub question: String = "question" [required], text();
        /// The published document.
        pub source: StudySource = "source" [required], map::<StudySource>();
        /// The authors' hardware and software.
        pub setup: String = "setup" [required], text();
        /// The authors' findings, and how far they hold.
        pub found: Option<String> = "found" [optional "nothing"], text();
        /// The target most similar to the authors', such as `kafka:1.0.2,brokers=3`.
        pub target: Option<String> = "target" [optional "any"], text();
        /// Facts for the check of the lines in `published`, as in `kgauge audit`.
        pub audit: AuditFacts = "audit" [all_defaults], map::<AuditFacts>();
        /// Measure the target's disk with fio before the first trial. Without fio, the report notes that this was not
        /// measured.
        pub disk_baseline: bool = "disk-baseline" ["false"], flag();
        /// Two flows on one partition, from which the report calculates the partitions needed for given rates.
        pub partition_formula: Option<PartitionFormula> = "partition-formula" [optional "none"],
            map::<PartitionFormula>();
        /// What one machine cannot reproduce, and why.
        pub differs: Vec<String> = "differs" [absent "nothing", |_| Vec::new()], list(text());
        /// The scenarios' names, in the order of execution.
        pub scenarios: Vec<YamlNode> = "scenarios" [required],
            list(ValueKind::new(ValueForm::Name, |_, node| Some(node.clone())));
    }
}

key_map! {
    /// The document that a study answers.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct StudySource, SourceKeys, "Source" {
        /// The document's title.
        pub title: String = "title" [required], text();
        /// The year of publication.
        pub year: u32 = "year" [required], count(1970..=2100);
        /// The address of the document.
        pub address: Option<String> = "address" [optional "unknown"], text();
    }
}

key_map! {
    /// A rate T needs at least max(T / P, T / C) partitions. P is the rate of one producer into one partition, C that
    /// of one consumer out of one: Jun Rao, "How to choose the number of topics/partitions in a Kafka cluster?", 2015.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct PartitionFormula, FormulaKeys, "Partition formula" {
        /// The flow that measures P, as `scenario.flow`: one producer, one partition.
        pub produce: (String, String) = "produce" [required], text().then(flow);
        /// The flow that measures C: one consumer, one partition.
        pub consume: (String, String) = "consume" [required], text().then(flow);
        /// Rates T, such as `1M/s`: each needs max(T/P, T/C) partitions.
        pub rates_per_s: Vec<u64> = "rates" [required], list(text().then(rate));
    }
}

/// `scenario.flow`.
fn flow(
    reader: &mut ValueReader<'_>,
    place: SourceLocation,
    text: String,
) -> Option<(String, String)> {
    match text.split_once('.') {
        Some((scenario, flow)) if !scenario.is_empty() && !flow.is_empty() => {
            Some((scenario.to_owned(), flow.to_owned()))
        }
        _ => {
            let what = format!("`{}` is not a flow of a scenario", shorten(&text));
            let cure = "write a scenario, a dot and a flow: `one-partition.writers`";
            reader.refuse(place, what, cure)
        }
    }
}

fn rate(reader: &mut ValueReader<'_>, place: SourceLocation, text: String) -> Option<u64> {
    match units::rate(&text) {
        Ok(rate) if rate >= 1.0 => Some(rate.round() as u64),
        Ok(_) => reader.refuse(
            place,
            "the rate is below 1 record per second",
            "write a higher rate",
        ),
        Err(error) => reader.refuse(place, error.what, error.cure),
    }
}
