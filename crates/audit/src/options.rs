//! What the text does not tell.

/// What is known beside the text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// `buffer.memory` of the producers.
    pub buffer_bytes: Option<u64>,
    /// What a broker's network card carries in one direction.
    pub nic_bits_per_s: Option<f64>,
    /// Brokers.
    pub brokers: Option<u32>,
    /// Replicas of each partition, 1 unless it is said.
    pub replication: Option<u32>,
    /// Partitions of the topic.
    pub partitions: Option<u64>,
    /// The release of the tool.
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
