//! How values are written and read: counts, sizes, times, words, maps, lists and what is built from these.

use std::fmt::Display;
use std::marker::PhantomData;
use std::ops::RangeInclusive;

use crate::key_definition::ValueForm;
use crate::problem::SourceLocation;
use crate::reader::{Fields, KeyMap, Range, ValueReader};
use crate::suggest::shorten;
use crate::tree::YamlNode;
use crate::units;

/// 24 hours: the longest that anything in a scenario may last, in ns.
pub(crate) const DAY_NS: u64 = 24 * 3_600 * 1_000_000_000;
/// 10^12 records; more than a year at 30,000 per second.
pub(crate) const RECORDS_MAX: u64 = 1_000_000_000_000;
/// Kafka counts sizes and most times in i32.
pub(crate) const INT_MAX: i64 = i32::MAX as i64;
pub(crate) const NS_PER_MS: u64 = 1_000_000;

type ReadValue<T> = dyn Fn(&mut ValueReader<'_>, &YamlNode) -> Option<T>;

/// How a value of some type is written, for the guide and the schema, and how it is read.
pub(crate) struct ValueKind<T> {
    pub(crate) form: ValueForm,
    read: Box<ReadValue<T>>,
}

impl<T: 'static> ValueKind<T> {
    pub(crate) fn new(
        form: ValueForm,
        read: impl Fn(&mut ValueReader<'_>, &YamlNode) -> Option<T> + 'static,
    ) -> ValueKind<T> {
        let read = Box::new(read);
        ValueKind { form, read }
    }

    pub(crate) fn read(&self, reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<T> {
        (self.read)(reader, node)
    }

    pub(crate) fn map<U: 'static>(self, convert: impl Fn(T) -> U + 'static) -> ValueKind<U> {
        self.then(move |_, _, value| Some(convert(value)))
    }

    /// Reads on from a value; the function reports what is wrong with it.
    pub(crate) fn then<U: 'static>(
        self,
        read_on: impl Fn(&mut ValueReader<'_>, SourceLocation, T) -> Option<U> + 'static,
    ) -> ValueKind<U> {
        let read = self.read;
        ValueKind::new(self.form, move |reader, node| {
            let value = read(reader, node)?;
            read_on(reader, node.place, value)
        })
    }

    /// The same, shown as another form.
    pub(crate) fn shown_as(self, form: ValueForm) -> ValueKind<T> {
        ValueKind { form, ..self }
    }

    /// The same, or one word.
    pub(crate) fn or_word(self, word: &'static str, value: T) -> ValueKind<T>
    where
        T: Clone,
    {
        let read = self.read;
        let form = ValueForm::Any(vec![self.form, ValueForm::Words(vec![word])]);
        ValueKind::new(form, move |reader, node| match node.as_text() {
            Some(text) if text == word => Some(value.clone()),
            _ => read(reader, node),
        })
    }

    /// The same for a scalar, or else a map.
    pub(crate) fn or_map<M: KeyMap<Value = T> + 'static>(self) -> ValueKind<T> {
        let read = self.read;
        let form = ValueForm::Any(vec![self.form, ValueForm::Map(M::KEYS)]);
        ValueKind::new(form, move |reader, node| match node.as_text() {
            Some(_) => read(reader, node),
            None => M::read_map(reader, node),
        })
    }
}

/// The form of the values of one type.
pub(crate) fn form_of<T>(kind: ValueKind<T>) -> ValueForm {
    kind.form
}

/// The form of the values of an optional key.
pub(crate) fn form_of_optional<T>(kind: ValueKind<T>, _: PhantomData<Option<T>>) -> ValueForm {
    kind.form
}

impl ValueReader<'_> {
    /// Reads the value of one key; its default when it is absent.
    pub(crate) fn key<T: 'static>(
        &mut self,
        fields: &Fields<'_>,
        name: &'static str,
        kind: ValueKind<T>,
    ) -> Option<T> {
        self.field(fields, name, |reader, node| kind.read(reader, node))
    }

    /// `Some(None)` for an absent key.
    #[allow(
        clippy::option_option,
        reason = "the outer one tells whether the value is right"
    )]
    pub(crate) fn optional<T: 'static>(
        &mut self,
        fields: &Fields<'_>,
        name: &'static str,
        kind: ValueKind<T>,
    ) -> Option<Option<T>> {
        match fields.has(name) {
            true => self.key(fields, name, kind).map(Some),
            false => Some(None),
        }
    }

    /// The function's value for an absent key.
    pub(crate) fn key_or<T: 'static>(
        &mut self,
        fields: &Fields<'_>,
        name: &'static str,
        kind: ValueKind<T>,
        value: impl FnOnce(&Self) -> T,
    ) -> Option<T> {
        match fields.has(name) {
            true => self.key(fields, name, kind),
            false => Some(value(self)),
        }
    }
}

pub(crate) fn name() -> ValueKind<String> {
    ValueKind::new(ValueForm::Name, |reader, node| reader.name(node))
}

pub(crate) fn text() -> ValueKind<String> {
    ValueKind::new(ValueForm::Text, |reader, node| reader.text(node))
}

/// The output of a tool.
pub(crate) fn output() -> ValueKind<String> {
    ValueKind::new(ValueForm::Text, |reader, node| reader.output(node))
}

/// The version of the file format: there is one so far.
pub(crate) fn version() -> ValueKind<()> {
    ValueKind::new(ValueForm::Words(vec!["1"]), |reader, node| {
        reader.version(node)
    })
}

pub(crate) fn flag() -> ValueKind<bool> {
    ValueKind::new(ValueForm::Flag, |reader, node| reader.flag(node))
}

/// `true` and nothing else.
pub(crate) fn only_true() -> ValueKind<()> {
    words(&[("true", ())])
}

/// One of a few words.
pub(crate) fn words<T: Copy>(choices: &'static [(&'static str, T)]) -> ValueKind<T> {
    let names = choices.iter().map(|(name, _)| *name).collect();
    ValueKind::new(ValueForm::Words(names), move |reader, node| {
        reader.choice(node, choices)
    })
}

/// One of a few words, as text.
pub(crate) fn one_of_names(names: &'static [&'static str]) -> ValueKind<String> {
    ValueKind::new(ValueForm::Words(names.to_vec()), move |reader, node| {
        let choices: Vec<(&str, &str)> = names.iter().map(|name| (*name, *name)).collect();
        reader.choice(node, &choices).map(str::to_owned)
    })
}

pub(crate) fn count<T: TryFrom<u64> + 'static>(range: Range) -> ValueKind<T> {
    ValueKind::new(ValueForm::Count, move |reader, node| {
        T::try_from(reader.count(node, range.clone())?).ok()
    })
}

/// A size with unit, in bytes.
pub(crate) fn size<T: TryFrom<u64> + 'static>(range: Range) -> ValueKind<T> {
    ValueKind::new(ValueForm::Size, move |reader, node| {
        T::try_from(reader.bytes(node, range.clone())?).ok()
    })
}

/// A time with unit, in ns.
pub(crate) fn time(range: Range) -> ValueKind<u64> {
    ValueKind::new(ValueForm::Time, move |reader, node| {
        reader.time_ns(node, range.clone())
    })
}

/// A time of at most a day, and not 0.
pub(crate) fn length() -> ValueKind<u64> {
    time(1..=DAY_NS)
}

/// A time, or with `-` before it a negative one.
pub(crate) fn signed_time() -> ValueKind<i64> {
    ValueKind::new(ValueForm::SignedTime, |reader, node| {
        let text = reader.scalar(node, "a time such as `3 s` or `-500 ms`")?;
        let (sign, text) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest.trim_start()),
            None => (1, text),
        };
        let unsigned = YamlNode::scalar(node.place, text);
        let ns = reader.time_ns(&unsigned, 0..=DAY_NS)?;
        i64::try_from(ns).ok().map(|ns| sign * ns)
    })
}

/// A decimal number.
pub(crate) fn number(range: RangeInclusive<f64>) -> ValueKind<f64> {
    ValueKind::new(ValueForm::Number, move |reader, node| {
        let value = reader.quantity(node, "a number, such as `4` or `0.99`", units::number)?;
        within(reader, node, value, &range)
    })
}

/// A share of a whole.
pub(crate) fn fraction() -> ValueKind<f64> {
    ValueKind::new(ValueForm::Fraction, |reader, node| {
        reader.quantity(node, "a fraction, such as `0.05` or `5 %`", units::part)
    })
}

/// A whole number.
pub(crate) fn kafka_number<T: TryFrom<i64> + 'static>(range: RangeInclusive<i64>) -> ValueKind<T> {
    ValueKind::new(ValueForm::KafkaNumber, move |reader, node| {
        T::try_from(integer(reader, node, &range)?).ok()
    })
}

/// A whole number of bytes, or a size with unit.
pub(crate) fn kafka_bytes<T: TryFrom<i64> + 'static>(range: RangeInclusive<i64>) -> ValueKind<T> {
    ValueKind::new(ValueForm::KafkaBytes, move |reader, node| {
        let with_unit = node.as_text().and_then(|text| units::bytes(text).ok());
        let bytes = match with_unit.map(i64::try_from) {
            Some(Ok(bytes)) => within(reader, node, bytes, &range)?,
            _ => integer(reader, node, &range)?,
        };
        T::try_from(bytes).ok()
    })
}

/// A whole number of milliseconds, or a time with unit, in ns.
pub(crate) fn kafka_time() -> ValueKind<u64> {
    ValueKind::new(ValueForm::KafkaTime, |reader, node| {
        let with_unit = node.as_text().and_then(|text| units::time_ns(text).ok());
        let ms = match with_unit {
            Some(ns) if ns % NS_PER_MS != 0 => {
                let what = format!("`{}` is in whole milliseconds", reader.key_name());
                return reader.refuse(node.place, what, "write whole milliseconds");
            }
            Some(ns) => {
                let ms = i64::try_from(ns / NS_PER_MS).unwrap_or(i64::MAX);
                within(reader, node, ms, &(0..=INT_MAX))?
            }
            None => integer(reader, node, &(0..=INT_MAX))?,
        };
        u64::try_from(ms).ok().map(|ms| ms * NS_PER_MS)
    })
}

fn integer(
    reader: &mut ValueReader<'_>,
    node: &YamlNode,
    range: &RangeInclusive<i64>,
) -> Option<i64> {
    let text = reader.scalar(node, "a whole number")?;
    match text.parse::<i64>() {
        Ok(value) => within(reader, node, value, range),
        Err(_) => {
            let what = format!("`{}` is not a whole number", shorten(text));
            reader.refuse(node.place, what, "write only digits, in Kafka's unit")
        }
    }
}

fn within<T: PartialOrd + Display>(
    reader: &mut ValueReader<'_>,
    node: &YamlNode,
    value: T,
    range: &RangeInclusive<T>,
) -> Option<T> {
    if range.contains(&value) {
        return Some(value);
    }
    let cure = format!("write {} to {}", range.start(), range.end());
    reader.refuse(node.place, format!("{value} is out of range"), cure)
}

pub(crate) fn map<M: KeyMap + 'static>() -> ValueKind<M::Value> {
    ValueKind::new(ValueForm::Map(M::KEYS), |reader, node| {
        M::read_map(reader, node)
    })
}

/// A list; wrong items are left out.
pub(crate) fn list<T: 'static>(kind: ValueKind<T>) -> ValueKind<Vec<T>> {
    let read = kind.read;
    ValueKind::new(ValueForm::List(Box::new(kind.form)), move |reader, node| {
        reader.list(node, |reader, item| read(reader, item))
    })
}

/// A list that means nothing without its wrong items, or without any.
pub(crate) fn whole_list<T: 'static>(kind: ValueKind<T>) -> ValueKind<Vec<T>> {
    let read = kind.read;
    ValueKind::new(ValueForm::List(Box::new(kind.form)), move |reader, node| {
        let items = reader.list(node, |reader, item| Some(read(reader, item)))?;
        let items: Option<Vec<T>> = items.into_iter().collect();
        items.filter(|items| !items.is_empty())
    })
}

/// An item of a list and its place.
#[derive(Clone, Debug)]
pub(crate) struct ListItem<T> {
    pub(crate) item: T,
    pub(crate) place: SourceLocation,
    /// Position in the list, wrong items included.
    pub(crate) index: usize,
}

/// A list whose items are checked again when everything has been read.
pub(crate) fn placed_list<T: 'static>(kind: ValueKind<T>) -> ValueKind<Vec<ListItem<T>>> {
    let read = kind.read;
    ValueKind::new(ValueForm::List(Box::new(kind.form)), move |reader, node| {
        let mut index = 0..;
        reader.list(node, |reader, node| {
            let (index, place) = (index.next()?, node.place);
            read(reader, node).map(|item| ListItem { item, place, index })
        })
    })
}
