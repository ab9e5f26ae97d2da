//! Test support: for every struct a function that fills it from a `Sampler`, in the fields that the
//! version has. The same walk as that of `xtask/java/Golden.java`.

use std::fmt::Write;

use super::{Scope, head, types};
use crate::codegen::model::{Field, MessageModule, Type};
use crate::codegen::names;

/// Where the files go, inside `crates/wire`.
pub(super) const FOLDER: &str = "tests/messages/samples";

/// The functions for one group.
pub(super) fn file(group: &MessageModule) -> String {
    let mut out = head(&format!(
        "Sample values for the messages of `{}`.",
        group.name
    ));
    let _ = writeln!(out, "use kgauge_wire::messages::{}::*;\n", group.module());
    out.push_str("use crate::sampler::Sampler;\n\n");
    for message in &group.messages {
        for item in &message.structs {
            filler(&mut out, &Scope { message, item });
        }
    }
    out
}

/// The module that names all groups and walks over all messages.
pub(super) fn module(groups: &[MessageModule]) -> String {
    let mut out = head("Sample values for every message, by a function for each struct.");
    out.push_str(
        "#![allow(clippy::field_reassign_with_default, clippy::too_many_lines, reason = \"generated\")]

        use crate::cases::{Case, case};\n\n",
    );
    for group in groups {
        let _ = writeln!(out, "mod {};", group.module());
    }
    out.push_str("\n/// Every message with what the tests do to it.\npub(crate) fn cases() -> Vec<Case> {\nvec![\n");
    for group in groups {
        for message in &group.messages {
            let (file, function) = (group.module(), names::snake(&message.name));
            let _ = writeln!(out, "case!({file}, {}, {function}),", message.name);
        }
    }
    out.push_str("]\n}\n");
    out
}

fn filler(out: &mut String, scope: &Scope<'_>) {
    let name = &scope.item.rust_name;
    let lifetime = if types::generics(scope).is_empty() {
        ""
    } else {
        "<'static>"
    };
    let mut body = String::new();
    for field in &scope.item.fields {
        let assign = format!("value.{} = {};", field.rust_name, field_value(scope, field));
        match scope.condition(field.versions) {
            None => body.push_str(&assign),
            Some(carried) => {
                let _ = write!(body, "if {carried} {{ {assign} }}");
            }
        }
        body.push('\n');
    }
    let version = Scope::version_parameter(&body);
    let _ = writeln!(
        out,
        "pub(super) fn {}(sampler: &mut Sampler, {version}: i16) -> {name}{lifetime} {{
            let mut value = {name}::default();
            {body}
            value
        }}\n",
        names::snake(name)
    );
}

fn field_value(scope: &Scope<'_>, field: &Field) -> String {
    let plain = value(scope, &field.kind, &format!("\"{}\"", field.name));
    let Some(nullable) = field.nullable else {
        return plain;
    };
    let or_null = format!("sampler.nullable(|sampler| {plain})");
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

fn value(scope: &Scope<'_>, kind: &Type, name: &str) -> String {
    match kind {
        Type::Bool => format!("sampler.bool({name})"),
        Type::Number("f64", _) => format!("sampler.f64({name})"),
        Type::Number(number, _) => format!("sampler.number({name}) as {number}"),
        Type::Uuid => format!("sampler.uuid({name})"),
        Type::String => format!("sampler.string({name})"),
        Type::Bytes => format!("sampler.bytes({name})"),
        Type::Struct(nested) => {
            let function = names::snake(&scope.message.nested(nested).rust_name);
            format!("sampler.nested({name}, |sampler| {function}(sampler, version))")
        }
        Type::Array(element) => {
            let element = value(scope, element, "index");
            format!("sampler.array({name}, |sampler, index| {element})")
        }
    }
}
