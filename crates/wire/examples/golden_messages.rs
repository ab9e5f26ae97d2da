//! Writes the cases of `tests/golden_messages` for `cargo xtask golden-messages --read`: every format
//! and codec, into the folder that is given.
#![allow(clippy::unwrap_used, dead_code, unreachable_pub)]

use std::path::Path;

#[path = "../tests/golden_messages/cases.rs"]
mod cases;

fn main() {
    let folder = std::env::args().nth(1).unwrap();
    for format in cases::FORMATS {
        for codec in cases::CODECS {
            let name = format!("m{}.{}.bin", format.magic(), codec.name());
            let bytes = cases::encode(format, codec);
            std::fs::write(Path::new(&folder).join(name), bytes).unwrap();
        }
    }
}
