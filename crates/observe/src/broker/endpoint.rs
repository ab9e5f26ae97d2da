//! A metrics address given by the user; its first response shows the format.

use super::http::Http;
use super::jolokia::Jolokia;
use super::prometheus::Exposition;
use super::url::MetricsUrl;
use super::{BrokerSamples, BrokerSource, bean, prometheus_answer};

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
    /// The endpoint of a broker, if its id is known.
    pub fn new(url: MetricsUrl, broker: Option<i32>) -> MetricsEndpoint {
        MetricsEndpoint {
            url,
            broker,
            kind: Kind::Unknown(Http::new()),
        }
    }

    /// Looks up the broker's id.
    ///
    /// # Errors
    /// Why the lookup failed.
    pub fn broker_id(&mut self) -> Result<Option<i32>, String> {
        let text = match self.found_out()? {
            EndpointContent::Jolokia(jolokia) => return jolokia.broker_id(),
            EndpointContent::Prometheus(text) => text,
        };
        Ok(prometheus_answer::broker_id(&Exposition::parse(&text)?))
    }

    /// Detects the format once; returns its sample if the request already was one.
    fn found_out(&mut self) -> Result<EndpointContent<'_>, String> {
        let mut text = None;
        if let Kind::Unknown(http) = &self.kind {
            // Jolokia returns its version for a plain request; before that, its path identifies it.
            let has_its_path = self.url.path().split('/').any(|part| part == "jolokia");
            if !has_its_path {
                text = Some(http.get(&self.url)?);
            }
            let is_json = |text: &Vec<u8>| text.trim_ascii_start().starts_with(b"{");
            self.kind = if text.as_ref().is_none_or(is_json) {
                Kind::Jolokia(Box::new(Jolokia::new(self.url.with_slash(), self.broker)))
            } else {
                Kind::Prometheus(Http::new())
            };
        }
        match (&mut self.kind, text) {
            (Kind::Jolokia(jolokia), _) => Ok(EndpointContent::Jolokia(jolokia)),
            (Kind::Prometheus(_) | Kind::Unknown(_), Some(text)) => {
                Ok(EndpointContent::Prometheus(text))
            }
            (Kind::Prometheus(http) | Kind::Unknown(http), None) => {
                Ok(EndpointContent::Prometheus(http.get(&self.url)?))
            }
        }
    }
}

/// The format at an address.
enum EndpointContent<'a> {
    Jolokia(&'a mut Jolokia),
    /// With its current sample.
    Prometheus(Vec<u8>),
}

impl BrokerSource for MetricsEndpoint {
    fn sample(&mut self) -> Result<BrokerSamples, String> {
        let text = match self.found_out()? {
            EndpointContent::Jolokia(jolokia) => return jolokia.sample(),
            EndpointContent::Prometheus(text) => text,
        };
        let sample = bean::sample(&Exposition::parse(&text)?);
        if sample.is_empty() {
            Err("it exposes no Kafka metrics under a known name".to_owned())
        } else {
            Ok(vec![(self.broker, sample)])
        }
    }

    fn label(&self) -> String {
        match self.broker {
            Some(id) => format!("broker {id} ({})", self.url),
            None => self.url.to_string(),
        }
    }
}
