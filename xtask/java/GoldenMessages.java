import java.io.File;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.LogEntry;
import org.apache.kafka.common.record.MemoryRecords;

/** Message sets by the classes of Kafka 0.8.2 (format 0) or 0.10.1 (format 1), and read by them. */
public class GoldenMessages {
    static final int COUNT = 100;
    static final long BASE_MS = 1700000000000L;

    static byte[] key(int i) {
        return i % 3 == 0 ? null : ("key-" + i).getBytes(StandardCharsets.UTF_8);
    }

    static byte[] value(int i) {
        return i % 10 == 9 ? null : ("value-" + i + "-xxxxxxxxxxxxxxxxxxxx").getBytes(StandardCharsets.UTF_8);
    }

    public static void main(String[] arguments) throws Exception {
        File folder = new File(arguments[1]);
        for (String codec : new String[] {"none", "gzip", "snappy", "lz4"}) {
            File file = new File(folder, "m" + arguments[2] + "." + codec + ".bin");
            if (arguments[0].equals("write")) {
                Files.write(file.toPath(), write(CompressionType.forName(codec)));
            } else {
                read(file);
                System.out.println("OK " + file.getName());
            }
        }
    }

    static byte[] write(CompressionType codec) throws Exception {
        ByteBuffer buffer = ByteBuffer.allocate(1 << 20);
        MemoryRecords records = MemoryRecords.emptyRecords(buffer, codec, 1 << 20);
        Method with = null, without = null;
        for (Method method : MemoryRecords.class.getMethods()) {
            Class<?>[] takes = method.getParameterTypes();
            if (method.getName().equals("append") && takes.length > 2) {
                if (takes[1] == long.class) with = method; else without = method;
            }
        }
        for (int i = 0; i < COUNT; i++) {
            if (with != null) with.invoke(records, (long) i, BASE_MS + i, key(i), value(i));
            else without.invoke(records, (long) i, key(i), value(i));
        }
        records.close();
        ByteBuffer made = records.buffer().duplicate();
        // 0.8.2 leaves it as it was written.
        if (made.position() > 0) made.flip();
        byte[] bytes = new byte[made.remaining()];
        made.get(bytes);
        return bytes;
    }

    static void read(File file) throws Exception {
        int i = 0;
        for (LogEntry entry : readable(ByteBuffer.wrap(Files.readAllBytes(file.toPath())))) {
            entry.record().ensureValid();
            check(entry.offset() == i, file + ": offset " + entry.offset() + " for " + i);
            check(Arrays.equals(bytes(entry.record().key()), key(i)), file + ": key of " + i);
            check(Arrays.equals(bytes(entry.record().value()), value(i)), file + ": value of " + i);
            i++;
        }
        check(i == COUNT, file + ": " + i + " messages");
    }

    /** The name of the method changed between the two releases. */
    static MemoryRecords readable(ByteBuffer buffer) throws Exception {
        for (Method method : MemoryRecords.class.getMethods()) {
            String name = method.getName();
            if (name.equals("iterableRecords")) {
                // It is flipped before it is read.
                buffer.position(buffer.limit());
            }
            if (name.equals("readableRecords") || name.equals("iterableRecords")) {
                return (MemoryRecords) method.invoke(null, buffer);
            }
        }
        throw new IllegalStateException("no way to read");
    }

    static byte[] bytes(ByteBuffer buffer) {
        if (buffer == null) return null;
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }

    static void check(boolean holds, String words) {
        if (!holds) throw new IllegalStateException(words);
    }
}
