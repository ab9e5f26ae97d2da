//! A metrics address, which may contain a password.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use percent_encoding::percent_decode_str;

/// An HTTP address. Only [`MetricsUrl::secret`] and [`MetricsUrl::authorization`] return its credentials.
#[derive(Clone, PartialEq, Eq)]
pub struct MetricsUrl {
    user_info: Option<String>,
    host: String,
    /// With its colon.
    port: String,
    /// Starts with a slash.
    path: String,
}

/// Why a text is not a metrics address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetricsUrlError {
    /// A scheme other than HTTP.
    #[error("only http:// is supported; for anything else, run a proxy on this machine")]
    Scheme,
    /// No host, or an invalid port.
    #[error("it has no host and port; write http://HOST:PORT/PATH")]
    Address,
    /// Blanks, line ends and similar characters.
    #[error("it has characters that are not allowed in an address")]
    Characters,
}

impl FromStr for MetricsUrl {
    type Err = MetricsUrlError;

    fn from_str(text: &str) -> Result<MetricsUrl, MetricsUrlError> {
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(MetricsUrlError::Characters);
        }
        let (scheme, rest) = text.split_once("://").ok_or(MetricsUrlError::Scheme)?;
        if !scheme.eq_ignore_ascii_case("http") {
            return Err(MetricsUrlError::Scheme);
        }
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (user_info, address) = match authority.rsplit_once('@') {
            Some((user_info, address)) => (Some(user_info.to_owned()), address),
            None => (None, authority),
        };
        // An IPv6 address has colons of its own, in brackets.
        let after = address.rfind(']').map_or(0, |bracket| bracket + 1);
        let (host, port) = match address[after..].find(':') {
            Some(colon) => address.split_at(after + colon),
            None => (address, ""),
        };
        let is_port = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
        if host.is_empty() || !port.strip_prefix(':').is_none_or(is_port) {
            return Err(MetricsUrlError::Address);
        }
        let path = path.split('#').next().unwrap_or_default();
        Ok(MetricsUrl {
            user_info,
            host: host.to_ascii_lowercase(),
            port: port.to_owned(),
            path: if path.starts_with('/') {
                path.to_owned()
            } else {
                format!("/{path}")
            },
        })
    }
}

impl MetricsUrl {
    /// The host, without its port, and without the brackets of an IPv6 address.
    pub fn host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    /// The path with its leading slash, without the query.
    pub fn path(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    /// With a trailing slash in the path, which Jolokia requires.
    pub(crate) fn with_slash(&self) -> MetricsUrl {
        let mut url = self.clone();
        if !url.path.contains('?') && !url.path.ends_with('/') {
            url.path.push('/');
        }
        url
    }

    /// The address with its query: only for the request.
    pub(crate) fn secret(&self) -> String {
        format!("http://{}{}{}", self.host, self.port, self.path)
    }

    /// The credentials as an Authorization header has them (RFC 7617): only for the request. Percent-encoded characters
    /// (RFC 3986) are decoded.
    pub(crate) fn authorization(&self) -> Option<String> {
        let user_info = self.user_info.as_ref()?;
        let (user, password) = user_info.split_once(':').unwrap_or((user_info, ""));
        let mut pair: Vec<u8> = percent_decode_str(user).collect();
        pair.push(b':');
        pair.extend(percent_decode_str(password));
        Some(format!("Basic {}", BASE64_STANDARD.encode(pair)))
    }
}

impl fmt::Display for MetricsUrl {
    /// Without credentials and without the query.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}{}", self.host, self.port, self.path())
    }
}

impl fmt::Debug for MetricsUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_for_the_request_only() {
        let text = "http://monitor:se:cr@t@broker-1.example:9404/metrics?token=hush#top";
        let url: MetricsUrl = text.parse().unwrap();
        assert_eq!(url.to_string(), "http://broker-1.example:9404/metrics");
        assert_eq!(format!("{url:?}"), url.to_string());
        assert_eq!(
            url.secret(),
            "http://broker-1.example:9404/metrics?token=hush"
        );
        // monitor:se:cr@t
        assert_eq!(url.authorization().unwrap(), "Basic bW9uaXRvcjpzZTpjckB0");
        assert_eq!((url.host(), url.path()), ("broker-1.example", "/metrics"));
    }

    #[test]
    fn credentials_are_decoded_before_they_are_sent() {
        let sent = |user_info: &str| {
            let url: MetricsUrl = format!("http://{user_info}@b1/").parse().unwrap();
            let header = url.authorization().unwrap();
            let pair = BASE64_STANDARD.decode(header.strip_prefix("Basic ").unwrap());
            String::from_utf8(pair.unwrap()).unwrap()
        };
        assert_eq!(sent("me:a%40b%3A%2F%25"), "me:a@b:/%");
        assert_eq!(sent("domain%5Cme:p%C3%A9"), "domain\\me:p\u{e9}");
        // A plus sign is literal, and so is a percent sign without two hex digits.
        assert_eq!(sent("me:1+1%"), "me:1+1%");
        assert_eq!(
            (sent("me"), sent(":token")),
            ("me:".into(), ":token".into())
        );
        let none: MetricsUrl = "http://b1/".parse().unwrap();
        assert_eq!(none.authorization(), None);
    }

    #[test]
    fn an_address_has_a_host_and_may_have_a_port_and_a_path() {
        let shown = |text: &str| text.parse::<MetricsUrl>().map(|url| url.to_string());
        assert_eq!(shown("HTTP://B1:7071").unwrap(), "http://b1:7071/");
        assert_eq!(shown("http://[::1]:7071/a").unwrap(), "http://[::1]:7071/a");
        assert_eq!(
            "http://[::1]:7071/a".parse::<MetricsUrl>().unwrap().host(),
            "::1"
        );
        assert_eq!(shown("https://b1:7071"), Err(MetricsUrlError::Scheme));
        assert_eq!(shown("b1:7071"), Err(MetricsUrlError::Scheme));
        for wrong in [
            "http://",
            "http://:80",
            "http://b1:0",
            "http://b1:x",
            "http://b1:65536/",
        ] {
            assert_eq!(shown(wrong), Err(MetricsUrlError::Address), "{wrong}");
        }
        assert_eq!(shown("http://b1/a b"), Err(MetricsUrlError::Characters));
        assert_eq!(
            shown("http://b1/\r\nX: y"),
            Err(MetricsUrlError::Characters)
        );
    }
}
