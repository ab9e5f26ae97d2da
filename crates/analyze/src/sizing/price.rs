//! What a cluster costs for a month.

use schemars::JsonSchema;
use serde::Serialize;

use super::machine::MachineType;
use super::resources::{PlannedUse, Sizing};

/// Hours of a month, as providers count them.
const MONTH_HOURS: f64 = 730.0;
const HOUR_S: f64 = 3_600.0;

/// The price of a cluster for a month of 730 hours, in the currency of the table of machine types.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MonthlyPrice {
    /// Brokers and controllers.
    pub machines: f64,
    /// Disks.
    pub disks: f64,
    /// Traffic between availability zones.
    pub traffic: f64,
}

impl MonthlyPrice {
    /// `None` if the machine's price is unknown. Unknown prices of disks and traffic count as 0.
    pub(super) fn of(
        sizing: &Sizing<'_>,
        machine: &MachineType,
        brokers: u32,
        controller_per_hour: Option<f64>,
    ) -> Option<MonthlyPrice> {
        let controllers = match sizing.need.controllers {
            0 => 0.0,
            count => f64::from(count) * controller_per_hour?,
        };
        let hourly = machine.price_per_hour? * f64::from(brokers) + controllers;
        let per_gb = |price: Option<f64>, bytes: f64| price.unwrap_or(0.0) * bytes / 1e9;
        let disk = disk_bytes_each(sizing, brokers) * f64::from(brokers);
        Some(MonthlyPrice {
            machines: hourly * MONTH_HOURS,
            disks: per_gb(machine.disk_price_per_gb_month, disk),
            traffic: per_gb(
                machine.zone_price_per_gb,
                zone_bytes_per_s(sizing) * MONTH_HOURS * HOUR_S,
            ),
        })
    }

    /// The sum.
    pub fn total(&self) -> f64 {
        self.machines + self.disks + self.traffic
    }
}

/// Bytes of disk for each broker, with free space.
pub(super) fn disk_bytes_each(sizing: &Sizing<'_>, brokers: u32) -> f64 {
    sizing.stored_each(brokers) / PlannedUse::SAFE.space_part
}

/// Bytes per second between zones, on average. Clients, leaders and replicas are spread evenly over the zones, so of
/// `n` zones (n - 1) / n of what clients send and read crosses a border.
fn zone_bytes_per_s(sizing: &Sizing<'_>) -> f64 {
    let need = sizing.need;
    let average = sizing.load.in_bytes_per_s / need.peak;
    let zones = need.zones.max(1);
    let crossing = 1.0 - 1.0 / f64::from(zones);
    average * (crossing * (1.0 + need.fan_out) + crossing_copies(need.replication, zones))
}

/// Copies of a record that followers fetch from another zone, if any of its replicas may lead.
fn crossing_copies(replicas: u32, zones: u32) -> f64 {
    let (least, more) = (replicas / zones, replicas % zones);
    // Zones with one more replica than the others, and the others.
    let pairs_within = more * (least + 1).pow(2) + (zones - more) * least.pow(2);
    f64::from(replicas) - f64::from(pairs_within) / f64::from(replicas.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_cross_borders_unless_a_zone_has_several() {
        assert_eq!(crossing_copies(3, 3), 2.0);
        assert_eq!(crossing_copies(3, 1), 0.0);
        // Two replicas in one zone: one copy crosses if one of them leads, two if the third does.
        assert!((crossing_copies(3, 2) - 4.0 / 3.0).abs() < 1e-9);
        assert_eq!(crossing_copies(2, 3), 1.0);
    }
}
