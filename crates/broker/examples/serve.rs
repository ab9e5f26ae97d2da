//! Serves an embedded cluster to any Kafka client until its standard input ends:
//! `cargo run -p kgauge-broker --example serve -- DIR [NODES] [FIRST_PORT] [name=value ...]`.
//! Port 0 means free ports. Besides Kafka's settings there are
//! `security=SSL|SASL_PLAINTEXT|SASL_SSL`, `user=NAME:PASSWORD` (repeatable), and for files
//! in PEM `certificate=FILE`, `key=FILE` and `clients=FILE` (the authorities of clients).
#![allow(clippy::print_stdout, reason = "an example talks to its user")]

use std::error::Error;
use std::fs::read_to_string;
use std::io::{Read, stdin};
use std::net::{Ipv4Addr, SocketAddr};

use kgauge_broker::security::SecurityProtocol;
use kgauge_broker::{ClusterConfig, EmbeddedCluster, ListenAddress};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let dir = arguments
        .next()
        .ok_or("the first argument is the data folder")?;
    let nodes: u16 = arguments.next().as_deref().unwrap_or("1").parse()?;
    let port: u16 = arguments.next().as_deref().unwrap_or("0").parse()?;
    let mut config = ClusterConfig::new(dir).with_nodes(nodes);
    for setting in arguments {
        let (name, value) = setting.split_once('=').ok_or("settings are name=value")?;
        config = set(config, name, value)?;
    }
    if port != 0 {
        let address = |index| SocketAddr::from((Ipv4Addr::LOCALHOST, port + index));
        config.listen = ListenAddress::Addresses((0..nodes).map(address).collect());
    }
    let cluster = EmbeddedCluster::start(config)?;
    println!("bootstrap.servers={}", cluster.bootstrap_servers());
    println!("Not Apache Kafka. Ends when standard input does.");
    stdin().read_to_end(&mut Vec::new())?;
    cluster.stop()?;
    Ok(())
}

fn set(
    mut config: ClusterConfig,
    name: &str,
    value: &str,
) -> Result<ClusterConfig, Box<dyn Error>> {
    let file_setting = match name {
        "certificate" => "ssl.keystore.certificate.chain",
        "key" => "ssl.keystore.key",
        "clients" => "ssl.truststore.certificates",
        "security" => {
            config.security.protocol =
                SecurityProtocol::parse(value).ok_or("an unknown protocol")?;
            return Ok(config);
        }
        "user" => {
            let (user, password) = value.split_once(':').ok_or("a user is NAME:PASSWORD")?;
            let sasl = config.security.sasl.take().unwrap_or_default();
            config.security.sasl = Some(sasl.with_user(user, password));
            return Ok(config);
        }
        _ => return Ok(config.with_setting(name, value)),
    };
    Ok(config.with_setting(file_setting, &read_to_string(value)?))
}
