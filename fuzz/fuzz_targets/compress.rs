//! Compressed sections: the first byte chooses the codec; the rest is decompressed as it is, and
//! comes back from being compressed.

#![no_main]

use std::cell::RefCell;

use kgauge_wire::compress::{Codec, Compressor, Decompressor};
use libfuzzer_sys::fuzz_target;

const BYTES_MAX: usize = 1 << 20;

thread_local! {
    static SCRATCH: RefCell<(Decompressor, Vec<u8>)> = RefCell::default();
}

fuzz_target!(|input: &[u8]| {
    let Some((&first, input)) = input.split_first() else {
        return;
    };
    let Some(codec) = Codec::from_id(first % 5) else {
        return;
    };
    SCRATCH.with_borrow_mut(|(decompressor, output)| {
        if decompressor
            .decompress(codec, input, output, BYTES_MAX)
            .is_ok()
        {
            assert!(output.len() <= BYTES_MAX);
        }
        let mut compressor = Compressor::new(codec, None).expect("the default level is known");
        let compressed = compressor
            .compress(input)
            .expect("any bytes can be compressed");
        let result = decompressor.decompress(codec, compressed, output, BYTES_MAX);
        assert_eq!((result, output.as_slice()), (Ok(()), input));
    });
});
