//! The bodies of `encode`.

use std::fmt::Write;

use super::Scope;
use super::types::differs_from_default;
use crate::codegen::model::{Field, Type};

/// How the code reaches a value.
enum ValueAccess<'p> {
    /// A field, by its path.
    Owned(&'p str),
    /// A variable that holds a reference.
    Reference(&'p str),
}

impl ValueAccess<'_> {
    fn value(&self) -> String {
        match self {
            Self::Owned(path) => (*path).to_owned(),
            Self::Reference(name) => format!("*{name}"),
        }
    }

    fn reference(&self) -> String {
        match self {
            Self::Owned(path) => format!("&{path}"),
            Self::Reference(name) => (*name).to_owned(),
        }
    }

    /// For method calls, which reach through references by themselves.
    fn receiver(&self) -> &str {
        match self {
            Self::Owned(name) | Self::Reference(name) => name,
        }
    }
}

/// The statements that write all fields of `self` to `out`.
pub(super) fn body(scope: &Scope<'_>) -> String {
    let mut out = scope.lengths();
    for field in &scope.item.fields {
        let carried = scope.condition(field.versions);
        let write = if field.tag.is_none() {
            plain_field(scope, field)
        } else {
            String::new()
        };
        let refuse = refusal(scope, field);
        match carried {
            None => out.push_str(&write),
            Some(_) if field.tag.is_some() => {
                if !refuse.is_empty() {
                    let differs = differs_from_default(scope, field);
                    let elsewhere = scope.opposite(field.versions);
                    let _ = writeln!(out, "if {elsewhere} && {differs} {{ {refuse} }}");
                }
            }
            Some(carried) => {
                let _ = write!(out, "if {carried} {{ {write} }}");
                if !refuse.is_empty() {
                    let differs = differs_from_default(scope, field);
                    let _ = write!(out, " else if {differs} {{ {refuse} }}");
                }
                out.push('\n');
            }
        }
    }
    tagged_section(&mut out, scope);
    out + "Ok(())"
}

/// The statement for a version without the field, if leaving it out is not allowed.
fn refusal(scope: &Scope<'_>, field: &Field) -> String {
    if field.ignorable {
        return String::new();
    }
    format!(
        "return Err(EncodeError::NotCarried {{ what: {}, version }});",
        scope.what(&field.name)
    )
}

fn tagged_section(out: &mut String, scope: &Scope<'_>) {
    let Some(flexible) = scope.flexible() else {
        return;
    };
    let condition = scope.condition(flexible);
    if let Some(condition) = &condition {
        let _ = writeln!(out, "if {condition} {{");
    }
    let mut tagged: Vec<_> = scope
        .item
        .fields
        .iter()
        .filter(|field| field.tag.is_some())
        .collect();
    tagged.sort_by_key(|field| field.tag);
    if tagged.is_empty() {
        out.push_str("codec::put_unsigned_varint(out, 0);\n");
    } else {
        let written = |field: &Field| {
            let differs = differs_from_default(scope, field);
            let carried = scope
                .condition(field.versions)
                .filter(|_| field.versions.low > flexible.low);
            carried.map_or(differs.clone(), |carried| format!("{carried} && {differs}"))
        };
        let counts: Vec<_> = tagged
            .iter()
            .map(|field| format!("u32::from({})", written(field)))
            .collect();
        let _ = writeln!(
            out,
            "codec::put_unsigned_varint(out, {});",
            counts.join(" + ")
        );
        for field in tagged {
            let (tag, what) = (field.tag.unwrap_or_default(), scope.what(&field.name));
            let _ = writeln!(
                out,
                "if {} {{
                    let start = codec::begin_tagged(out, {tag});
                    {}
                    codec::end_tagged(out, start, {what})?;
                }}",
                written(field),
                plain_field(scope, field)
            );
        }
    }
    if condition.is_some() {
        out.push_str("}\n");
    }
}

/// The statements that write one field, in versions that have it.
fn plain_field(scope: &Scope<'_>, field: &Field) -> String {
    let path = format!("self.{}", field.rust_name);
    let what = scope.what(&field.name);
    let Some(nullable) = field.nullable else {
        return value(&field.kind, &ValueAccess::Owned(&path), &what);
    };
    let present = value(&field.kind, &ValueAccess::Reference("value"), &what);
    let (before, null) = match &field.kind {
        Type::String => ("", "codec::put_null_string(out, lengths)"),
        Type::Bytes => ("", "codec::put_null_bytes(out, lengths)"),
        Type::Array(_) => ("", "codec::put_null_array(out, lengths)"),
        _ => (
            "codec::put_presence(out, true);",
            "codec::put_presence(out, false)",
        ),
    };
    let carried = field
        .versions
        .intersect(scope.item.versions)
        .unwrap_or(field.versions);
    let arms = if nullable.covers(carried) {
        format!("None => {null},")
    } else {
        let condition = scope
            .condition(nullable)
            .unwrap_or_else(|| "true".to_owned());
        let error = format!("return Err(EncodeError::Null {{ what: {what}, version }})");
        format!("None if {condition} => {null}, None => {error},")
    };
    format!("match &{path} {{ Some(value) => {{ {before} {present} }} {arms} }}\n")
}

/// The statements that write one value.
fn value(kind: &Type, place: &ValueAccess<'_>, what: &str) -> String {
    match kind {
        Type::Bool => format!("codec::put_bool(out, {});\n", place.value()),
        Type::Number(name, _) => format!("codec::put_{name}(out, {});\n", place.value()),
        Type::Uuid => format!("codec::put_uuid(out, {});\n", place.value()),
        Type::String => format!(
            "codec::put_string(out, lengths, {}, {what})?;\n",
            place.reference()
        ),
        Type::Bytes => format!(
            "codec::put_bytes(out, lengths, {}, {what})?;\n",
            place.reference()
        ),
        Type::Struct(_) => format!("{}.encode(out, version)?;\n", place.receiver()),
        Type::Array(element) => format!(
            "codec::put_array_length(out, lengths, {}.len(), {what})?;
            for item in {} {{ {} }}\n",
            place.receiver(),
            place.reference(),
            value(element, &ValueAccess::Reference("item"), what)
        ),
    }
}
