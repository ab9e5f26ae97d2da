//! Record batches, as they come and with their checksum made right, so that what stands behind the
//! checksum is reached too.

#![no_main]

use std::cell::RefCell;

use kgauge_wire::compress::Decompressor;
use kgauge_wire::record_batch::{
    ProducerState, TallyDepth, batches, rewrite_for_log, rewrite_for_log_append_time,
    rewrite_producer, tally, validate_for_append, validate_records_for_append,
};
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
    }
    for batch in batches(bytes) {
        let Ok(batch) = batch else { break };
        let _ = batch.validate_crc();
        if validate_for_append(batch.bytes()).is_ok() {
            let _ = validate_records_for_append(batch.bytes(), decompressor, scratch, BYTES_MAX);
        }
        let Ok(records) = batch.records(decompressor, scratch, BYTES_MAX) else {
            continue;
        };
        for record in records {
            let Ok(record) = record else { break };
            record.headers().for_each(drop);
        }
        assert!(scratch.len() <= BYTES_MAX);
    }
}

fuzz_target!(|input: &[u8]| {
    SCRATCH.with_borrow_mut(|(decompressor, scratch)| {
        read(input, decompressor, scratch);
        let mut bytes = input.to_vec();
        let _ = rewrite_for_log(&mut bytes, 5, 1);
        // Both compute the checksum anew over whatever the bytes are.
        let producer = ProducerState::default();
        if rewrite_producer(&mut bytes, &producer).is_ok() {
            read(&bytes, decompressor, scratch);
        }
        if rewrite_for_log_append_time(&mut bytes, 0, 0, 7).is_ok() {
            read(&bytes, decompressor, scratch);
        }
    });
});
