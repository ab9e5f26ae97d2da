//! Frames out of a byte stream: the same ones, however the stream is cut.

#![no_main]

use kgauge_wire::frame::{FrameError, split_frame};
use libfuzzer_sys::fuzz_target;

const SIZE_MAX: usize = 1 << 16;

/// All frames of a stream of which `step` bytes arrive at a time, and how it ended.
fn frames(stream: &[u8], step: usize) -> (Vec<&[u8]>, Result<(), FrameError>) {
    let mut frames = Vec::new();
    let (mut start, mut end) = (0, 0);
    loop {
        match split_frame(&stream[start..end], SIZE_MAX) {
            Ok(Some(frame)) => {
                frames.push(frame.payload);
                start += frame.bytes;
            }
            Ok(None) if end == stream.len() => return (frames, Ok(())),
            Ok(None) => end = (end + step).min(stream.len()),
            Err(error) => return (frames, Err(error)),
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let whole = frames(input, input.len().max(1));
    assert_eq!(frames(input, 3), whole);
});
