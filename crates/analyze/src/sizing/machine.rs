//! Machine types: what one broker's machine can do, and what it costs.

use schemars::JsonSchema;
use serde::Serialize;
use thiserror::Error;

/// The table that is used without one of the user's.
const BUILT_IN: &str = include_str!("machines.csv");
/// More lines than any provider has types.
const LINES_MAX: usize = 1_000;
const GIB: f64 = 1_073_741_824.0;

/// One machine type. Rates are those that it keeps all day, not those of a burst.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MachineType {
    /// Its name.
    pub name: String,
    /// Logical processors.
    pub vcpus: f64,
    /// Memory in bytes.
    pub memory_bytes: f64,
    /// Bytes per second that its network takes in each direction; null if unknown.
    pub network_bytes_per_s: Option<f64>,
    /// Bytes per second that its disks write; null if unknown.
    pub disk_bytes_per_s: Option<f64>,
    /// The most that its disks hold, in bytes; null if unknown.
    pub disk_bytes: Option<f64>,
    /// Price of one for an hour; null if unknown.
    pub price_per_hour: Option<f64>,
    /// Price of 10⁹ bytes of disk for a month; null if unknown.
    pub disk_price_per_gb_month: Option<f64>,
    /// Price of 10⁹ bytes from one availability zone to another, both ends together; null if unknown.
    pub zone_price_per_gb: Option<f64>,
}

/// Why a table of machine types cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MachineTableError {
    /// The first line has no such column.
    #[error("the first line must name the columns, with `{missing}` among them: {}", MachineType::COLUMNS.join(", "))]
    Head {
        /// A required column.
        missing: &'static str,
    },
    /// The first line has a column that is not known, or twice.
    #[error("column `{column}` is unknown or repeated; the columns are: {}", MachineType::COLUMNS.join(", "))]
    Column {
        /// As written.
        column: String,
    },
    /// A line has too few or too many fields.
    #[error("line {line} has {fields} fields, expected {expected}")]
    Fields {
        /// From 1.
        line: usize,
        /// How many it has.
        fields: usize,
        /// How many columns there are.
        expected: usize,
    },
    /// A field is not a number.
    #[error("line {line}: {field} must be a number above 0{}, not `{text}`", if *.may_be_empty { " or empty" } else { "" })]
    Number {
        /// From 1.
        line: usize,
        /// The column's name.
        field: &'static str,
        /// What is there.
        text: String,
        /// Whether the field may be left out.
        may_be_empty: bool,
    },
    /// No machine type.
    #[error("no machine type after the first line")]
    Empty,
    /// More lines than anybody needs.
    #[error("more than {LINES_MAX} lines")]
    Long,
}

impl MachineType {
    /// The columns of a table. The first three are required.
    pub const COLUMNS: [&'static str; 9] = [
        "name",
        "vcpus",
        "memory_gib",
        "network_gbit_per_s",
        "disk_mb_per_s",
        "disk_gb",
        "price_per_hour",
        "disk_price_per_gb_month",
        "zone_price_per_gb",
    ];
    const REQUIRED: usize = 3;

    /// The machine types that kgauge knows: examples with list prices, which change.
    pub fn built_in() -> Result<Vec<MachineType>, MachineTableError> {
        MachineType::table(BUILT_IN)
    }

    /// Reads a table: a first line with the names of the columns, then one line per type. Lines that begin with `#` are
    /// comments; an empty field is unknown, as is a column that is not there.
    pub fn table(text: &str) -> Result<Vec<MachineType>, MachineTableError> {
        let mut types = Vec::new();
        let mut columns: Option<Vec<usize>> = None;
        for (index, text) in text.lines().enumerate() {
            if index >= LINES_MAX {
                return Err(MachineTableError::Long);
            }
            let text = text.trim();
            match &columns {
                _ if text.is_empty() || text.starts_with('#') => {}
                None => columns = Some(MachineType::columns(text)?),
                Some(columns) => types.push(MachineType::of_line(index + 1, text, columns)?),
            }
        }
        let missing = MachineType::COLUMNS[0];
        match (columns, types.is_empty()) {
            (None, _) => Err(MachineTableError::Head { missing }),
            (Some(_), true) => Err(MachineTableError::Empty),
            (Some(_), false) => Ok(types),
        }
    }

    /// Which of the known columns each column is.
    fn columns(head: &str) -> Result<Vec<usize>, MachineTableError> {
        let mut found = Vec::new();
        for column in head.split(',').map(str::trim) {
            let known = MachineType::COLUMNS.iter();
            let known = known.enumerate().find(|(_, name)| **name == column);
            match known {
                Some((index, _)) if !found.contains(&index) => found.push(index),
                _ => {
                    let column = column.to_owned();
                    return Err(MachineTableError::Column { column });
                }
            }
        }
        match (0..MachineType::REQUIRED).find(|index| !found.contains(index)) {
            Some(index) => Err(MachineTableError::Head {
                missing: MachineType::COLUMNS[index],
            }),
            None => Ok(found),
        }
    }

    fn of_line(
        line: usize,
        text: &str,
        columns: &[usize],
    ) -> Result<MachineType, MachineTableError> {
        let fields: Vec<&str> = text.split(',').map(str::trim).collect();
        if fields.len() != columns.len() {
            return Err(MachineTableError::Fields {
                line,
                fields: fields.len(),
                expected: columns.len(),
            });
        }
        let field = |column: usize| {
            let mut pairs = columns.iter().zip(&fields);
            let found = pairs.find(|(known, _)| **known == column);
            found.map_or("", |(_, field)| field)
        };
        let number = |column: usize, factor: f64| {
            let text = field(column);
            match text.parse::<f64>() {
                Ok(number) if number > 0.0 && number.is_finite() => Ok(Some(number * factor)),
                Err(_) if text.is_empty() && column >= MachineType::REQUIRED => Ok(None),
                _ => Err(MachineTableError::Number {
                    line,
                    field: MachineType::COLUMNS[column],
                    text: text.to_owned(),
                    may_be_empty: column >= MachineType::REQUIRED,
                }),
            }
        };
        Ok(MachineType {
            name: field(0).to_owned(),
            vcpus: number(1, 1.0)?.unwrap_or_default(),
            memory_bytes: number(2, GIB)?.unwrap_or_default(),
            network_bytes_per_s: number(3, 1e9 / 8.0)?,
            disk_bytes_per_s: number(4, 1e6)?,
            disk_bytes: number(5, 1e9)?,
            price_per_hour: number(6, 1.0)?,
            disk_price_per_gb_month: number(7, 1.0)?,
            zone_price_per_gb: number(8, 1.0)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_table_is_read() {
        let types = MachineType::built_in().expect("a table");
        let middle = types
            .iter()
            .find(|one| one.name == "m7g.xlarge")
            .expect("a type");
        assert_eq!(middle.vcpus, 4.0);
        assert_eq!(middle.memory_bytes, 16.0 * GIB);
        assert_eq!(middle.disk_bytes_per_s, Some(156.25e6));
        assert_eq!(middle.network_bytes_per_s, Some(1.876e9 / 8.0));
        assert_eq!(middle.zone_price_per_gb, Some(0.02));
    }

    #[test]
    fn columns_may_be_left_out_and_be_in_any_order() {
        let table = "# mine\nvcpus, name ,memory_gib,price_per_hour\n 2, a, 4,\n";
        let types = MachineType::table(table).expect("a table");
        assert_eq!((types[0].name.as_str(), types[0].vcpus), ("a", 2.0));
        assert_eq!(types[0].memory_bytes, 4.0 * GIB);
        assert_eq!((types[0].price_per_hour, types[0].disk_bytes), (None, None));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |text: &str| MachineType::table(text).expect_err("an error").to_string();
        let head = "name,vcpus,memory_gib,network_gbit_per_s";
        for (table, message) in [
            (
                "",
                "the first line must name the columns, with `name` among them: name, vcpus",
            ),
            ("name,vcpus\na,2\n", "with `memory_gib` among them"),
            (
                "name,cpus,memory_gib\n",
                "column `cpus` is unknown or repeated",
            ),
            (
                "name,vcpus,vcpus,memory_gib\n",
                "column `vcpus` is unknown or repeated",
            ),
        ] {
            assert!(error(table).contains(message), "{}", error(table));
        }
        assert_eq!(error(head), "no machine type after the first line");
        for (line, message) in [
            ("a,2", "line 2 has 2 fields, expected 4"),
            (
                "a,two,4,",
                "line 2: vcpus must be a number above 0, not `two`",
            ),
            (
                "a,2,,",
                "line 2: memory_gib must be a number above 0, not ``",
            ),
            (
                "a,2,4,-1",
                "line 2: network_gbit_per_s must be a number above 0 or empty, not `-1`",
            ),
            (
                "a,2,4,inf",
                "line 2: network_gbit_per_s must be a number above 0 or empty, not `inf`",
            ),
        ] {
            assert_eq!(error(&format!("{head}\n{line}\n")), message);
        }
    }
}
