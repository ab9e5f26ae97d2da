//! Writes the batches that `cargo xtask golden-batches --read` lets Kafka's own classes read:
//! `cargo run -p kgauge-wire --example golden_batches -- FOLDER`.

use std::io::{Error, Result};
use std::path::PathBuf;

use kgauge_wire::compress::Codec;

#[path = "../tests/golden_batches/cases.rs"]
mod cases;

fn main() -> Result<()> {
    let folder = std::env::args()
        .nth(1)
        .ok_or_else(|| Error::other("name a folder to write to"))?;
    let folder = PathBuf::from(folder);
    std::fs::create_dir_all(&folder)?;
    for case in cases::cases() {
        for codec in Codec::ALL {
            std::fs::write(
                folder.join(format!("{}.{codec}.bin", case.name)),
                case.encode(codec),
            )?;
        }
    }
    Ok(())
}
