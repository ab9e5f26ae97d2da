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

/// Major and minor number of a release: `1.0.2`.
pub fn parse_release(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split('.').map(|part| part.parse::<u32>().ok());
    let major = parts.next()??;
    let minor = parts.next().unwrap_or(Some(0))?;
    parts.all(|part| part.is_some()).then_some((major, minor))
}
