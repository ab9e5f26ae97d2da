//! Jolokia: Kafka's MBeans over HTTP, a whole sample in one request.

use serde_json::{Value, json};

use super::bean::{self, ACTIVE_CONTROLLER};
use super::http::Http;
use super::jolokia_answer::{Beans, CONTROLLER, NETWORK_THREADS, RUNTIME, THREAD_WAITS};
use super::url::MetricsUrl;
use super::{BrokerSamples, BrokerSource};

/// A Jolokia agent in a broker.
#[derive(Debug)]
pub struct Jolokia {
    url: MetricsUrl,
    http: Http,
    broker: Option<i32>,
    label: String,
    /// The same for every sample.
    question: String,
}

impl Jolokia {
    /// The agent at this address, with the id of its broker if known.
    pub fn new(url: MetricsUrl, broker: Option<i32>) -> Jolokia {
        Jolokia {
            http: Http::new(),
            label: match broker {
                Some(id) => format!("broker {id}"),
                None => url.to_string(),
            },
            url,
            broker,
            question: question(),
        }
    }

    /// Looks up the broker's id, which is in Kafka's MBeans since 1.0 at the latest.
    ///
    /// # Errors
    /// Why the lookup failed.
    pub fn broker_id(&self) -> Result<Option<i32>, String> {
        let question = json!([{ "type": "read", "mbean": "kafka.server:type=app-info,id=*" }]);
        let answer = self.http.post(&self.url, &question.to_string())?;
        let beans = Beans::parse(&answer)?;
        Ok(beans.broker_id())
    }
}

impl BrokerSource for Jolokia {
    fn sample(&mut self) -> Result<BrokerSamples, String> {
        let answer = self.http.post(&self.url, &self.question)?;
        let sample = bean::sample(&Beans::parse(&answer)?);
        if sample.is_empty() {
            Err("it has no Kafka metrics so far".to_owned())
        } else {
            Ok(vec![(self.broker, sample)])
        }
    }

    fn label(&self) -> String {
        self.label.clone()
    }
}

/// A whole sample as one bulk read. An MBean or attribute that a release lacks fails alone.
fn question() -> String {
    let mut beans = bean::attributes_read();
    beans.insert(ACTIVE_CONTROLLER.to_owned(), vec!["Value"]);
    beans.insert(CONTROLLER.to_owned(), vec!["Value"]);
    // A gauge since 0.9, a meter before.
    beans.insert(NETWORK_THREADS.to_owned(), vec!["Count", "Value"]);
    // MBeans of clients' software have more keys, and are ignored.
    let network = "kafka.server:type=socket-server-metrics,listener=*,networkProcessor=*";
    beans.insert(network.to_owned(), THREAD_WAITS.to_vec());
    beans.insert(RUNTIME.to_owned(), vec!["StartTime"]);
    let reads = beans.into_iter().map(|(mbean, attributes)| {
        let config = json!({ "ignoreErrors": true, "includeStackTrace": false });
        json!({ "type": "read", "mbean": mbean, "attribute": attributes, "config": config })
    });
    Value::Array(reads.collect()).to_string()
}
