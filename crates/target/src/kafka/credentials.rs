//! SCRAM users: created when the cluster runs, before any client connects.

use std::process::{Command, Stdio};

use std::time::{Duration, Instant};

use kgauge_client::security::ScramMechanism;
use kgauge_client::{ClientConfig, Cluster, Connection, Interrupt};

use super::cluster::KafkaTarget;
use super::error::KafkaError;
use super::launch::Launch;
use super::process::LOOK;
use crate::security::USER;

/// Time limit until brokers know a user.
const LET_IN_MAX: Duration = Duration::from_secs(30);

/// Creates the user, if there is one.
pub(crate) fn put(
    launch: &Launch<'_>,
    target: &KafkaTarget,
    zookeeper_port: Option<u16>,
    interrupt: &Interrupt,
) -> Result<(), KafkaError> {
    let Some((mechanism, password)) = &launch.secured.scram else {
        return Ok(());
    };
    let over_the_wire = launch.jars.release.version.is_at_least(&[2, 7]);
    match (over_the_wire, zookeeper_port) {
        (false, Some(port)) => by_tool(launch, *mechanism, password, port)?,
        _ => by_wire(target, *mechanism, password, interrupt)?,
    }
    wait_until_let_in(target, interrupt)
}

/// Brokers learn of a user one by one: returns when all of them accept it.
fn wait_until_let_in(target: &KafkaTarget, interrupt: &Interrupt) -> Result<(), KafkaError> {
    let start = Instant::now();
    for address in &target.config.bootstrap_servers {
        loop {
            let limit = target.config.connection_setup_timeout;
            match Connection::connect_within(address, &target.config, limit, interrupt) {
                Ok(_) => break,
                Err(_) if interrupt.is_raised() => return Err(KafkaError::Interrupted),
                Err(error) if start.elapsed() >= LET_IN_MAX => {
                    return Err(KafkaError::Credentials {
                        reason: error.to_string(),
                    });
                }
                Err(_) => std::thread::sleep(LOOK),
            }
        }
    }
    Ok(())
}

/// Over the brokers' own listener, which is plaintext on the loopback (since 2.7).
fn by_wire(
    target: &KafkaTarget,
    mechanism: ScramMechanism,
    password: &str,
    interrupt: &Interrupt,
) -> Result<(), KafkaError> {
    let refused = |error: kgauge_client::ClusterError| KafkaError::Credentials {
        reason: error.to_string(),
    };
    let brokers = target.nodes.iter().filter(|node| node.is_broker);
    let servers: Vec<String> = brokers
        .map(|node| format!("127.0.0.1:{}", node.inner_port))
        .collect();
    // Metadata contains the listener that was asked, so all further requests are plaintext too.
    let config = plain_config(&servers);
    let mut cluster = Cluster::bootstrap_until(config, interrupt.clone()).map_err(refused)?;
    cluster
        .put_scram_user(USER, mechanism, password)
        .map_err(refused)
}

/// A configuration without TLS and SASL.
pub(crate) fn plain_config(servers: &[String]) -> ClientConfig {
    let addresses = servers.iter().filter_map(|server| server.parse().ok());
    ClientConfig::new(addresses.collect())
}

/// With the release's own tool. Java reads its arguments from a file, so that no process list shows the password.
fn by_tool(
    launch: &Launch<'_>,
    mechanism: ScramMechanism,
    password: &str,
    zookeeper_port: u16,
) -> Result<(), KafkaError> {
    if launch.java.feature < 9 {
        return Err(KafkaError::Unsupported {
            release: launch.jars.release.version.clone(),
            what: "creating SCRAM users for releases before 2.7 needs Java 9 or newer, which \
                   reads its arguments from a file"
                .to_owned(),
        });
    }
    let quoted = |text: &str| format!("\"{}\"\n", text.replace('\\', "\\\\"));
    let class_path = launch.jars.class_path();
    let arguments = [
        "-Xmx128M",
        // Disables the performance data files that Java leaves for others to read.
        "-XX:-UsePerfData",
        "-cp",
        &class_path.to_string_lossy(),
        "kafka.admin.ConfigCommand",
        "--zookeeper",
        &format!("127.0.0.1:{zookeeper_port}"),
        "--alter",
        "--entity-type",
        "users",
        "--entity-name",
        USER,
        "--add-config",
        &format!("{}=[password={password}]", mechanism.name()),
    ];
    let text: String = arguments.iter().map(|argument| quoted(argument)).collect();
    let file = launch.write("put-user.args", text)?;
    let mut argument = std::ffi::OsString::from("@");
    argument.push(&file);
    let output = Command::new(&launch.java.path)
        .arg(argument)
        .stdin(Stdio::null())
        .current_dir(launch.conf_dir)
        .output();
    let _ = std::fs::remove_file(&file);
    let output = output.map_err(|error| KafkaError::Spawn {
        role: "the tool for users".to_owned(),
        error,
    })?;
    let tool_output =
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if output.status.success() && !tool_output.contains("Error while executing") {
        return Ok(());
    }
    Err(KafkaError::Credentials {
        // The tool may quote its arguments.
        reason: tool_output
            .replace(password, "(hidden)")
            .lines()
            .take(4)
            .collect::<Vec<_>>()
            .join("\n"),
    })
}
