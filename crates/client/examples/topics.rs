//! Creates topics, or asks for the metadata of all there are, and prints how long it took.
//!
//! `cargo run --release -p kgauge-client --example topics -- HOST:PORT create TOPICS PARTITIONS` or
//! `... describe TOPICS TIMES`. `cargo xtask bench brokers` calls it.

#![allow(clippy::print_stdout, reason = "an example talks to its user")]

use std::error::Error;
use std::time::Instant;

use kgauge_client::admin::TopicSpec;
use kgauge_client::{ClientConfig, Cluster};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let cluster = |servers: &str| {
        Ok::<_, Box<dyn Error>>(Cluster::bootstrap(ClientConfig::from_servers(servers)?)?)
    };
    match arguments[..] {
        [servers, "create", topics, partitions] => {
            let mut cluster = cluster(servers)?;
            let start = Instant::now();
            for number in 0..topics.parse()? {
                cluster.create_topic(&TopicSpec {
                    name: name(number),
                    partitions: partitions.parse()?,
                    replication_factor: 1,
                    configs: Vec::new(),
                })?;
            }
            println!("created in {:.2} s", start.elapsed().as_secs_f64());
        }
        [servers, "describe", topics, times] => {
            let names: Vec<String> = (0..topics.parse()?).map(name).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let mut cluster = cluster(servers)?;
            let mut slowest_ms = 0.0_f64;
            let mut partitions: usize = 0;
            for _ in 0..times.parse::<u32>()? {
                let start = Instant::now();
                let metadata = cluster.refresh(&names)?;
                slowest_ms = slowest_ms.max(start.elapsed().as_secs_f64() * 1e3);
                partitions = metadata
                    .topics
                    .iter()
                    .map(|topic| topic.partitions.len())
                    .sum();
            }
            println!(
                "metadata of {partitions} partitions: asked {times} times, the slowest {slowest_ms:.1} ms"
            );
        }
        _ => {
            return Err(
                "give HOST:PORT create TOPICS PARTITIONS, or HOST:PORT describe TOPICS TIMES"
                    .into(),
            );
        }
    }
    Ok(())
}

fn name(number: u32) -> String {
    format!("many-{number}")
}
