//! Tiny servers on free loopback ports: raw ones that follow a script of bytes, and ones that
//! speak just enough of Kafka's protocol.

#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test file uses its part"
)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kgauge_client::{Address, ClientConfig};
use kgauge_wire::api::ApiKey;
use kgauge_wire::codec::Reader;
use kgauge_wire::frame::put_response;
use kgauge_wire::header::RequestHeader;
use kgauge_wire::messages::api_versions::ApiVersion;
use kgauge_wire::messages::{ApiVersionsResponse, Message};

/// A server that runs `script` for every connection, one after another, until the test ends.
pub(crate) fn server(mut script: impl FnMut(TcpStream) + Send + 'static) -> Address {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            script(stream.unwrap());
        }
    });
    Address {
        host: "127.0.0.1".to_owned(),
        port,
    }
}

/// A port of this machine on which nobody listens.
pub(crate) fn closed_port() -> Address {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    Address {
        host: "127.0.0.1".to_owned(),
        port: listener.local_addr().unwrap().port(),
    }
}

/// Settings that fail fast.
pub(crate) fn config(servers: &[&Address]) -> ClientConfig {
    let mut config = ClientConfig::new(servers.iter().map(|&server| server.clone()).collect());
    config.connection_setup_timeout = Duration::from_secs(5);
    config.request_timeout = Duration::from_secs(5);
    config.api_timeout = Duration::from_secs(10);
    config.retry_backoff = Duration::from_millis(1);
    config.reconnect_backoff = Duration::from_millis(1);
    config
}

/// One request's payload, header included; `None` when the client has closed.
pub(crate) fn read_request(stream: &mut impl Read) -> Option<Vec<u8>> {
    let mut size = [0; 4];
    stream.read_exact(&mut size).ok()?;
    let mut payload = vec![0; usize::try_from(i32::from_be_bytes(size)).unwrap()];
    stream.read_exact(&mut payload).ok()?;
    Some(payload)
}

/// A request as a broker sees it.
pub(crate) struct Asked {
    pub(crate) api: ApiKey,
    pub(crate) version: i16,
    pub(crate) correlation_id: i32,
    payload: Vec<u8>,
}

impl Asked {
    /// Reads the next request of a connection.
    pub(crate) fn next(stream: &mut impl Read) -> Option<Asked> {
        let payload = read_request(stream)?;
        let header = RequestHeader::decode_implied(&mut Reader::new(&payload)).unwrap();
        let api = ApiKey::from_i16(header.api_key).unwrap();
        let (version, correlation_id) = (header.api_version, header.correlation_id);
        Some(Asked {
            api,
            version,
            correlation_id,
            payload,
        })
    }

    /// The request's message.
    pub(crate) fn message<'a, M: Message<'a>>(&'a self) -> M {
        let mut reader = Reader::new(&self.payload);
        RequestHeader::decode_implied(&mut reader).unwrap();
        M::decode(&mut reader, self.version).unwrap()
    }

    /// The frame that answers it.
    pub(crate) fn answer<'a, M: Message<'a>>(&self, message: &M) -> Vec<u8> {
        let mut out = Vec::new();
        put_response(
            &mut out,
            self.api,
            self.version,
            self.correlation_id,
            message,
        )
        .unwrap();
        out
    }
}

/// The ApiVersions answer of a broker that knows all that the table knows.
pub(crate) fn all_versions() -> ApiVersionsResponse<'static> {
    let range = |&api: &ApiKey| ApiVersion {
        api_key: api.as_i16(),
        min_version: *api.versions().start(),
        max_version: *api.versions().end(),
    };
    let api_keys = ApiKey::ALL.iter().map(range).collect();
    ApiVersionsResponse {
        api_keys,
        ..ApiVersionsResponse::default()
    }
}

/// A fake broker: ApiVersions is answered, the rest by `handle`; no answer closes the connection.
pub(crate) fn broker(handle: impl FnMut(&Asked) -> Option<Vec<u8>> + Send + 'static) -> Address {
    broker_of(all_versions(), handle)
}

/// The same of a broker that says this of itself.
pub(crate) fn broker_of(
    versions: ApiVersionsResponse<'static>,
    handle: impl FnMut(&Asked) -> Option<Vec<u8>> + Send + 'static,
) -> Address {
    let versions = Arc::new(versions);
    let handle = Arc::new(Mutex::new(handle));
    server(move |mut stream| {
        let (handle, versions) = (handle.clone(), versions.clone());
        std::thread::spawn(move || {
            while let Some(asked) = Asked::next(&mut stream) {
                let answer = match asked.api {
                    ApiKey::ApiVersions => Some(asked.answer(&*versions)),
                    _ => (handle.lock().unwrap())(&asked),
                };
                let Some(answer) = answer else { return };
                if stream.write_all(&answer).is_err() {
                    return;
                }
            }
        });
    })
}
