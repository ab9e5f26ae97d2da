//! An address that somebody gave: what stands there shows with its first answer.

use super::http::Http;
use super::jolokia::Jolokia;
use super::prometheus::Metrics;
use super::url::MetricsUrl;
use super::{BrokerLooks, BrokerSource, prometheus_answer};

/// A broker's metrics at an address: Jolokia, or Prometheus's text format.
#[derive(Debug)]
pub struct MetricsEndpoint {
    url: MetricsUrl,
    broker: Option<i32>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// It has not answered yet.
    Unknown(Http),
    Jolokia(Box<Jolokia>),
    Prometheus(Http),
}

impl MetricsEndpoint {
    /// The endpoint of a broker, if it is known of which.
    pub fn new(url: MetricsUrl, broker: Option<i32>) -> MetricsEndpoint {
        MetricsEndpoint {
            url,
            broker,
            kind: Kind::Unknown(Http::new()),
        }
    }

    /// Asks whose metrics it tells.
    ///
    /// # Errors
    /// Why it cannot be asked.
    pub fn broker_id(&mut self) -> Result<Option<i32>, String> {
        self.find_out()?;
        match &self.kind {
            Kind::Jolokia(jolokia) => jolokia.broker_id(),
            Kind::Prometheus(http) | Kind::Unknown(http) => {
                let answer = http.get(&self.url)?;
                Ok(prometheus_answer::broker_id(&Metrics::parse(&answer.body)?))
            }
        }
    }

    /// Jolokia tells its version to whoever asks for nothing; it is known by its path before that.
    fn find_out(&mut self) -> Result<(), String> {
        let Kind::Unknown(http) = &self.kind else {
            return Ok(());
        };
        let has_its_path = self.url.path().split('/').any(|part| part == "jolokia");
        let is_jolokia = has_its_path || {
            let answer = http.get(&self.url)?;
            answer.body.trim_ascii_start().starts_with(b"{")
        };
        self.kind = match is_jolokia {
            true => Kind::Jolokia(Box::new(Jolokia::new(self.url.with_slash(), self.broker))),
            false => Kind::Prometheus(Http::new()),
        };
        Ok(())
    }
}

impl BrokerSource for MetricsEndpoint {
    fn look(&mut self) -> Result<BrokerLooks, String> {
        self.find_out()?;
        match &mut self.kind {
            Kind::Jolokia(jolokia) => jolokia.look(),
            Kind::Prometheus(http) | Kind::Unknown(http) => {
                let answer = http.get(&self.url)?;
                let look = prometheus_answer::look(&Metrics::parse(&answer.body)?);
                match look.is_empty() {
                    true => Err(
                        "it tells none of Kafka's metrics under a name that is known here"
                            .to_owned(),
                    ),
                    false => Ok(vec![(self.broker, look)]),
                }
            }
        }
    }

    fn whose(&self) -> String {
        match self.broker {
            Some(id) => format!("broker {id} ({})", self.url),
            None => self.url.to_string(),
        }
    }
}
