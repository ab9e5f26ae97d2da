//! The arguments of `kgauge size`.

use std::path::PathBuf;

use clap::Args;
use kgauge_scenario::{byte_rate_value, size_value, time_value};
use kgauge_wire::compress::Codec;

use crate::conduct_args::ConductArgs;
use crate::help;

/// Find how many machines a load needs, from measured runs
#[derive(Debug, Args)]
#[command(after_help = help::SIZE)]
#[command(mut_arg("json", |json| json.help(help::JSON_OF_SIZE)))]
#[command(mut_arg("verbose", |verbose| verbose.help(help::VERBOSE_OF_SIZE)))]
#[command(mut_arg("quiet", |quiet| quiet.help(help::QUIET_OF_SIZE)))]
pub(crate) struct SizeArgs {
    /// Run folders that show what load costs
    #[arg(long, value_name = "RUN", required_unless_present = "measure", num_args = 1..)]
    pub(crate) from: Vec<PathBuf>,

    /// Measure first: run fifteen trials on the target, most of them at full speed, in about fifteen
    /// minutes
    #[arg(long, conflicts_with = "from")]
    pub(crate) measure: bool,

    /// Cluster to measure, as in `kgauge run` [default: the environment variable KGAUGE_TARGET, or else
    /// embedded]
    #[arg(long = "target", value_name = "TARGET", requires = "measure")]
    pub(crate) target: Option<String>,

    /// Use shorter trials, for a first estimate
    #[arg(long, requires = "measure")]
    pub(crate) quick: bool,

    /// Override one value of the measured scenario, as in `kgauge run`; may be repeated
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

    /// Number of times each record is read
    #[arg(long, value_name = "N", default_value = "1", value_parser = amount)]
    pub(crate) fan_out: f64,

    /// Replicas of each partition
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) replication: u32,

    /// Brokers that may be down at the peak
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) lose: u32,

    /// Clients connect with TLS
    #[arg(long)]
    pub(crate) tls: bool,

    /// Longest 99th percentile of the response time, such as 20ms
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub(crate) p99: Option<f64>,

    /// Compression ratio of your records: uncompressed ÷ compressed bytes [default: as in the runs]
    #[arg(long, value_name = "RATIO", value_parser = factor, conflicts_with = "sample")]
    pub(crate) compression: Option<f64>,

    /// Files with some of your records, one per line. kgauge measures how well each codec compresses
    /// them
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) sample: Vec<PathBuf>,

    /// Treat each file of `--sample` as one record
    #[arg(long, requires = "sample")]
    pub(crate) whole_files: bool,

    /// Codec of your producers: a value of `compression.type`, such as lz4 [default: none with --sample,
    /// otherwise as in the runs]
    #[arg(long, value_name = "CODEC", value_parser = codec)]
    pub(crate) codec: Option<Codec>,

    /// Topics use another codec than producers, so brokers compress again
    #[arg(long)]
    pub(crate) recompress: bool,

    /// Longest outage of a broker, or of all consumers; 0s for none
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = any_seconds)]
    pub(crate) outage: f64,

    /// Time within which they must have caught up after the outage
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = seconds)]
    pub(crate) catch_up: f64,

    /// Number of availability zones; traffic between zones adds to the price
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) zones: u32,

    /// Number of dedicated controllers, on the cheapest machine type
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=9))]
    pub(crate) controllers: u32,

    /// Table of machine types and prices (CSV) [default: examples of one provider]
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,

    /// Also write the answer as an HTML page to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) page: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) conduct: ConductArgs,
}

/// A size of at least one byte.
fn bytes(text: &str) -> Result<f64, String> {
    positive(size_value(text.trim())? as f64)
}

fn byte_rate(text: &str) -> Result<f64, String> {
    positive(byte_rate_value(text)?)
}

/// A time above 0, in seconds.
fn seconds(text: &str) -> Result<f64, String> {
    positive(any_seconds(text)?)
}

/// A time, in seconds.
fn any_seconds(text: &str) -> Result<f64, String> {
    Ok(time_value(text.trim())? as f64 / 1e9)
}

fn positive(value: f64) -> Result<f64, String> {
    match value > 0.0 && value.is_finite() {
        true => Ok(value),
        false => Err("expected more than 0".to_owned()),
    }
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

/// Kafka's name of a codec.
fn codec(text: &str) -> Result<Codec, String> {
    Codec::from_name(text.trim()).ok_or_else(|| {
        let names = Codec::ALL.map(Codec::name);
        format!("expected one of {}", names.join(", "))
    })
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
        assert_eq!(any_seconds("0 s"), Ok(0.0));
        assert_eq!(factor("3x"), Ok(3.0));
        assert_eq!(amount("0"), Ok(0.0));
        assert_eq!(codec("zstd"), Ok(Codec::Zstd));
        for wrong in [
            "50MB", "50/s", "MB/s", "-1MB/s", "infMB/s", "1 mb/s", "", "0 B/s",
        ] {
            assert!(byte_rate(wrong).is_err(), "{wrong}");
        }
        for wrong in ["0.5x", "x", "nan", "1e9"] {
            assert!(factor(wrong).is_err(), "{wrong}");
        }
        for wrong in ["7", "7 days", "0s", "µ"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
        assert!(codec("brotli").is_err());
    }
}
