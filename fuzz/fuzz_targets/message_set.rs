//! Message sets of the formats 0 and 1, as they come and with the first message's checksum made
//! right, so that what stands behind the checksum is reached too.

#![no_main]

use std::cell::RefCell;

use kgauge_wire::compress::Decompressor;
use kgauge_wire::message_set::{messages, tally};
use kgauge_wire::record_batch::TallyDepth;
use libfuzzer_sys::fuzz_target;

const BYTES_MAX: usize = 1 << 20;

thread_local! {
    static SCRATCH: RefCell<(Decompressor, Vec<u8>)> = RefCell::default();
}

fn read(bytes: &[u8], decompressor: &mut Decompressor, scratch: &mut Vec<u8>) {
    for depth in [TallyDepth::Headers, TallyDepth::Crc, TallyDepth::Records] {
        let _ = tally(
            bytes,
            0,
            depth,
            (decompressor, scratch),
            BYTES_MAX,
            |_, _| (),
        );
        assert!(scratch.len() <= BYTES_MAX);
    }
    for entry in messages(bytes) {
        let Ok(entry) = entry else { break };
        let _ = entry.message();
    }
}

fuzz_target!(|bytes: &[u8]| {
    SCRATCH.with_borrow_mut(|(decompressor, scratch)| {
        read(bytes, decompressor, scratch);
        let Some(Ok(first)) = messages(bytes).next() else {
            return;
        };
        let (length, mut mended) = (first.bytes().len(), bytes.to_vec());
        let crc = crc_fast::crc32_iso_hdlc(&mended[16..length]);
        mended[12..16].copy_from_slice(&crc.to_be_bytes());
        read(&mended, decompressor, scratch);
    });
});
