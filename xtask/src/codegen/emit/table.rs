//! The table of API keys, and the macro that walks over all APIs.

use std::fmt::Write;

use super::head;
use crate::codegen::model::MessageModule;

fn apis(groups: &[MessageModule]) -> impl Iterator<Item = (i16, &MessageModule)> {
    groups
        .iter()
        .filter_map(|group| group.messages[0].key.map(|key| (key, group)))
}

/// The enum of the API keys with each API's versions.
pub(super) fn file(groups: &[MessageModule]) -> String {
    let mut out = head("The APIs that kgauge carries, with their keys and versions.");
    out.push_str(
        "#![allow(clippy::too_many_lines, reason = \"generated\")]\n\nuse super::Facts;\n\n
        /// An API of Kafka's protocol.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(i16)]
        pub enum ApiKey {\n",
    );
    for (key, group) in apis(groups) {
        let _ = writeln!(
            out,
            "/// `{}`, key {key}.\n{} = {key},",
            group.name, group.name
        );
    }
    out.push_str("}\n\nimpl ApiKey {\n/// Every API that kgauge carries, by rising key.\npub const ALL: &[Self] = &[\n");
    for (_, group) in apis(groups) {
        let _ = writeln!(out, "Self::{},", group.name);
    }
    out.push_str(
        "];\n\n/// The API of a key; none if kgauge does not carry it.
        pub const fn from_i16(key: i16) -> Option<Self> {\nSome(match key {\n",
    );
    for (key, group) in apis(groups) {
        let _ = writeln!(out, "{key} => Self::{},", group.name);
    }
    out.push_str(
        "_ => return None,\n})\n}\n\npub(super) const fn facts(self) -> Facts {\nmatch self {\n",
    );
    for (_, group) in apis(groups) {
        let message = &group.messages[0];
        let flexible = message
            .flexible_from
            .map_or("i16::MAX".to_owned(), |from| from.to_string());
        let _ = writeln!(
            out,
            "Self::{} => Facts::new(\"{}\", {}, {}, {flexible}),",
            group.name, group.name, message.versions.low, message.versions.high
        );
    }
    out.push_str("}\n}\n}\n");
    out
}

/// A macro that names every API with its two message types.
pub(super) fn for_each_api(groups: &[MessageModule]) -> String {
    let mut out = String::from(
        "\n/// Hands every API to another macro, as `Api, Request, Response;` by rising key: for code
        /// that must do the same for all of them, such as tests and tables.
        #[macro_export]
        macro_rules! for_each_api {\n($then:ident) => {\n$then! {\n",
    );
    for (_, group) in apis(groups) {
        let _ = writeln!(
            out,
            "{}, {}, {};",
            group.name, group.messages[0].name, group.messages[1].name
        );
    }
    out.push_str("}\n};\n}\n");
    out
}
