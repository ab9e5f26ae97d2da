//! Maps of a scenario, each declared once: a row has a key's documentation, field, name, default and form.
//! The parser, "did you mean", the guide's tables and the JSON schema are made of these rows.
//!
//! ```text
//! /// What the key does, for the guide and for the field.
//! pub linger_ns: u64 = "linger.ms" ["5"], kafka_time();
//! ```
//!
//! `pub` names a field of the struct that the plan keeps, `let` a value that only the reading needs. Defaults are
//! `[required]`, `[TEXT]`, `[all_defaults]`, `[optional MEANING]`, whose field is an `Option`, and
//! `[absent MEANING, FUNCTION]`, where the function gives the value. `and` declares fields that no key sets directly:
//! the function after `checked by` rejects keys that contradict each other, and then sets them.

/// Declares maps; the head of this file explains the rows. `struct` declares the struct too, `map` makes a value by a
/// function, and `one_of` is a map with exactly one of its keys.
macro_rules! key_map {
    (
        map $read:ident, $title:literal -> $out:ty, made by $make:path
        $(, shares [$($shared:ty),+])? $(, refuses [$($refused:expr),+ $(,)?])?
        { $($rows:tt)* }
    ) => {
        $crate::key_map::key_map!(@row
            [map $read, $title, [$out], $make, [$($($shared),+)?], [$($($refused),+)?]] [] []
            $($rows)*
        );
    };
    (
        one_of $read:ident, $title:literal -> $out:ty, otherwise $otherwise:path
        { $($(#[doc = $doc:literal])+ $name:literal => $kind:expr;)+ }
    ) => {
        #[derive(Debug)]
        pub(crate) enum $read {}

        impl $crate::reader::KeyMap for $read {
            type Value = $out;
            const KEYS: &'static $crate::key_definition::ScenarioKeys =
                &$crate::key_definition::ScenarioKeys {
                    is_one_of: true,
                    ..$crate::key_map::key_map!(@table $title, [], [], [$({
                        [$($doc)+] _slot [$out] $name [absent "", ()] [$kind]
                    })+])
                };

            fn read_keys(
                reader: &mut $crate::reader::ValueReader<'_>,
                fields: &$crate::reader::Fields<'_>,
            ) -> Option<$out> {
                let Some(only) = fields.only() else {
                    $otherwise(reader, fields);
                    return None;
                };
                $(if only == $name {
                    return reader.key(fields, $name, $kind);
                })+
                None
            }
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis struct $type:ident, $read:ident, $title:literal $(, checked by $check:path)?
        $(, shares [$($shared:ty),+])? $(, refuses [$($refused:expr),+ $(,)?])?
        $(, and { $($(#[$extra_meta:meta])* pub $extra:ident: $extra_ty:ty;)+ })?
        { $($rows:tt)* }
    ) => {
        $crate::key_map::key_map!(@row
            [struct [$(#[$meta])*] [$vis] $type $read, $title, [$($check)?], [$($($shared),+)?],
             [$($($refused),+)?], [$($({ [$(#[$extra_meta])*] $extra [$extra_ty] })+)?]]
            [] []
            $($rows)*
        );
    };

    // One row after the other: fields of the struct, and all rows.
    (@row $head:tt [$($field:tt)*] [$($all:tt)*]
        $(#[doc = $doc:literal])+
        pub $(#[$meta:meta])* $slot:ident: $ty:ty = $name:literal $default:tt, $kind:expr;
        $($rest:tt)*
    ) => {
        $crate::key_map::key_map!(@row $head
            [$($field)* { [$(#[doc = $doc])+ $(#[$meta])*] $slot [$ty] }]
            [$($all)* { [$($doc)+] $slot [$ty] $name $default [$kind] }]
            $($rest)*
        );
    };
    (@row $head:tt [$($field:tt)*] [$($all:tt)*]
        $(#[doc = $doc:literal])+
        let $slot:ident: $ty:ty = $name:literal $default:tt, $kind:expr;
        $($rest:tt)*
    ) => {
        $crate::key_map::key_map!(@row $head
            [$($field)*]
            [$($all)* { [$($doc)+] $slot [$ty] $name $default [$kind] }]
            $($rest)*
        );
    };
    (@row [map $read:ident, $title:literal, [$out:ty], $make:path, $shared:tt, $refused:tt]
        [$($field:tt)*] $all:tt
    ) => {
        $crate::key_map::key_map!(@read $read [] $all);
        impl $crate::reader::KeyMap for $read {
            type Value = $out;
            const KEYS: &'static $crate::key_definition::ScenarioKeys =
                &$crate::key_map::key_map!(@table $title, $shared, $refused, $all);

            fn read_keys(
                reader: &mut $crate::reader::ValueReader<'_>,
                fields: &$crate::reader::Fields<'_>,
            ) -> Option<$out> {
                let read = <$read>::read(reader, fields);
                $make(reader, fields, read)
            }
        }
    };
    (@row [struct [$($meta:tt)*] [$vis:vis] $type:ident $read:ident, $title:literal, [$($check:path)?],
           $shared:tt, $refused:tt, [$({ [$($extra_meta:tt)*] $extra:ident [$extra_ty:ty] })*]]
        [$({ [$($field_meta:tt)*] $field:ident [$field_ty:ty] })*] $all:tt
    ) => {
        $($meta)*
        $vis struct $type {
            $($($field_meta)* pub $field: $field_ty,)*
            $($($extra_meta)* pub $extra: $extra_ty,)*
        }

        $crate::key_map::key_map!(@read $read [$($extra [$extra_ty])*] $all);
        impl $crate::reader::KeyMap for $type {
            type Value = $type;
            const KEYS: &'static $crate::key_definition::ScenarioKeys =
                &$crate::key_map::key_map!(@table $title, $shared, $refused, $all);

            fn read_keys(
                reader: &mut $crate::reader::ValueReader<'_>,
                fields: &$crate::reader::Fields<'_>,
            ) -> Option<$type> {
                #[allow(unused_mut, reason = "not every map is checked")]
                let mut read = $read::read(reader, fields);
                $($check(reader, fields, &mut read);)?
                Some($type {
                    $($field: read.$field?,)*
                    $($extra: read.$extra?,)*
                })
            }
        }
    };

    // What was read of each key: `None` where a value is wrong.
    (@read $read:ident [$($extra:ident [$extra_ty:ty])*]
        [$({ $doc:tt $slot:ident [$ty:ty] $name:literal $default:tt [$kind:expr] })*]
    ) => {
        #[derive(Debug)]
        pub(crate) struct $read {
            $($slot: Option<$ty>,)*
            $($extra: Option<$extra_ty>,)*
        }

        impl $read {
            #[allow(unused_variables, reason = "a map may have shared keys only")]
            fn read(
                reader: &mut $crate::reader::ValueReader<'_>,
                fields: &$crate::reader::Fields<'_>,
            ) -> $read {
                $read {
                    $($slot: $crate::key_map::key_map!(@key reader, fields, $name, $kind, $default),)*
                    $($extra: None,)*
                }
            }
        }
    };
    (@key $reader:ident, $fields:ident, $name:literal, $kind:expr, [optional $meaning:expr]) => {
        $reader.optional($fields, $name, $kind)
    };
    (@key $reader:ident, $fields:ident, $name:literal, $kind:expr, [absent $meaning:expr, $value:expr]) => {
        $reader.key_or($fields, $name, $kind, $value)
    };
    (@key $reader:ident, $fields:ident, $name:literal, $kind:expr, $default:tt) => {
        $reader.key($fields, $name, $kind)
    };

    (@table $title:literal, [$($shared:ty),*], [$($refused:expr),*],
        [$({ [$($doc:literal)+] $slot:ident [$ty:ty] $name:literal $default:tt [$kind:expr] })*]
    ) => {
        $crate::key_definition::ScenarioKeys {
            name: $title,
            own: &[$($crate::key_definition::KeyDefinition {
                name: $name,
                form: || $crate::key_map::key_map!(@form $ty, $kind, $default),
                default: $crate::key_map::key_map!(@default $default),
                doc: concat!($($doc),+),
            }),*],
            shared: &[$(<$shared as $crate::reader::KeyMap>::KEYS),*],
            refused: &[$($refused),*],
            is_one_of: false,
        }
    };
    (@form $ty:ty, $kind:expr, [optional $meaning:expr]) => {
        $crate::value_kind::form_of_optional($kind, std::marker::PhantomData::<$ty>)
    };
    (@form $ty:ty, $kind:expr, $default:tt) => {
        $crate::value_kind::form_of::<$ty>($kind)
    };
    (@default [required]) => { $crate::key_definition::KeyDefault::Required };
    (@default [all_defaults]) => { $crate::key_definition::KeyDefault::Empty };
    (@default [optional $meaning:expr]) => {
        $crate::key_definition::KeyDefault::Optional($meaning)
    };
    (@default [absent $meaning:expr, $value:expr]) => {
        $crate::key_definition::KeyDefault::Optional($meaning)
    };
    (@default [$text:literal]) => { $crate::key_definition::KeyDefault::Default($text) };
}

pub(crate) use key_map;
