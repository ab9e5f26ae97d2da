//! `kgauge cluster up`.

use kgauge_runner::{TestCluster, TestClusterRequest};

use crate::args::ClusterUp;
use crate::exit::ExitStatus;
use crate::host::host_setup;
use crate::interrupt;
use crate::print;
use crate::progress::StatusLine;

/// Starts a cluster and serves, or leaves it running.
pub(super) fn up(arguments: &ClusterUp) -> anyhow::Result<ExitStatus> {
    let cluster = TestCluster::new(TestClusterRequest {
        target: arguments.target.clone(),
        data: arguments.data.clone(),
        port: arguments.port,
        listen: arguments.listen.clone(),
        advertise: arguments.advertise.clone(),
        config: arguments.config.clone(),
        kafka_home: arguments.kafka_home.clone(),
        detach: arguments.detach,
    })?;
    let stopping = interrupt::listen("stopping the cluster")?;
    let host = host_setup()?;
    let starting = format!("starting {}", arguments.target);
    let mut waiting = Some(StatusLine::waiting(&starting));
    cluster.run(&host, &stopping, &mut |ready| {
        drop(waiting.take());
        // The addresses go to stdout, for scripts.
        for address in &ready.addresses {
            print::line(address);
        }
        for remark in &ready.remarks {
            print::remark(remark);
        }
    })?;
    Ok(ExitStatus::Good)
}
