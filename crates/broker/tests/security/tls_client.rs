//! A blocking TLS client of which a test knows every byte.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use kgauge_wire::frame::put_request;
use kgauge_wire::messages::Request;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion,
};

use crate::certificates::Authority;
use crate::harness::decode;

/// One connection.
pub(crate) struct TlsClient {
    pub(crate) stream: StreamOwned<ClientConnection, TcpStream>,
}

/// A session before its handshake.
pub(crate) fn session(
    authority: &Authority,
    version: &'static SupportedProtocolVersion,
) -> ClientConnection {
    let mut roots = RootCertStore::empty();
    let certificate = CertificateDer::from_pem_slice(authority.pem.as_bytes()).unwrap();
    roots.add(certificate).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    ClientConnection::new(Arc::new(config), name).unwrap()
}

impl TlsClient {
    pub(crate) fn connect(
        address: SocketAddr,
        authority: &Authority,
        version: &'static SupportedProtocolVersion,
    ) -> Self {
        let tcp = TcpStream::connect(address).unwrap();
        // A test that hangs must fail.
        tcp.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Self {
            stream: StreamOwned::new(session(authority, version), tcp),
        }
    }

    pub(crate) fn send<'a, R: Request<'a>>(&mut self, version: i16, request: &R) {
        let mut bytes = Vec::new();
        put_request(&mut bytes, version, 7, Some("test"), request).unwrap();
        self.stream.write_all(&bytes).unwrap();
        self.stream.flush().unwrap();
    }

    /// Reads the next answer in pieces of this size.
    pub(crate) fn receive<R: Request<'static>>(
        &mut self,
        version: i16,
        piece_bytes: usize,
    ) -> R::Response<'static> {
        let mut size = [0; 4];
        self.stream.read_exact(&mut size).unwrap();
        let mut bytes = vec![0; usize::try_from(i32::from_be_bytes(size)).unwrap()];
        for piece in bytes.chunks_mut(piece_bytes) {
            self.stream.read_exact(piece).unwrap();
        }
        decode::<R>(version, bytes)
    }
}
