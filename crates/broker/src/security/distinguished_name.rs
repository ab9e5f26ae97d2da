//! The subject of a certificate as Kafka prints it: RFC 2253 in the manner of Java's
//! `X500Principal.getName()`, the last part first.
//!
//! The certificate has been verified before; still nothing here trusts a length.

use std::fmt::Write;

const INTEGER: u8 = 0x02;
const OBJECT_ID: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
/// `[0]`, constructed: the version of a certificate.
const VERSION: u8 = 0xa0;

/// The attributes that RFC 2253 gives a short name, by their encoded numbers.
const SHORT_NAMES: &[(&[u8], &str)] = &[
    (&[0x55, 4, 3], "CN"),
    (&[0x55, 4, 6], "C"),
    (&[0x55, 4, 7], "L"),
    (&[0x55, 4, 8], "ST"),
    (&[0x55, 4, 9], "STREET"),
    (&[0x55, 4, 10], "O"),
    (&[0x55, 4, 11], "OU"),
    // 0.9.2342.19200300.100.1.25 and .1
    (
        &[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 25],
        "DC",
    ),
    (
        &[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 1],
        "UID",
    ),
];

/// The subject; `None` when the bytes are no certificate.
pub(crate) fn subject(certificate: &[u8]) -> Option<String> {
    let mut whole = Der(certificate);
    let mut signed = Der(whole.expect(SEQUENCE)?);
    let mut body = Der(signed.expect(SEQUENCE)?);
    if body.0.first() == Some(&VERSION) {
        body.expect(VERSION)?;
    }
    body.expect(INTEGER)?;
    // Algorithm, issuer and validity stand before the subject.
    for _ in 0..3 {
        body.expect(SEQUENCE)?;
    }
    name(body.expect(SEQUENCE)?)
}

fn name(parts: &[u8]) -> Option<String> {
    let mut parts = Der(parts);
    let mut shown = Vec::new();
    while !parts.0.is_empty() {
        let mut attributes = Der(parts.expect(SET)?);
        let mut part = String::new();
        while !attributes.0.is_empty() {
            if !part.is_empty() {
                part.push('+');
            }
            attribute(attributes.expect(SEQUENCE)?, &mut part)?;
        }
        shown.push(part);
    }
    shown.reverse();
    Some(shown.join(","))
}

fn attribute(attribute: &[u8], out: &mut String) -> Option<()> {
    let mut attribute = Der(attribute);
    let id = attribute.expect(OBJECT_ID)?;
    let whole = attribute.0;
    let (tag, value) = attribute.next()?;
    let short = SHORT_NAMES.iter().find(|(known, _)| *known == id);
    match (short, text(tag, value)) {
        (Some((_, short)), Some(text)) => {
            out.push_str(short);
            out.push('=');
            escape(&text, out);
        }
        (short, _) => {
            match short {
                Some((_, short)) => out.push_str(short),
                None => dotted(id, out)?,
            }
            out.push_str("=#");
            let encoded = whole.len() - attribute.0.len();
            for byte in whole.get(..encoded)? {
                write!(out, "{byte:02x}").ok()?;
            }
        }
    }
    Some(())
}

/// A value of one of the string types.
fn text(tag: u8, value: &[u8]) -> Option<String> {
    match tag {
        // UTF8String, PrintableString, IA5String
        12 | 19 | 22 => String::from_utf8(value.to_vec()).ok(),
        // T61String, read as Latin-1
        20 => Some(value.iter().copied().map(char::from).collect()),
        // BMPString
        30 => {
            let (units, rest) = value.as_chunks::<2>();
            let units: Vec<u16> = units.iter().map(|unit| u16::from_be_bytes(*unit)).collect();
            String::from_utf16(&units).ok().filter(|_| rest.is_empty())
        }
        _ => None,
    }
}

fn escape(text: &str, out: &mut String) {
    let count = text.chars().count();
    let leading = text.chars().take_while(|letter| *letter == ' ').count();
    let trailing = text
        .chars()
        .rev()
        .take_while(|letter| *letter == ' ')
        .count();
    for (place, letter) in text.chars().enumerate() {
        let edge = letter == ' ' && (place < leading || place >= count - trailing);
        match letter {
            '\0' => out.push_str("\\00"),
            _ => {
                if edge || ",=+<>#;\"\\".contains(letter) {
                    out.push('\\');
                }
                out.push(letter);
            }
        }
    }
}

/// An object identifier with dots, from base 128.
fn dotted(id: &[u8], out: &mut String) -> Option<()> {
    let mut number: u64 = 0;
    let mut first = true;
    for byte in id {
        number = number.checked_mul(128)? | u64::from(byte & 0x7f);
        if byte & 0x80 != 0 {
            continue;
        }
        if first {
            let top = (number / 40).min(2);
            write!(out, "{top}.{}", number - top * 40).ok()?;
        } else {
            write!(out, ".{number}").ok()?;
        }
        first = false;
        number = 0;
    }
    Some(())
}

/// Bytes in DER that are not read yet.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// The content of the next value, which must have this tag.
    fn expect(&mut self, tag: u8) -> Option<&'a [u8]> {
        let (found, content) = self.next()?;
        (found == tag).then_some(content)
    }

    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&length, rest) = rest.split_first()?;
        let (length, rest) = match length {
            short @ 0..=0x7f => (usize::from(short), rest),
            0x81..=0x83 => {
                let (long, rest) = rest.split_at_checked(usize::from(length & 0x7f))?;
                let fold = |sum: usize, byte: &u8| sum << 8 | usize::from(*byte);
                (long.iter().fold(0, fold), rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, content))
    }
}
