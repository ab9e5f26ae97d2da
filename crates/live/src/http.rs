//! The part of HTTP/1.1 that a page and a scraper need: one GET or HEAD per connection, bounded in bytes and time.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::state::ReportDelivery;

/// A request's head at most.
const HEAD_BYTES_MAX: usize = 8 << 10;
/// How long a client may take to send its request.
const HEAD_TIME_MAX: Duration = Duration::from_secs(5);
/// How long it may take to read the response.
const RESPONSE_TIME_MAX: Duration = Duration::from_secs(15);
/// What is still read from a refused client, so that it receives the reason.
const REST_BYTES_MAX: usize = 4 << 20;
const REST_TIME_MAX: Duration = Duration::from_secs(1);

/// A client's request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HttpRequest {
    pub(crate) is_head: bool,
    /// Without what follows a question mark.
    pub(crate) path: String,
    /// Lower-case.
    pub(crate) accept: String,
    pub(crate) if_none_match: String,
    pub(crate) host: Option<String>,
}

/// The response to it.
#[derive(Debug)]
pub(crate) struct HttpResponse {
    pub(crate) status: &'static str,
    pub(crate) content_type: &'static str,
    pub(crate) body: Arc<str>,
    pub(crate) etag: Option<String>,
    /// The content-security policy.
    pub(crate) policy: String,
    /// Dropped when the response has gone out.
    pub(crate) sending: Option<ReportDelivery>,
}

impl HttpResponse {
    /// A text that loads nothing.
    pub(crate) fn text(status: &'static str, body: Arc<str>) -> Self {
        Self {
            status,
            content_type: "text/plain; charset=utf-8",
            body,
            etag: None,
            policy: "default-src 'none'; frame-ancestors 'none'".to_owned(),
            sending: None,
        }
    }

    /// A status with a sentence.
    pub(crate) fn words(status: &'static str, words: &str) -> Self {
        Self::text(status, format!("{words}\n").into())
    }
}

/// Serves one connection. With `names_loopback`, the Host header must name this machine's loopback, so that no foreign
/// page can read a run through a host name that resolves to this address.
pub(crate) fn serve(
    stream: &mut TcpStream,
    names_loopback: bool,
    answer: impl FnOnce(&HttpRequest) -> HttpResponse,
) -> io::Result<()> {
    let deadline = Instant::now() + HEAD_TIME_MAX;
    let (mut is_head, mut is_read) = (false, false);
    let response = match read_head(stream, deadline)? {
        Head::Closed => return Ok(()),
        Head::TooLong => {
            let words = "a request may have at most 8 KiB";
            HttpResponse::words("431 Request Header Fields Too Large", words)
        }
        Head::TooSlow => {
            is_read = true;
            HttpResponse::words("408 Request Timeout", "the request took too long")
        }
        Head::Whole(bytes) => match parse(&bytes) {
            Err(refusal) => refusal,
            Ok(request) => {
                is_head = request.is_head;
                is_read = is_here(&request, names_loopback);
                if is_read {
                    answer(&request)
                } else {
                    let words = "this server has another name: use the address that kgauge printed";
                    HttpResponse::words("421 Misdirected Request", words)
                }
            }
        },
    };
    write(stream, &response, is_head)?;
    stream.shutdown(Shutdown::Write)?;
    // A report counts as delivered when its reader has closed the connection.
    if !is_read || response.sending.is_some() {
        discard(stream);
    }
    Ok(())
}

/// Responds to a client without reading its request.
pub(crate) fn refuse(stream: &mut TcpStream, response: &HttpResponse) -> io::Result<()> {
    write(stream, response, false)
}

enum Head {
    Whole(Vec<u8>),
    Closed,
    TooLong,
    TooSlow,
}

/// Reads up to the empty line.
fn read_head(stream: &mut TcpStream, deadline: Instant) -> io::Result<Head> {
    let mut bytes = Vec::with_capacity(1 << 10);
    let mut part = [0; 1 << 10];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Head::TooSlow);
        }
        stream.set_read_timeout(Some(left))?;
        let read = match stream.read(&mut part) {
            Ok(0) => return Ok(Head::Closed),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                ) =>
            {
                return Ok(Head::TooSlow);
            }
            Err(error) => return Err(error),
        };
        // The end may lie across two parts.
        let from = bytes.len().saturating_sub(3);
        bytes.extend_from_slice(&part[..read]);
        if let Some(end) = end_of_head(&bytes[from..]) {
            bytes.truncate(from + end);
            if bytes.len() <= HEAD_BYTES_MAX {
                return Ok(Head::Whole(bytes));
            }
        }
        if bytes.len() > HEAD_BYTES_MAX {
            return Ok(Head::TooLong);
        }
    }
}

fn end_of_head(bytes: &[u8]) -> Option<usize> {
    let at = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    at.map(|at| at + 4)
}

/// Parses a request head.
fn parse(bytes: &[u8]) -> Result<HttpRequest, HttpResponse> {
    let bad = |words: &str| HttpResponse::words("400 Bad Request", words);
    let text = std::str::from_utf8(bytes).map_err(|_| bad("this is not HTTP"))?;
    let mut lines = text.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(bad("this is not HTTP"));
    };
    if !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
        if !version.starts_with("HTTP/") {
            return Err(bad("this is not HTTP"));
        }
        let words = "only HTTP/1.x is supported";
        return Err(HttpResponse::words("505 HTTP Version Not Supported", words));
    }
    let mut request = HttpRequest {
        is_head: method == "HEAD",
        ..HttpRequest::default()
    };
    for line in lines.take_while(|line| !line.is_empty()) {
        let Some((name, value)) = line.split_once(':') else {
            return Err(bad("a header has no colon"));
        };
        if name.is_empty() || name.bytes().any(|byte| !byte.is_ascii_graphic()) {
            return Err(bad("a header has no name"));
        }
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "host" if request.host.is_some() => return Err(bad("there are two Host headers")),
            "host" => request.host = Some(value.to_owned()),
            "accept" => request.accept = value.to_ascii_lowercase(),
            "if-none-match" => request.if_none_match = value.to_owned(),
            _ => {}
        }
    }
    if request.host.is_none() && version == "HTTP/1.1" {
        return Err(bad("the Host header is missing"));
    }
    if !matches!(method, "GET" | "HEAD") {
        return Err(HttpResponse::words(
            "405 Method Not Allowed",
            "only GET and HEAD are answered",
        ));
    }
    if !target.starts_with('/') {
        return Err(bad("a path begins with a slash"));
    }
    let path = target.split(['?', '#']).next().unwrap_or_default();
    request.path = path.to_owned();
    Ok(request)
}

/// Whether a request names this machine's loopback, if that is required.
fn is_here(request: &HttpRequest, names_loopback: bool) -> bool {
    if !names_loopback {
        return true;
    }
    // HTTP/1.0 may leave it out; browsers do not speak that.
    let Some(host) = &request.host else {
        return true;
    };
    let parts = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']'),
        None => Some(host.split_at(host.find(':').unwrap_or(host.len()))),
    };
    let Some((name, _)) = parts.filter(|(_, port)| is_port(port)) else {
        return false;
    };
    let is_address = name
        .parse::<IpAddr>()
        .is_ok_and(|address| address.is_loopback());
    is_address || name.eq_ignore_ascii_case("localhost")
}

/// Whether a text is a colon and a number, or nothing.
fn is_port(text: &str) -> bool {
    text.is_empty()
        || text
            .strip_prefix(':')
            .is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

fn write(stream: &mut TcpStream, response: &HttpResponse, is_head: bool) -> io::Result<()> {
    let HttpResponse {
        status,
        content_type,
        body,
        etag,
        policy,
        sending: _,
    } = response;
    let mut head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nConnection: close\r\n\
         Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\nContent-Security-Policy: {policy}\r\n",
        body.len()
    );
    if let Some(etag) = etag {
        head.push_str(&format!("ETag: {etag}\r\n"));
    }
    if status.starts_with("405") {
        head.push_str("Allow: GET, HEAD\r\n");
    }
    head.push_str("\r\n");
    let deadline = Instant::now() + RESPONSE_TIME_MAX;
    write_by(stream, head.as_bytes(), deadline)?;
    if is_head || status.starts_with("304") {
        return Ok(());
    }
    write_by(stream, body.as_bytes(), deadline)
}

/// Writes all, unless the client takes it too slowly.
fn write_by(stream: &mut TcpStream, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        match stream.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads on for a moment: closing with unread bytes would reset the connection and discard the response.
fn discard(stream: &mut TcpStream) {
    let deadline = Instant::now() + REST_TIME_MAX;
    let mut part = [0; 1 << 14];
    let mut read = 0;
    while read < REST_BYTES_MAX {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            return;
        }
        match stream.read(&mut part) {
            Ok(0) | Err(_) => return,
            Ok(more) => read += more,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn request(head: &str) -> HttpRequest {
        parse(head.as_bytes()).unwrap()
    }

    #[test]
    fn a_request_is_read_as_it_is_written() {
        let read = request(
            "HEAD /live.html?since=3 HTTP/1.1\r\nhOsT: [::1]:80\r\nAccept: Text/HTML\r\nIf-None-Match: \"3\"\r\n\r\n",
        );
        assert!(read.is_head);
        assert_eq!(read.path, "/live.html");
        assert_eq!(read.accept, "text/html");
        assert_eq!(read.if_none_match, "\"3\"");
        assert!(is_here(&read, true));
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for (head, status) in [
            ("", "400"),
            ("\r\n\r\n", "400"),
            ("GET / HTTP/1.1\r\n\r\n", "400"),
            ("GET  / HTTP/1.1\r\nHost: localhost\r\n\r\n", "400"),
            ("GET / HTTP/2\r\nHost: localhost\r\n\r\n", "505"),
            ("GET / FTP\r\nHost: localhost\r\n\r\n", "400"),
            (
                "GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "400",
            ),
            ("POST / HTTP/1.1\r\nHost: localhost\r\n\r\n", "405"),
            (
                "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n",
                "400",
            ),
            ("GET / HTTP/1.1\r\nHost localhost\r\n\r\n", "400"),
            ("GET / HTTP/1.1\r\nHost : localhost\r\n\r\n", "400"),
        ] {
            let refusal = parse(head.as_bytes()).unwrap_err();
            assert!(
                refusal.status.starts_with(status),
                "{head:?}: {}",
                refusal.status
            );
        }
        assert!(parse(b"\x16\x03\x01\x02\x00 \xff").is_err());
    }

    #[test]
    fn only_names_of_the_loopback_are_this_server() {
        let named = |host: &str| {
            let request = HttpRequest {
                host: Some(host.to_owned()),
                ..HttpRequest::default()
            };
            is_here(&request, true)
        };
        for host in [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1:1",
            "127.9.9.9",
            "[::1]",
            "[::1]:80",
        ] {
            assert!(named(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:80",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.1",
            "[::2]",
            "[::1]evil",
            "127.0.0.1:80evil",
            "user@localhost",
        ] {
            assert!(!named(host), "{host}");
        }
    }
}
