//! One HTTP request, limited in time and size.

use std::io;

use ureq::{Agent, RequestBuilder};

use super::LOOK_MAX;
use super::url::MetricsUrl;

/// More than an endpoint of one broker needs. A broker with very many topics can exceed it; then its rules must select
/// metrics.
const ANSWER_BYTES_MAX: u64 = 4 << 20;
/// The part of a refused response that is shown.
const EXCERPT_CHARS_MAX: usize = 80;

/// Keeps its connection between requests.
#[derive(Debug)]
pub(crate) struct Http {
    agent: Agent,
}

impl Http {
    pub(crate) fn new() -> Http {
        let config = Agent::config_builder()
            .timeout_global(Some(LOOK_MAX))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            // Proxies in the environment are for the internet, not for brokers.
            .proxy(None)
            .max_idle_connections(1)
            .build();
        Http {
            agent: config.into(),
        }
    }

    /// The response.
    ///
    /// # Errors
    /// A message without credentials.
    pub(crate) fn get(&self, url: &MetricsUrl) -> Result<Vec<u8>, String> {
        read(authorized(self.agent.get(url.secret()), url).call())
    }

    /// # Errors
    /// As [`Http::get`].
    pub(crate) fn post(&self, url: &MetricsUrl, body: &str) -> Result<Vec<u8>, String> {
        let request = authorized(self.agent.post(url.secret()), url);
        read(request.content_type("application/json").send(body))
    }
}

fn authorized<B>(request: RequestBuilder<B>, url: &MetricsUrl) -> RequestBuilder<B> {
    match url.authorization() {
        Some(value) => request.header("authorization", value),
        None => request,
    }
}

fn read(
    answered: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
) -> Result<Vec<u8>, String> {
    let mut response = answered.map_err(words)?;
    let status = response.status();
    // The beginning is enough to recognise the problem.
    let limit = if status.is_success() {
        ANSWER_BYTES_MAX
    } else {
        1 << 10
    };
    let body = response.body_mut().with_config().limit(limit).read_to_vec();
    match (status.as_u16(), body) {
        (200..300, body) => body.map_err(words),
        (401 | 403, _) => Err(format!("it rejects these credentials (HTTP {status})")),
        (300..=399, _) => Err(format!(
            "it redirects (HTTP {status}); use the final address"
        )),
        // The response may repeat the address, and secrets in it.
        (_, _) => Err(format!("it answers HTTP {status}")),
    }
}

/// The beginning of a response as the end of a sentence; control characters become blanks. Empty for an empty response.
pub(crate) fn text(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let printable = |c: char| if c.is_control() { ' ' } else { c };
    let start = text.trim().chars().take(EXCERPT_CHARS_MAX);
    let excerpt: String = start.map(printable).collect();
    if excerpt.is_empty() {
        excerpt
    } else {
        format!(": {excerpt}")
    }
}

/// The library's message may contain the address.
fn words(error: ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(_) => format!("no answer within {} ms", LOOK_MAX.as_millis()),
        ureq::Error::HostNotFound => "unknown host".to_owned(),
        ureq::Error::BodyExceedsLimit(_) => format!(
            "it sends more than {} MiB, probably metrics of all topics; use an endpoint with only \
             the broker's own metrics",
            ANSWER_BYTES_MAX >> 20
        ),
        ureq::Error::Io(error) => match error.kind() {
            io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
            io::ErrorKind::UnexpectedEof => "it closed the connection mid-response".to_owned(),
            _ => error.to_string(),
        },
        ureq::Error::ConnectionFailed => "no connection".to_owned(),
        ureq::Error::Protocol(_) | ureq::Error::LargeResponseHeader(..) => {
            "its response is not valid HTTP".to_owned()
        }
        _ => "cannot build the request".to_owned(),
    }
}
