//! Recognises other protocols on a port by their first bytes, for a helpful message about a wrong port.

use std::fmt;

/// The part of a foreign response that is examined and shown.
pub(crate) const PREVIEW_BYTES_MAX: usize = 64;

/// A protocol other than Kafka's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// A TLS record, usually the alert "unexpected message" (RFC 8446, section 5.1).
    Tls,
    /// `HTTP/1.x` status line, or an HTTP/2 SETTINGS frame.
    Http,
    /// `SSH-2.0-...` (RFC 4253, section 4.2).
    Ssh,
    /// A mail or file server's greeting: `220 ...`, `+OK`, `* OK`.
    MailOrFtp,
    /// A Redis reply: `-ERR ...`.
    Redis,
    /// A MySQL or MariaDB greeting.
    MySql,
    /// Other printable text.
    Text,
    /// Anything else.
    Bytes,
}

impl Foreign {
    /// The protocol of a response that starts with `bytes`.
    pub(crate) fn recognise(bytes: &[u8]) -> Foreign {
        let starts = |prefix: &[u8]| bytes.starts_with(prefix);
        match bytes {
            // Content types 20 to 23, then the version's major number 3.
            [20..=23, 3, 0..=4, ..] => Foreign::Tls,
            _ if starts(b"HTTP/") => Foreign::Http,
            // An HTTP/2 server's first frame is SETTINGS (type 4) on stream 0.
            [0, 0, length, 4, 0 | 1, 0, 0, 0, 0, ..] if length % 6 == 0 => Foreign::Http,
            _ if starts(b"SSH-") => Foreign::Ssh,
            _ if starts(b"220") || starts(b"+OK") || starts(b"* OK") => Foreign::MailOrFtp,
            _ if starts(b"-ERR") || starts(b"-NOAUTH") || starts(b"-DENIED") => Foreign::Redis,
            // 3 bytes length little-endian, packet 0, protocol version 10, then "8.0..." in digits.
            [_, 0, 0, 0, 10, b'0'..=b'9', ..] => Foreign::MySql,
            _ if is_text(bytes) => Foreign::Text,
            _ => Foreign::Bytes,
        }
    }
}

fn is_text(bytes: &[u8]) -> bool {
    bytes.len() >= 4
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
}

impl fmt::Display for Foreign {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Foreign::Tls => "it looks like TLS",
            Foreign::Http => "it looks like HTTP",
            Foreign::Ssh => "it looks like SSH",
            Foreign::MailOrFtp => "it looks like a mail or FTP server",
            Foreign::Redis => "it looks like Redis",
            Foreign::MySql => "it looks like MySQL",
            Foreign::Text => "it sends plain text",
            Foreign::Bytes => "it sends something unknown",
        })
    }
}

/// The first line of a foreign response, limited, with unprintable characters escaped.
pub(crate) fn preview(bytes: &[u8]) -> String {
    let bytes = &bytes[..bytes.len().min(PREVIEW_BYTES_MAX)];
    let line = bytes
        .split(|&byte| byte == b'\r' || byte == b'\n')
        .next()
        .unwrap_or_default();
    line.escape_ascii().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_known_greetings_are_recognised() {
        let cases: [(&[u8], Foreign); 12] = [
            (b"HTTP/1.1 400 Bad Request\r\n", Foreign::Http),
            (b"\0\0\x12\x04\0\0\0\0\0\0\x03", Foreign::Http),
            (b"\x15\x03\x03\x00\x02\x02\x0a", Foreign::Tls),
            (b"\x15\x03\x01", Foreign::Tls),
            (b"SSH-2.0-OpenSSH_9.2\r\n", Foreign::Ssh),
            (b"220 mail.example ESMTP", Foreign::MailOrFtp),
            (b"+OK POP3", Foreign::MailOrFtp),
            (b"-ERR unknown command", Foreign::Redis),
            (b"\x4a\0\0\0\x0a8.0.36\0", Foreign::MySql),
            (b"hello there", Foreign::Text),
            (b"\0\0\0\x04abcd", Foreign::Bytes),
            (b"", Foreign::Bytes),
        ];
        for (bytes, foreign) in cases {
            assert_eq!(
                Foreign::recognise(bytes),
                foreign,
                "{}",
                bytes.escape_ascii()
            );
        }
    }

    #[test]
    fn a_preview_is_one_short_printable_line() {
        assert_eq!(
            preview(b"HTTP/1.1 400 Bad\r\nServer: x"),
            "HTTP/1.1 400 Bad"
        );
        assert_eq!(preview(b"a\x1b[31m\0"), "a\\x1b[31m\\x00");
        assert_eq!(preview(&[b'x'; 500]).len(), PREVIEW_BYTES_MAX);
    }
}
