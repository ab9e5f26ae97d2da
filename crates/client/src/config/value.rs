//! Values of single keys: numbers, choices and addresses, with messages for mistakes.

use std::time::Duration;

use super::address::Address;
use super::{ClientConfig, MetadataRecovery};
use crate::security::SecurityProtocol;

/// A mistake in a value, and its fix.
pub(super) type ValueMistake = (String, String);

/// Sets the field that `key` names. `text` is not a secret.
pub(super) fn apply(config: &mut ClientConfig, key: &str, text: &str) -> Result<(), ValueMistake> {
    let text = text.trim();
    match key {
        "bootstrap.servers" => config.bootstrap_servers = servers(text)?,
        "client.id" => config.client_id = client_id(text)?,
        "request.timeout.ms" => config.request_timeout = positive_ms(key, text)?,
        "default.api.timeout.ms" => config.api_timeout = positive_ms(key, text)?,
        "socket.connection.setup.timeout.ms" => {
            config.connection_setup_timeout = positive_ms(key, text)?;
        }
        "socket.connection.setup.timeout.max.ms" => {
            config.connection_setup_timeout_max = positive_ms(key, text)?;
        }
        "reconnect.backoff.ms" => config.reconnect_backoff = ms(key, text, 0)?,
        "reconnect.backoff.max.ms" => config.reconnect_backoff_max = ms(key, text, 0)?,
        "retry.backoff.ms" => config.retry_backoff = ms(key, text, 0)?,
        "retry.backoff.max.ms" => config.retry_backoff_max = ms(key, text, 0)?,
        "retries" => config.retries = number(key, text, 0)?.unsigned_abs(),
        "metadata.max.age.ms" => config.metadata_age_max = ms(key, text, 0)?,
        "connections.max.idle.ms" => {
            config.connection_idle_max = if text == "-1" {
                None
            } else {
                Some(ms(key, text, 0)?)
            };
        }
        "send.buffer.bytes" => config.send_buffer_bytes = buffer_bytes(key, text)?,
        "receive.buffer.bytes" => config.receive_buffer_bytes = buffer_bytes(key, text)?,
        "metadata.recovery.strategy" => config.metadata_recovery = recovery(text)?,
        "client.dns.lookup" => dns_lookup(text)?,
        "security.protocol" => config.security.protocol = security_protocol(text)?,
        _ => {}
    }
    Ok(())
}

fn shown(text: &str) -> String {
    // A value must not make a message long or break its line.
    let cut: String = text.chars().take(60).collect();
    format!("\"{}\"", cut.escape_debug())
}

fn servers(text: &str) -> Result<Vec<Address>, ValueMistake> {
    let fix = "write bootstrap.servers=host:9092,other-host:9092".to_owned();
    if text.is_empty() {
        return Err(("bootstrap.servers is empty".to_owned(), fix));
    }
    let mut addresses = Vec::new();
    let mut wrong = Vec::new();
    for entry in text.split(',') {
        match Address::parse(entry) {
            Ok(address) if addresses.contains(&address) => {}
            Ok(address) => addresses.push(address),
            // user:password@host:port is not an address, but a user may have written it.
            Err(_) if entry.contains('@') => {
                wrong.push("one entry has an @, which addresses cannot contain".to_owned());
            }
            Err(mistake) => wrong.push(format!("{} {mistake}", shown(entry.trim()))),
        }
    }
    if wrong.is_empty() {
        return Ok(addresses);
    }
    Err((format!("bootstrap.servers: {}", wrong.join("; ")), fix))
}

fn client_id(text: &str) -> Result<String, ValueMistake> {
    // The protocol encodes it with a 16-bit length.
    if text.len() > i16::MAX.unsigned_abs().into() {
        let fix = "write a name of at most 32767 bytes".to_owned();
        return Err(("client.id is too long".to_owned(), fix));
    }
    Ok(text.to_owned())
}

fn number(key: &str, text: &str, min: i32) -> Result<i32, ValueMistake> {
    match text.parse::<i32>() {
        Ok(value) if value >= min => Ok(value),
        _ => Err((
            format!("{key} is {}", shown(text)),
            format!(
                "write a whole number from {min} to {} without unit",
                i32::MAX
            ),
        )),
    }
}

fn ms(key: &str, text: &str, min: i32) -> Result<Duration, ValueMistake> {
    number(key, text, min)
        .map(|value| Duration::from_millis(value.unsigned_abs().into()))
        .map_err(|(what, fix)| (what, fix.replace("without unit", "(milliseconds, no unit)")))
}

fn positive_ms(key: &str, text: &str) -> Result<Duration, ValueMistake> {
    ms(key, text, 1)
}

fn buffer_bytes(key: &str, text: &str) -> Result<Option<u32>, ValueMistake> {
    let value = number(key, text, -1).map_err(|(what, _)| {
        (
            what,
            "write a number of bytes without unit, or -1 for the system default".to_owned(),
        )
    })?;
    Ok(u32::try_from(value).ok().filter(|&bytes| bytes > 0))
}

fn recovery(text: &str) -> Result<MetadataRecovery, ValueMistake> {
    match text.to_ascii_lowercase().as_str() {
        "rebootstrap" => Ok(MetadataRecovery::Rebootstrap),
        "none" => Ok(MetadataRecovery::None),
        _ => Err((
            format!("metadata.recovery.strategy is {}", shown(text)),
            "write rebootstrap or none".to_owned(),
        )),
    }
}

fn dns_lookup(text: &str) -> Result<(), ValueMistake> {
    let fix = "write use_all_dns_ips, or remove the line".to_owned();
    match text {
        // "default" was the name in releases before 2.6.
        "use_all_dns_ips" | "default" => Ok(()),
        "resolve_canonical_bootstrap_servers_only" => Err((
            "client.dns.lookup=resolve_canonical_bootstrap_servers_only is not supported: kgauge \
             does no reverse lookups"
                .to_owned(),
            fix,
        )),
        _ => Err((format!("client.dns.lookup is {}", shown(text)), fix)),
    }
}

fn security_protocol(text: &str) -> Result<SecurityProtocol, ValueMistake> {
    SecurityProtocol::parse(&text.trim().to_ascii_uppercase()).ok_or_else(|| {
        (
            format!("security.protocol is {}", shown(text)),
            "write PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL".to_owned(),
        )
    })
}
