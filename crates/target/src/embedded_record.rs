//! The record of an embedded cluster: parent and child may both be killed, and their remains must be found.

use std::path::{Path, PathBuf};

use kgauge_scenario::TargetKind;

use crate::embedded_spec::EmbeddedSetup;
use crate::kafka::{ClusterRecord, ProcessId, registry};
use crate::security::private;

/// A stored record. Without a place to store it there is none, and the cluster works without it.
#[derive(Debug)]
pub(crate) struct EmbeddedRecord {
    state_dir: PathBuf,
    record: ClusterRecord,
}

impl EmbeddedRecord {
    /// Stores the record of a cluster whose process has just been started.
    pub(crate) fn keep(setup: &EmbeddedSetup, pid: u32) -> Option<EmbeddedRecord> {
        let absolute = |path: &Path| std::path::absolute(path).ok();
        let conf_dir = absolute(&setup.private_dir)?;
        let state_dir = conf_dir.parent()?.to_owned();
        let data_dir = absolute(&setup.data_dir).filter(|_| !setup.keep_data);
        let record = ClusterRecord {
            name: conf_dir.file_name()?.to_str()?.to_owned(),
            kind: TargetKind::Embedded,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            kgauge: ProcessId::own(),
            is_detached: false,
            bootstrap_servers: String::new(),
            processes: vec![("cluster".to_owned(), ProcessId::of(pid)?)],
            data_dirs: data_dir.into_iter().collect(),
            control_groups: Vec::new(),
            log_dir: absolute(&setup.log_file)?,
            conf_dir,
        };
        private::make(&state_dir).ok()?;
        registry::keep(&state_dir, &record).ok()?;
        Some(EmbeddedRecord { state_dir, record })
    }

    /// The cluster is ready at these addresses.
    pub(crate) fn serves(&mut self, servers: &str) {
        servers.clone_into(&mut self.record.bootstrap_servers);
        // The older record is sufficient.
        let _ = registry::keep(&self.state_dir, &self.record);
    }

    /// Its file.
    pub(crate) fn file(&self) -> PathBuf {
        registry::file(&self.state_dir, &self.record.name)
    }

    /// Nothing of the cluster remains.
    pub(crate) fn forget(&self) {
        let _ = registry::forget(&self.state_dir, &self.record.name);
    }
}
