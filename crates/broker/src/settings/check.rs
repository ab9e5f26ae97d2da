//! What a configuration value must look like, and the words for one that does not.

/// Type of a value, with the numbers of the DescribeConfigs response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i8)]
pub enum ConfigType {
    /// `true` or `false`.
    Boolean = 1,
    /// Text.
    String = 2,
    /// 32 bit number.
    Int = 3,
    /// 64 bit number.
    Long = 5,
    /// Number with a fraction.
    Double = 6,
    /// Texts with commas between.
    List = 7,
}

/// What a value must fulfil beyond its type.
#[derive(Debug, Clone, Copy)]
pub enum ValueRule {
    /// Nothing more.
    Any,
    /// A number of at least this.
    AtLeast(i64),
    /// A number from the first to the second, both included.
    Between(i64, i64),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// -1, or a number from the first to the second, both included.
    MinusOneOr(i64, i64),
    /// A list of these words, which may be empty.
    ListOf(&'static [&'static str]),
    /// `*`, or a list of `partition:broker`, which may be empty.
    ReplicaList,
    /// Kafka takes more values, this cluster only the one that means what it does anyway; the text
    /// says why.
    Only(&'static str, &'static str),
}

/// Tells what is wrong with `value`, in Kafka's manner of speaking.
pub(super) fn check(
    name: &str,
    kind: ConfigType,
    rule: ValueRule,
    value: &str,
) -> Result<(), String> {
    let value = value.trim();
    let wrong = check_type(kind, value).or_else(|| check_rule(name, rule, value));
    match wrong {
        None => Ok(()),
        Some(why) => Err(format!(
            "Invalid value {value} for configuration {name}: {why}"
        )),
    }
}

fn check_type(kind: ConfigType, value: &str) -> Option<String> {
    let (is_fitting, expected) = match kind {
        ConfigType::Boolean => (
            parse_bool(value).is_some(),
            "Expected value to be either true or false",
        ),
        ConfigType::Int => (value.parse::<i32>().is_ok(), "Not a number of type INT"),
        ConfigType::Long => (value.parse::<i64>().is_ok(), "Not a number of type LONG"),
        ConfigType::Double => (value.parse::<f64>().is_ok(), "Not a number of type DOUBLE"),
        ConfigType::List => (
            value.is_empty() || list(value).all(|entry| !entry.is_empty()),
            "values must not be empty",
        ),
        ConfigType::String => (true, ""),
    };
    (!is_fitting).then(|| expected.to_owned())
}

fn check_rule(name: &str, rule: ValueRule, value: &str) -> Option<String> {
    let number = value.parse::<i64>().unwrap_or(0);
    let at_least = |least: i64| (number < least).then(|| format!("Value must be at least {least}"));
    match rule {
        ValueRule::Any => None,
        ValueRule::AtLeast(least) => at_least(least),
        ValueRule::Between(least, most) => at_least(least)
            .or_else(|| (number > most).then(|| format!("Value must be no more than {most}"))),
        ValueRule::MinusOneOr(least, most) => {
            let fits = number == -1 || (least..=most).contains(&number);
            (!fits).then(|| format!("Value must be between {least} and {most} or equal to -1"))
        }
        ValueRule::OneOf(words) => (!words.contains(&value)).then(|| one_of(words)),
        ValueRule::ListOf(words) => {
            let fits = value.is_empty() || list(value).all(|entry| words.contains(&entry));
            (!fits).then(|| one_of(words))
        }
        ValueRule::ReplicaList => (!is_replica_list(value)).then(|| {
            format!(
                "{name} must be the literal '*' or a list of replicas in the following format: \
                 [partitionId]:[brokerId],[partitionId]:[brokerId],..."
            )
        }),
        ValueRule::Only(only, why) => (!is_same(only, value))
            .then(|| format!("the embedded cluster only accepts {only} here: {why}")),
    }
}

fn one_of(words: &[&str]) -> String {
    format!("String must be one of: {}", words.join(", "))
}

/// Whether two values of the same type mean the same.
fn is_same(one: &str, other: &str) -> bool {
    if let (Ok(one), Ok(other)) = (one.parse::<i64>(), other.parse::<i64>()) {
        return one == other;
    }
    match (one.parse::<f64>(), other.parse::<f64>()) {
        (Ok(one), Ok(other)) => one.total_cmp(&other).is_eq(),
        _ => one.eq_ignore_ascii_case(other),
    }
}

fn is_replica_list(value: &str) -> bool {
    let is_number = |text: &str| text.parse::<u32>().is_ok();
    let is_replica = |entry: &str| {
        let pair = entry.split_once(':');
        pair.is_some_and(|(partition, broker)| is_number(partition) && is_number(broker))
    };
    value.is_empty() || value == "*" || list(value).all(is_replica)
}

/// The entries of a list.
pub(super) fn list(value: &str) -> impl Iterator<Item = &str> {
    value.split(',').map(str::trim)
}

/// A value as Kafka keeps it: without blanks at its ends, and a list without doubled entries.
pub(super) fn canonical(kind: ConfigType, value: &str) -> String {
    if kind != ConfigType::List {
        return value.trim().to_owned();
    }
    let mut entries: Vec<&str> = Vec::new();
    for entry in list(value) {
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    entries.join(",")
}

/// Kafka's booleans: the two words in any case.
pub(super) fn parse_bool(value: &str) -> Option<bool> {
    let value = value.trim();
    if value.eq_ignore_ascii_case("true") {
        Some(true)
    } else if value.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}
