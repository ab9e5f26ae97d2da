//! The bodies of `decode`.

use std::fmt::Write;

use super::Scope;
use super::types::default_value;
use crate::codegen::model::{Field, Type};
use crate::codegen::versions::Versions;

/// The statements that read all fields from `reader` and build the struct.
pub(super) fn body(scope: &Scope<'_>) -> String {
    let mut out = scope.lengths();
    for field in &scope.item.fields {
        let name = &field.rust_name;
        let default = default_value(scope, field);
        if field.tag.is_some() {
            let _ = writeln!(out, "let mut {name} = {default};");
            continue;
        }
        let what = scope.what(&field.name);
        let read = field_value(scope, field, "reader");
        match scope.condition(field.versions) {
            None => {
                let _ = writeln!(out, "reader.at({what}); let {name} = {read};");
            }
            Some(carried) => {
                let _ = writeln!(
                    out,
                    "let {name} = if {carried} {{ reader.at({what}); {read} }} else {{ {default} }};"
                );
            }
        }
    }
    tagged_section(&mut out, scope);
    let names: Vec<_> = scope
        .item
        .fields
        .iter()
        .map(|field| field.rust_name.as_str())
        .collect();
    let _ = write!(out, "Ok(Self {{ {} }})", names.join(", "));
    out
}

fn tagged_section(out: &mut String, scope: &Scope<'_>) {
    let Some(flexible) = scope.flexible() else {
        return;
    };
    let condition = scope.condition(flexible);
    if let Some(condition) = &condition {
        let _ = writeln!(out, "if {condition} {{");
    }
    let _ = writeln!(
        out,
        "reader.at(\"{} (tagged fields)\");",
        scope.item.rust_name
    );
    let mut tagged: Vec<_> = scope
        .item
        .fields
        .iter()
        .filter(|field| field.tag.is_some())
        .collect();
    tagged.sort_by_key(|field| field.tag);
    let arms: Vec<_> = tagged
        .iter()
        .map(|field| tagged_arm(scope, field, flexible))
        .collect();
    match arms.as_slice() {
        [] => out.push_str("reader.skip_tagged()?;\n"),
        arms => {
            let choice = arms.join(" else ");
            let _ = writeln!(
                out,
                "for _ in 0..reader.read_tag_count()? {{
                    let (tag, mut tagged) = reader.read_tagged()?;
                    {choice}
                }}"
            );
        }
    }
    if condition.is_some() {
        out.push_str("}\n");
    }
}

/// The `if` that reads a tagged field if the tag is its own.
fn tagged_arm(scope: &Scope<'_>, field: &Field, flexible: Versions) -> String {
    let carried = scope
        .condition(field.versions)
        .filter(|_| field.versions.low > flexible.low);
    let guard = carried.map_or(String::new(), |carried| format!(" && {carried}"));
    let (tag, what) = (field.tag.unwrap_or_default(), scope.what(&field.name));
    let read = field_value(scope, field, "tagged");
    format!(
        "if tag == {tag}{guard} {{
            tagged.at({what});
            {} = {read};
            tagged.finish()?;
        }}",
        field.rust_name
    )
}

/// The expression that reads a field in versions that have it.
fn field_value(scope: &Scope<'_>, field: &Field, reader: &str) -> String {
    let plain = value(scope, field, reader, "");
    let Some(nullable) = field.nullable else {
        return plain;
    };
    let or_null = match &field.kind {
        Type::Struct(_) => {
            format!("if {reader}.read_presence()? {{ Some({plain}) }} else {{ None }}")
        }
        _ => value(scope, field, reader, "nullable_"),
    };
    let carried = field
        .versions
        .intersect(scope.item.versions)
        .unwrap_or(field.versions);
    if nullable.covers(carried) {
        return or_null;
    }
    let condition = scope
        .condition(nullable)
        .unwrap_or_else(|| "true".to_owned());
    format!("if {condition} {{ {or_null} }} else {{ Some({plain}) }}")
}

/// The expression that reads the field's value from the variable `reader`.
fn value(scope: &Scope<'_>, field: &Field, reader: &str, nullable: &str) -> String {
    match &field.kind {
        Type::Bool => format!("{reader}.read_bool()?"),
        Type::Number(name, _) => format!("{reader}.read_{name}()?"),
        Type::Uuid => format!("{reader}.read_uuid()?"),
        Type::String => format!("{reader}.read_{nullable}string(lengths)?"),
        Type::Bytes => format!("{reader}.read_{nullable}bytes(lengths)?"),
        Type::Struct(name) => {
            let rust_name = &scope.message.nested(name).rust_name;
            let argument = if reader == "reader" {
                "reader"
            } else {
                "&mut tagged"
            };
            format!("{rust_name}::decode({argument}, version)?")
        }
        Type::Array(element) => {
            let carried = field
                .versions
                .intersect(scope.item.versions)
                .unwrap_or(field.versions);
            let bytes_min = scope.message.bytes_min(element, carried);
            let element = element_function(scope, element);
            format!("{reader}.read_{nullable}array(lengths, {bytes_min}, {element})?")
        }
    }
}

/// The function that reads one element of an array.
fn element_function(scope: &Scope<'_>, element: &Type) -> String {
    match element {
        Type::Bool => "Reader::read_bool".to_owned(),
        Type::Number(name, _) => format!("Reader::read_{name}"),
        Type::Uuid => "Reader::read_uuid".to_owned(),
        Type::String => "|reader| reader.read_string(lengths)".to_owned(),
        Type::Bytes => "|reader| reader.read_bytes(lengths)".to_owned(),
        Type::Struct(name) => {
            let rust_name = &scope.message.nested(name).rust_name;
            format!("|reader| {rust_name}::decode(reader, version)")
        }
        Type::Array(inner) => {
            let bytes_min = scope.message.bytes_min(inner, scope.item.versions);
            let inner = element_function(scope, inner);
            format!("|reader| reader.read_array(lengths, {bytes_min}, {inner})")
        }
    }
}
