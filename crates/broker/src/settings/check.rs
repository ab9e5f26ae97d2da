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
    /// Texts with commas between.
    List = 7,
}

/// What a value must fulfil beyond its type.
#[derive(Debug, Clone, Copy)]
pub enum Check {
    /// Nothing more.
    Any,
    /// A number of at least this.
    AtLeast(i64),
    /// A number from the first to the second, both included.
    Between(i64, i64),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Kafka knows more words, this cluster only the first list; the text says why.
    OnlyYet(&'static [&'static str], &'static str),
}

/// Tells what is wrong with `value`, in Kafka's manner of speaking.
pub(super) fn check(name: &str, kind: ConfigType, rule: Check, value: &str) -> Result<(), String> {
    let invalid = |why: String| {
        Err(format!(
            "Invalid value {value} for configuration {name}: {why}"
        ))
    };
    let number = match kind {
        ConfigType::Boolean => match parse_bool(value) {
            Some(_) => None,
            None => return invalid("Expected value to be either true or false".to_owned()),
        },
        ConfigType::Int => match value.trim().parse::<i32>() {
            Ok(number) => Some(i64::from(number)),
            Err(_) => return invalid("Not a number of type INT".to_owned()),
        },
        ConfigType::Long => match value.trim().parse::<i64>() {
            Ok(number) => Some(number),
            Err(_) => return invalid("Not a number of type LONG".to_owned()),
        },
        ConfigType::String | ConfigType::List => None,
    };
    match (rule, number) {
        (Check::Any, _) | (_, None) if !matches!(rule, Check::OneOf(_) | Check::OnlyYet(..)) => {
            Ok(())
        }
        (Check::AtLeast(least), Some(n)) if n < least => {
            invalid(format!("Value must be at least {least}"))
        }
        (Check::Between(least, _), Some(n)) if n < least => {
            invalid(format!("Value must be at least {least}"))
        }
        (Check::Between(_, most), Some(n)) if n > most => {
            invalid(format!("Value must be no more than {most}"))
        }
        (Check::OneOf(words), _) if !words.contains(&value.trim()) => {
            invalid(format!("String must be one of: {}", words.join(", ")))
        }
        (Check::OnlyYet(words, why), _) if !words.contains(&value.trim()) => invalid(format!(
            "the embedded cluster knows only {} here: {why}",
            words.join(", ")
        )),
        _ => Ok(()),
    }
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
