//! Values for fields: either fixed by the field's path, as `xtask/java/Golden.java` makes them, or
//! drawn from a seed.

use kgauge_wire::codec::{Bytes, Str, Uuid};

/// Which values a message is filled with. The first three mean the same as in `Golden.java`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    /// Two elements in each array, nothing null.
    Full,
    /// Null wherever that is allowed, one element in each other array.
    Null,
    /// No elements, empty strings and bytes.
    Empty,
    /// Drawn from this state.
    Random(u64),
}

/// The position of a value in a struct or array, for the path.
pub(crate) trait Step {
    fn text(&self) -> String;
}

impl Step for &str {
    fn text(&self) -> String {
        (*self).to_owned()
    }
}

impl Step for usize {
    fn text(&self) -> String {
        self.to_string()
    }
}

/// Makes the values of one message.
pub(crate) struct Sampler {
    variant: Variant,
    path: String,
}

impl Sampler {
    pub(crate) fn new(variant: Variant, message: &str) -> Self {
        Self {
            variant,
            path: message.to_owned(),
        }
    }

    /// The bits of an integer.
    pub(crate) fn number(&mut self, step: impl Step) -> u64 {
        if let Variant::Random(_) = self.variant {
            // Small numbers, extremes and anything between are equally likely.
            let bits = self.draw();
            return match bits % 4 {
                0 => bits >> 60,
                1 => u64::MAX,
                2 => 1 << (bits >> 58),
                _ => bits,
            };
        }
        fnv1a(&self.path_of(&step))
    }

    pub(crate) fn bool(&mut self, step: impl Step) -> bool {
        self.number(step) >> 20 & 1 == 1
    }

    pub(crate) fn f64(&mut self, step: impl Step) -> f64 {
        (self.number(step) & 0xf_ffff) as f64 / 8.0
    }

    pub(crate) fn uuid(&mut self, step: impl Step) -> Uuid {
        let second = fnv1a(&(self.path_of(&step) + "#"));
        Uuid((u128::from(self.number(step)) << 64 | u128::from(second)).to_be_bytes())
    }

    pub(crate) fn string(&mut self, step: impl Step) -> Str<'static> {
        match self.variant {
            Variant::Empty => Str::Borrowed(""),
            Variant::Random(_) => {
                let length = self.draw() % 200;
                let letters = ['a', 'ü', '☂', '𝄞'];
                (0..length)
                    .map(|_| letters[(self.draw() % 4) as usize])
                    .collect()
            }
            _ => {
                let path = self.path_of(&step);
                let last = path.rsplit('.').next().unwrap_or_default();
                format!("{last}-{:04x}", fnv1a(&path) & 0xffff).into()
            }
        }
    }

    pub(crate) fn bytes(&mut self, step: impl Step) -> Bytes<'static> {
        match self.variant {
            Variant::Empty => Bytes::Borrowed(&[]),
            Variant::Random(_) => {
                let length = self.draw() % 300;
                (0..length).map(|_| self.draw() as u8).collect()
            }
            _ => {
                let hash = fnv1a(&self.path_of(&step));
                hash.to_be_bytes()[..1 + (hash & 7) as usize]
                    .to_vec()
                    .into()
            }
        }
    }

    pub(crate) fn array<T>(
        &mut self,
        step: impl Step,
        mut element: impl FnMut(&mut Self, usize) -> T,
    ) -> Vec<T> {
        let count = match self.variant {
            Variant::Full => 2,
            Variant::Null => 1,
            Variant::Empty => 0,
            Variant::Random(_) => match self.draw() {
                // Now and then more than a compact length of one byte can say.
                bits if bits.is_multiple_of(32) && self.path.len() < 40 => 130,
                bits => (bits >> 60 & 3) as usize,
            },
        };
        self.nested(step, |sampler| {
            (0..count).map(|index| element(sampler, index)).collect()
        })
    }

    pub(crate) fn nullable<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let null = match self.variant {
            Variant::Null => true,
            Variant::Random(_) => self.draw().is_multiple_of(4),
            _ => false,
        };
        (!null).then(|| value(self))
    }

    pub(crate) fn nested<T>(&mut self, step: impl Step, value: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        self.path = self.path_of(&step);
        let value = value(self);
        self.path.truncate(length);
        value
    }

    fn path_of(&self, step: &impl Step) -> String {
        format!("{}.{}", self.path, step.text())
    }

    /// The next number of a SplitMix64 sequence.
    fn draw(&mut self) -> u64 {
        let Variant::Random(state) = &mut self.variant else {
            return 0;
        };
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// FNV-1a, 64 bits.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
