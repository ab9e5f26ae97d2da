//! Joins the definitions of two releases: for each version the new release's, where it has the
//! version, else the old one's. What cannot be joined without guessing is an error.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::definition::{Definition, FieldDefinition};
use super::model::{Default, Field, MessageModel, Struct, Type};
use super::names;
use super::versions::Versions;

/// The fields of every struct, and the structs' names in the order of their first use.
#[derive(Default)]
struct Flat {
    order: Vec<String>,
    structs: BTreeMap<String, Vec<Field>>,
}

/// Joins the new definition with the old one, if there is one.
pub(super) fn merge(new: Definition, old: Option<Definition>) -> Result<MessageModel> {
    let valid = |definition: &Definition| {
        Versions::parse(&definition.valid_versions)?.context("no valid version")
    };
    let new_versions = valid(&new)?;
    let flexible = new.flexible_versions.clone();
    let flexible_from = Versions::parse(&flexible)?.map(|range| range.low);
    let (name, key) = (new.name.clone(), new.api_key);
    let mut versions = new_versions;
    let mut flat = flatten(new, new_versions)?;
    if let Some(old) = old {
        let old_valid = valid(&old)?;
        ensure!(
            old.api_key == key && old.flexible_versions == flexible,
            "keys or forms differ"
        );
        if old_valid.low < new_versions.low {
            versions = old_valid
                .join(new_versions)
                .context("a gap between the releases")?;
            let used = Versions {
                low: old_valid.low,
                high: new_versions.low - 1,
            };
            join(&mut flat, flatten(old, used)?)?;
        }
    }
    let structs = structs(flat, versions)?;
    let release_new_from = new_versions.low;
    Ok(MessageModel {
        name,
        key,
        versions,
        release_new_from,
        flexible_from,
        structs,
    })
}

fn flatten(definition: Definition, used: Versions) -> Result<Flat> {
    let mut flat = Flat::default();
    flat.add(&definition.name, &definition.fields, used)?;
    for shared in &definition.common_structs {
        flat.add(&shared.name, &shared.fields, used)?;
    }
    Ok(flat)
}

impl Flat {
    fn add(&mut self, name: &str, definitions: &[FieldDefinition], used: Versions) -> Result<()> {
        ensure!(!self.structs.contains_key(name), "{name} is defined twice");
        self.order.push(name.to_owned());
        self.structs.insert(name.to_owned(), Vec::new());
        let mut fields = Vec::new();
        for definition in definitions {
            let place = || format!("in {name}.{}", definition.name);
            let Some(field) = field(definition, used).with_context(place)? else {
                continue;
            };
            if let Some(nested) = &definition.fields {
                let kind = innermost(&field.kind);
                let Type::Struct(nested_name) = kind else {
                    bail!("{kind:?} has fields")
                };
                self.add(nested_name, nested, used)?;
            }
            fields.push(field);
        }
        self.structs.insert(name.to_owned(), fields);
        Ok(())
    }
}

/// The struct or primitive inside of arrays.
fn innermost(kind: &Type) -> &Type {
    match kind {
        Type::Array(element) => innermost(element),
        other => other,
    }
}

/// A field as far as the used versions carry it, or nothing.
fn field(definition: &FieldDefinition, used: Versions) -> Result<Option<Field>> {
    let range =
        |text: &str| Ok::<_, anyhow::Error>(Versions::parse(text)?.and_then(|r| r.intersect(used)));
    let Some(versions) = range(&definition.versions)? else {
        return Ok(None);
    };
    let tagged = range(&definition.tagged_versions)?;
    let tag = definition.tag.filter(|_| tagged.is_some());
    ensure!(
        tag.is_some() == tagged.is_some(),
        "tag and tagged versions do not go together"
    );
    ensure!(
        tagged.is_none_or(|tagged| tagged == versions),
        "tagged in some versions only"
    );
    let nullable = range(&definition.nullable_versions)?.and_then(|r| r.intersect(versions));
    let kind = parse_type(&definition.kind)?;
    let mut default = parse_default(&kind, definition.default.as_ref())?;
    if definition.kind == "records" {
        default = Default::Null;
    }
    let can_be_null =
        nullable.is_some() && !matches!(kind, Type::Bool | Type::Number(..) | Type::Uuid);
    ensure!(can_be_null || nullable.is_none(), "{kind:?} cannot be null");
    ensure!(
        can_be_null || default != Default::Null,
        "null is the default, yet not allowed"
    );
    Ok(Some(Field {
        rust_name: names::field(&definition.name)?,
        name: definition.name.clone(),
        kind,
        versions,
        nullable,
        tag,
        ignorable: definition.ignorable,
        default,
    }))
}

fn parse_type(text: &str) -> Result<Type> {
    if let Some(element) = text.strip_prefix("[]") {
        return Ok(Type::Array(Box::new(parse_type(element)?)));
    }
    Ok(match text {
        "bool" => Type::Bool,
        "int8" => Type::Number("i8", 1),
        "int16" => Type::Number("i16", 2),
        "uint16" => Type::Number("u16", 2),
        "int32" => Type::Number("i32", 4),
        "uint32" => Type::Number("u32", 4),
        "int64" => Type::Number("i64", 8),
        "float64" => Type::Number("f64", 8),
        "uuid" => Type::Uuid,
        "string" => Type::String,
        "bytes" | "records" => Type::Bytes,
        name if name.starts_with(|c: char| c.is_ascii_uppercase()) => Type::Struct(name.to_owned()),
        unknown => bail!("unknown type {unknown:?}"),
    })
}

fn parse_default(kind: &Type, value: Option<&Value>) -> Result<Default> {
    let text = match value {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    Ok(match (kind, text.as_str()) {
        (_, "") | (Type::Bool, "false") | (Type::Number(..), "0") => Default::Plain,
        (Type::Bool, "true") => Default::True,
        (Type::Number(number, _), digits) if *number != "f64" => {
            let (digits, radix) = match digits.strip_prefix("0x") {
                Some(hexadecimal) => (hexadecimal, 16),
                None => (digits, 10),
            };
            Default::Integer(i64::from_str_radix(digits, radix)?)
        }
        (Type::String | Type::Bytes | Type::Array(_) | Type::Struct(_), "null") => Default::Null,
        _ => bail!("{kind:?} cannot have the default {text:?}"),
    })
}

/// Takes the old release's fields into the new one's structs.
fn join(new: &mut Flat, old: Flat) -> Result<()> {
    for name in &old.order {
        let old_fields = &old.structs[name];
        match new.structs.get_mut(name) {
            Some(fields) => {
                join_fields(fields, old_fields).with_context(|| format!("in {name}"))?
            }
            None => {
                new.order.push(name.clone());
                new.structs.insert(name.clone(), old_fields.clone());
            }
        }
    }
    Ok(())
}

/// Fields keep the new release's order; one that only the old release has goes behind the field
/// that stands before it there.
fn join_fields(new: &mut Vec<Field>, old: &[Field]) -> Result<()> {
    let mut next = 0;
    for field in old {
        match new.iter().position(|known| known.name == field.name) {
            Some(index) => {
                ensure!(index >= next, "{} stands in another order", field.name);
                join_field(&mut new[index], field).with_context(|| format!("in {}", field.name))?;
                next = index + 1;
            }
            None => {
                new.insert(next, field.clone());
                next += 1;
            }
        }
    }
    Ok(())
}

fn join_field(new: &mut Field, old: &Field) -> Result<()> {
    ensure!(
        new.kind == old.kind,
        "types differ: {:?} and {:?}",
        new.kind,
        old.kind
    );
    ensure!(
        new.default == old.default,
        "defaults differ: {:?} and {:?}",
        new.default,
        old.default
    );
    ensure!(
        new.tag == old.tag,
        "tags differ: {:?} and {:?}",
        new.tag,
        old.tag
    );
    new.versions = new
        .versions
        .join(old.versions)
        .context("its versions have a gap")?;
    new.nullable = match (new.nullable, old.nullable) {
        (Some(new), Some(old)) => Some(new.join(old).context("null in versions with a gap")?),
        (one, other) => one.or(other),
    };
    Ok(())
}

/// The structs with the versions in which they can stand, the message first.
fn structs(mut flat: Flat, versions: Versions) -> Result<Vec<Struct>> {
    let mut reach = BTreeMap::new();
    spread(&flat, &flat.order[0], versions, &mut reach)?;
    let mut structs = Vec::new();
    for name in flat.order {
        let Some(&versions) = reach.get(&name) else {
            bail!("{name} is never used")
        };
        let mut fields = flat.structs.remove(&name).unwrap_or_default();
        fields.retain(|field| field.versions.intersect(versions).is_some());
        structs.push(Struct {
            rust_name: name.clone(),
            name,
            versions,
            fields,
        });
    }
    Ok(structs)
}

fn spread(
    flat: &Flat,
    name: &str,
    versions: Versions,
    reach: &mut BTreeMap<String, Versions>,
) -> Result<()> {
    let fields = flat
        .structs
        .get(name)
        .with_context(|| format!("{name} is not defined"))?;
    let known = reach.entry(name.to_owned()).or_insert(versions);
    *known = known.span(versions);
    for field in fields {
        if let Type::Struct(nested) = innermost(&field.kind)
            && let Some(carried) = field.versions.intersect(versions)
        {
            spread(flat, nested, carried, reach)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request with these valid versions and fields, flexible from 5.
    fn definition(valid: &str, fields: &str) -> Definition {
        let text = format!(
            r#"{{ "apiKey": 1, "type": "request", "name": "XRequest", "validVersions": "{valid}",
                 "flexibleVersions": "5+", "fields": [{fields}] }}"#
        );
        Definition::parse(&text).unwrap()
    }

    fn merged(new: &str, old: &str) -> Result<MessageModel> {
        merge(definition("3-6", new), Some(definition("0-5", old)))
    }

    const A: &str = r#"{ "name": "A", "type": "int32", "versions": "0+" }"#;

    #[test]
    fn fields_of_both_releases_stand_in_one_struct_in_the_order_of_the_wire() {
        let dropped = r#"{ "name": "Old", "type": "int64", "versions": "1", "default": "-1" }"#;
        let added =
            r#"{ "name": "New", "type": "string", "versions": "6+", "nullableVersions": "6+" }"#;
        let last = r#"{ "name": "Z", "type": "bool", "versions": "2+" }"#;
        let message = merged(&[A, added, last].join(","), &[A, dropped, last].join(",")).unwrap();
        assert_eq!(
            (message.versions, message.release_new_from),
            (Versions { low: 0, high: 6 }, 3)
        );
        let fields: Vec<_> = message.structs[0]
            .fields
            .iter()
            .map(|field| (field.name.as_str(), field.versions.low, field.versions.high))
            .collect();
        assert_eq!(
            fields,
            [("A", 0, 6), ("Old", 1, 1), ("New", 6, 6), ("Z", 2, 6)]
        );
    }

    #[test]
    fn the_old_release_counts_only_where_the_new_one_has_no_version() {
        let renamed = r#"{ "name": "B", "type": "int32", "versions": "4+" }"#;
        let message = merged(A, &[A, renamed].join(",")).unwrap();
        assert_eq!(message.structs[0].fields.len(), 1);
    }

    #[test]
    fn a_nested_struct_stands_where_its_field_stands() {
        let nested = r#"{ "name": "Ts", "type": "[]T", "versions": "2-4", "fields": [
            { "name": "P", "type": "[]int32", "versions": "0+" } ] }"#;
        let message = merged(nested, nested).unwrap();
        assert_eq!(message.structs[1].versions, Versions { low: 2, high: 4 });
        let element = Type::Struct("T".to_owned());
        assert_eq!(message.bytes_min(&element, message.structs[1].versions), 4);
    }

    #[test]
    fn what_cannot_be_joined_is_an_error() {
        let refused = |new: &str, old: &str, words: &str| {
            let error = format!("{:#}", merged(new, old).unwrap_err());
            assert!(error.contains(words), "{error}");
        };
        let b = r#"{ "name": "B", "type": "int32", "versions": "0+" }"#;
        refused(A, &A.replace("int32", "int64"), "types differ");
        refused(
            A,
            &A.replace("\"0+\"", "\"0+\", \"default\": \"7\""),
            "defaults differ",
        );
        refused(A, &A.replace("0+", "0-1"), "gap");
        refused(&[A, b].join(","), &[b, A].join(","), "another order");
        refused(&A.replace("int32", "int7"), A, "unknown type");
        refused(&A.replace("\"A\"", "\"Version\""), A, "hide");
        let gap = merge(definition("3-6", A), Some(definition("0-1", A)));
        assert!(gap.is_err_and(|error| error.to_string().contains("gap between")));
    }

    #[test]
    fn an_attribute_that_nobody_has_thought_of_is_an_error() {
        let field = A.replace("\"0+\"", "\"0+\", \"novelty\": 1");
        let text = format!(
            r#"{{ "type": "data", "name": "X", "validVersions": "0", "flexibleVersions": "none",
                 "fields": [{field}] }}"#
        );
        assert!(Definition::parse(&text).is_err());
    }
}
