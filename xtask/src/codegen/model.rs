//! What the definitions of both releases say together, ready to be written as Rust.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};

use super::names;
use super::versions::Versions;

/// The messages that share one file: a request and its response, or data structures.
#[derive(Debug)]
pub(super) struct MessageModule {
    /// The definitions' name without `Request` or `Response`.
    pub(super) name: String,
    pub(super) messages: Vec<MessageModel>,
}

/// One message with everything inside it.
#[derive(Debug)]
pub(super) struct MessageModel {
    pub(super) name: String,
    pub(super) key: Option<i16>,
    pub(super) versions: Versions,
    /// The first version that the new release still has.
    pub(super) release_new_from: i16,
    pub(super) flexible_from: Option<i16>,
    /// The message itself first, then its nested structs in the order of their first use.
    pub(super) structs: Vec<Struct>,
}

/// A struct of a message.
#[derive(Debug)]
pub(super) struct Struct {
    pub(super) name: String,
    /// Its name in Rust: the same, unless another struct of the file has it too.
    pub(super) rust_name: String,
    /// The versions of the message in which it can stand.
    pub(super) versions: Versions,
    pub(super) fields: Vec<Field>,
}

/// A field of a struct.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) rust_name: String,
    pub(super) kind: Type,
    pub(super) versions: Versions,
    pub(super) nullable: Option<Versions>,
    /// Its tag, if it is a tagged field; it is then tagged in all of its versions.
    pub(super) tag: Option<u32>,
    /// Whether it may be left out silently where the version does not carry it.
    pub(super) ignorable: bool,
    pub(super) default: Default,
}

/// The value of a field that was not set.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Default {
    /// Zero, empty, or a struct of defaults.
    Plain,
    Null,
    True,
    Integer(i64),
}

/// The type of a field.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    Bool,
    /// An integer or float by its Rust name, with its size in bytes.
    Number(&'static str, usize),
    Uuid,
    String,
    /// `bytes` and `records`, which differ in their default only.
    Bytes,
    Struct(String),
    Array(Box<Type>),
}

impl MessageModule {
    /// Puts messages into one file and tells structs of equal name apart: each then carries its
    /// message's name before its own.
    pub(super) fn new(name: &str, mut messages: Vec<MessageModel>) -> Result<Self> {
        let mut counts = BTreeMap::<String, usize>::new();
        for item in messages.iter().flat_map(|message| &message.structs) {
            *counts.entry(item.name.clone()).or_default() += 1;
        }
        for message in &mut messages {
            for item in &mut message.structs {
                if counts[&item.name] > 1 {
                    item.rust_name = format!("{}{}", message.name, item.name);
                    ensure!(
                        !counts.contains_key(&item.rust_name),
                        "{} twice",
                        item.rust_name
                    );
                }
            }
        }
        Ok(Self {
            name: name.to_owned(),
            messages,
        })
    }

    /// The name of the file and module.
    pub(super) fn module(&self) -> String {
        names::snake(&self.name)
    }
}

impl MessageModel {
    /// The struct of a nested type.
    pub(super) fn nested(&self, name: &str) -> &Struct {
        let found = self.structs.iter().find(|item| item.name == name);
        found.expect("the merge checks that every named struct is defined")
    }

    /// Whether strings or bytes are borrowed by this type, directly or inside.
    pub(super) fn borrows(&self, kind: &Type) -> bool {
        match kind {
            Type::String | Type::Bytes => true,
            Type::Bool | Type::Number(..) | Type::Uuid => false,
            Type::Array(element) => self.borrows(element),
            Type::Struct(name) => self.struct_borrows(self.nested(name)),
        }
    }

    /// Whether a struct needs a lifetime.
    pub(super) fn struct_borrows(&self, item: &Struct) -> bool {
        item.fields.iter().any(|field| self.borrows(&field.kind))
    }

    pub(super) fn is_flexible(&self, version: i16) -> bool {
        self.flexible_from.is_some_and(|from| version >= from)
    }

    /// The fewest bytes that one element of a type takes in any of the versions.
    pub(super) fn bytes_min(&self, kind: &Type, versions: Versions) -> usize {
        let sizes = versions
            .iter()
            .map(|version| self.bytes_min_in(kind, false, version));
        sizes.min().unwrap_or(0)
    }

    fn bytes_min_in(&self, kind: &Type, nullable: bool, version: i16) -> usize {
        let flexible = self.is_flexible(version);
        match kind {
            Type::Bool => 1,
            Type::Number(_, bytes) => *bytes,
            Type::Uuid => 16,
            Type::String if !flexible => 2,
            Type::Bytes | Type::Array(_) if !flexible => 4,
            Type::String | Type::Bytes | Type::Array(_) => 1,
            Type::Struct(_) if nullable => 1,
            Type::Struct(name) => {
                let fields = self.nested(name).fields.iter();
                let carried =
                    fields.filter(|field| field.tag.is_none() && field.versions.contains(version));
                let sizes = carried.map(|field| {
                    let nullable = field.nullable.is_some_and(|range| range.contains(version));
                    self.bytes_min_in(&field.kind, nullable, version)
                });
                sizes.sum::<usize>() + usize::from(flexible)
            }
        }
    }
}
