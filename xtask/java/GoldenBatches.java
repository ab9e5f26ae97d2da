import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;

/**
 * Record batches by Kafka's own classes. The cases are those of
 * crates/wire/tests/golden_batches/cases.rs, made by the same rules.
 *
 * "write FOLDER" writes every case with every codec, and two batches that only brokers write.
 * "read FOLDER" reads what kgauge wrote there, compares each record, and prints OK for each file.
 */
public final class GoldenBatches {
    private static final long BASE_MS = 1_700_000_000_000L;

    private record Case(
        String name, long producerId, short epoch, int sequence, boolean transactional,
        List<SimpleRecord> records) {}

    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[1]);
        switch (arguments[0]) {
            case "write" -> write(folder);
            case "read" -> read(folder);
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }

    private static List<Case> cases() {
        List<Case> cases = new ArrayList<>();
        cases.add(plain("one", List.of(new SimpleRecord(BASE_MS, null, bytes("hello")))));
        cases.add(plain("nulls", nulls()));
        cases.add(plain("many", many()));
        SimpleRecord large = new SimpleRecord(BASE_MS, filler(1, 10), filler(2, 70_000));
        cases.add(plain("large", List.of(large)));
        cases.add(plain("far_times", farTimes()));
        List<SimpleRecord> three = many().subList(0, 3);
        cases.add(new Case("idempotent", 4_000, (short) 3, Integer.MAX_VALUE - 1, false, three));
        cases.add(new Case("transactional", Long.MAX_VALUE, Short.MAX_VALUE, 0, true, three));
        return cases;
    }

    private static Case plain(String name, List<SimpleRecord> records) {
        return new Case(name, RecordBatch.NO_PRODUCER_ID, RecordBatch.NO_PRODUCER_EPOCH,
            RecordBatch.NO_SEQUENCE, false, records);
    }

    private static List<SimpleRecord> nulls() {
        return List.of(
            new SimpleRecord(BASE_MS, (byte[]) null, null),
            new SimpleRecord(BASE_MS, new byte[0], new byte[0]),
            new SimpleRecord(BASE_MS + 1, bytes("key"), null),
            new SimpleRecord(BASE_MS + 1, null, bytes("value"), new Header[] {
                new RecordHeader("", new byte[0]),
                new RecordHeader("name", (byte[]) null),
                new RecordHeader("grüße", bytes("grüße")),
                new RecordHeader("name", filler(9, 100)),
            }));
    }

    private static List<SimpleRecord> many() {
        List<SimpleRecord> records = new ArrayList<>();
        for (int n = 0; n < 300; n++) {
            byte[] key = n % 3 == 0 ? null : filler(n, n % 9);
            Header[] headers = new Header[n % 10 == 7 ? n % 4 : 0];
            for (int h = 0; h < headers.length; h++) {
                headers[h] = new RecordHeader("header-" + h, filler(n + h, h * 5));
            }
            long timestamp = BASE_MS + n * n % 500 - (n % 7 == 3 ? 100 : 0);
            records.add(new SimpleRecord(timestamp, key, filler(n, n % 100), headers));
        }
        return records;
    }

    private static List<SimpleRecord> farTimes() {
        List<SimpleRecord> records = new ArrayList<>();
        for (int bits = 0; bits < 62; bits += 3) {
            records.add(new SimpleRecord(BASE_MS + (1L << bits), null, bytes("later")));
            records.add(new SimpleRecord(BASE_MS - (1L << bits % 40), null, bytes("earlier")));
        }
        return records;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Bytes that compress to something like a half: every fourth is noise. */
    private static byte[] filler(int seed, int length) {
        int noise = seed;
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            noise = noise * 1_664_525 + 1_013_904_223;
            bytes[i] = (byte) (i % 4 == 3 ? noise >>> 24 : 'a' + i % 16);
        }
        return bytes;
    }

    private static void write(Path folder) throws IOException {
        for (Case one : cases()) {
            for (CompressionType type : CompressionType.values()) {
                MemoryRecords records = batch(one, type, TimestampType.CREATE_TIME);
                save(folder, one.name + "." + type.name, records);
            }
        }
        Case many = plain("many", many().subList(0, 10));
        save(folder, "broker_log_append_time.none",
            batch(many, CompressionType.NONE, TimestampType.LOG_APPEND_TIME));
        EndTransactionMarker commit = new EndTransactionMarker(ControlRecordType.COMMIT, 8);
        save(folder, "broker_commit_marker.none",
            MemoryRecords.withEndTransactionMarker(77, BASE_MS, 5, 4_000, (short) 3, commit));
    }

    private static MemoryRecords batch(Case one, CompressionType type, TimestampType timestamps) {
        MemoryRecordsBuilder builder = MemoryRecords.builder(
            ByteBuffer.allocate(1024), RecordBatch.MAGIC_VALUE_V2, Compression.of(type).build(),
            timestamps, 0, BASE_MS + 12_345, one.producerId, one.epoch, one.sequence,
            one.transactional, RecordBatch.NO_PARTITION_LEADER_EPOCH);
        one.records.forEach(builder::append);
        return builder.build();
    }

    private static void save(Path folder, String name, MemoryRecords records) throws IOException {
        ByteBuffer buffer = records.buffer();
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        Files.write(folder.resolve(name + ".bin"), bytes);
    }

    private static void read(Path folder) throws IOException {
        for (Case one : cases()) {
            for (CompressionType type : CompressionType.values()) {
                String name = one.name + "." + type.name;
                byte[] bytes = Files.readAllBytes(folder.resolve(name + ".bin"));
                check(name, one, type, MemoryRecords.readableRecords(ByteBuffer.wrap(bytes)));
                System.out.println("OK " + name);
            }
        }
    }

    private static void check(String name, Case one, CompressionType type, MemoryRecords records) {
        Iterator<MutableRecordBatch> batches = records.batches().iterator();
        MutableRecordBatch batch = batches.next();
        batch.ensureValid();
        long timestampMax =
            one.records.stream().mapToLong(SimpleRecord::timestamp).max().getAsLong();
        boolean complete = records.validBytes() == records.sizeInBytes();
        demand(name, !batches.hasNext() && complete, "one batch");
        demand(name, batch.compressionType() == type, "the codec");
        demand(name, batch.producerId() == one.producerId, "the producer id");
        demand(name, batch.producerEpoch() == one.epoch, "the producer epoch");
        demand(name, batch.baseSequence() == one.sequence, "the sequence");
        demand(name, batch.isTransactional() == one.transactional, "the transactional bit");
        demand(name, batch.maxTimestamp() == timestampMax, "the max timestamp");
        demand(name, batch.countOrNull() == one.records.size(), "the count");
        demand(name, batch.lastOffset() == one.records.size() - 1, "the last offset");
        int index = 0;
        for (Record record : batch) {
            record.ensureValid();
            demand(name, record.offset() == index, "the offset of record " + index);
            SimpleRecord read = new SimpleRecord(record);
            demand(name, read.equals(one.records.get(index)), "record " + index);
            index++;
        }
        demand(name, index == one.records.size(), "the number of records");
    }

    private static void demand(String name, boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException(name + ": " + what + " is wrong");
        }
    }
}
