//! Bearer tokens: read again for each connection, and never part of a message.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use kgauge_wire::Secret;

use super::TokenSource;
use crate::interrupt::Interrupt;

/// Brokers accept no larger first SASL message (`sasl.server.max.receive.size`).
const TOKEN_BYTES_MAX: u64 = 524_288;

/// The current token from `source`; the error is the problem.
pub(crate) fn fetch(
    source: &TokenSource,
    deadline: Instant,
    interrupt: &Interrupt,
) -> Result<Secret, String> {
    let text = match source {
        TokenSource::File(path) => {
            let read = std::fs::File::open(path).and_then(|file| {
                let mut text = Vec::new();
                file.take(TOKEN_BYTES_MAX).read_to_end(&mut text)?;
                Ok(text)
            });
            read.map_err(|error| format!("cannot read the token file: {error}"))?
        }
        TokenSource::Command(command) => run(command, deadline, interrupt)?,
        TokenSource::Unsecured { claims, lifetime_s } => {
            return Ok(unsecured(claims, *lifetime_s));
        }
    };
    let text = String::from_utf8(text).map_err(|_| "the token is not text".to_owned())?;
    let token = text.trim();
    // RFC 6750, section 2.1; any other character would break the SASL message.
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    if token.is_empty() || !token.bytes().all(is_token) {
        return Err("the source's output is not a bearer token".to_owned());
    }
    Ok(Secret::new(token))
}

fn run(command: &Secret, deadline: Instant, interrupt: &Interrupt) -> Result<Vec<u8>, String> {
    let mut child = Command::new("/bin/sh")
        .args(["-c", command.expose()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("cannot start the token command: {error}"))?;
    let output = child.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(output) = output {
            let _ = output.take(TOKEN_BYTES_MAX).read_to_end(&mut text);
        }
        text
    });
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline && !interrupt.is_raised() => {
                interrupt.sleep(std::time::Duration::from_millis(5), deadline);
            }
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err("the token command timed out".to_owned());
            }
            Err(error) => return Err(format!("cannot wait for the token command: {error}")),
        }
    };
    if !status.success() {
        return Err(format!("the token command failed: {status}"));
    }
    reader
        .join()
        .map_err(|_| "cannot read the token command's output".to_owned())
}

/// `{"alg":"none"}`, the claims, and no signature, as Kafka's OAuthBearerUnsecuredJws reads it.
fn unsecured(claims: &[(String, Secret)], lifetime_s: u64) -> Secret {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now_s = now.map_or(0, |since| since.as_secs());
    let mut body = format!("{{\"iat\":{now_s},\"exp\":{}", now_s + lifetime_s);
    for (name, value) in claims {
        body.push_str(&format!(",{}:{}", json(name), value.expose()));
    }
    body.push('}');
    let header = URL_SAFE_NO_PAD.encode("{\"alg\":\"none\"}");
    Secret::new(format!("{header}.{}.", URL_SAFE_NO_PAD.encode(body)))
}

/// A JSON string (RFC 8259, section 7).
pub(super) fn json(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", control as u32)),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_command_runs_for_each_token_and_its_failures_are_explained() {
        let later = Instant::now() + std::time::Duration::from_secs(20);
        let asked = |text: &str| {
            fetch(
                &TokenSource::Command(Secret::new(text)),
                later,
                &Interrupt::new(),
            )
        };
        assert_eq!(asked("echo abc.def").unwrap().expose(), "abc.def");
        let failed = asked("echo hunter2; exit 3").unwrap_err();
        assert!(
            failed.contains("exit status: 3") && !failed.contains("hunter2"),
            "{failed}"
        );
        assert!(
            asked("echo two words")
                .unwrap_err()
                .contains("not a bearer token")
        );
    }

    #[test]
    fn an_unsecured_token_has_kafkas_form() {
        let token = unsecured(&[("sub".into(), Secret::new(json("a\"b")))], 60);
        let mut parts = token.expose().split('.');
        assert_eq!(parts.next(), Some("eyJhbGciOiJub25lIn0"));
        let body = URL_SAFE_NO_PAD.decode(parts.next().unwrap()).unwrap();
        assert!(
            String::from_utf8(body)
                .unwrap()
                .ends_with(",\"sub\":\"a\\\"b\"}")
        );
        assert_eq!(parts.next(), Some(""));
    }
}
