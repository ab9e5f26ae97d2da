//! Machine types: what one broker's machine can do, and what it costs.

use schemars::JsonSchema;
use serde::Serialize;
use thiserror::Error;

/// The table that is used without one of the user's.
const BUILT_IN: &str = include_str!("machines.csv");
/// The first line of every table.
const HEAD: &str =
    "name,vcpus,memory_gib,network_gbit_per_s,disk_mb_per_s,price_per_hour,disk_price_per_gb_month";
/// More lines than any provider has types.
const LINES_MAX: usize = 10_000;

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
    /// Price of one for an hour; null if unknown.
    pub price_per_hour: Option<f64>,
    /// Price of 10⁹ bytes of disk for a month; null if unknown.
    pub disk_price_per_gb_month: Option<f64>,
}

/// Why a table of machine types cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MachineTableError {
    /// The first line is another one.
    #[error("the first line must be `{HEAD}`")]
    Head,
    /// A line has too few or too many fields.
    #[error("line {line} has {fields} fields, expected 7")]
    Fields {
        /// From 1.
        line: usize,
        /// How many it has.
        fields: usize,
    },
    /// A field is no number.
    #[error("line {line}: {field} must be a number above 0{}, not `{text}`", if *.may_be_empty { " or empty" } else { "" })]
    Number {
        /// From 1.
        line: usize,
        /// The field's name.
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
    /// The machine types that kgauge knows: examples with list prices, which change.
    pub fn built_in() -> Result<Vec<MachineType>, MachineTableError> {
        MachineType::table(BUILT_IN)
    }

    /// Reads a table: a first line with the names of the fields, then one line per type. Lines that begin with `#` are
    /// comments; an empty field is unknown.
    pub fn table(text: &str) -> Result<Vec<MachineType>, MachineTableError> {
        let mut types = Vec::new();
        let mut has_head = false;
        for (index, text) in text.lines().enumerate() {
            if index >= LINES_MAX {
                return Err(MachineTableError::Long);
            }
            let text = text.trim();
            match text {
                "" => {}
                _ if text.starts_with('#') => {}
                _ if !has_head && text.replace(' ', "") == HEAD => has_head = true,
                _ if !has_head => return Err(MachineTableError::Head),
                _ => types.push(MachineType::of_line(index + 1, text)?),
            }
        }
        match types.is_empty() {
            true if has_head => Err(MachineTableError::Empty),
            true => Err(MachineTableError::Head),
            false => Ok(types),
        }
    }

    fn of_line(line: usize, text: &str) -> Result<MachineType, MachineTableError> {
        let fields: Vec<&str> = text.split(',').map(str::trim).collect();
        let [name, vcpus, memory, network, disk, hour, month] = fields[..] else {
            let fields = fields.len();
            return Err(MachineTableError::Fields { line, fields });
        };
        let number = |field: &'static str, text: &str, may_be_empty: bool| match text.parse::<f64>()
        {
            Ok(number) if number > 0.0 && number.is_finite() => Ok(Some(number)),
            Err(_) if text.is_empty() && may_be_empty => Ok(None),
            _ => Err(MachineTableError::Number {
                line,
                field,
                text: text.to_owned(),
                may_be_empty,
            }),
        };
        let times = |value: Option<f64>, factor: f64| value.map(|value| value * factor);
        Ok(MachineType {
            name: name.to_owned(),
            vcpus: number("vcpus", vcpus, false)?.unwrap_or_default(),
            memory_bytes: number("memory_gib", memory, false)?.unwrap_or_default()
                * f64::from(1_u32 << 30),
            network_bytes_per_s: times(number("network_gbit_per_s", network, true)?, 1e9 / 8.0),
            disk_bytes_per_s: times(number("disk_mb_per_s", disk, true)?, 1e6),
            price_per_hour: number("price_per_hour", hour, true)?,
            disk_price_per_gb_month: number("disk_price_per_gb_month", month, true)?,
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
        assert_eq!(middle.memory_bytes, 16.0 * 1024.0 * 1024.0 * 1024.0);
        assert_eq!(middle.disk_bytes_per_s, Some(156.25e6));
        assert_eq!(middle.network_bytes_per_s, Some(1.876e9 / 8.0));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let table = |line: &str| MachineType::table(&format!("# mine\n{HEAD}\n{line}\n"));
        assert_eq!(table("a,2,4,,,,").expect("a table")[0].price_per_hour, None);
        let blanks = format!("{}\na, 2, 4,,,,", HEAD.replace(',', ", "));
        assert_eq!(MachineType::table(&blanks).map(|types| types.len()), Ok(1));
        assert_eq!(
            MachineType::table("a,2,4,,,,"),
            Err(MachineTableError::Head)
        );
        assert_eq!(MachineType::table(""), Err(MachineTableError::Head));
        assert_eq!(table(""), Err(MachineTableError::Empty));
        assert_eq!(
            table("a,2"),
            Err(MachineTableError::Fields { line: 3, fields: 2 })
        );
        for (line, message) in [
            (
                "a,two,4,,,,",
                "line 3: vcpus must be a number above 0, not `two`",
            ),
            (
                "a,2,,,,,",
                "line 3: memory_gib must be a number above 0, not ``",
            ),
            (
                "a,2,4,,,-1,",
                "line 3: price_per_hour must be a number above 0 or empty, not `-1`",
            ),
            (
                "a,2,4,inf,,,",
                "line 3: network_gbit_per_s must be a number above 0 or empty, not `inf`",
            ),
        ] {
            assert_eq!(table(line).expect_err("an error").to_string(), message);
        }
    }
}
