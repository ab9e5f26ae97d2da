//! What starting a target needs from the user's surroundings.

use std::path::Path;
use std::time::Duration;

use kgauge_target::kafka::{KafkaSetup, START_MAX};
use kgauge_target::{EmbeddedCommand, EmbeddedSetup, StartSetup, TargetError};

use crate::exit::{ExitStatus, OrStop, stop, with_cure};
use crate::print;
use crate::run_ids::{cache_dir, state_dir};

/// How long an embedded cluster may take to start, and to stop.
const EMBEDDED_TIME_MAX: Duration = Duration::from_secs(30);

/// The folder for the logs of Apache Kafka's processes.
pub(crate) const TARGET_LOGS: &str = "target-logs";

/// Where things of a target go, and what becomes of them.
pub(crate) struct TargetContext<'a> {
    /// Names it.
    pub(crate) name: &'a str,
    pub(crate) data_dir: &'a Path,
    pub(crate) keep_data: bool,
    /// A folder for logs.
    pub(crate) log_dir: &'a Path,
    pub(crate) seed: u64,
}

/// The setup for a target of any kind.
pub(crate) fn setup(of: &TargetContext<'_>) -> anyhow::Result<StartSetup> {
    Ok(StartSetup {
        embedded: EmbeddedSetup {
            command: EmbeddedCommand::this_program(["embedded-cluster"]).or_unwritable()?,
            data_dir: of.data_dir.to_owned(),
            keep_data: of.keep_data,
            log_file: of.log_dir.join("target.log"),
            private_dir: state_dir().join(of.name),
            seed: of.seed,
            time_limit: EMBEDDED_TIME_MAX,
        },
        kafka: kafka(of),
    })
}

fn kafka(of: &TargetContext<'_>) -> KafkaSetup {
    KafkaSetup {
        name: of.name.to_owned(),
        cache_dir: cache_dir(),
        state_dir: state_dir(),
        data_dir: of.data_dir.to_owned(),
        keep_data: of.keep_data,
        log_dir: of.log_dir.join(TARGET_LOGS),
        java_home: std::env::var_os("JAVA_HOME")
            .filter(|home| !home.is_empty())
            .map(Into::into),
        path: std::env::var_os("PATH"),
        time_limit: START_MAX,
        remark: print::message,
    }
}

/// The setup for questions that start nothing.
pub(crate) fn kafka_setup() -> KafkaSetup {
    let nowhere = Path::new("");
    kafka(&TargetContext {
        name: "",
        data_dir: nowhere,
        keep_data: false,
        log_dir: nowhere,
        seed: 0,
    })
}

/// A target's error, with its cure and the status that it ends with.
pub(crate) fn failed(error: TargetError) -> anyhow::Error {
    let words = with_cure(&error, error.fix());
    let status = match &error {
        TargetError::Kafka(error) if error.is_bad_input() => ExitStatus::BadInput,
        _ => ExitStatus::TargetFailed,
    };
    stop(status, words)
}
