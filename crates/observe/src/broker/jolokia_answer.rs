//! Decodes Jolokia's response: MBeans and their attributes.

use std::collections::BTreeMap;

use kgauge_results::metrics::JavaSource;
use kgauge_results::run::MetricsSource;
use serde_json::{Map, Value};

use super::bean::BeanReader;
use super::http::text;
use super::listeners::ListenerWaits;

/// Only controllers have it (KRaft).
pub(super) const CONTROLLER: &str = "kafka.server:type=ControllerServer,name=ClusterId";
/// Nanoseconds that network threads waited before 0.9; since then a share of the time.
pub(super) const NETWORK_THREADS: &str =
    "kafka.network:type=SocketServer,name=NetworkProcessorAvgIdlePercent";
/// Releases before 4.0 use the second name.
pub(super) const THREAD_WAITS: [&str; 2] = ["io-wait-time-ns-total", "io-waittime-total"];
/// The process.
pub(super) const RUNTIME: &str = "java.lang:type=Runtime";

/// MBeans by name, with the keys in the name sorted, and their attributes.
#[derive(Debug, Default)]
pub(super) struct Beans {
    of: BTreeMap<String, Map<String, Value>>,
}

impl Beans {
    /// Decodes the response to a bulk read, without failed parts.
    ///
    /// # Errors
    /// The response has another format.
    pub(super) fn parse(body: &[u8]) -> Result<Beans, String> {
        let strange = || format!("its response is not Jolokia's{}", text(body));
        let answer: Value = serde_json::from_slice(body).map_err(|_| strange())?;
        let Value::Array(answers) = answer else {
            return Err(strange());
        };
        let mut beans = Beans::default();
        let mut refusal = None;
        for answer in answers {
            let Value::Object(mut answer) = answer else {
                return Err(strange());
            };
            match answer.get("status").and_then(Value::as_u64) {
                Some(200) => {}
                Some(403) => {
                    refusal.get_or_insert("Jolokia's policy forbids reading Kafka's MBeans");
                    continue;
                }
                Some(_) => continue,
                None => return Err(strange()),
            }
            let request = answer.get("request");
            let asked = request.and_then(|request| request.get("mbean")?.as_str());
            let Some(asked) = asked.map(canonical) else {
                return Err(strange());
            };
            let Some(Value::Object(value)) = answer.remove("value") else {
                continue;
            };
            if asked.contains('*') {
                beans.add_all(value);
            } else {
                beans.of.insert(asked, value);
            }
        }
        match refusal {
            Some(words) if beans.of.is_empty() => Err(words.to_owned()),
            _ => Ok(beans),
        }
    }

    /// The result for a pattern: MBeans by name.
    fn add_all(&mut self, value: Map<String, Value>) {
        for (name, attributes) in value {
            if let Value::Object(attributes) = attributes {
                self.of.insert(canonical(&name), attributes);
            }
        }
    }

    fn number(&self, mbean: &str, attribute: &str) -> Option<f64> {
        finite(self.of.get(&canonical(mbean))?.get(attribute)?)
    }

    /// The MBeans of a type, by their names.
    fn of_type<'a>(&'a self, domain: &'a str, kind: &'a str) -> impl Iterator<Item = &'a str> {
        let names = self.of.keys().map(String::as_str);
        names.filter(move |name| {
            let keys = name
                .strip_prefix(domain)
                .and_then(|rest| rest.strip_prefix(':'));
            keys.is_some_and(|keys| keys.split(',').any(|pair| pair == kind))
        })
    }

    /// The `id` of Kafka's `app-info`.
    pub(super) fn broker_id(&self) -> Option<i32> {
        let mut names = self.of_type("kafka.server", "type=app-info");
        names.find_map(|name| key(name, "id")?.parse().ok())
    }
}

impl BeanReader for Beans {
    const SOURCE: MetricsSource = MetricsSource::Jolokia;

    fn count(&self, mbean: &str) -> Option<f64> {
        self.number(mbean, "Count")
    }

    fn value(&self, mbean: &str) -> Option<f64> {
        self.number(mbean, "Value")
    }

    fn sum(&self, mbean: &str) -> Option<f64> {
        match self.count(mbean)? {
            // Without any value the mean is NaN.
            0.0 => Some(0.0),
            count => Some(self.number(mbean, "Mean")? * count),
        }
    }

    fn java(&self, source: &JavaSource) -> Option<f64> {
        let (domain, keys) = source.mbean.split_once(':')?;
        let kind = keys.split(',').next()?;
        let each = self.of_type(domain, kind).filter_map(|name| {
            let value = self.of.get(name)?.get(source.attribute)?;
            finite(value.get("used").unwrap_or(value))
        });
        Some(each.reduce(|sum, one| sum + one)? * source.factor)
    }

    fn network_waits(&self) -> ListenerWaits {
        let mut waits = ListenerWaits::default();
        for name in self.of_type("kafka.server", "type=socket-server-metrics") {
            let mut known = THREAD_WAITS.iter();
            if let Some(wait_ns) = known.find_map(|wait| self.number(name, wait)) {
                waits.add(key(name, "listener"), name, wait_ns);
            }
        }
        waits
    }

    fn network_meter(&self) -> Option<f64> {
        self.count(NETWORK_THREADS)
    }

    fn is_controller(&self) -> bool {
        self.of.contains_key(&canonical(CONTROLLER))
    }

    fn started_unix_ms(&self) -> Option<f64> {
        self.number(RUNTIME, "StartTime")
    }
}

fn finite(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| number.is_finite())
}

/// A name with its keys in alphabetical order: not all responses sort them.
fn canonical(name: &str) -> String {
    let Some((domain, keys)) = name.split_once(':') else {
        return name.to_owned();
    };
    let mut pairs: Vec<&str> = keys.split(',').collect();
    pairs.sort_unstable();
    format!("{domain}:{}", pairs.join(","))
}

/// The value of a key in an MBean's name.
fn key<'a>(name: &'a str, key: &str) -> Option<&'a str> {
    let (_, keys) = name.split_once(':')?;
    let mut pairs = keys.split(',').filter_map(|pair| pair.split_once('='));
    pairs.find_map(|(is, value)| (is == key).then_some(value))
}

#[cfg(test)]
mod tests;
