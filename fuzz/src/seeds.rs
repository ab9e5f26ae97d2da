//! Writes the first inputs of the targets `messages` and `headers` from the golden files of `wire`.

use std::fs;
use std::path::Path;

use kgauge_fuzz::{decoders, input};

fn main() -> std::io::Result<()> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR"));
    let decoders = decoders();
    for target in ["messages", "headers"] {
        fs::create_dir_all(fuzz.join("corpus").join(target))?;
    }
    let mut count = 0;
    for entry in fs::read_dir(fuzz.join("../crates/wire/tests/golden"))? {
        let text = fs::read_to_string(entry?.path())?;
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<_> = line.split(' ').collect();
            let [name, version, variant, hex] = words.as_slice() else {
                continue;
            };
            let bytes = unhex(hex);
            let version = version.parse().unwrap_or_default();
            let (target, bytes) = match input(&decoders, name, version, &bytes) {
                Some(input) => ("messages", input),
                None => ("headers", bytes),
            };
            let file = format!("corpus/{target}/{name}-{version}-{variant}");
            fs::write(fuzz.join(file), bytes)?;
            count += 1;
        }
    }
    println!("{count} inputs in {}", fuzz.join("corpus").display());
    Ok(())
}

fn unhex(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2);
    pairs
        .filter_map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}
