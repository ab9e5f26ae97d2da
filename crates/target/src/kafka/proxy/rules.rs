//! What happens to single requests on their way to a broker.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kgauge_broker::Delays;
use kgauge_broker::fault::api_names;
use kgauge_broker::ids::NodeId;
use kgauge_faults::{DropPoint, RequestFault};

/// APIs of transactions, which the embedded cluster does not serve, with their numbers in requests.
const TRANSACTION_APIS: [(&str, i16); 4] = [
    ("add-partitions-to-txn", 24),
    ("add-offsets-to-txn", 25),
    ("end-txn", 26),
    ("txn-offset-commit", 28),
];

/// The number of an API by its name in scenarios.
fn api_key(name: &str) -> Option<i16> {
    let own = TRANSACTION_APIS.iter().find(|(known, _)| *known == name);
    let served = || api_names().find(|(known, _)| known == name);
    own.map(|(_, key)| *key)
        .or_else(|| served().map(|(_, api)| api.as_i16()))
}

/// A fault of requests to set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RuleSetup<'a> {
    /// Distinguishes the faults that are active together.
    pub(crate) key: u64,
    /// The broker; `None` for all.
    pub(crate) node: Option<u16>,
    /// The API by name; `None` for all.
    pub(crate) api: Option<&'a str>,
    /// How many requests of each broker are affected; `None` for all.
    pub(crate) times: Option<u32>,
    /// What happens to them.
    pub(crate) what: &'a RequestFault,
    /// Seed of the delays.
    pub(crate) seed: u64,
}

/// The faults of requests that are active.
#[derive(Debug, Default)]
pub(super) struct RequestRules(BTreeMap<u64, RequestRule>);

#[derive(Debug)]
struct RequestRule {
    node: Option<u16>,
    api: Option<i16>,
    times: Option<u32>,
    what: RequestFault,
    seed: u64,
    began: Instant,
    brokers: BTreeMap<u16, BrokerRule>,
    struck: u64,
}

/// The part of a rule that each broker has for itself.
#[derive(Debug)]
struct BrokerRule {
    left: Option<u32>,
    delays: Option<Delays>,
}

/// What happens to one request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RequestOrder {
    /// It is not passed on before that.
    pub(super) hold_until: Option<Instant>,
    /// Its connection is closed.
    pub(super) drop: Option<DropPoint>,
}

impl RequestRules {
    /// Adds a fault.
    ///
    /// # Errors
    /// A message: the fault cannot be set here.
    pub(super) fn insert(&mut self, setup: &RuleSetup<'_>, now: Instant) -> Result<(), String> {
        if self.0.contains_key(&setup.key) {
            return Err(format!("fault {} already exists", setup.key));
        }
        let api = match setup.api {
            None => None,
            Some(name) => Some(api_key(name).ok_or_else(|| format!("unknown name {name}"))?),
        };
        let rule = RequestRule {
            node: setup.node,
            api,
            times: setup.times,
            what: setup.what.clone(),
            seed: setup.seed,
            began: now,
            brokers: BTreeMap::new(),
            struck: 0,
        };
        self.0.insert(setup.key, rule);
        Ok(())
    }

    /// Removes a fault; returns the number of requests that it affected.
    pub(super) fn remove(&mut self, key: u64) -> Option<u64> {
        self.0.remove(&key).map(|rule| rule.struck)
    }

    /// Removes all faults.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What happens to a request that arrives now. All faults together: first the stalls, then the sum of the delays.
    pub(super) fn order(&mut self, broker: u16, api: i16, now: Instant) -> RequestOrder {
        let mut order = RequestOrder::default();
        let mut delay = Duration::ZERO;
        for rule in self.0.values_mut() {
            let is_meant = rule.node.is_none_or(|node| node == broker)
                && rule.api.is_none_or(|own| own == api);
            let stall_end = match &rule.what {
                RequestFault::Stall { length_ns } => {
                    Some(rule.began + Duration::from_nanos(*length_ns))
                }
                _ => None,
            };
            if !is_meant || stall_end.is_some_and(|end| end <= now) {
                continue;
            }
            let Some(drawn) = rule.take(broker) else {
                continue;
            };
            rule.struck += 1;
            delay += drawn;
            order.hold_until = order.hold_until.max(stall_end);
            if let RequestFault::Drop(point) = rule.what {
                order.drop = order.drop.or(Some(point));
            }
        }
        if delay > Duration::ZERO {
            order.hold_until = Some(order.hold_until.unwrap_or(now).max(now) + delay);
        }
        order
    }
}

impl RequestRule {
    /// Takes one of the requests that a broker has left; returns the delay. `None` if none is left.
    fn take(&mut self, broker: u16) -> Option<Duration> {
        let (times, seed, what) = (self.times, self.seed, &self.what);
        let own = self.brokers.entry(broker).or_insert_with(|| BrokerRule {
            left: times,
            delays: match what {
                RequestFault::Delay(plan) => {
                    Some(Delays::of(plan, seed, NodeId(i32::from(broker))))
                }
                _ => None,
            },
        });
        if let Some(left) = &mut own.left {
            *left = left.checked_sub(1)?;
        }
        let drawn = own.delays.as_mut().and_then(Iterator::next);
        Some(Duration::from_nanos(drawn.unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use kgauge_faults::DelayPlan;

    use super::*;

    const END_TXN: i16 = 26;
    const PRODUCE: i16 = 0;

    fn setup<'a>(key: u64, api: Option<&'a str>, what: &'a RequestFault) -> RuleSetup<'a> {
        RuleSetup {
            key,
            node: None,
            api,
            times: None,
            what,
            seed: 1,
        }
    }

    #[test]
    fn names_are_those_of_scenarios() {
        for name in kgauge_scenario::FAULT_APIS {
            assert!(api_key(name).is_some(), "{name}");
        }
        assert_eq!(
            (api_key("produce"), api_key("end-txn")),
            (Some(0), Some(26))
        );
        let own: Vec<&str> = TRANSACTION_APIS.iter().map(|(name, _)| *name).collect();
        assert_eq!(own, kgauge_scenario::TRANSACTION_APIS);
    }

    #[test]
    fn one_request_of_each_broker_is_held_and_the_next_ones_pass() {
        let now = Instant::now();
        let what = RequestFault::Delay(DelayPlan::Constant(5_000_000_000));
        let mut rules = RequestRules::default();
        let times = Some(1);
        let once = RuleSetup {
            times,
            ..setup(1, Some("end-txn"), &what)
        };
        rules.insert(&once, now).unwrap();
        assert_eq!(rules.order(1, PRODUCE, now), RequestOrder::default());
        let held = rules.order(1, END_TXN, now).hold_until;
        assert_eq!(held, Some(now + Duration::from_secs(5)));
        assert_eq!(rules.order(1, END_TXN, now).hold_until, None);
        assert!(rules.order(2, END_TXN, now).hold_until.is_some());
        assert_eq!(rules.remove(1), Some(2));
        assert!(rules.is_empty() && rules.remove(1).is_none());
    }

    #[test]
    fn stalls_come_before_delays_and_end_on_time() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let stall = RequestFault::stall(second * 3);
        let delay = RequestFault::Delay(DelayPlan::Constant(1_000_000_000));
        let mut rules = RequestRules::default();
        rules.insert(&setup(1, None, &stall), start).unwrap();
        rules.insert(&setup(2, None, &delay), start).unwrap();
        let held = |rules: &mut RequestRules, after| {
            let order = rules.order(1, PRODUCE, start + after);
            order.hold_until.unwrap() - start
        };
        assert_eq!(held(&mut rules, second), second * 4);
        assert_eq!(held(&mut rules, second * 3), second * 4);
        assert_eq!(rules.remove(1), Some(1), "one came during the stall");
    }

    #[test]
    fn a_dropped_request_says_when() {
        let now = Instant::now();
        let what = RequestFault::Drop(DropPoint::After);
        let mut rules = RequestRules::default();
        rules.insert(&setup(1, None, &what), now).unwrap();
        assert_eq!(rules.order(1, PRODUCE, now).drop, Some(DropPoint::After));
        assert!(rules.insert(&setup(1, None, &what), now).is_err());
        assert!(
            rules
                .insert(&setup(2, Some("no-such"), &what), now)
                .is_err()
        );
    }
}
