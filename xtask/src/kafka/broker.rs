//! Apache Kafka on this machine, fetched and started by `kgauge-target` as for a run.

use std::cell::RefCell;
use std::env;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use kgauge_target::kafka::{KafkaSetup, KafkaSpec, KafkaTarget, ReleaseTools};

use crate::folders::{cache, root};
use crate::say::remark;
use crate::stop;

/// The release that is compared with, and whose tools are used.
pub(crate) const RELEASE: &str = "4.3.1";

const START_MAX: Duration = Duration::from_secs(120);

/// Where releases are kept; `folder` takes what a cluster writes.
pub(crate) fn setup(folder: &Path) -> KafkaSetup {
    KafkaSetup {
        name: format!("xtask-{}", std::process::id()),
        cache_dir: cache().join("kgauge"),
        state_dir: folder.join("state"),
        data_dir: folder.join("data"),
        keep_data: false,
        log_dir: folder.join("logs"),
        java_home: env::var_os("JAVA_HOME").map(Into::into),
        path: env::var_os("PATH"),
        time_limit: START_MAX,
        remark,
    }
}

/// The command-line tools of a release, fetched unless an earlier command has.
pub(crate) fn tools(release: &str) -> Result<ReleaseTools> {
    let setup = setup(&root().join("target/kafka"));
    let tools = ReleaseTools::find(&release.parse()?, &setup, &stop::interrupt());
    tools.with_context(|| format!("the tools of Apache Kafka {release}"))
}

/// A Kafka with one broker. Dropping it stops it and removes its data.
#[derive(Debug)]
pub(crate) struct KafkaBroker(RefCell<KafkaTarget>);

impl KafkaBroker {
    /// Starts it and waits until it serves.
    pub(crate) fn start(folder: &Path) -> Result<KafkaBroker> {
        remark(&format!("Kafka {RELEASE}: starting"));
        let spec = KafkaSpec {
            version: Some(RELEASE.parse()?),
            metrics: false,
            ..KafkaSpec::default()
        };
        let target = KafkaTarget::start(&spec, &setup(folder), &stop::interrupt())?;
        Ok(KafkaBroker(RefCell::new(target)))
    }

    /// Its bootstrap servers.
    pub(crate) fn servers(&self) -> String {
        let target = self.0.borrow();
        let servers = target.config().bootstrap_servers.iter();
        servers
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(",")
    }

    /// An error with its last log lines if it has ended.
    pub(crate) fn check(&self) -> Result<()> {
        Ok(self.0.borrow_mut().check()?)
    }
}
