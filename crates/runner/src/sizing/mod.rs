//! Sizing: the trials that show what a load costs, and the answer from run folders.

mod sample;
mod trials;

use std::path::{Path, PathBuf};

use kgauge_analyze::Summary;
use kgauge_analyze::sizing::{
    MachineType, NeededCompression, RecordSample, SizeAnswer, SizingNeed, TrialFacts, batch_bytes,
    size, trial_facts,
};
use kgauge_report::text;
use kgauge_results::{FolderError, RunRead};
use kgauge_wire::compress::Codec;

use crate::error::{OrRunError, RunError};

/// Tables of machine types are small.
const PRICES_BYTES_MAX: u64 = 1 << 20;

/// A cluster to size.
#[derive(Debug, Clone)]
pub struct SizeRequest {
    /// What it must be able to do. Its compression is decided by the other fields.
    pub need: SizingNeed,
    /// The codec of the producers, if the user names it.
    pub codec: Option<Codec>,
    /// How far it compresses the records, uncompressed by compressed bytes, if the user knows it.
    pub ratio: Option<f64>,
    /// Files with some of the user's records.
    pub sample: Vec<PathBuf>,
    /// Whether each of these files is one record; otherwise each line is.
    pub is_record_per_file: bool,
}

impl SizeRequest {
    /// The scenario of trials that show what records like those to be sized cost.
    ///
    /// # Errors
    /// The trials would not show what is asked for, a file of the sample cannot be read, or they have no records.
    pub fn trials_text(&self) -> Result<String, RunError> {
        self.check_trials()?;
        let codec = self.codec.unwrap_or(Codec::None);
        let sampled = match self.sample.is_empty() || codec == Codec::None {
            true => None,
            false => Some(sample::measured(
                &self.sample,
                self.is_record_per_file,
                trials::BATCH_BYTES,
            )?),
        };
        let compression = self.compression(sampled.as_ref());
        let ratio = compression.map(|compression| compression.ratio);
        Ok(trials::text(self.need.record_bytes, codec, ratio))
    }

    /// Refuses what a quarter of an hour of trials would not show.
    fn check_trials(&self) -> Result<(), RunError> {
        let need = &self.need;
        let refused = match () {
            () if need.recompressed => {
                "--recompress: the trials of --measure do not make brokers compress\n  run a scenario whose topic has \
                 another compression.type than its producers, and pass its folder with --from"
            }
            () if self.ratio.is_some() && self.codec.is_none() => {
                "--compression: the trials need the codec, too\n  add --codec"
            }
            () if need.fan_out > trials::FAN_OUT_MAX => {
                "--fan-out: the trials of --measure read each record at most 3 times, and answers are given up to twice \
                 that\n  run a scenario with as many readers, and pass its folder with --from"
            }
            () if need.replication > trials::REPLICAS_MAX => {
                "--replication: the trials of --measure have at most 3 replicas, and answers are given up to twice that"
            }
            () if need.record_bytes > trials::RECORD_BYTES_MAX => {
                "--record: the trials of --measure have records of up to 900 kB, which brokers accept by default\n  run \
                 a scenario with larger ones, and pass its folder with --from"
            }
            () => return Ok(()),
        };
        Err(RunError::input(refused))
    }

    /// Sizes the cluster from the trials in run folders.
    ///
    /// # Errors
    /// A folder or a file cannot be read, or there is no answer.
    pub fn answer(
        &self,
        from: &[PathBuf],
        machines: &[MachineType],
    ) -> Result<SizeAnswer, RunError> {
        let read = |dir: &PathBuf| {
            let run = RunRead::open(dir)?;
            let summary = Summary::of(&run);
            Ok(trial_facts(&run, &summary))
        };
        let facts: Result<Vec<Vec<TrialFacts>>, FolderError> = from.iter().map(read).collect();
        let facts = facts.or_bad_input()?.concat();
        let sample = self.sample(&facts)?;
        let need = SizingNeed {
            compression: self.compression(sample.as_ref()),
            ..self.need.clone()
        };
        let mut answer = size(&need, &facts, machines)
            .map_err(|error| RunError::input(text::size::size_error(&error)))?;
        answer.sample = sample;
        Ok(answer)
    }

    /// Compresses the user's records in batches as large as those of the runs.
    fn sample(&self, facts: &[TrialFacts]) -> Result<Option<RecordSample>, RunError> {
        if self.sample.is_empty() {
            return Ok(None);
        }
        let bytes = batch_bytes(&self.need, facts).unwrap_or(self.need.record_bytes);
        sample::measured(&self.sample, self.is_record_per_file, bytes).map(Some)
    }

    /// The ratio that was given, or that of the sample with the producers' codec.
    fn compression(&self, sample: Option<&RecordSample>) -> Option<NeededCompression> {
        let codec = self.codec.map(|codec| codec.name().to_owned());
        if let Some(ratio) = self.ratio {
            return Some(NeededCompression {
                codec,
                ratio,
                interval: None,
            });
        }
        let codec = codec.or_else(|| sample.map(|_| "none".to_owned()))?;
        let found = sample.and_then(|sample| sample.codecs.iter().find(|one| one.codec == codec));
        match found {
            Some(found) => Some(NeededCompression {
                ratio: found.ratio,
                interval: found.interval,
                codec: Some(codec),
            }),
            None if codec == "none" => Some(NeededCompression {
                codec: Some(codec),
                ratio: 1.0,
                interval: None,
            }),
            None => None,
        }
    }
}

/// The machine types of a file, or those that kgauge knows.
///
/// # Errors
/// The file cannot be read, or is no table of machine types.
pub fn read_machine_types(file: Option<&Path>) -> Result<Vec<MachineType>, RunError> {
    let Some(file) = file else {
        return MachineType::built_in().or_bad_input();
    };
    let name = file.display();
    let facts = std::fs::metadata(file);
    let facts = facts.map_err(|error| RunError::input(format!("cannot open {name}: {error}")))?;
    if !facts.is_file() || facts.len() > PRICES_BYTES_MAX {
        return Err(RunError::input(format!(
            "{name} is not a table of machine types: it must be a file of at most 1 MiB"
        )));
    }
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|error| RunError::input(format!("cannot read {name}: {error}")))?;
    MachineType::table(&text).map_err(|error| RunError::input(format!("{name}: {error}")))
}
