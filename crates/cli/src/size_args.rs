//! The arguments of `kgauge size`.

use std::path::PathBuf;

use clap::Args;

use crate::conduct_args::ConductArgs;
use crate::help;

/// Find how many machines a load needs, from measured runs
#[derive(Debug, Args)]
#[command(after_help = help::SIZE)]
pub(crate) struct SizeArgs {
    /// Run folders that show what load costs
    #[arg(long, value_name = "RUN", required_unless_present = "measure", num_args = 1..)]
    pub(crate) from: Vec<PathBuf>,

    /// Make the trials first, in about fifteen minutes at full speed, on the target
    #[arg(long, conflicts_with = "from")]
    pub(crate) measure: bool,

    /// Cluster to measure, as in `kgauge run` [default: the environment variable KGAUGE_TARGET, or else
    /// embedded]
    #[arg(long = "target", value_name = "TARGET", requires = "measure")]
    pub(crate) target: Option<String>,

    /// Measure shorter, for a first look
    #[arg(long, requires = "measure")]
    pub(crate) quick: bool,

    /// Override a value of the measured scenario, as in `kgauge run`; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE", requires = "measure")]
    pub(crate) set: Vec<String>,

    /// Average rate of all producers, such as 50MB/s, before compression
    #[arg(long, value_name = "RATE", value_parser = byte_rate)]
    pub(crate) rate: f64,

    /// Size of a record, such as 1kB
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub(crate) record: f64,

    /// Highest rate as a multiple of the average, such as 3x
    #[arg(long, value_name = "FACTOR", default_value = "1x", value_parser = factor)]
    pub(crate) peak: f64,

    /// How long records are kept, such as 7d
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = seconds)]
    pub(crate) retention: f64,

    /// How many times each record is read
    #[arg(long, value_name = "N", default_value = "1", value_parser = amount)]
    pub(crate) fan_out: f64,

    /// Replicas of each partition
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) replication: u32,

    /// Brokers that may be down at the peak
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) lose: u32,

    /// Clients use TLS
    #[arg(long)]
    pub(crate) tls: bool,

    /// Longest 99th percentile of the response time, such as 20ms
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub(crate) p99: Option<f64>,

    /// Uncompressed by compressed bytes of your records [default: as in the runs]
    #[arg(long, value_name = "RATIO", value_parser = factor)]
    pub(crate) compression: Option<f64>,

    /// A broker that was down for this long ...
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = seconds)]
    pub(crate) outage: f64,

    /// ... has all records again after this long
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = seconds)]
    pub(crate) catch_up: f64,

    /// Table of machine types and prices (CSV) [default: examples of one provider]
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,

    /// Write a page (HTML) to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) page: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) conduct: ConductArgs,
}

const BYTES: &[(&str, f64)] = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1_024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];

const TIMES: &[(&str, f64)] = &[
    ("ms", 1e-3),
    ("s", 1.0),
    ("min", 60.0),
    ("h", 3_600.0),
    ("d", 86_400.0),
    ("w", 604_800.0),
];

/// A number above 0 with a unit, in the base unit.
fn quantity(text: &str, units: &[(&str, f64)], example: &str) -> Result<f64, String> {
    let text = text.trim();
    let unit_at = text
        .find(|letter: char| letter.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let factor = units
        .iter()
        .find(|(name, _)| *name == unit)
        .map(|(_, factor)| factor);
    let number = number.trim().parse::<f64>().ok();
    match number.zip(factor).map(|(number, factor)| number * factor) {
        Some(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => {
            let names = units
                .iter()
                .map(|(name, _)| *name)
                .filter(|name| !name.is_empty());
            let names = names.collect::<Vec<_>>().join(", ");
            Err(format!(
                "expected a number with a unit ({names}), such as {example}"
            ))
        }
    }
}

fn bytes(text: &str) -> Result<f64, String> {
    quantity(text, BYTES, "1kB")
}

fn byte_rate(text: &str) -> Result<f64, String> {
    let error = "expected bytes per second, such as 50MB/s".to_owned();
    let amount = text.trim().strip_suffix("/s").ok_or(error)?;
    quantity(amount, BYTES, "50MB/s")
}

fn seconds(text: &str) -> Result<f64, String> {
    quantity(text, TIMES, "12h")
}

/// At least 1: `3x` or `3`.
fn factor(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches(['x', '×']).trim_end();
    match number.parse::<f64>() {
        Ok(factor) if (1.0..=1e6).contains(&factor) => Ok(factor),
        _ => Err("expected a factor of at least 1, such as 3x".to_owned()),
    }
}

fn amount(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if (0.0..=1e6).contains(&number) => Ok(number),
        _ => Err("expected a number, such as 3".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_units() {
        assert_eq!(byte_rate("50MB/s"), Ok(50e6));
        assert_eq!(byte_rate(" 1.5 GiB/s"), Ok(1.5 * 1_073_741_824.0));
        assert_eq!(bytes("1kB"), Ok(1_000.0));
        assert_eq!(seconds("7d"), Ok(604_800.0));
        assert_eq!(seconds("20ms"), Ok(0.02));
        assert_eq!(factor("3x"), Ok(3.0));
        assert_eq!(amount("0"), Ok(0.0));
        for wrong in ["50MB", "50/s", "MB/s", "-1MB/s", "infMB/s", "1 mb/s", ""] {
            assert!(byte_rate(wrong).is_err(), "{wrong}");
        }
        for wrong in ["0.5x", "x", "nan", "1e9"] {
            assert!(factor(wrong).is_err(), "{wrong}");
        }
        for wrong in ["7", "7 days", "0s", "µ"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
