//! TLS with rustls: trusted certificates, the client's own certificate, and the causes of failures.

use std::io::{self, IoSlice, Read, Write};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_cert_signed_by_trust_anchor};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    AlertDescription, CertificateError, ClientConnection, DigitallySignedStruct, Error,
    InvalidMessage, RootCertStore, SignatureScheme,
};

use crate::config::Address;

/// The maximum of encrypted bytes that wait for a socket: the requests of two fetches, or a few batches.
const PENDING_BYTES_MAX: usize = 256 * 1024;

/// Verifies certificates, but not the names in them (`ssl.endpoint.identification.algorithm=`).
#[derive(Debug)]
struct NamelessVerifier {
    trust: Trust,
    provider: Arc<CryptoProvider>,
}

/// Whose certificates are accepted.
#[derive(Debug)]
enum Trust {
    /// Those that one of these has signed.
    Roots(Arc<RootCertStore>),
    /// All: the other side only has to have the certificate's key.
    Anyone,
}

impl ServerCertVerifier for NamelessVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Trust::Roots(roots) = &self.trust {
            let certificate = ParsedCertificate::try_from(end_entity)?;
            verify_server_cert_signed_by_trust_anchor(
                &certificate,
                roots,
                intermediates,
                now,
                self.provider.signature_verification_algorithms.all,
            )?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

/// The verifier for these settings.
pub(super) fn verifier(
    roots: RootCertStore,
    provider: &Arc<CryptoProvider>,
    host_names_checked: bool,
) -> Result<Arc<dyn ServerCertVerifier>, String> {
    let (roots, provider) = (Arc::new(roots), Arc::clone(provider));
    if !host_names_checked {
        let trust = Trust::Roots(roots);
        return Ok(Arc::new(NamelessVerifier { trust, provider }));
    }
    let built = WebPkiServerVerifier::builder_with_provider(roots, provider).build();
    built
        .map(|verifier| verifier as Arc<dyn ServerCertVerifier>)
        .map_err(|error| error.to_string())
}

/// A verifier that accepts every certificate.
pub(super) fn any_certificate(provider: &Arc<CryptoProvider>) -> Arc<dyn ServerCertVerifier> {
    Arc::new(NamelessVerifier {
        trust: Trust::Anyone,
        provider: Arc::clone(provider),
    })
}

/// The TLS session of a connection, without its socket. It works with blocking and non-blocking sockets.
pub struct TlsSession {
    connection: ClientConnection,
}

impl std::fmt::Debug for TlsSession {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("TlsSession")
    }
}

impl TlsSession {
    pub(super) fn new(
        settings: &super::TlsSettings,
        address: &Address,
    ) -> Result<TlsSession, Error> {
        // An IPv6 zone is local to this machine and not part of a name.
        let host = address.host.split('%').next().unwrap_or_default();
        // A trailing dot makes a name absolute; certificates omit it.
        let host = host.strip_suffix('.').unwrap_or(host).to_owned();
        let name = ServerName::try_from(host)
            .map_err(|_| Error::General("the host name cannot appear in a certificate".into()))?;
        let mut connection = ClientConnection::new(Arc::clone(&settings.client), name)?;
        connection.set_buffer_limit(Some(PENDING_BYTES_MAX));
        Ok(TlsSession { connection })
    }

    /// Whether the handshake is not complete.
    pub(super) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Whether encrypted bytes wait for the socket.
    pub fn wants_write(&self) -> bool {
        self.connection.wants_write()
    }

    /// Writes waiting encrypted bytes to the socket; `WouldBlock` if it accepts no more.
    pub fn flush(&mut self, socket: &mut impl Write) -> io::Result<()> {
        while self.connection.wants_write() {
            match self.connection.write_tls(socket) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Encrypts bytes, as far as there is space for them; `WouldBlock` if there is none.
    pub fn write_vectored(
        &mut self,
        socket: &mut impl Write,
        slices: &[IoSlice<'_>],
    ) -> io::Result<usize> {
        self.flush(socket)?;
        let bytes = self.connection.writer().write_vectored(slices)?;
        match self.flush(socket) {
            Err(error) if !is_pause(&error) => Err(error),
            _ => Ok(bytes),
        }
    }

    /// Reads once from the socket, without decrypting more than has arrived; `Ok(false)` if it is closed.
    pub(super) fn pull(&mut self, socket: &mut impl Read) -> io::Result<bool> {
        if self.connection.read_tls(socket)? == 0 {
            return Ok(false);
        }
        match self.connection.process_new_packets() {
            Ok(_) => Ok(true),
            Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        }
    }

    /// Reads the available bytes, at least one; 0 at the end of the stream.
    pub(super) fn read_some(
        &mut self,
        socket: &mut (impl Read + Write),
        buffer: &mut [u8],
    ) -> io::Result<usize> {
        loop {
            match self.take(buffer)? {
                Some(bytes) => return Ok(bytes),
                None if !self.pull(socket)? => return Ok(0),
                None => self.answer(socket)?,
            }
        }
    }

    /// Fills `buffer` with available bytes until the socket is empty; 0 at the end of the stream. If the buffer is not
    /// full afterwards, nothing is left to read.
    pub fn read_all(
        &mut self,
        socket: &mut (impl Read + Write),
        buffer: &mut [u8],
    ) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            let step = match self.take(&mut buffer[filled..]) {
                Ok(None) => match self.pull(socket) {
                    Ok(true) => {
                        self.answer(socket)?;
                        continue;
                    }
                    Ok(false) => Ok(0),
                    Err(error) => Err(error),
                },
                Ok(Some(bytes)) => Ok(bytes),
                Err(error) => Err(error),
            };
            match step {
                Ok(0) => break,
                Ok(bytes) => filled += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Earlier bytes are read first; the next call returns the error again.
                Err(_) if filled > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn take(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.connection.reader().read(buffer) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Some(0)),
            Err(error) => Err(error),
        }
    }

    /// Key updates and alerts are answered at once.
    fn answer(&mut self, socket: &mut impl Write) -> io::Result<()> {
        match self.flush(socket) {
            Err(error) if !is_pause(&error) => Err(error),
            _ => Ok(()),
        }
    }
}

pub(super) fn is_pause(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

/// The TLS failure within an I/O error.
pub(crate) fn failure(error: &io::Error) -> Option<&Error> {
    error.get_ref()?.downcast_ref::<Error>()
}

/// The cause of a failure, and its fix.
pub(crate) fn words(error: &Error) -> (String, &'static str) {
    match error {
        Error::InvalidCertificate(certificate) => certificate_words(certificate),
        Error::AlertReceived(alert) => alert_words(*alert),
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => (
            "it does not speak TLS".to_owned(),
            "use a TLS listener, or set security.protocol to PLAINTEXT or SASL_PLAINTEXT",
        ),
        Error::PeerIncompatible(_) => (
            format!("the broker supports none of this client's TLS versions or ciphers: {error}"),
            "allow TLSv1.2 and TLSv1.3 on both sides (ssl.enabled.protocols, ssl.cipher.suites)",
        ),
        other => (
            other.to_string(),
            "check the broker's log and its ssl.* settings",
        ),
    }
}

fn certificate_words(error: &CertificateError) -> (String, &'static str) {
    use CertificateError::{
        Expired, ExpiredContext, NotValidForName, NotValidForNameContext, NotValidYet,
        NotValidYetContext, UnknownIssuer,
    };
    match error {
        UnknownIssuer | CertificateError::BadSignature => (
            "the broker's certificate is signed by a CA that is not trusted here".to_owned(),
            "add the brokers' CA to ssl.truststore.location or ssl.truststore.certificates",
        ),
        Expired | ExpiredContext { .. } => (
            format!("the broker's certificate is no longer valid: {error}"),
            "renew the broker's certificate, or correct this machine's clock",
        ),
        NotValidYet | NotValidYetContext { .. } => (
            format!("the broker's certificate is not valid yet: {error}"),
            "correct this machine's clock, or the certificate",
        ),
        NotValidForNameContext { presented, .. } => (
            format!(
                "the broker's certificate is for another host: {}",
                if presented.is_empty() {
                    "it names none".to_owned()
                } else {
                    let names: Vec<&str> = presented.iter().map(|name| bare_name(name)).collect();
                    names.join(", ").escape_debug().to_string()
                }
            ),
            "use a name from its certificate in advertised.listeners, or disable the check with \
             an empty ssl.endpoint.identification.algorithm=",
        ),
        NotValidForName => (
            "the broker's certificate is for another host".to_owned(),
            "use a name from its certificate in advertised.listeners",
        ),
        other => (
            format!("the broker's certificate is not acceptable: {other}"),
            "correct the broker's certificate",
        ),
    }
}

/// `localhost` from `DnsName("localhost")`, the form in which webpki prints a certificate's names.
fn bare_name(name: &str) -> &str {
    let inner = name
        .split_once('(')
        .and_then(|(_, rest)| rest.strip_suffix(')'));
    inner.map_or(name, |inner| inner.trim_matches('"'))
}

fn alert_words(alert: AlertDescription) -> (String, &'static str) {
    use AlertDescription as Alert;
    match alert {
        Alert::CertificateRequired => (
            "the broker requires a client certificate, but none is set".to_owned(),
            "set ssl.keystore.location or ssl.keystore.key",
        ),
        Alert::BadCertificate
        | Alert::UnsupportedCertificate
        | Alert::CertificateUnknown
        | Alert::CertificateExpired
        | Alert::UnknownCA
        | Alert::AccessDenied => (
            format!("the broker rejects this client's certificate, or requires one ({alert:?})"),
            "set ssl.keystore.* to a certificate whose CA is in the broker's trust store",
        ),
        Alert::HandshakeFailure | Alert::ProtocolVersion | Alert::InsufficientSecurity => (
            format!(
                "the broker ended the handshake ({alert:?}): no common version or cipher, or it \
                 requires a client certificate"
            ),
            "allow TLSv1.2 and TLSv1.3 on both sides; for a client certificate set ssl.keystore.*",
        ),
        other => (
            format!("the broker ended the TLS session ({other:?})"),
            "check the broker's log",
        ),
    }
}
