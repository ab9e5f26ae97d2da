//! The speeds of network interfaces that the user sets: `--network-speed eth0=10Gbit`.

use kgauge_audit::parse_with_unit;
use kgauge_observe::{UserSpeed, network_interfaces};
use kgauge_results::run::RunHead;

use crate::error::RunError;

const OPTION: &str = "--network-speed";
/// More names than these are not listed.
const NAMES_MAX: usize = 12;
/// No link is slower than a modem's, or faster than what a rack has.
const BITS_MIN: f64 = 1e3;
const BITS_MAX: f64 = 1e14;

/// The speeds of this option. A resumed run keeps those of its first command, unless the option is given again.
///
/// # Errors
/// A text is not an interface of this machine with a speed.
pub(crate) fn read_speeds(
    texts: &[String],
    earlier: Option<&RunHead>,
) -> Result<Vec<UserSpeed>, RunError> {
    let texts = match (texts, earlier) {
        ([], Some(earlier)) => values_in(&earlier.command),
        _ => texts.to_vec(),
    };
    understood(&texts, &network_interfaces())
        .map_err(|words| RunError::input(format!("{OPTION} {words}")))
}

/// The values of the option in a command line.
fn values_in(command: &[String]) -> Vec<String> {
    let joined = |word: &String| Some(word.strip_prefix(OPTION)?.strip_prefix('=')?.to_owned());
    let mut words = command.iter();
    let mut values = Vec::new();
    while let Some(word) = words.next() {
        match word == OPTION {
            true => values.extend(words.next().cloned()),
            false => values.extend(joined(word)),
        }
    }
    values
}

fn understood(texts: &[String], interfaces: &[String]) -> Result<Vec<UserSpeed>, String> {
    let mut speeds: Vec<UserSpeed> = Vec::new();
    for text in texts {
        let Some((interface, speed)) = text.rsplit_once('=') else {
            return Err(format!(
                "{text}: write the interface and its speed, such as eth0=10Gbit"
            ));
        };
        let interface = interface.trim();
        let bits_per_s =
            bits_per_s(speed.trim()).map_err(|words| format!("{interface}={speed}: {words}"))?;
        // A system that names none is not asked about them.
        if !interfaces.is_empty() && !interfaces.iter().any(|name| name == interface) {
            return Err(format!(
                "{text}: this machine has no interface {interface:?}; it has {}",
                names(interfaces)
            ));
        }
        if speeds.iter().any(|one| one.interface == interface) {
            return Err(format!("{text}: {interface} already has a speed"));
        }
        speeds.push(UserSpeed {
            interface: interface.to_owned(),
            bits_per_s,
        });
    }
    Ok(speeds)
}

fn names(interfaces: &[String]) -> String {
    let (named, more) = interfaces.split_at(interfaces.len().min(NAMES_MAX));
    match more.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// Network cards are sold by bits, in steps of 1,000. A large B stands for bytes everywhere but in the names of units
/// that nobody mistakes.
fn bits_per_s(text: &str) -> Result<u64, String> {
    const WANTED: &str = "write bits per second, such as 300Mbit, 2.5Gbit or 100Gbit/s";
    let (value, unit) = parse_with_unit(text).ok_or(WANTED)?;
    let mut letters = unit.chars();
    let factor = match letters.next() {
        Some('k' | 'K') => 1e3,
        Some('m' | 'M') => 1e6,
        Some('g' | 'G') => 1e9,
        Some('t' | 'T') => 1e12,
        None => return Err(format!("a number without a unit; {WANTED}")),
        Some(_) => return Err(WANTED.to_owned()),
    };
    match letters.as_str() {
        "" | "b" | "bit" | "bits" | "Bit" | "BIT" | "bit/s" | "bits/s" | "Bit/s" | "b/s"
        | "bps" => {}
        "B" | "B/s" | "Bps" => {
            let bits = value * 8.0;
            let prefix = unit.get(..1).unwrap_or_default().to_uppercase();
            return Err(format!(
                "{unit} are bytes, but link speeds are in bits: {bits}{prefix}bit"
            ));
        }
        "i" | "ib" | "ibit" | "ibit/s" | "ibps" | "iB" | "iB/s" => {
            return Err(format!("network cards count in steps of 1,000; {WANTED}"));
        }
        _ => return Err(WANTED.to_owned()),
    }
    let bits = value * factor;
    match (BITS_MIN..=BITS_MAX).contains(&bits) {
        true => Ok(bits.round() as u64),
        false => Err("no network card is that fast or that slow".to_owned()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn parsed(texts: &[&str]) -> Result<Vec<(String, u64)>, String> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let interfaces = ["lo", "eth0", "wlan=0"].map(str::to_owned);
        let speeds = understood(&texts, &interfaces)?.into_iter();
        Ok(speeds.map(|one| (one.interface, one.bits_per_s)).collect())
    }

    #[test]
    fn speeds_are_read_in_the_units_of_network_cards() {
        for (text, bits) in [
            ("10Gbit", 10_000_000_000),
            ("10gbit", 10_000_000_000),
            ("10 Gbit/s", 10_000_000_000),
            ("10G", 10_000_000_000),
            ("2.5Gbps", 2_500_000_000),
            ("300mbit", 300_000_000),
            ("300Mb/s", 300_000_000),
            ("64kbit", 64_000),
            ("1.6Tbit", 1_600_000_000_000),
        ] {
            assert_eq!(bits_per_s(text), Ok(bits), "{text}");
        }
        assert_eq!(
            parsed(&["lo=300Mbit", "wlan=0=54Mbit"]).unwrap(),
            [
                ("lo".to_owned(), 300_000_000),
                ("wlan=0".to_owned(), 54_000_000)
            ]
        );
    }

    #[test]
    fn an_error_has_an_example() {
        for (text, words) in [
            (
                "lo",
                "write the interface and its speed, such as eth0=10Gbit",
            ),
            ("lo=", "write bits per second, such as 300Mbit"),
            ("lo=fast", "write bits per second, such as 300Mbit"),
            ("lo=10", "a number without a unit; write bits per second"),
            ("lo=-1Gbit", "write bits per second"),
            ("lo=0Gbit", "write bits per second"),
            ("lo=1e9bit", "write bits per second"),
            ("lo=10Gigabit", "write bits per second"),
            ("lo=10µbit", "write bits per second"),
            (
                "lo=125MB/s",
                "MB/s are bytes, but link speeds are in bits: 1000Mbit",
            ),
            (
                "lo=1.25GB",
                "GB are bytes, but link speeds are in bits: 10Gbit",
            ),
            ("lo=1Gibit", "steps of 1,000"),
            ("lo=1000Tbit", "no network card is that fast"),
            ("lo=0.5kbit", "no network card is that fast or that slow"),
            (
                "eth9=1Gbit",
                "this machine has no interface \"eth9\"; it has lo, eth0, wlan=0",
            ),
            ("=1Gbit", "no interface \"\""),
        ] {
            let error = parsed(&[text]).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
        let twice = parsed(&["lo=1Gbit", "lo=2Gbit"]).unwrap_err();
        assert!(twice.contains("lo already has a speed"), "{twice}");
    }

    #[test]
    fn a_run_that_goes_on_has_its_speeds_in_its_command() {
        let command = [
            "kgauge",
            "run",
            "--network-speed",
            "lo=1Gbit",
            "x.yaml",
            "--network-speed=eth0=10Gbit",
            "--network-speed",
        ];
        let command = command.map(str::to_owned);
        assert_eq!(values_in(&command), ["lo=1Gbit", "eth0=10Gbit"]);
    }
}
