//! Every message in every version: what can be read can be written, and is then read as the same.

#![no_main]

use std::sync::LazyLock;

use kgauge_fuzz::{Decoder, choose, decoders};
use libfuzzer_sys::{Corpus, fuzz_target};

static DECODERS: LazyLock<Vec<Decoder>> = LazyLock::new(decoders);

fuzz_target!(|input: &[u8]| -> Corpus {
    let Some((decoder, version, bytes)) = choose(&DECODERS, input) else {
        return Corpus::Reject;
    };
    if let Ok(written) = (decoder.read_and_write)(bytes, version) {
        let again = (decoder.read_and_write)(&written, version);
        assert_eq!(again.as_ref(), Ok(&written), "{} {version}", decoder.name);
    }
    Corpus::Keep
});
