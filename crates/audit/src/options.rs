//! Facts that the text does not contain.

/// Facts about the cluster and the tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// `buffer.memory` of the producers.
    pub buffer_bytes: Option<u64>,
    /// The capacity of a broker's network card in one direction.
    pub nic_bits_per_s: Option<f64>,
    /// The number of brokers.
    pub brokers: Option<u32>,
    /// Replicas per partition; default 1.
    pub replication: Option<u32>,
    /// The topic's partitions.
    pub partitions: Option<u64>,
    /// The tool's release.
    pub as_of: Option<(u32, u32)>,
}

/// The same, as the user writes them.
#[derive(Debug, Clone, Copy, Default)]
pub struct OptionTexts<'a> {
    /// `buffer.memory` of the producers: `64MiB`.
    pub buffer_memory: Option<&'a str>,
    /// Network speed of each broker: `1G`.
    pub nic: Option<&'a str>,
    /// The number of brokers.
    pub brokers: Option<u32>,
    /// Replicas per partition.
    pub replication: Option<u32>,
    /// The topic's partitions.
    pub partitions: Option<u64>,
    /// The tool's release: `1.0.2`.
    pub as_of: Option<&'a str>,
}

impl Options {
    /// Reads the values of the flags of `kgauge audit`.
    ///
    /// # Errors
    /// A value cannot be read, or needs another one.
    pub fn read(texts: &OptionTexts<'_>) -> Result<Self, String> {
        let buffer_bytes = value(
            "--buffer-memory",
            texts.buffer_memory,
            parse_bytes,
            "give bytes, such as 33554432 or 32MiB",
        )?;
        let nic_bits_per_s = value(
            "--nic",
            texts.nic,
            parse_bits,
            "give bits per second, such as 1G or 10G",
        )?;
        let as_of = value(
            "--as-of",
            texts.as_of,
            parse_release,
            "give a release of Kafka, such as 1.0.2",
        )?;
        if nic_bits_per_s.is_some() && texts.brokers.is_none() {
            return Err(
                "--nic needs --brokers, the number of network cards that share the load".to_owned(),
            );
        }
        Ok(Self {
            buffer_bytes,
            nic_bits_per_s,
            brokers: texts.brokers,
            replication: texts.replication,
            partitions: texts.partitions,
            as_of,
        })
    }
}

/// The value of an option, or an error that shows the `expected` form.
fn value<T>(
    option: &str,
    text: Option<&str>,
    parse: impl Fn(&str) -> Option<T>,
    expected: &str,
) -> Result<Option<T>, String> {
    let Some(text) = text else { return Ok(None) };
    let wrong = || format!("{option} {text}: {expected}");
    parse(text).map(Some).ok_or_else(wrong)
}

/// A number and the unit behind it.
pub fn parse_with_unit(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|one: char| !(one.is_ascii_digit() || one == '.'));
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let value: f64 = number.parse().ok()?;
    (value > 0.0 && value.is_finite()).then(|| (value, unit.trim()))
}

/// Bits per second: `1G`, `100 Mbit/s`.
pub fn parse_bits(text: &str) -> Option<f64> {
    let (value, unit) = parse_with_unit(text)?;
    let unit = unit.trim_end_matches("bit/s").trim_end_matches("bps");
    let factor = match unit {
        "" => 1.0,
        "M" => 1e6,
        "G" => 1e9,
        _ => return None,
    };
    Some(value * factor)
}

/// Bytes: `33554432`, `32MiB`, `64 MB`.
fn parse_bytes(text: &str) -> Option<u64> {
    let (value, unit) = parse_with_unit(text)?;
    let factor = match unit {
        "" | "B" => 1.0,
        "KiB" => 1_024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        "kB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        _ => return None,
    };
    Some((value * factor) as u64)
}

/// Major and minor number of a release: `1.0.2`.
pub fn parse_release(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split('.').map(|part| part.parse::<u32>().ok());
    let major = parts.next()??;
    let minor = parts.next().unwrap_or(Some(0))?;
    parts.all(|part| part.is_some()).then_some((major, minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_in_options_show_the_expected_form() {
        let texts = OptionTexts::default();
        assert_eq!(Options::read(&texts), Ok(Options::default()));
        let fast = OptionTexts {
            nic: Some("fast"),
            ..texts
        };
        let error = "--nic fast: give bits per second, such as 1G or 10G";
        assert_eq!(Options::read(&fast), Err(error.to_owned()));
        let alone = OptionTexts {
            nic: Some("1G"),
            ..texts
        };
        let error = Options::read(&alone).unwrap_err();
        assert!(error.starts_with("--nic needs --brokers"), "{error}");
        let known = OptionTexts {
            brokers: Some(3),
            as_of: Some("1.0.2"),
            ..alone
        };
        let options = Options::read(&known).unwrap();
        assert_eq!(options.nic_bits_per_s, Some(1e9));
        assert_eq!((options.brokers, options.as_of), (Some(3), Some((1, 0))));
    }

    #[test]
    fn sizes_rates_and_releases_are_read() {
        assert_eq!(
            [
                parse_bytes("33554432"),
                parse_bytes("32MiB"),
                parse_bytes("64 MB")
            ],
            [Some(33_554_432), Some(33_554_432), Some(64_000_000)]
        );
        assert_eq!(
            [
                parse_bytes("much"),
                parse_bytes("-1"),
                parse_bytes("3 parsec")
            ],
            [None; 3]
        );
        assert_eq!(
            [
                parse_bits("1G"),
                parse_bits("10 Gbit/s"),
                parse_bits("100Mbps")
            ],
            [Some(1e9), Some(1e10), Some(1e8)]
        );
        assert_eq!(
            [
                parse_release("1.0.2"),
                parse_release("4"),
                parse_release("0.8.2.2")
            ],
            [Some((1, 0)), Some((4, 0)), Some((0, 8))]
        );
        assert_eq!([parse_release("new"), parse_release("1.x")], [None; 2]);
    }
}
