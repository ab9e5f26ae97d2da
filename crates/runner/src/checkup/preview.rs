//! What a checkup would do, without load: the facts about an existing cluster, and the limits.

use kgauge_client::{ClientConfig, Cluster, Interrupt};
use kgauge_report::text::checkup as words;
use kgauge_results::run::{CheckupLimits, ClusterCensus};
use kgauge_target::{Target, TargetSpec, is_on_disk};
use serde_json::{Value, json};

use crate::data_dirs;
use crate::error::{OrRunError, RunError};
use crate::processes;
use crate::run_target::RunTarget;

use super::CheckupRequest;
use super::limits::{LimitBasis, limits};

/// The facts and limits of a checkup that does not run.
#[derive(Debug)]
pub struct CheckupPreview {
    /// The cluster as it is.
    pub census: ClusterCensus,
    /// What the checkup would be allowed to do.
    pub limits: CheckupLimits,
}

impl CheckupRequest {
    /// Reads an existing cluster and decides the limits. Nothing is created or changed.
    ///
    /// # Errors
    /// The target is not an existing cluster, cannot be reached, or has too little disk for any load.
    pub fn preview(
        &self,
        target: &RunTarget,
        interrupt: Interrupt,
    ) -> Result<CheckupPreview, RunError> {
        let TargetSpec::Existing(config) = &target.spec else {
            return Err(RunError::input(
                "--dry-run: kgauge starts this target for the checkup alone, so there is nothing to \
                 protect\n  leave --dry-run out, or name an existing cluster",
            ));
        };
        let connected = Cluster::bootstrap_until(ClientConfig::clone(config), interrupt);
        let mut cluster =
            connected.map_err(|error| RunError::cluster(format!("{error}\n  {}", error.fix())))?;
        let target = Target::Existing(config.clone());
        let facts = target.facts(&mut cluster)?;
        let data_dirs = data_dirs::of(&target, &facts, &processes::of(&target, &facts));
        let census = kgauge_observe::census(&mut cluster).or_target_failed("")?;
        let limits = limits(
            self,
            LimitBasis {
                census: &census,
                kind: facts.kind,
                same_machine: facts.same_machine == Some(true),
                free_bytes: None,
                reads_disk: is_on_disk(&data_dirs),
            },
        )?;
        Ok(CheckupPreview { census, limits })
    }
}

impl CheckupPreview {
    /// For people: facts first, then what would be written.
    pub fn text(&self) -> String {
        words::preview(&self.census, &self.limits)
    }

    /// For other programs.
    pub fn json(&self) -> Value {
        json!({"cluster": self.census, "limits": self.limits})
    }
}
