//! A JSON value whose objects keep the order of their members, unlike `serde_json::Value`.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

/// A JSON value whose objects keep the order of their members.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonTree {
    /// Members in their order.
    Object(Vec<(String, JsonTree)>),
    /// Items.
    Array(Vec<JsonTree>),
    /// Anything else.
    Leaf(Value),
}

impl JsonTree {
    /// What a value is as JSON.
    pub(super) fn of(value: &impl Serialize) -> serde_json::Result<JsonTree> {
        serde_json::from_slice(&serde_json::to_vec(value)?)
    }

    /// A member that is an object or an array; `None` where it is absent or null.
    pub(super) fn get(&mut self, name: &str) -> Option<&mut JsonTree> {
        let JsonTree::Object(members) = self else {
            return None;
        };
        let member = members.iter_mut().find(|(known, _)| known == name);
        member
            .map(|(_, value)| value)
            .filter(|value| !matches!(value, JsonTree::Leaf(_)))
    }

    /// The items of a member; none where it is absent.
    pub(super) fn items(&mut self, name: &str) -> impl Iterator<Item = &mut JsonTree> {
        let items = match self.get(name) {
            Some(JsonTree::Array(items)) => Some(items),
            _ => None,
        };
        items.into_iter().flatten()
    }

    /// Adds a member at the end of an object.
    pub(super) fn put(&mut self, name: &str, value: impl Into<Value>) {
        if let JsonTree::Object(members) = self {
            members.push((name.to_owned(), JsonTree::Leaf(value.into())));
        }
    }
}

impl Serialize for JsonTree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            JsonTree::Array(items) => items.serialize(serializer),
            JsonTree::Leaf(value) => value.serialize(serializer),
            JsonTree::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for JsonTree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<JsonTree, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = JsonTree;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonTree, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(JsonTree::Object(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<JsonTree, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(JsonTree::Array(items))
    }

    fn visit_unit<E>(self) -> Result<JsonTree, E> {
        Ok(JsonTree::Leaf(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<JsonTree, E> {
        Ok(JsonTree::Leaf(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<JsonTree, E> {
        Ok(JsonTree::Leaf(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<JsonTree, E> {
        Ok(JsonTree::Leaf(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<JsonTree, E> {
        Ok(JsonTree::Leaf(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<JsonTree, E> {
        Ok(JsonTree::Leaf(value.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order_and_numbers_their_digits() {
        let text = r#"{"b":[1,-2,0.1,1e300,true,null],"a":{"z":"x","c":18446744073709551615}}"#;
        let mut tree: JsonTree = serde_json::from_str(text).unwrap();
        assert_eq!(
            serde_json::to_string(&tree).unwrap(),
            text.replace("1e300", "1e+300")
        );
        tree.get("a").unwrap().put("text", "y");
        assert!(
            serde_json::to_string(&tree)
                .unwrap()
                .ends_with(r#","text":"y"}}"#)
        );
        assert!(tree.get("b").is_some() && tree.items("none").next().is_none());
    }
}
