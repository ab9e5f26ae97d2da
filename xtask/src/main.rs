//! Project scripts.

fn main() {}
