//! The structs: fields, defaults, and doc comments that say what the definitions' attributes say.

use std::fmt::Write;

use super::Scope;
use crate::codegen::model::{Default, Field, Type};
use crate::codegen::versions::Versions;

/// `<'a>` for a struct that borrows.
pub(super) fn generics(scope: &Scope<'_>) -> &'static str {
    if scope.message.struct_borrows(scope.item) {
        "<'a>"
    } else {
        ""
    }
}

/// The struct with its `Default`.
pub(super) fn declaration(out: &mut String, scope: &Scope<'_>) {
    let derivable = scope.item.fields.iter().all(is_rust_default);
    let derive_default = if derivable { ", Default" } else { "" };
    let name = &scope.item.rust_name;
    let _ = writeln!(out, "/// {}", struct_doc(scope));
    let _ = writeln!(out, "#[derive(Debug, Clone, PartialEq{derive_default})]");
    let _ = writeln!(out, "pub struct {name}{} {{", generics(scope));
    for field in &scope.item.fields {
        let _ = writeln!(out, "/// {}", field_doc(scope, field));
        let _ = writeln!(
            out,
            "pub {}: {},",
            field.rust_name,
            field_type(scope, field)
        );
    }
    out.push_str("}\n\n");
    if !derivable {
        let generics = if generics(scope).is_empty() {
            ""
        } else {
            "<'_>"
        };
        let _ = writeln!(
            out,
            "impl Default for {name}{generics} {{ fn default() -> Self {{ Self {{"
        );
        for field in &scope.item.fields {
            let _ = writeln!(out, "{}: {},", field.rust_name, default_value(scope, field));
        }
        out.push_str("} } }\n\n");
    }
}

fn struct_doc(scope: &Scope<'_>) -> String {
    let (message, item) = (scope.message, scope.item);
    let versions = range_words(item.versions, None);
    if item.name != message.name {
        return format!("`{}` inside `{}`, {versions}.", item.name, message.name);
    }
    match message.flexible_from {
        Some(from) => format!("`{}`, {versions}, flexible from {from}.", message.name),
        None => format!("`{}`, {versions}.", message.name),
    }
}

fn field_doc(scope: &Scope<'_>, field: &Field) -> String {
    let whole = Some(scope.item.versions);
    let mut words = format!("`{}`, {}", field.name, range_words(field.versions, whole));
    if let Some(nullable) = field.nullable {
        let _ = write!(
            words,
            "; null allowed in {}",
            range_words(nullable, Some(field.versions))
        );
    }
    if let Some(tag) = field.tag {
        let _ = write!(words, "; tag {tag}");
    }
    if field.ignorable && !field.versions.covers(scope.item.versions) {
        words.push_str("; left out silently elsewhere");
    }
    words + "."
}

fn range_words(range: Versions, whole: Option<Versions>) -> String {
    match whole {
        Some(whole) if range.covers(whole) => "all versions".to_owned(),
        Some(whole) if range.high >= whole.high => format!("versions {}+", range.low),
        _ if range.low == range.high => format!("version {}", range.low),
        _ => format!("versions {} to {}", range.low, range.high),
    }
}

fn field_type(scope: &Scope<'_>, field: &Field) -> String {
    let plain = type_name(scope, &field.kind);
    if field.nullable.is_some() {
        format!("Option<{plain}>")
    } else {
        plain
    }
}

/// A type's Rust name.
fn type_name(scope: &Scope<'_>, kind: &Type) -> String {
    match kind {
        Type::Bool => "bool".to_owned(),
        Type::Number(name, _) => (*name).to_owned(),
        Type::Uuid => "Uuid".to_owned(),
        Type::String => "Str<'a>".to_owned(),
        Type::Bytes => "Bytes<'a>".to_owned(),
        Type::Array(element) => format!("Vec<{}>", type_name(scope, element)),
        Type::Struct(name) => {
            let borrows = scope.message.borrows(kind);
            let rust_name = &scope.message.nested(name).rust_name;
            if borrows {
                format!("{rust_name}<'a>")
            } else {
                rust_name.clone()
            }
        }
    }
}

/// Whether the field's default is what Rust's `Default` gives for its type.
fn is_rust_default(field: &Field) -> bool {
    match field.default {
        Default::Plain => field.nullable.is_none(),
        Default::Null => true,
        Default::True | Default::Integer(_) => false,
    }
}

/// The expression of the field's default.
pub(super) fn default_value(scope: &Scope<'_>, field: &Field) -> String {
    let plain = match (&field.default, &field.kind) {
        (Default::Null, _) => return "None".to_owned(),
        (Default::True, _) => "true".to_owned(),
        (Default::Integer(number), Type::Number("i64", _)) if *number == i64::MAX => {
            "i64::MAX".to_owned()
        }
        (Default::Integer(number), Type::Number("i32", _)) if *number == i64::from(i32::MAX) => {
            "i32::MAX".to_owned()
        }
        (Default::Integer(number), Type::Number("i32", _)) if *number == i64::from(i32::MIN) => {
            "i32::MIN".to_owned()
        }
        (Default::Integer(number), _) => number.to_string(),
        (Default::Plain, Type::Bool) => "false".to_owned(),
        (Default::Plain, Type::Number("f64", _)) => "0.0".to_owned(),
        (Default::Plain, Type::Number(..)) => "0".to_owned(),
        (Default::Plain, Type::Uuid) => "Uuid::ZERO".to_owned(),
        (Default::Plain, Type::String) => "Str::Borrowed(\"\")".to_owned(),
        (Default::Plain, Type::Bytes) => "Bytes::Borrowed(&[])".to_owned(),
        (Default::Plain, Type::Array(_)) => "Vec::new()".to_owned(),
        (Default::Plain, Type::Struct(name)) => {
            format!("{}::default()", scope.message.nested(name).rust_name)
        }
    };
    if field.nullable.is_some() {
        format!("Some({plain})")
    } else {
        plain
    }
}

/// The expression that says whether the field of `self` is something else than its default.
pub(super) fn differs_from_default(scope: &Scope<'_>, field: &Field) -> String {
    let place = format!("self.{}", field.rust_name);
    let nullable = field.nullable.is_some();
    match (&field.default, &field.kind) {
        (Default::Null, _) => format!("{place}.is_some()"),
        (Default::True, _) => format!("!{place}"),
        (Default::Plain, Type::Bool) => place,
        (Default::Plain, Type::String | Type::Bytes | Type::Array(_)) if nullable => {
            format!("{place}.as_ref().is_none_or(|value| !value.is_empty())")
        }
        (Default::Plain, Type::String | Type::Bytes | Type::Array(_)) => {
            format!("!{place}.is_empty()")
        }
        (Default::Plain, Type::Uuid) => format!("!{place}.is_zero()"),
        _ => format!("{place} != {}", default_value(scope, field)),
    }
}
