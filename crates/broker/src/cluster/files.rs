//! The `meta.properties` files: which cluster a folder belongs to, in Kafka's form.
//!
//! The cluster's folder names cluster and number of nodes; each node's folder names cluster and
//! node. A folder with another content is refused: its logs would be taken for those of this
//! cluster.

use std::collections::BTreeMap;
use std::path::Path;

use super::{ClusterConfig, StartError};
use crate::storage::{Storage, read_whole, replace_file};

const NAME: &str = "meta.properties";

type Properties = BTreeMap<String, String>;

/// Refuses fewer nodes than the folder has data of.
pub(super) fn check_nodes(storage: &dyn Storage, config: &ClusterConfig) -> Result<(), StartError> {
    let Some(known) = read(storage, &config.data_dir)? else {
        return Ok(());
    };
    let before = known
        .get("nodes")
        .and_then(|count| count.parse::<u16>().ok())
        .unwrap_or(0);
    if config.nodes < before {
        return Err(foreign(
            &config.data_dir,
            format!(
                "it holds a cluster of {before} nodes, which cannot run with {}",
                config.nodes
            ),
        ));
    }
    Ok(())
}

/// Checks that all folders belong to this cluster, and notes it in those that are new.
pub(super) fn check_cluster(
    storage: &dyn Storage,
    config: &ClusterConfig,
    cluster_id: &str,
) -> Result<(), StartError> {
    let nodes = config.nodes.to_string();
    let cluster = [
        ("version", "1"),
        ("cluster.id", cluster_id),
        ("nodes", &nodes),
    ];
    check(storage, &config.data_dir, &cluster)?;
    for id in config.node_ids() {
        let number = id.to_string();
        let node = [
            ("version", "1"),
            ("cluster.id", cluster_id),
            ("node.id", &number),
        ];
        check(storage, &config.node_dir(id), &node)?;
    }
    storage.sync_dir(&config.data_dir)?;
    Ok(())
}

fn check(storage: &dyn Storage, dir: &Path, properties: &[(&str, &str)]) -> Result<(), StartError> {
    if let Some(known) = read(storage, dir)? {
        for name in ["cluster.id", "node.id"] {
            let value = properties
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| *value);
            if let (Some(value), Some(found)) = (value, known.get(name))
                && found != value
            {
                let words = format!("its {NAME} has {name}={found}, expected {value}");
                return Err(foreign(dir, words));
            }
        }
    }
    storage.create_dir_all(dir)?;
    let text: String = properties
        .iter()
        .map(|(name, value)| format!("{name}={value}\n"))
        .collect();
    replace_file(storage, &dir.join(NAME), text.as_bytes())?;
    Ok(storage.sync_dir(dir)?)
}

fn read(storage: &dyn Storage, dir: &Path) -> Result<Option<Properties>, StartError> {
    let Some(bytes) = read_whole(storage, &dir.join(NAME))? else {
        return Ok(None);
    };
    let Ok(text) = String::from_utf8(bytes) else {
        return Err(foreign(dir, format!("its {NAME} is not text")));
    };
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#'));
    let pairs = lines.filter_map(|line| line.split_once('='));
    Ok(Some(
        pairs
            .map(|(k, v)| (k.trim().to_owned(), v.trim().to_owned()))
            .collect(),
    ))
}

fn foreign(dir: &Path, words: String) -> StartError {
    StartError::Foreign {
        dir: dir.to_path_buf(),
        words,
    }
}
