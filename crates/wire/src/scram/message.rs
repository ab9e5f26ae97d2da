//! The clients' messages of a SCRAM exchange (RFC 5802, section 7), read as strictly as by Kafka.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// A message that breaks the rules. Clients do not learn what is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MalformedScram;

/// The first message: `n,,n=user,r=nonce`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ClientFirst<'a> {
    /// Up to and with the second comma; comes back in the final message.
    pub(super) gs2_header: &'a str,
    /// On whose behalf; empty for the user's own.
    pub(super) authorization: String,
    /// All after the header.
    pub(super) bare: &'a str,
    /// Who logs in.
    pub(super) user: String,
    pub(super) nonce: &'a str,
    /// The name is that of a delegation token (`tokenauth=true`).
    pub(super) by_token: bool,
}

impl<'a> ClientFirst<'a> {
    pub(super) fn parse(message: &'a [u8]) -> Result<Self, MalformedScram> {
        let text = std::str::from_utf8(message).map_err(|_| MalformedScram)?;
        // No channel binding, as Kafka's own: neither `y` nor `p=`.
        let after = text.strip_prefix("n,").ok_or(MalformedScram)?;
        let (authorization, bare) = after.split_once(',').ok_or(MalformedScram)?;
        let authorization = match authorization.strip_prefix("a=") {
            Some(name) => unescaped(name)?,
            None if authorization.is_empty() => String::new(),
            None => return Err(MalformedScram),
        };
        let mut parts = bare.split(',');
        let user = parts.next().and_then(|part| part.strip_prefix("n="));
        let nonce = parts.next().and_then(|part| part.strip_prefix("r="));
        let nonce = nonce
            .filter(|nonce| is_nonce(nonce))
            .ok_or(MalformedScram)?;
        let mut by_token = false;
        for extension in parts {
            let (name, value) = extension.split_once('=').ok_or(MalformedScram)?;
            by_token |= name == "tokenauth" && value == "true";
        }
        Ok(Self {
            gs2_header: text.get(..text.len() - bare.len()).ok_or(MalformedScram)?,
            authorization,
            bare,
            user: unescaped(user.ok_or(MalformedScram)?)?,
            nonce,
            by_token,
        })
    }
}

/// The final message: `c=biws,r=nonce,p=proof`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ClientFinal<'a> {
    /// All before the proof.
    pub(super) without_proof: &'a str,
    /// The header of the first message, repeated.
    pub(super) gs2_header: Vec<u8>,
    pub(super) nonce: &'a str,
    pub(super) proof: Vec<u8>,
}

impl<'a> ClientFinal<'a> {
    pub(super) fn parse(message: &'a [u8]) -> Result<Self, MalformedScram> {
        let text = std::str::from_utf8(message).map_err(|_| MalformedScram)?;
        let (without_proof, proof) = text.rsplit_once(",p=").ok_or(MalformedScram)?;
        let mut parts = without_proof.split(',');
        let header = parts.next().and_then(|part| part.strip_prefix("c="));
        let nonce = parts.next().and_then(|part| part.strip_prefix("r="));
        Ok(Self {
            without_proof,
            gs2_header: STANDARD
                .decode(header.ok_or(MalformedScram)?)
                .map_err(|_| MalformedScram)?,
            nonce: nonce
                .filter(|nonce| is_nonce(nonce))
                .ok_or(MalformedScram)?,
            proof: STANDARD.decode(proof).map_err(|_| MalformedScram)?,
        })
    }
}

/// Printable ASCII but the comma, which `split` has taken out already.
fn is_nonce(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| (0x21..=0x7e).contains(&byte))
}

/// A name in which comma and equals sign were written as `=2C` and `=3D`.
fn unescaped(name: &str) -> Result<String, MalformedScram> {
    if name.is_empty() || name.contains('\0') {
        return Err(MalformedScram);
    }
    let mut parts = name.split('=');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = if let Some(rest) = part.strip_prefix("2C") {
            plain.push(',');
            rest
        } else {
            plain.push('=');
            part.strip_prefix("3D").ok_or(MalformedScram)?
        };
        plain.push_str(rest);
    }
    Ok(plain)
}
