//! Starts a cluster from a spec.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use kgauge_client::admin::TopicSpec;
use kgauge_client::{ClientConfig, Interrupt};
use kgauge_scenario::format::counted;

use super::agent::Agent;
use super::cluster::{KafkaTarget, StartFacts};
use super::control_group::{Bounds, ControlGroup};
use super::credentials;
use super::equipment::{self, FaultEquipment};
use super::error::KafkaError;
use super::fetch::{self, Jars};
use super::java::{self, Java};
use super::launch::Launch;
use super::ports;
use super::process::{KafkaProcess, LOOK};
use super::process_id::ProcessId;
use super::properties::{self, KafkaNode, SharedProperties};
use super::ready;
use super::registry::ClusterRecord;
use super::release::Coordination;
use super::setup::KafkaSetup;
use super::spec::KafkaSpec;
use super::topics::TopicTool;
use crate::security::{self, client_settings};

/// Number of attempts if other programs take its ports.
const ATTEMPTS: u32 = 3;

impl KafkaTarget {
    /// Downloads the release if necessary, and starts it. Returns when every broker knows all others and answers.
    pub fn start(
        spec: &KafkaSpec,
        setup: &KafkaSetup,
        interrupt: &Interrupt,
    ) -> Result<KafkaTarget, KafkaError> {
        let (jars, java) = prepare(spec, setup, interrupt)?;
        let agent = Agent::get(spec.metrics, &jars.release, setup, interrupt)?;
        let with = (&jars, &java, &agent);
        let mut attempt = 1;
        loop {
            match one_start(spec, setup, with, interrupt) {
                Err(error) if attempt < ATTEMPTS && is_port_taken(&error) => {
                    (setup.remark)("kgauge: another program took a port; starting again");
                    attempt += 1;
                }
                ended => return ended,
            }
        }
    }
}

/// Everything that can be refused before anything is created.
fn prepare(
    spec: &KafkaSpec,
    setup: &KafkaSetup,
    interrupt: &Interrupt,
) -> Result<(Jars, Java), KafkaError> {
    let unfetched = spec
        .version
        .as_ref()
        .map(super::release::KafkaDistribution::of);
    // Reports a wrong Java before anything is downloaded.
    let java = java::find(setup)?;
    if let Some(release) = &unfetched {
        java::check(&java, release)?;
    }
    let jars = match (&spec.home, unfetched) {
        (Some(home), _) => fetch::home(home, spec.version.as_ref())?,
        (None, Some(release)) => fetch::jars(&release, setup, interrupt)?,
        (None, None) => return Err(KafkaError::NoVersion),
    };
    let release = &jars.release;
    java::check(&java, release)?;
    if !release.checked {
        (setup.remark)(&format!(
            "kgauge: Apache Kafka {} is not a release that kgauge is tested with",
            release.version
        ));
    }
    if spec.controllers > 0 && release.coordination == Coordination::ZooKeeper {
        return Err(KafkaError::Unsupported {
            release: release.version.clone(),
            what: "it has no dedicated controllers (controllers=N); it uses ZooKeeper".to_owned(),
        });
    }
    equipment::check(spec, release)?;
    Ok((jars, java))
}

/// A broker's log contains this; the text is Java's, or Kafka's around it.
fn is_port_taken(error: &KafkaError) -> bool {
    matches!(error, KafkaError::Ended { log, .. }
        if log.contains("Address already in use") || log.contains("BindException"))
}

fn one_start(
    spec: &KafkaSpec,
    setup: &KafkaSetup,
    (jars, java, agent): (&Jars, &Java, &Agent),
    interrupt: &Interrupt,
) -> Result<KafkaTarget, KafkaError> {
    let release = &jars.release;
    let conf_dir = setup.state_dir.join(&setup.name);
    let secured = security::make(spec.security, release, &conf_dir)?;
    let launch = Launch {
        spec,
        jars,
        java,
        conf_dir: &conf_dir,
        log_dir: &setup.log_dir,
        secured: &secured,
        agent,
    };
    let mut nodes = properties::nodes(spec, release);
    let zookeeper = release.coordination == Coordination::ZooKeeper;
    launch.check_memory(nodes.len(), zookeeper)?;
    let zookeeper_port = give_ports(spec, &mut nodes, zookeeper)
        .map_err(KafkaError::file(std::path::Path::new("a free port")))?;
    give_folders(spec, setup, &mut nodes);
    let mut proxies = FaultEquipment::default();
    if spec.means.proxy {
        let proxied = proxies.proxy(&mut nodes, zookeeper_port);
        proxied.map_err(KafkaError::file(std::path::Path::new("a free port")))?;
    }
    let servers: Vec<String> = nodes
        .iter()
        .filter(|node| node.is_broker)
        .map(|node| format!("127.0.0.1:{}", node.advertised_client_port()))
        .collect();
    let mut target = KafkaTarget {
        spec: spec.clone(),
        setup: setup.clone(),
        jars: jars.clone(),
        java: java.clone(),
        agent: agent.clone(),
        processes: Vec::new(),
        equipment: proxies,
        record: record(setup, jars, &nodes, conf_dir.clone(), servers.join(",")),
        config: ClientConfig::new(Vec::new()),
        client_properties: None,
        topic_tool: topic_tool(&launch, zookeeper_port),
        started: StartFacts {
            coordination: coordination(&nodes, zookeeper),
            zookeeper: zookeeper_port.map(|port| format!("127.0.0.1:{port}")),
            jvm: launch.jvm_flags(),
            ..StartFacts::default()
        },
        written: BTreeMap::new(),
        is_over: false,
        nodes,
    };
    // From here on, dropping the target removes everything.
    fs::create_dir_all(&setup.state_dir).map_err(KafkaError::file(&setup.state_dir))?;
    launch.make_conf_dir()?;
    target.keep_record()?;
    target
        .equipment
        .add_libraries(spec.means, setup, launch.conf_dir)?;
    let configs = write_files(&launch, &mut target, zookeeper_port)?;
    target.config = config(&launch, &servers, &mut target.client_properties)?;
    if !zookeeper {
        format_all(&launch, &target.nodes, &configs)?;
    }
    run_all(&launch, &mut target, &configs, zookeeper_port, interrupt)?;
    credentials::put(&launch, &target, zookeeper_port, interrupt)?;
    Ok(target)
}

/// Ports for every node, and for ZooKeeper.
fn give_ports(
    spec: &KafkaSpec,
    nodes: &mut [KafkaNode],
    zookeeper: bool,
) -> std::io::Result<Option<u16>> {
    let mut free = ports::free(nodes.len() * 4 + 1)?.into_iter();
    let mut next = || free.next().unwrap_or(0);
    let has_inner = spec.security.protocol() != "PLAINTEXT" || spec.means.proxy;
    for node in nodes {
        node.client_port = next();
        node.inner_port = if has_inner { next() } else { node.client_port };
        node.controller_port = next();
        node.metrics_port = next();
    }
    Ok(zookeeper.then(next))
}

/// A separate folder for every node, in each place that the user gave.
fn give_folders(spec: &KafkaSpec, setup: &KafkaSetup, nodes: &mut [KafkaNode]) {
    for node in nodes {
        let name = node.file_name();
        node.log_dirs = match spec.log_dirs.as_slice() {
            [] => vec![setup.data_dir.join(&name)],
            dirs => dirs
                .iter()
                .map(|dir| dir.join(format!("kgauge-{}-{name}", setup.name)))
                .collect(),
        };
        // The processes have another working directory.
        let absolute = node.log_dirs.iter().map(std::path::absolute);
        node.log_dirs = absolute.filter_map(Result::ok).collect();
    }
}

fn record(
    setup: &KafkaSetup,
    jars: &Jars,
    nodes: &[KafkaNode],
    conf_dir: PathBuf,
    servers: String,
) -> ClusterRecord {
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    let mut data_dirs: Vec<PathBuf> = nodes
        .iter()
        .flat_map(|node| node.log_dirs.clone())
        .collect();
    data_dirs.push(absolute(&setup.data_dir));
    ClusterRecord {
        name: setup.name.clone(),
        kind: kgauge_scenario::TargetKind::Kafka,
        version: jars.release.version.to_string(),
        kgauge: ProcessId::own(),
        is_detached: false,
        bootstrap_servers: servers,
        processes: Vec::new(),
        conf_dir,
        data_dirs,
        control_groups: Vec::new(),
        log_dir: absolute(&setup.log_dir),
    }
}

/// How to connect to it; a secured cluster also gets a client.properties for other clients.
fn config(
    launch: &Launch<'_>,
    servers: &[String],
    path: &mut Option<PathBuf>,
) -> Result<ClientConfig, KafkaError> {
    if launch.secured.client_settings.java.is_empty() {
        return Ok(credentials::plain_config(servers));
    }
    let file = client_settings::write(
        launch.conf_dir,
        &servers.join(","),
        &launch.secured.client_settings,
    )
    .map_err(KafkaError::file(launch.conf_dir))?;
    *path = Some(file.clone());
    ClientConfig::from_properties_file(&file).map_err(|error| KafkaError::File {
        path: file,
        error: std::io::Error::new(std::io::ErrorKind::InvalidData, error.to_string()),
    })
}

fn coordination(nodes: &[KafkaNode], zookeeper: bool) -> String {
    let voters = nodes.iter().filter(|node| node.is_controller).count() as u64;
    let dedicated = nodes.iter().any(|node| !node.is_broker);
    match (zookeeper, dedicated) {
        (true, _) => "ZooKeeper, one node".to_owned(),
        (false, true) => format!("KRaft, {}", counted(voters, "dedicated controller")),
        (false, false) => format!("KRaft, combined mode, {}", counted(voters, "voter")),
    }
}

fn topic_tool(launch: &Launch<'_>, zookeeper_port: Option<u16>) -> Option<TopicTool> {
    let port = zookeeper_port.filter(|_| !launch.jars.release.has_create_topics())?;
    Some(TopicTool {
        java: launch.java.path.clone(),
        class_path: launch.jars.class_path(),
        log4j: launch.log4j(),
        zookeeper: format!("127.0.0.1:{port}"),
    })
}

/// Every node's server.properties, in their order.
fn write_files(
    launch: &Launch<'_>,
    target: &mut KafkaTarget,
    zookeeper_port: Option<u16>,
) -> Result<Vec<PathBuf>, KafkaError> {
    for dir in &target.record.data_dirs {
        fs::create_dir_all(dir).map_err(KafkaError::file(dir))?;
    }
    let log_dir = &target.setup.log_dir;
    fs::create_dir_all(log_dir).map_err(KafkaError::file(log_dir))?;
    for (name, content) in &launch.secured.files {
        launch.write(name, content)?;
    }
    let shared = SharedProperties {
        spec: launch.spec,
        release: &launch.jars.release,
        zookeeper_port,
        security: &launch.secured.broker,
    };
    let mut configs = Vec::new();
    for node in &target.nodes {
        let settings = properties::settings(&shared, node, &target.nodes);
        let name = format!("{}.properties", node.file_name());
        configs.push(launch.write(&name, properties::text(&settings))?);
        // Later lookups need no secrets.
        let mut open = settings;
        open.retain(|key, _| !launch.secured.broker.contains_key(key));
        target.written.insert(node.id, open);
    }
    Ok(configs)
}

/// All at once: each takes most of a second of a core.
fn format_all(
    launch: &Launch<'_>,
    nodes: &[KafkaNode],
    configs: &[PathBuf],
) -> Result<(), KafkaError> {
    std::thread::scope(|scope| {
        let formats: Vec<_> = nodes
            .iter()
            .zip(configs)
            .map(|(node, config)| scope.spawn(move || launch.format(&node.role(), config)))
            .collect();
        formats
            .into_iter()
            .try_for_each(|format| match format.join() {
                Ok(ended) => ended,
                Err(_) => Err(KafkaError::Interrupted),
            })
    })
}

/// Starts every process, and waits until all are ready.
fn run_all(
    launch: &Launch<'_>,
    target: &mut KafkaTarget,
    configs: &[PathBuf],
    zookeeper_port: Option<u16>,
    interrupt: &Interrupt,
) -> Result<(), KafkaError> {
    let started_at = Instant::now();
    let zookeeper = match zookeeper_port {
        Some(port) => Some(run_zookeeper(launch, target, port, started_at, interrupt)?),
        None => None,
    };
    for (node, config) in target.nodes.clone().iter().zip(configs) {
        let mut start = launch.node(node, config);
        let bounds = Bounds {
            memory_bytes: launch.spec.memory_bytes,
            milli_cores: launch.spec.milli_cores,
        };
        if node.is_broker && bounds != Bounds::default() {
            let name = format!("{}-{}", target.setup.name, node.file_name());
            let group = ControlGroup::named(&name, bounds);
            // If kgauge is killed meanwhile, the record finds the cluster.
            let dirs = group.dirs().iter().cloned();
            target.record.control_groups.extend(dirs);
            target.keep_record()?;
            group.make()?;
            start.group = Some(group);
        }
        let environment = target
            .equipment
            .environment(launch.spec.means, node, launch.conf_dir);
        start.environment = environment.map_err(KafkaError::file(launch.conf_dir))?;
        let process = KafkaProcess::start(start)?;
        target.equipment.note_process(node.id, process.id.pid);
        target.processes.push(process);
    }
    target.processes.extend(zookeeper);
    target.keep_record()?;
    wait(target, started_at, interrupt)
}

fn run_zookeeper(
    launch: &Launch<'_>,
    target: &KafkaTarget,
    port: u16,
    started_at: Instant,
    interrupt: &Interrupt,
) -> Result<KafkaProcess, KafkaError> {
    let data = std::path::absolute(target.setup.data_dir.join("zookeeper"));
    let data = data.map_err(KafkaError::file(&target.setup.data_dir))?;
    fs::create_dir_all(&data).map_err(KafkaError::file(&data))?;
    let config = launch.write("zookeeper.properties", properties::zookeeper(&data, port))?;
    let mut process = KafkaProcess::start(launch.zookeeper(&config))?;
    while !(ready::zookeeper_works(process.id.pid) && ready::is_open(port)) {
        process.check()?;
        sample_again(&target.setup, started_at, interrupt, || {
            KafkaError::TimedOut {
                what: "ZooKeeper did not open its port".to_owned(),
                waited: started_at.elapsed(),
                log: crate::log_tail::log_lines(&process.start.log_file),
                log_file: process.start.log_file.clone(),
            }
        })?;
    }
    Ok(process)
}

/// Waits briefly, unless the user wants to stop or the time is over.
fn sample_again(
    setup: &KafkaSetup,
    started_at: Instant,
    interrupt: &Interrupt,
    timed_out: impl FnOnce() -> KafkaError,
) -> Result<(), KafkaError> {
    if interrupt.is_raised() {
        return Err(KafkaError::Interrupted);
    }
    if started_at.elapsed() >= setup.time_limit {
        return Err(timed_out());
    }
    std::thread::sleep(LOOK);
    Ok(())
}

/// Waits until every broker's port is open, and then until each knows all of them.
fn wait(
    target: &mut KafkaTarget,
    started_at: Instant,
    interrupt: &Interrupt,
) -> Result<(), KafkaError> {
    let brokers: Vec<(usize, u16)> = target
        .nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| node.is_broker)
        .map(|(index, node)| (index, node.inner_port))
        .collect();
    let modern = target.is_modern();
    let expected = brokers.len();
    for &(index, port) in &brokers {
        while !ready::is_open(port) {
            target.check()?;
            let timed_out = || target.timed_out(index, "did not open its port", started_at);
            sample_again(&target.setup, started_at, interrupt, timed_out)?;
        }
    }
    target.started.ports_open = started_at.elapsed();
    if !target.jars.release.version.is_at_least(&[0, 9]) {
        first_topic(target, started_at, interrupt)?;
    }
    for &(index, port) in &brokers {
        while ready::brokers_known(port, modern) != Some(expected) {
            target.check()?;
            let timed_out = || target.timed_out(index, "does not list all brokers", started_at);
            sample_again(&target.setup, started_at, interrupt, timed_out)?;
        }
    }
    target.started.serves = started_at.elapsed();
    Ok(())
}

/// Before 0.9 the controller announces brokers to each other only with the first topic: until then metadata contains no
/// broker. An empty topic is therefore created and kept.
fn first_topic(
    target: &KafkaTarget,
    started_at: Instant,
    interrupt: &Interrupt,
) -> Result<(), KafkaError> {
    let Some(tool) = &target.topic_tool else {
        return Ok(());
    };
    let topic = TopicSpec {
        name: format!("kgauge-{}-start", target.setup.name),
        partitions: 1,
        replication_factor: i16::try_from(target.spec.brokers).unwrap_or(i16::MAX),
        configs: Vec::new(),
    };
    // It fails until all brokers are registered.
    while let Err(error) = tool.create(&topic) {
        sample_again(&target.setup, started_at, interrupt, || error)?;
    }
    Ok(())
}

/// The default time limit of a start.
pub const START_MAX: Duration = Duration::from_secs(120);
