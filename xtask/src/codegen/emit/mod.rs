//! Writes the model as Rust source; rustfmt lays it out afterwards.

mod decode;
mod encode;
mod samples;
mod table;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use anyhow::{Result, ensure};

use super::model::{MessageModel, MessageModule, Struct, Type};
use super::versions::Versions;
use super::write::MARK;

/// Every generated file by its path inside `crates/wire`.
pub(super) fn files(groups: &[MessageModule]) -> Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    for group in groups {
        let name = format!("src/messages/{}.rs", group.module());
        ensure!(
            files.insert(name, group_file(group)).is_none(),
            "two files for {}",
            group.name
        );
    }
    for group in groups {
        let name = format!("{}/{}.rs", samples::FOLDER, group.module());
        files.insert(name, samples::file(group));
    }
    files.insert(
        format!("{}/mod.rs", samples::FOLDER),
        samples::module(groups),
    );
    files.insert("src/messages/mod.rs".to_owned(), module_file(groups));
    files.insert("src/api/table.rs".to_owned(), table::file(groups));
    Ok(files)
}

/// The head of a generated file.
fn head(sentence: &str) -> String {
    format!("//! {sentence}\n//!\n{MARK}\n\n")
}

/// A message and a version range, which most of the emitting code needs together.
struct Scope<'m> {
    message: &'m MessageModel,
    item: &'m Struct,
}

impl Scope<'_> {
    /// What errors call a field.
    fn what(&self, field: &str) -> String {
        format!("\"{}.{field}\"", self.item.rust_name)
    }

    /// The condition under which a version of this struct is in `range`; none if it always is.
    fn condition(&self, range: Versions) -> Option<String> {
        let low = (range.low > self.item.versions.low).then_some(range.low);
        let high = (range.high < self.item.versions.high).then_some(range.high);
        match (low, high) {
            (None, None) => None,
            _ if range.low == range.high => Some(format!("version == {}", range.low)),
            (Some(low), None) => Some(format!("version >= {low}")),
            (None, Some(high)) => Some(format!("version <= {high}")),
            (Some(low), Some(high)) => Some(format!("({low}..={high}).contains(&version)")),
        }
    }

    /// The opposite of [`Self::condition`], for a range that is not all of the versions.
    fn opposite(&self, range: Versions) -> String {
        match self.condition(range) {
            Some(_) if range.high >= self.item.versions.high => format!("version < {}", range.low),
            Some(_) if range.low <= self.item.versions.low => format!("version > {}", range.high),
            Some(inside) => format!("!({inside})"),
            None => "false".to_owned(),
        }
    }

    /// The versions of this struct that are flexible.
    fn flexible(&self) -> Option<Versions> {
        let from = Versions {
            low: self.message.flexible_from?,
            high: i16::MAX,
        };
        from.intersect(self.item.versions)
    }

    /// The `let` that says which form lengths have; empty if the struct has no length.
    fn lengths(&self) -> String {
        let of_length = |kind: &Type| matches!(kind, Type::String | Type::Bytes | Type::Array(_));
        if !self.item.fields.iter().any(|field| of_length(&field.kind)) {
            return String::new();
        }
        let value = match self.flexible().map(|range| self.condition(range)) {
            None => "Lengths::Fixed".to_owned(),
            Some(None) => "Lengths::Compact".to_owned(),
            Some(Some(_)) => match self.message.flexible_from {
                Some(from) => format!("Lengths::of(version, {from})"),
                None => "Lengths::Fixed".to_owned(),
            },
        };
        format!("let lengths = {value};\n")
    }

    /// `version`, or `_version` if the body does not use it.
    fn version_parameter(body: &str) -> &'static str {
        let words = body.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
        if words.into_iter().any(|word| word == "version") {
            "version"
        } else {
            "_version"
        }
    }
}

fn group_file(group: &MessageModule) -> String {
    let names: Vec<_> = group
        .messages
        .iter()
        .map(|message| format!("`{}`", message.name))
        .collect();
    let mut out = head(&format!(
        "{}, in all versions that kgauge speaks.",
        names.join(" and ")
    ));
    out.push_str("#![allow(clippy::too_many_lines, reason = \"generated\")]\n\n");
    let mut body = String::new();
    for message in &group.messages {
        for item in &message.structs {
            let scope = Scope { message, item };
            types::declaration(&mut body, &scope);
            let is_root = item.name == message.name;
            if is_root {
                message_impl(&mut body, &scope)
            } else {
                nested_impl(&mut body, &scope)
            }
        }
        request_impl(&mut body, group, message);
    }
    imports(&mut out, &body);
    out + &body
}

/// Imports of what the body names.
fn imports(out: &mut String, body: &str) {
    let words: BTreeSet<&str> = body
        .split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
        .collect();
    let used = |names: &[&str]| {
        let used: Vec<_> = names
            .iter()
            .filter(|name| words.contains(**name))
            .copied()
            .collect();
        used.join(", ")
    };
    if words.contains("RangeInclusive") {
        out.push_str("use std::ops::RangeInclusive;\n\n");
    }
    if words.contains("ApiKey") {
        out.push_str("use crate::api::ApiKey;\n");
    }
    let codec = used(&[
        "Bytes",
        "DecodeError",
        "EncodeError",
        "Lengths",
        "Reader",
        "Str",
        "Uuid",
    ]);
    let _ = writeln!(out, "use crate::codec::{{self, {codec}}};");
    let _ = writeln!(out, "use super::{{{}}};\n", used(&["Message", "Request"]));
}

fn message_impl(out: &mut String, scope: &Scope<'_>) {
    let message = scope.message;
    let name = &scope.item.rust_name;
    let generics = types::generics(scope);
    let Versions { low, high } = message.versions;
    let flexible = message
        .flexible_from
        .map_or("i16::MAX".to_owned(), |from| from.to_string());
    let check = |error: &str| {
        format!(
            "if !Self::VERSIONS.contains(&version) {{
                return Err({error}::Version {{ message: Self::NAME, version }});
            }}"
        )
    };
    let (encode, decode) = (encode::body(scope), decode::body(scope));
    let _ = writeln!(
        out,
        "impl<'a> Message<'a> for {name}{generics} {{
            const NAME: &'static str = \"{name}\";
            const VERSIONS: RangeInclusive<i16> = {low}..={high};
            const FLEXIBLE_FROM: i16 = {flexible};

            fn encode(&self, out: &mut Vec<u8>, version: i16) -> Result<(), EncodeError> {{
                {}
                {encode}
            }}

            fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {{
                {}
                {decode}
            }}
        }}\n",
        check("EncodeError"),
        check("DecodeError"),
    );
}

fn nested_impl(out: &mut String, scope: &Scope<'_>) {
    let name = &scope.item.rust_name;
    let generics = types::generics(scope);
    let (encode, decode) = (encode::body(scope), decode::body(scope));
    let (encode_version, decode_version) = (
        Scope::version_parameter(&encode),
        Scope::version_parameter(&decode),
    );
    let lifetime = if generics.is_empty() { "'_" } else { "'a" };
    let _ = writeln!(
        out,
        "impl{generics} {name}{generics} {{
            fn encode(&self, out: &mut Vec<u8>, {encode_version}: i16) -> Result<(), EncodeError> {{
                {encode}
            }}

            fn decode(
                reader: &mut Reader<{lifetime}>,
                {decode_version}: i16,
            ) -> Result<Self, DecodeError> {{
                {decode}
            }}
        }}\n",
    );
}

fn request_impl(out: &mut String, group: &MessageModule, message: &MessageModel) {
    if message.key.is_none() || !message.name.ends_with("Request") {
        return;
    }
    let response = &group.messages[1];
    let generics = |message: &MessageModel, lifetime: &str| {
        let borrows = message.struct_borrows(&message.structs[0]);
        if borrows {
            format!("<{lifetime}>")
        } else {
            String::new()
        }
    };
    let _ = writeln!(
        out,
        "impl<'a> Request<'a> for {}{} {{
            const KEY: ApiKey = ApiKey::{};
            type Response<'r> = {}{};
        }}\n",
        message.name,
        generics(message, "'a"),
        group.name,
        response.name,
        generics(response, "'r"),
    );
}

fn module_file(groups: &[MessageModule]) -> String {
    let mut out = head("Kafka's messages: one module for each API.");
    out.push_str(
        "//!
         //! Structs whose name no other API uses are re-exported here; the others are found in
         //! their API's module, such as [`produce::NodeEndpoint`] and [`fetch::NodeEndpoint`].\n\n",
    );
    for group in groups {
        let _ = writeln!(out, "pub mod {};", group.module());
    }
    out.push_str("mod traits;\n\npub use traits::{Message, Request};\n\n");
    let structs = |group: &MessageModule| -> Vec<String> {
        let structs = group.messages.iter().flat_map(|message| &message.structs);
        structs.map(|item| item.rust_name.clone()).collect()
    };
    let mut counts = BTreeMap::<String, usize>::new();
    for name in groups.iter().flat_map(structs) {
        *counts.entry(name).or_default() += 1;
    }
    for group in groups {
        let unique: Vec<_> = structs(group)
            .into_iter()
            .filter(|name| counts[name] == 1)
            .collect();
        let _ = writeln!(
            out,
            "pub use {}::{{{}}};",
            group.module(),
            unique.join(", ")
        );
    }
    out.push_str(&table::for_each_api(groups));
    out
}
