//! Speeds of the machine's network interfaces.
//!
//! Source: the kernel's "sysfs-class-net": `speed` is in Mbit/s, -1 if unknown, and an error if there is none; `device`
//! leads to the card, `lower_NAME` to the interfaces below. Interfaces without a card, such as veth, tun and dummy
//! ones, report a speed that nothing enforces (10 Gbit/s, 10 Mbit/s). Theirs is unknown unless the user gives it.

use std::fs;
use std::path::Path;

use kgauge_results::metrics::MetricId;
use kgauge_results::run::{NetworkSample, NetworkSpeed, SpeedSource};

use crate::network;
use crate::proc_file::number;

const CLASS: &str = "/sys/class/net";
const LOOKS: &str = "/proc/self/net/dev";

/// A VLAN on a bridge on a bond of cards are three levels; more than this is a loop.
const LAYERS_MAX: u32 = 8;
/// Limit on the number of interfaces.
const INTERFACES_MAX: usize = 256;
/// Some drivers report this if they do not know the speed: -1 in 32 bits.
const UNKNOWN_MBITS: u64 = u32::MAX as u64;

/// The speed of an interface, as given by the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserSpeed {
    /// Interface name.
    pub interface: String,
    /// In each direction.
    pub bits_per_s: u64,
}

/// The names of the interfaces that this process sees; none if the system does not list them.
pub fn network_interfaces() -> Vec<String> {
    let looks = samples().into_iter();
    looks.map(|look| look.interface).collect()
}

/// Interface speeds: those given by the user, and those that the drivers of all others report.
pub(crate) fn network_speeds(given: &[UserSpeed]) -> Vec<NetworkSpeed> {
    let is_given = |name: &str| given.iter().any(|one| one.interface == name);
    let driver_speeds = read_speeds(Path::new(CLASS), samples)
        .into_iter()
        .filter(|one| !is_given(&one.interface));
    let user_speeds = given.iter().map(|one| NetworkSpeed {
        interface: one.interface.clone(),
        bits_per_s: one.bits_per_s,
        is_half_duplex: false,
        told_by: SpeedSource::User,
    });
    user_speeds.chain(driver_speeds).collect()
}

fn samples() -> Vec<NetworkSample> {
    let mut found = Vec::new();
    let text = fs::read(LOOKS).unwrap_or_default();
    network::each(&String::from_utf8_lossy(&text), |look| found.push(look));
    found
}

/// Speeds reported by drivers. A process in a network namespace without its own sysfs sees another namespace's
/// interfaces there, under the same names. Therefore only those with equal byte counters count.
fn read_speeds(class: &Path, looks: impl Fn() -> Vec<NetworkSample>) -> Vec<NetworkSpeed> {
    let before = looks();
    let names = before.iter().filter(|look| is_name(&look.interface));
    let driver_speeds = names.take(INTERFACES_MAX).filter_map(|look| {
        let speed = read_speed(class, &look.interface)?;
        let statistics = class.join(&look.interface).join("statistics");
        let moved = (
            number(&statistics.join("rx_bytes"))?,
            number(&statistics.join("tx_bytes"))?,
        );
        Some((look, moved, speed))
    });
    let driver_speeds: Vec<_> = driver_speeds.collect();
    let after = if driver_speeds.is_empty() {
        Vec::new()
    } else {
        looks()
    };
    let is_between = |look: &NetworkSample, (received, sent): (u64, u64)| {
        let mut after = after.iter();
        let after = after.find(|one| one.interface == look.interface);
        after.is_some_and(|after| {
            let bytes = |of: &NetworkSample, way| of.values.get(&way).copied().unwrap_or(0);
            let is_between =
                |way, moved: u64| (bytes(look, way)..=bytes(after, way)).contains(&moved);
            is_between(MetricId::ReceivedBytes, received) && is_between(MetricId::SentBytes, sent)
        })
    };
    driver_speeds
        .into_iter()
        .filter(|(look, moved, _)| is_between(look, *moved))
        .map(|(_, _, speed)| speed)
        .collect()
}

/// Interface names are names of folders; the kernel allows no others.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains('/') && name != "." && name != ".."
}

fn read_speed(class: &Path, interface: &str) -> Option<NetworkSpeed> {
    if !is_card(class, interface, LAYERS_MAX) {
        return None;
    }
    let folder = class.join(interface);
    // An unknown speed, -1, does not parse.
    let mbits = number(&folder.join("speed"))?;
    if mbits == 0 || mbits == UNKNOWN_MBITS {
        return None;
    }
    let duplex = fs::read_to_string(folder.join("duplex")).unwrap_or_default();
    Some(NetworkSpeed {
        interface: interface.to_owned(),
        bits_per_s: mbits.checked_mul(1_000_000)?,
        is_half_duplex: duplex.trim() == "half",
        told_by: SpeedSource::Kernel,
    })
}

/// Whether there is a card under an interface, or under every interface below it.
fn is_card(class: &Path, interface: &str, layers_left: u32) -> bool {
    let folder = class.join(interface);
    if folder.join("device").exists() {
        return true;
    }
    let Some(left) = layers_left.checked_sub(1) else {
        return false;
    };
    let below = fs::read_dir(folder).into_iter().flatten().flatten();
    let below = below.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        Some(name.strip_prefix("lower_")?.to_owned())
    });
    let mut below = below.peekable();
    below.peek().is_some() && below.all(|name| is_card(class, &name, left))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use kgauge_results::metrics::Readings;

    use super::*;

    /// The attributes of a machine's interfaces: name, speed, duplex, interfaces below.
    const INTERFACES: [(&str, &str, &str, &[&str]); 12] = [
        ("eth0", "25000", "full", &["device"]),
        ("eth1", "10000", "full", &["device"]),
        ("old", "10", "half", &["device"]),
        ("down", "-1", "unknown", &["device"]),
        ("mute", "4294967295", "unknown", &["device"]),
        ("bond0", "35000", "full", &["lower_eth0", "lower_eth1"]),
        ("vlan7", "35000", "full", &["lower_bond0"]),
        ("veth0", "10000", "full", &[]),
        ("br0", "10000", "full", &["lower_veth0"]),
        ("tun0", "10", "full", &[]),
        ("ring", "10000", "full", &["lower_ring"]),
        ("gone", "", "", &["device"]),
    ];

    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, speed, duplex, below) in INTERFACES {
            let folder = dir.path().join(name);
            fs::create_dir_all(folder.join("statistics")).unwrap();
            for below in below {
                fs::create_dir(folder.join(below)).unwrap();
            }
            // The kernel returns an error for an interface that is down.
            if !speed.is_empty() {
                fs::write(folder.join("speed"), format!("{speed}\n")).unwrap();
                fs::write(folder.join("duplex"), format!("{duplex}\n")).unwrap();
            }
            fs::write(folder.join("statistics/rx_bytes"), "1000\n").unwrap();
            fs::write(folder.join("statistics/tx_bytes"), "77\n").unwrap();
        }
        fs::create_dir(dir.path().join("lo")).unwrap();
        dir
    }

    fn samples(received_bytes: u64) -> Vec<NetworkSample> {
        let names = INTERFACES.iter().map(|(name, ..)| *name);
        let names = names.chain(["lo", "../eth0", "", "not-there"]);
        let look = |name: &str| NetworkSample {
            interface: name.to_owned(),
            values: Readings::from([
                (MetricId::ReceivedBytes, received_bytes),
                (MetricId::SentBytes, 77),
            ]),
        };
        names.map(look).collect()
    }

    fn found(class: &Path, received_bytes: u64) -> Vec<(String, u64, bool)> {
        read_speeds(class, || samples(received_bytes))
            .into_iter()
            .map(|one| (one.interface, one.bits_per_s, one.is_half_duplex))
            .collect()
    }

    #[test]
    fn only_cards_and_interfaces_made_of_cards_have_a_speed() {
        let dir = tree();
        let known = |name: &str, mbits: u64, is_half| (name.to_owned(), mbits * 1_000_000, is_half);
        assert_eq!(
            found(dir.path(), 1_000),
            [
                known("eth0", 25_000, false),
                known("eth1", 10_000, false),
                known("old", 10, true),
                known("bond0", 35_000, false),
                known("vlan7", 35_000, false),
            ]
        );
    }

    #[test]
    fn interfaces_of_another_namespace_with_the_same_names_are_ignored() {
        let dir = tree();
        assert_eq!(found(dir.path(), 999), []);
        assert_eq!(found(dir.path(), 1_001), []);
        assert_eq!(found(&dir.path().join("nowhere"), 1_000), []);
    }

    #[test]
    fn the_users_speed_overrides_the_drivers() {
        let given = [UserSpeed {
            interface: "lo".to_owned(),
            bits_per_s: 300_000_000,
        }];
        let speeds = network_speeds(&given);
        let of_lo: Vec<_> = speeds.iter().filter(|one| one.interface == "lo").collect();
        let [lo] = of_lo.as_slice() else {
            panic!("{speeds:?}");
        };
        assert_eq!(
            (lo.bits_per_s, lo.told_by),
            (300_000_000, SpeedSource::User)
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_machine_has_a_loopback_and_its_speed_is_not_known() {
        assert!(network_interfaces().iter().any(|name| name == "lo"));
        let speeds = network_speeds(&[]);
        assert!(speeds.iter().all(|one| one.interface != "lo"), "{speeds:?}");
    }
}
