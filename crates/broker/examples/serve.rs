//! Serves an embedded cluster to any Kafka client until its standard input ends:
//! `cargo run -p kgauge-broker --example serve -- DIR [NODES] [FIRST_PORT] [name=value ...]`.
//! Port 0 means free ports.
#![allow(clippy::print_stdout, reason = "an example talks to its user")]

use std::error::Error;
use std::io::{Read, stdin};
use std::net::{Ipv4Addr, SocketAddr};

use kgauge_broker::{Cluster, ClusterConfig, Listen};

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
        config = config.with_setting(name, value);
    }
    if port != 0 {
        let address = |index| SocketAddr::from((Ipv4Addr::LOCALHOST, port + index));
        config.listen = Listen::Addresses((0..nodes).map(address).collect());
    }
    let cluster = Cluster::start(config)?;
    println!("bootstrap.servers={}", cluster.bootstrap_servers());
    println!("Not Apache Kafka. Ends when standard input does.");
    stdin().read_to_end(&mut Vec::new())?;
    cluster.stop()?;
    Ok(())
}
