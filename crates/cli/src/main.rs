//! The `kgauge` program.

fn main() {}
