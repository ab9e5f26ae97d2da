//! What brokers are started with so that faults other than signals can be injected.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use kgauge_faults::{CutDirection, CutEnd, Fault, FlushFault, KafkaMeans, RequestFault};

use super::error::KafkaError;
use super::fake_clock::{self, ClockOffsetFile};
use super::preload::{self, FlushRecord};
use super::properties::{KafkaNode, ProxiedPorts};
use super::proxy::{CutRule, ProxiedRoute, ProxyNetwork, RuleSetup};
use super::release::KafkaDistribution;
use super::setup::KafkaSetup;
use super::spec::KafkaSpec;

/// The first release with names of listeners (KIP-103): brokers need an own listener for each other.
const LISTENER_NAMES_FROM: [u16; 3] = [0, 10, 2];

/// What the brokers of a cluster are started with.
#[derive(Debug, Default)]
pub(crate) struct FaultEquipment {
    /// Libraries that brokers load first.
    libraries: Vec<PathBuf>,
    flushes: BTreeMap<u16, FlushRecord>,
    clocks: BTreeMap<u16, ClockOffsetFile>,
    proxy: Option<ProxyNetwork>,
}

/// Refuses what a release or its security do not allow.
pub(crate) fn check(spec: &KafkaSpec, release: &KafkaDistribution) -> Result<(), KafkaError> {
    if !spec.means.proxy {
        return Ok(());
    }
    let unsupported = |what: &str| KafkaError::Unsupported {
        release: release.version.clone(),
        what: what.to_owned(),
    };
    if !release.version.is_at_least(&LISTENER_NAMES_FROM) {
        let what = "faults of the network and of requests need separate listeners (Kafka 0.10.2)";
        return Err(unsupported(what));
    }
    if spec.security.protocol().ends_with("SSL") {
        let what = "faults of the network and of requests need connections without TLS; their \
                    proxy reads requests";
        return Err(unsupported(what));
    }
    Ok(())
}

impl FaultEquipment {
    /// Finds or builds the libraries, in a folder that exists.
    pub(crate) fn add_libraries(
        &mut self,
        means: KafkaMeans,
        setup: &KafkaSetup,
        conf_dir: &Path,
    ) -> Result<(), KafkaError> {
        if means.preload {
            self.libraries.push(preload::build(setup, conf_dir)?);
        }
        if means.fake_clock {
            self.libraries.push(fake_clock::find()?);
        }
        Ok(())
    }

    /// Puts a proxy in front of each listener.
    pub(crate) fn proxy(
        &mut self,
        nodes: &mut [KafkaNode],
        zookeeper_port: Option<u16>,
    ) -> std::io::Result<()> {
        let mut network = ProxyNetwork::default();
        for node in nodes {
            let (from, to) = (None, node.id);
            let controller = ProxiedRoute::Controller { from, to };
            let zookeeper = ProxiedRoute::ZooKeeper { from: node.id };
            node.proxied = Some(ProxiedPorts {
                client: network.listen(ProxiedRoute::Client { broker: to }, node.client_port)?,
                inner: network.listen(ProxiedRoute::Peer { from, to }, node.inner_port)?,
                controller: network.listen(controller, node.controller_port)?,
                zookeeper: match zookeeper_port {
                    Some(port) => Some(network.listen(zookeeper, port)?),
                    None => None,
                },
            });
        }
        self.proxy = Some(network);
        Ok(())
    }

    /// Records of a broker that is about to start for the first time, and its environment.
    pub(crate) fn environment(
        &mut self,
        means: KafkaMeans,
        node: &KafkaNode,
        conf_dir: &Path,
    ) -> std::io::Result<Vec<(OsString, OsString)>> {
        let mut environment = Vec::new();
        if !node.is_broker || self.libraries.is_empty() {
            return Ok(environment);
        }
        let mut libraries = OsString::new();
        for library in &self.libraries {
            if !libraries.is_empty() {
                libraries.push(":");
            }
            libraries.push(library);
        }
        environment.push(("LD_PRELOAD".into(), libraries));
        let name = node.file_name();
        if means.preload {
            let record = FlushRecord::begin(conf_dir, &name, &node.log_dirs)?;
            environment.extend(record.environment());
            self.flushes.insert(node.id, record);
        }
        if means.fake_clock {
            let clock = ClockOffsetFile::begin(conf_dir, &name)?;
            environment.extend(clock.environment());
            self.clocks.insert(node.id, clock);
        }
        Ok(environment)
    }

    /// A node runs in this process from now on.
    pub(crate) fn note_process(&self, node: u16, pid: u32) {
        if let Some(proxy) = &self.proxy {
            proxy.note_process(node, pid);
        }
    }

    fn proxied(&self) -> Result<&ProxyNetwork, KafkaError> {
        self.proxy.as_ref().ok_or_else(missing)
    }

    /// Cuts a broker off, or mends the cut.
    pub(crate) fn cut(
        &self,
        node: u16,
        (direction, end): (CutDirection, CutEnd),
        is_lifted: bool,
    ) -> Result<(), KafkaError> {
        let rule = CutRule {
            node,
            direction,
            end,
        };
        let proxy = self.proxied()?;
        match is_lifted {
            true => proxy.mend(rule),
            false => proxy.cut(rule),
        }
        Ok(())
    }

    /// Sets a fault of requests of a broker, or of all.
    pub(crate) fn inject_requests(
        &self,
        (key, node, seed): (u64, Option<u16>, u64),
        (api, times, what): (Option<&str>, Option<u32>, &RequestFault),
    ) -> Result<(), KafkaError> {
        let setup = RuleSetup {
            key,
            node,
            api,
            times,
            what,
            seed,
        };
        let set = self.proxied()?.inject(&setup);
        set.map_err(|why| KafkaError::FaultRefused { why })
    }

    /// Lifts a fault of requests; returns the number of requests that it affected.
    pub(crate) fn lift_requests(&self, key: u64) -> Result<Option<u64>, KafkaError> {
        Ok(self.proxied()?.lift(key))
    }

    /// Flushes of a broker fail or are late, its disk is full, or its clock is wrong; or no longer.
    pub(crate) fn set(&self, node: u16, fault: &Fault, is_lifted: bool) -> Result<(), KafkaError> {
        let flushes = || self.flushes.get(&node).ok_or_else(missing);
        let result = match (fault, is_lifted) {
            (Fault::Flush(FlushFault::Delay { length_ns }), false) => {
                flushes()?.delay_flushes(*length_ns)
            }
            (Fault::Flush(FlushFault::Delay { .. }), true) => flushes()?.delay_flushes(0),
            (Fault::Flush(FlushFault::Fail), _) => flushes()?.fail_flushes(!is_lifted),
            (Fault::DiskFull { after_bytes }, _) => {
                flushes()?.limit_space((!is_lifted).then_some(*after_bytes))
            }
            (Fault::ClockOffset { ahead_ms }, _) => {
                let clock = self.clocks.get(&node).ok_or_else(missing)?;
                clock.set(if is_lifted { 0 } else { *ahead_ms })
            }
            _ => return Err(missing()),
        };
        result.map_err(KafkaError::file(Path::new("the control of a broker")))
    }

    /// Cuts the files of a broker that was killed to what was flushed; returns the number of lost bytes.
    pub(crate) fn lose_unflushed(&self, node: u16) -> Result<u64, KafkaError> {
        let record = self.flushes.get(&node).ok_or_else(missing)?;
        let lost = record.lose_unflushed();
        lost.map_err(KafkaError::file(Path::new("the data of a broker")))
    }

    /// Lifts everything.
    pub(crate) fn restore(&self) -> Result<(), KafkaError> {
        if let Some(proxy) = &self.proxy {
            proxy.restore();
        }
        let flushes = self.flushes.values().map(FlushRecord::restore);
        let clocks = self.clocks.values().map(|clock| clock.set(0));
        let restored: std::io::Result<()> = flushes.chain(clocks).collect();
        restored.map_err(KafkaError::file(Path::new("the control of a broker")))
    }
}

/// The cluster was started for other faults.
fn missing() -> KafkaError {
    KafkaError::FaultTool {
        what: "brokers that were started for it",
        why: "the cluster was started without".to_owned(),
    }
}
