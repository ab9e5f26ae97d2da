//! The codecs: what they write is what Kafka's readers expect, what they read is bounded, and no
//! input makes them panic.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use kgauge_wire::compress::{Codec, CompressError, Compressor, DecompressError, Decompressor};
use proptest::collection::vec;
use proptest::prelude::*;

const LIMIT: usize = 1 << 20;
const COMPRESSING: [Codec; 4] = [Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd];

fn compressed(codec: Codec, input: &[u8]) -> Vec<u8> {
    Compressor::new(codec, None)
        .unwrap()
        .compress(input)
        .unwrap()
        .to_vec()
}

fn decompressed(codec: Codec, input: &[u8], bytes_max: usize) -> Result<Vec<u8>, DecompressError> {
    let mut output = Vec::new();
    Decompressor::new()
        .decompress(codec, input, &mut output, bytes_max)
        .map(|()| output)
}

/// Bytes without any repetition worth a codec's while.
fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    })
    .take(bytes)
    .collect()
}

fn text(bytes: usize) -> Vec<u8> {
    b"a record like many others, "
        .iter()
        .copied()
        .cycle()
        .take(bytes)
        .collect()
}

#[test]
fn numbers_and_names_are_kafkas() {
    let expected = [
        (0, "none"),
        (1, "gzip"),
        (2, "snappy"),
        (3, "lz4"),
        (4, "zstd"),
    ];
    for (id, name) in expected {
        let codec = Codec::from_id(id).unwrap();
        assert_eq!((codec.id(), codec.name()), (id, name));
        assert_eq!(Codec::from_name(name), Some(codec));
    }
    assert_eq!(Codec::from_id(5), None);
    assert_eq!(Codec::from_name("LZ4"), None);
}

#[test]
fn every_codec_gives_back_what_it_was_given() {
    let mut decompressor = Decompressor::new();
    let mut output = vec![1, 2, 3];
    for codec in Codec::ALL {
        // The same compressor for all inputs: nothing of one may reach the next.
        let mut compressor = Compressor::new(codec, None).unwrap();
        for bytes in [
            0, 1, 100, 32_767, 32_768, 32_769, 65_535, 65_536, 65_537, 200_000,
        ] {
            for input in [noise(bytes), text(bytes), vec![0; bytes]] {
                let packed = compressor.compress(&input).unwrap().to_vec();
                decompressor
                    .decompress(codec, &packed, &mut output, LIMIT)
                    .unwrap();
                assert!(output == input, "{codec} with {bytes} bytes");
            }
        }
    }
}

#[test]
fn text_becomes_smaller_and_noise_hardly_larger() {
    for codec in COMPRESSING {
        assert!(compressed(codec, &text(100_000)).len() < 6_000, "{codec}");
        assert!(
            compressed(codec, &noise(100_000)).len() < 100_200,
            "{codec}"
        );
    }
}

#[test]
fn gzip_has_a_plain_header_and_the_crc_and_length_of_the_input() {
    let packed = compressed(Codec::Gzip, b"123456789");
    assert_eq!(packed[..10], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
    assert_eq!(
        packed[packed.len() - 8..],
        [0x26, 0x39, 0xf4, 0xcb, 9, 0, 0, 0]
    );
}

#[test]
fn gzip_fields_of_other_writers_are_passed_over() {
    let packed = compressed(Codec::Gzip, b"content");
    let mut decorated = packed[..10].to_vec();
    decorated[3] = 0b1_1110;
    decorated.extend_from_slice(&[3, 0, b'e', b'x', b't']);
    decorated.extend_from_slice(b"name\0comment\0\x12\x34");
    decorated.extend_from_slice(&packed[10..]);
    assert_eq!(
        decompressed(Codec::Gzip, &decorated, LIMIT).unwrap(),
        b"content"
    );
    let twice = [packed, decorated].concat();
    assert_eq!(
        decompressed(Codec::Gzip, &twice, LIMIT).unwrap(),
        b"contentcontent"
    );
}

#[test]
fn lz4_writes_kafkas_frame_of_independent_64_kib_blocks() {
    let input = [noise(65_536), text(70_000)].concat();
    let packed = compressed(Codec::Lz4, &input);
    assert_eq!(packed[..7], [0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82]);
    // The first block is noise and stored as it is.
    assert_eq!(packed[7..11], (65_536 | 1_u32 << 31).to_le_bytes());
    assert_eq!(packed[11..11 + 65_536], input[..65_536]);
    let second = u32::from_le_bytes(*packed[65_547..].first_chunk::<4>().unwrap());
    assert!(second < 2_000, "the second block is compressed");
    assert_eq!(packed[packed.len() - 4..], [0; 4]);
}

/// What the reference `lz4` 1.9.4 makes of "abcdefgh", four times, and a newline with the options
/// `-B4 -BD -BX --content-size`: block checksum, content size and content checksum.
const LZ4_WITH_ALL_CHECKS: [u8; 49] = [
    0x04, 0x22, 0x4d, 0x18, 0x7c, 0x40, 0x21, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xa9, 0x12,
    0x00, 0x00, 0x00, 0x8f, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x08, 0x00, 0x01, 0x50,
    0x65, 0x66, 0x67, 0x68, 0x0a, 0x7b, 0x28, 0x10, 0x05, 0x00, 0x00, 0x00, 0x00, 0x35, 0x79, 0x70,
    0xc3,
];

#[test]
fn lz4_frames_of_other_writers_are_read_and_all_their_checks_count() {
    let content = b"abcdefghabcdefghabcdefghabcdefgh\n";
    assert_eq!(
        decompressed(Codec::Lz4, &LZ4_WITH_ALL_CHECKS, LIMIT).unwrap(),
        content
    );
    for index in 0..LZ4_WITH_ALL_CHECKS.len() {
        let mut flipped = LZ4_WITH_ALL_CHECKS;
        flipped[index] ^= 1;
        assert!(
            decompressed(Codec::Lz4, &flipped, LIMIT).is_err(),
            "byte {index}"
        );
    }
}

#[test]
fn lz4_blocks_that_refer_to_the_block_before_are_read() {
    let mut frame = vec![0x04, 0x22, 0x4d, 0x18, 0x40, 0x40, 0xc0];
    // Stored as it is: "abcdefgh".
    frame.extend_from_slice(&[8, 0, 0, 0x80]);
    frame.extend_from_slice(b"abcdefgh");
    // Four bytes from eight back, then the literals "12345".
    frame.extend_from_slice(&[9, 0, 0, 0, 0x00, 8, 0, 0x50]);
    frame.extend_from_slice(b"12345\0\0\0\0");
    assert_eq!(
        decompressed(Codec::Lz4, &frame, LIMIT).unwrap(),
        b"abcdefghabcd12345"
    );
}

#[test]
fn an_lz4_frame_with_a_wrong_header_checksum_is_refused() {
    let mut packed = compressed(Codec::Lz4, b"content");
    packed[6] ^= 1;
    let error = decompressed(Codec::Lz4, &packed, LIMIT).unwrap_err();
    assert!(error.to_string().contains("header"), "{error}");
}

#[test]
fn zstd_frames_carry_their_content_size() {
    let packed = compressed(Codec::Zstd, &text(1_000));
    assert_eq!(packed[..4], [0x28, 0xb5, 0x2f, 0xfd]);
    // Single segment with a content size of two bytes, which counts from 256.
    assert_eq!(packed[4], 0x60);
    assert_eq!(packed[5..7], 744_u16.to_le_bytes());
}

mod xerial {
    //! The framing that snappy-java puts around snappy blocks.

    use super::*;

    const HEADER: [u8; 16] = [
        0x82, b'S', b'N', b'A', b'P', b'P', b'Y', 0, 0, 0, 0, 1, 0, 0, 0, 1,
    ];
    /// A raw snappy block: length 5, then a literal of 5.
    const HELLO: [u8; 7] = [5, 4 << 2, b'h', b'e', b'l', b'l', b'o'];

    fn framed(blocks: &[&[u8]]) -> Vec<u8> {
        let mut bytes = HEADER.to_vec();
        for block in blocks {
            bytes.extend_from_slice(&(block.len() as u32).to_be_bytes());
            bytes.extend_from_slice(block);
        }
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Vec<u8>, DecompressError> {
        decompressed(Codec::Snappy, bytes, LIMIT)
    }

    #[test]
    fn blocks_of_32_kib_are_written_after_the_header() {
        let packed = compressed(Codec::Snappy, &text(70_000));
        assert_eq!(packed[..16], HEADER);
        let mut rest = &packed[16..];
        let mut sizes = Vec::new();
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let (block, after) = after.split_at(u32::from_be_bytes(*length) as usize);
            sizes.push(read(block).unwrap().len());
            rest = after;
        }
        assert_eq!(sizes, [32_768, 32_768, 4_464]);
    }

    #[test]
    fn framed_and_raw_blocks_are_read() {
        assert_eq!(read(&HELLO).unwrap(), b"hello");
        assert_eq!(read(&framed(&[&HELLO])).unwrap(), b"hello");
        assert_eq!(
            read(&framed(&[&HELLO, &[0], &HELLO])).unwrap(),
            b"hellohello"
        );
        assert_eq!(read(&HEADER).unwrap(), b"");
        assert_eq!(read(&[0]).unwrap(), b"");
    }

    #[test]
    fn streams_one_behind_another_are_read() {
        let twice = [framed(&[&HELLO]), framed(&[&HELLO])].concat();
        assert_eq!(read(&twice).unwrap(), b"hellohello");
    }

    #[test]
    fn a_frame_that_is_cut_is_an_error_unless_a_block_ends_there() {
        let whole = framed(&[&HELLO, &HELLO]);
        for cut in 0..whole.len() {
            let read = read(&whole[..cut]);
            match cut {
                16 => assert_eq!(read.unwrap(), b""),
                27 => assert_eq!(read.unwrap(), b"hello"),
                _ => assert!(read.is_err(), "cut at {cut}"),
            }
        }
    }

    #[test]
    fn an_old_version_and_lying_lengths_are_errors() {
        let mut old = framed(&[&HELLO]);
        old[11] = 0;
        assert!(read(&old).is_err());
        let mut long = framed(&[&HELLO]);
        long[16..20].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff]);
        assert_eq!(read(&long), Err(DecompressError::CutShort));
        assert_eq!(read(&framed(&[&[]])), Err(DecompressError::CutShort));
        // A block that says it holds 4 GiB.
        let bomb = [0xff, 0xff, 0xff, 0xff, 0x0f, 0];
        assert_eq!(
            read(&bomb),
            Err(DecompressError::TooLarge { bytes_max: LIMIT })
        );
        assert!(matches!(
            decompressed(Codec::Snappy, &bomb, usize::MAX),
            Err(DecompressError::Malformed(_))
        ));
    }
}

#[test]
fn the_limit_holds_to_the_byte() {
    for codec in Codec::ALL {
        for input in [vec![0; 300_000], noise(300_000)] {
            let packed = compressed(codec, &input);
            assert!(
                decompressed(codec, &packed, input.len()).unwrap() == input,
                "{codec}"
            );
            for bytes_max in [input.len() - 1, 65_536, 1, 0] {
                let error = decompressed(codec, &packed, bytes_max).unwrap_err();
                assert_eq!(error, DecompressError::TooLarge { bytes_max }, "{codec}");
            }
        }
    }
}

#[test]
fn a_bomb_takes_no_more_memory_than_its_limit() {
    let input = vec![0; 8 << 20];
    for codec in COMPRESSING {
        let packed = compressed(codec, &input);
        let mut output = Vec::new();
        let error = Decompressor::new()
            .decompress(codec, &packed, &mut output, LIMIT)
            .unwrap_err();
        assert_eq!(
            error,
            DecompressError::TooLarge { bytes_max: LIMIT },
            "{codec}"
        );
        assert!(
            output.capacity() <= 2 * LIMIT + 64,
            "{codec} took {}",
            output.capacity()
        );
    }
}

#[test]
fn a_buffer_larger_than_the_limit_does_not_lift_it() {
    let mut output = Vec::with_capacity(1 << 20);
    for codec in COMPRESSING {
        let packed = compressed(codec, &text(10_000));
        let error = Decompressor::new().decompress(codec, &packed, &mut output, 9_999);
        assert_eq!(
            error,
            Err(DecompressError::TooLarge { bytes_max: 9_999 }),
            "{codec}"
        );
    }
}

#[test]
fn input_that_is_cut_is_an_error_everywhere() {
    for codec in [Codec::Gzip, Codec::Lz4, Codec::Zstd] {
        let packed = compressed(codec, &text(500));
        for cut in 0..packed.len() {
            assert!(
                decompressed(codec, &packed[..cut], LIMIT).is_err(),
                "{codec} cut at {cut}"
            );
        }
    }
}

#[test]
fn bytes_behind_the_end_are_an_error() {
    for codec in COMPRESSING {
        let mut packed = compressed(codec, &text(500));
        packed.push(7);
        assert!(decompressed(codec, &packed, LIMIT).is_err(), "{codec}");
    }
}

#[test]
fn no_flipped_bit_makes_a_reader_panic_or_pass_its_limit() {
    let mut decompressor = Decompressor::new();
    let mut output = Vec::new();
    for codec in COMPRESSING {
        let packed = compressed(codec, &[text(300), noise(50)].concat());
        for index in 0..packed.len() {
            for bit in 0..8 {
                let mut flipped = packed.clone();
                flipped[index] ^= 1 << bit;
                if decompressor
                    .decompress(codec, &flipped, &mut output, 4_096)
                    .is_ok()
                {
                    assert!(output.len() <= 4_096);
                }
            }
        }
        // The contexts are none the worse for it.
        decompressor
            .decompress(codec, &packed, &mut output, LIMIT)
            .unwrap();
        assert_eq!(output.len(), 350);
    }
}

#[test]
fn levels_are_kafkas() {
    let allowed = |codec: Codec, level| Compressor::new(codec, Some(level)).is_ok();
    assert_eq!(
        Codec::ALL.map(Codec::level_default),
        [None, Some(-1), None, Some(9), Some(3)]
    );
    for level in [-1, 1, 9] {
        assert!(allowed(Codec::Gzip, level));
    }
    for level in [-131_072, -1, 0, 1, 22] {
        assert!(allowed(Codec::Zstd, level));
    }
    for (codec, level) in [
        (Codec::Gzip, 0),
        (Codec::Gzip, 10),
        (Codec::Gzip, -2),
        (Codec::Zstd, 23),
        (Codec::Zstd, -131_073),
        (Codec::Lz4, 0),
        (Codec::Lz4, 18),
        (Codec::Snappy, 1),
        (Codec::None, 1),
    ] {
        let error = Compressor::new(codec, Some(level)).unwrap_err();
        assert!(
            matches!(error, CompressError::LevelUnknown { .. }),
            "{error}"
        );
    }
}

#[test]
fn lz4_levels_of_the_slow_compressor_are_refused_by_name() {
    assert!(Compressor::new(Codec::Lz4, Some(9)).is_ok());
    for level in [1, 8, 10, 17] {
        let error = Compressor::new(Codec::Lz4, Some(level)).unwrap_err();
        assert_eq!(error, CompressError::Lz4Level { level });
        assert!(error.to_string().contains("slow compressor"));
    }
}

#[test]
fn a_higher_level_compresses_more() {
    let input: Vec<u8> = (0..3_000_u32)
        .flat_map(|n| format!("{{\"id\":{},\"n\":{}}}", n * n, n % 97).into_bytes())
        .collect();
    for (codec, low, high) in [(Codec::Gzip, 1, 9), (Codec::Zstd, -50, 19)] {
        let bytes = |level| {
            Compressor::new(codec, Some(level))
                .unwrap()
                .compress(&input)
                .unwrap()
                .len()
        };
        assert!(bytes(high) < bytes(low), "{codec}");
    }
}

proptest! {
    #[test]
    fn any_input_comes_back(input in vec(any::<u8>(), 0..3_000), codec in 0..5_u8) {
        let codec = Codec::from_id(codec).unwrap();
        prop_assert_eq!(decompressed(codec, &compressed(codec, &input), LIMIT).unwrap(), input);
    }

    #[test]
    fn no_input_makes_a_reader_panic(input in vec(any::<u8>(), 0..200), codec in 0..5_u8) {
        let codec = Codec::from_id(codec).unwrap();
        if let Ok(output) = decompressed(codec, &input, 10_000) {
            prop_assert!(output.len() <= 10_000);
        }
    }
}
