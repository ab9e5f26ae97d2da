//! The subset of DER (ITU-T X.690) that keys and stores need: elements with a tag of one byte and a length of at most
//! four.

/// The bytes are invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Malformed;

pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const OID: u8 = 0x06;
pub(super) const BMP_STRING: u8 = 0x1e;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;
/// `[0]` around an element, and `[0]` in place of a primitive one.
pub(super) const EXPLICIT_0: u8 = 0xa0;
pub(super) const IMPLICIT_0: u8 = 0x80;
pub(super) const EXPLICIT_1: u8 = 0xa1;

/// Consecutive elements. A copy keeps its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Elements<'a>(&'a [u8]);

impl<'a> Elements<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The next element, whatever it is: its tag and its content.
    pub(super) fn next(&mut self) -> Result<(u8, &'a [u8]), Malformed> {
        let (&[tag, first], rest) = self.0.split_first_chunk().ok_or(Malformed)?;
        let (length, rest) = if first < 0x80 {
            (usize::from(first), rest)
        } else {
            let count = usize::from(first & 0x7f);
            if !(1..=4).contains(&count) {
                return Err(Malformed);
            }
            let (digits, rest) = rest.split_at_checked(count).ok_or(Malformed)?;
            let length = digits
                .iter()
                .fold(0, |length, &digit| length << 8 | usize::from(digit));
            (length, rest)
        };
        let (content, rest) = rest.split_at_checked(length).ok_or(Malformed)?;
        self.0 = rest;
        Ok((tag, content))
    }

    /// The content of the next element, which must have this tag.
    pub(super) fn take(&mut self, tag: u8) -> Result<&'a [u8], Malformed> {
        match self.next()? {
            (found, content) if found == tag => Ok(content),
            _ => Err(Malformed),
        }
    }

    /// The same, if the next element has this tag.
    pub(super) fn take_if(&mut self, tag: u8) -> Result<Option<&'a [u8]>, Malformed> {
        match self.0.first() {
            Some(found) if *found == tag => self.take(tag).map(Some),
            _ => Ok(None),
        }
    }

    /// The elements inside the next one, which must have this tag.
    pub(super) fn inside(&mut self, tag: u8) -> Result<Elements<'a>, Malformed> {
        self.take(tag).map(Elements)
    }

    /// The next element: a non-negative number.
    pub(super) fn number(&mut self) -> Result<u32, Malformed> {
        let digits = self.take(INTEGER)?;
        let digits = match digits {
            [0, rest @ ..] if !rest.is_empty() => rest,
            [first, ..] if *first < 0x80 => digits,
            _ => return Err(Malformed),
        };
        if digits.len() > 4 {
            return Err(Malformed);
        }
        let number = digits.iter();
        Ok(number.fold(0, |number, &digit| number << 8 | u32::from(digit)))
    }
}

/// One element.
pub(super) fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    let length = content.len();
    match u8::try_from(length) {
        Ok(short @ 0..=0x7f) => out.push(short),
        Ok(byte) => out.extend([0x81, byte]),
        Err(_) => {
            let digits = length.to_be_bytes();
            let first = digits.iter().position(|digit| *digit != 0).unwrap_or(0);
            let digits = digits.get(first..).unwrap_or_default();
            out.push(0x80 | u8::try_from(digits.len()).unwrap_or(0));
            out.extend(digits);
        }
    }
    out.extend_from_slice(content);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_every_length_come_back() {
        for length in [0, 1, 127, 128, 255, 256, 65_535, 65_536] {
            let content = vec![7; length];
            let bytes = element(OCTET_STRING, &content);
            let mut elements = Elements::new(&bytes);
            assert_eq!(elements.take(OCTET_STRING), Ok(content.as_slice()));
            assert!(elements.is_empty());
        }
    }

    #[test]
    fn a_lying_length_is_an_error() {
        for bytes in [
            &[][..],
            &[4],
            &[4, 1],
            &[4, 0x80, 0, 0],
            &[4, 0x85, 0, 0, 0, 0, 1, 7],
            &[4, 0x84, 0xff, 0xff, 0xff, 0xff, 7],
        ] {
            assert_eq!(Elements::new(bytes).next(), Err(Malformed), "{bytes:?}");
        }
    }

    #[test]
    fn numbers_are_small_and_not_negative() {
        let number = |bytes: &[u8]| Elements::new(&element(INTEGER, bytes)).number();
        assert_eq!(number(&[0]), Ok(0));
        assert_eq!(number(&[0x27, 0x10]), Ok(10_000));
        assert_eq!(number(&[0, 0xff]), Ok(255));
        for hostile in [&[][..], &[0x80], &[1, 0, 0, 0, 0]] {
            assert_eq!(number(hostile), Err(Malformed));
        }
    }
}
