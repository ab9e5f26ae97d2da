// Sends records from kgauge with Kafka's own Java client, and reports the outcome of each.
//
// One process is one producer. It reads settings and records from standard input and writes outcomes
// to standard output, as frames: length (4 bytes), type (1 byte), body. All numbers are big-endian, all
// times CLOCK_MONOTONIC, which System.nanoTime() is on Linux. crates/load/src/driver/frames.rs is the
// other side. If either pipe breaks, the process ends at once.

import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.AppInfoParser;

public final class KgaugeDriver {
    // Incoming frames.
    static final int SETTINGS = 1;
    static final int START = 2;
    static final int RECORD = 3;
    static final int END = 4;

    // Outgoing frames.
    static final int READY = 1;
    static final int REFUSED = 2;
    static final int OUTCOMES = 3;
    static final int STATUS = 4;
    static final int BLOCKED = 5;
    static final int STOPPED_TAKING = 6;
    static final int WORDS = 7;
    static final int ENDED = 8;
    static final int FAILED = 9;
    static final int PLACED_OUTCOMES = 10;

    // Outcomes of a record.
    static final byte KIND_ACKED = 0;
    static final byte KIND_FAILED = 1;
    static final byte KIND_INDETERMINATE = 2;
    static final byte KIND_SKIPPED = 3;
    static final byte KIND_UNTAKEN = 4;

    // kgauge's own codes, for errors without a broker's code.
    static final int CODE_DELIVERY_TIMEOUT = -103;
    static final int CODE_BUFFER_TIMEOUT = -104;

    /** Replaces an intended time: as soon as the client takes it. */
    static final long AT_WILL = -1;

    /** Parking ends some 60 microseconds late; the thread spins for the rest. */
    static final long SPIN_NS = 80_000;

    /** A send that took longer than this is reported as a wait for the buffer. */
    static final long BLOCKED_NS = 1_000_000;

    final In in = new In();
    final Out out = new Out();
    final Thread main = Thread.currentThread();
    String topic;
    KafkaProducer<byte[], byte[]> producer;

    public static void main(String[] arguments) {
        int status = 0;
        try {
            new KgaugeDriver().run();
        } catch (EOFException gone) {
            status = 0;
        } catch (Throwable trouble) {
            trouble.printStackTrace();
            status = 1;
        }
        // The feeder has ended or is done: there is nothing to wait for.
        Runtime.getRuntime().halt(status);
    }

    void run() throws IOException {
        out.start();
        if (!begin()) {
            untilEnd();
        }
        Task task = new Task();
        sendAll(task);
        producer.flush();
        out.frame(ENDED, longs(in.starvedNs));
        untilEnd();
    }

    /** Reports the rest and waits for the end. */
    void untilEnd() throws IOException {
        out.flush();
        in.untilEnd();
    }

    /** Creates the producer; false if that fails, which has been reported then. */
    boolean begin() throws IOException {
        expect(SETTINGS);
        topic = in.text(in.data().getShort());
        int count = in.data().getInt();
        Set<String> known = ProducerConfig.configNames();
        Properties properties = new Properties();
        for (int i = 0; i < count; i++) {
            String key = in.text(in.data().getShort());
            String value = in.text(in.data().getInt());
            boolean isDefault = in.data().get() != 0;
            if (known.contains(key)) {
                properties.put(key, value);
            } else if (!isDefault) {
                say(REFUSED, "kafka-clients " + AppInfoParser.getVersion() + " has no " + key);
                return false;
            }
        }
        try {
            producer =
                    new KafkaProducer<>(
                            properties, new ByteArraySerializer(), new ByteArraySerializer());
        } catch (RuntimeException trouble) {
            say(isConfig(trouble) ? REFUSED : FAILED, chain(trouble));
            return false;
        }
        try {
            producer.partitionsFor(topic);
        } catch (RuntimeException trouble) {
            say(FAILED, chain(trouble));
            return false;
        }
        String words =
                "kafka-clients "
                        + AppInfoParser.getVersion()
                        + " on Java "
                        + System.getProperty("java.version");
        byte[] text = words.getBytes(StandardCharsets.UTF_8);
        ByteBuffer body = ByteBuffer.allocate(8 + text.length);
        out.frame(READY, body.putLong(System.nanoTime()).put(text).array());
        return true;
    }

    static boolean isConfig(Throwable trouble) {
        for (Throwable cause = trouble; cause != null; cause = cause.getCause()) {
            if (cause instanceof ConfigException) {
                return true;
            }
        }
        return false;
    }

    static String chain(Throwable trouble) {
        StringBuilder words = new StringBuilder();
        for (Throwable cause = trouble; cause != null; cause = cause.getCause()) {
            words.append(words.length() == 0 ? "" : ": ");
            words.append(cause.getClass().getSimpleName()).append(' ').append(cause.getMessage());
        }
        return words.toString();
    }

    void say(int type, String words) {
        out.frame(type, words.getBytes(StandardCharsets.UTF_8));
    }

    static byte[] longs(long... values) {
        ByteBuffer body = ByteBuffer.allocate(8 * values.length);
        for (long value : values) {
            body.putLong(value);
        }
        return body.array();
    }

    void expect(int type) throws IOException {
        int found = in.next();
        if (found != type) {
            throw new IOException("frame " + found + " came where " + type + " belongs");
        }
    }

    /** Start and end of the run's stages, and other limits of this producer. */
    final class Task {
        final long holdStartNs;
        final long holdEndNs;
        final long skipAfterNs;
        long recordsLeft;
        boolean hasStopped;

        Task() throws IOException {
            expect(START);
            ByteBuffer data = in.data();
            holdStartNs = data.getLong();
            holdEndNs = data.getLong();
            skipAfterNs = data.getLong();
            recordsLeft = data.getLong();
            if (recordsLeft < 0) {
                recordsLeft = Long.MAX_VALUE;
            }
            out.hasPlaces = data.getLong() != 0;
            in.starvedNs = 0;
        }

        /** Whether a closed loop takes a record now. */
        boolean takes(long nowNs) {
            if (hasStopped || nowNs >= holdEndNs || recordsLeft == 0) {
                stopTaking(nowNs);
                return false;
            }
            if (nowNs >= holdStartNs) {
                recordsLeft--;
            }
            return true;
        }

        void stopTaking(long nowNs) {
            if (!hasStopped) {
                hasStopped = true;
                out.frame(STOPPED_TAKING, longs(nowNs));
            }
        }
    }

    void sendAll(Task task) throws IOException {
        long index = 0;
        long nowNs = System.nanoTime();
        for (int type = in.next(); type != END; type = in.next()) {
            if (type != RECORD) {
                throw new IOException("frame " + type + " came among the records");
            }
            ByteBuffer data = in.data();
            long intendedNs = data.getLong();
            if (intendedNs == AT_WILL) {
                nowNs = in.hasWaited ? System.nanoTime() : nowNs;
                if (task.takes(nowNs)) {
                    nowNs = send(index, nowNs, data);
                } else {
                    out.outcome(index, 0, 0, KIND_UNTAKEN, 0, null);
                }
            } else {
                nowNs = waitUntil(intendedNs);
                if (nowNs - intendedNs > task.skipAfterNs) {
                    out.outcome(index, nowNs, nowNs, KIND_SKIPPED, 0, null);
                } else {
                    nowNs = send(index, nowNs, data);
                }
            }
            index++;
            out.handled.lazySet(index);
        }
        task.stopTaking(System.nanoTime());
    }

    static long waitUntil(long intendedNs) {
        while (true) {
            long nowNs = System.nanoTime();
            long leftNs = intendedNs - nowNs;
            if (leftNs <= 0) {
                return nowNs;
            }
            if (leftNs > SPIN_NS) {
                LockSupport.parkNanos(leftNs - SPIN_NS);
            } else {
                Thread.onSpinWait();
            }
        }
    }

    /** Sends the rest of the frame as a record; returns the time when send() returned. */
    long send(long index, long beganNs, ByteBuffer data) {
        int partition = data.getInt();
        int keyBytes = data.getInt();
        int valueBytes = data.getInt();
        int headerCount = data.getShort();
        byte[] key = bytes(data, keyBytes);
        byte[] value = bytes(data, valueBytes);
        RecordHeaders headers = null;
        if (headerCount > 0) {
            headers = new RecordHeaders();
            for (int i = 0; i < headerCount; i++) {
                byte[] name = bytes(data, data.getShort());
                byte[] content = bytes(data, data.getInt());
                headers.add(new String(name, StandardCharsets.UTF_8), content);
            }
        }
        Integer to = partition < 0 ? null : Integer.valueOf(partition);
        Sent sent = new Sent(index, beganNs);
        try {
            producer.send(new ProducerRecord<>(topic, to, key, value, headers), sent);
        } catch (RuntimeException trouble) {
            // Records without a callback never entered the buffer.
            sent.end(null, trouble, true);
        }
        long nowNs = System.nanoTime();
        sent.sentNs = nowNs;
        if (nowNs - beganNs >= BLOCKED_NS) {
            out.frame(BLOCKED, longs(nowNs, nowNs - beganNs));
        }
        return nowNs;
    }

    static byte[] bytes(ByteBuffer data, int count) {
        if (count < 0) {
            return null;
        }
        byte[] bytes = new byte[count];
        data.get(bytes);
        return bytes;
    }

    /** A record in flight. */
    final class Sent implements Callback {
        final long index;

        /** When send() returned; until then when it began. */
        long sentNs;

        boolean hasEnded;

        Sent(long index, long sentNs) {
            this.index = index;
            this.sentNs = sentNs;
        }

        @Override
        public void onCompletion(RecordMetadata metadata, Exception trouble) {
            if (trouble == null) {
                long nowNs = System.nanoTime();
                // The response may overtake the return of send().
                out.outcome(index, Math.min(sentNs, nowNs), nowNs, KIND_ACKED, 0, metadata);
                hasEnded = true;
            } else {
                end(metadata, trouble, Thread.currentThread() == main);
            }
        }

        /** `atOnce`: within send(), so the client has not kept the record. */
        void end(RecordMetadata metadata, Exception trouble, boolean atOnce) {
            if (hasEnded) {
                return;
            }
            hasEnded = true;
            int code = Errors.forException(trouble).code();
            byte kind = KIND_FAILED;
            if (trouble instanceof TimeoutException) {
                code = atOnce ? CODE_BUFFER_TIMEOUT : CODE_DELIVERY_TIMEOUT;
            }
            if (!atOnce && trouble instanceof RetriableException) {
                // It may have been sent before; the client does not report that.
                kind = KIND_INDETERMINATE;
            }
            long nowNs = System.nanoTime();
            out.words(code, chain(trouble));
            out.outcome(index, Math.min(sentNs, nowNs), nowNs, kind, code, metadata);
        }
    }

    /** Incoming frames. */
    static final class In {
        final FileInputStream stream = new FileInputStream(FileDescriptor.in);
        final FileChannel channel = stream.getChannel();

        /** Outside Java's heap: the kernel writes into it without another copy. */
        ByteBuffer buffer = ByteBuffer.allocateDirect(256 << 10);

        /** End of the bytes that were read from the pipe. */
        int end;

        /** End of the current frame. */
        int frameEnd;

        /** The buffer has been empty since the last frame. */
        boolean hasWaited;

        /** Total time in which the pipe was empty. */
        long starvedNs;

        /** Advances to the next frame and returns its type. */
        int next() throws IOException {
            hasWaited = false;
            buffer.position(frameEnd);
            need(5);
            int length = buffer.getInt(buffer.position());
            int type = buffer.get(buffer.position() + 4);
            need(5 + length);
            frameEnd = buffer.position() + 5 + length;
            buffer.position(buffer.position() + 5);
            return type;
        }

        ByteBuffer data() {
            return buffer;
        }

        String text(int bytes) {
            byte[] text = KgaugeDriver.bytes(buffer, bytes);
            return new String(text, StandardCharsets.UTF_8);
        }

        /** Reads until the buffer has this many bytes from its position. */
        void need(int bytes) throws IOException {
            while (end - buffer.position() < bytes) {
                int from = buffer.position();
                if (buffer.capacity() - from < bytes || from == end) {
                    ByteBuffer rest = buffer.duplicate();
                    rest.limit(end).position(from);
                    if (bytes > buffer.capacity()) {
                        buffer = ByteBuffer.allocateDirect(2 * bytes);
                        buffer.put(rest);
                    } else {
                        buffer.limit(end);
                        buffer.compact();
                    }
                    end -= from;
                    from = 0;
                }
                read(from);
            }
        }

        void read(int from) throws IOException {
            boolean isEmpty = stream.available() == 0;
            long beganNs = System.nanoTime();
            buffer.limit(buffer.capacity()).position(end);
            int read = channel.read(buffer);
            if (isEmpty) {
                starvedNs += System.nanoTime() - beganNs;
            }
            hasWaited = true;
            if (read < 0) {
                throw new EOFException();
            }
            end += read;
            buffer.position(from);
        }

        void untilEnd() throws IOException {
            byte[] rest = new byte[8 << 10];
            while (stream.read(rest) >= 0) {
                // Later frames do not matter.
            }
            throw new EOFException();
        }
    }

    /** Outgoing frames, written by a separate thread: the client's thread only appends to memory. */
    static final class Out implements Runnable {
        static final int ENTRY_BYTES = 27;

        /** An entry with partition and offset. */
        static final int PLACED_ENTRY_BYTES = ENTRY_BYTES + 4 + 8;

        /** Maximum outcomes per frame. */
        static final int OUTCOMES_MAX = 24_576;

        static final long PAUSE_NS = 20_000_000;
        static final int STATUS_EACH = 5;
        static final int WORDS_MAX = 20;

        final FileOutputStream stream = new FileOutputStream(FileDescriptor.out);
        final Set<Integer> saidCodes = new HashSet<>();

        /** Number of records that the main thread has handled. */
        final AtomicLong handled = new AtomicLong();

        /** Outcomes name partition and offset. Set before there are any. */
        volatile boolean hasPlaces;

        ByteBuffer outcomes = ByteBuffer.allocate(1 << 20);
        ByteBuffer frames = ByteBuffer.allocate(1 << 12);
        ByteBuffer outcomesWritten = ByteBuffer.allocate(1 << 20);
        ByteBuffer framesWritten = ByteBuffer.allocate(1 << 12);

        void start() {
            Thread writer = new Thread(this, "kgauge-out");
            writer.setDaemon(true);
            writer.start();
        }

        synchronized void outcome(
                long index,
                long sentNs,
                long endNs,
                byte kind,
                int code,
                RecordMetadata metadata) {
            if (outcomes.remaining() < PLACED_ENTRY_BYTES) {
                outcomes = larger(outcomes, PLACED_ENTRY_BYTES);
            }
            outcomes.putLong(index).putLong(sentNs).putLong(endNs).put(kind).putShort((short) code);
            if (hasPlaces) {
                // Old releases have no metadata of failed sends. Both are negative if unknown.
                outcomes.putInt(metadata == null ? -1 : metadata.partition());
                outcomes.putLong(metadata == null ? -1 : metadata.offset());
            }
        }

        synchronized void frame(int type, byte[] body) {
            if (frames.remaining() < 5 + body.length) {
                frames = larger(frames, 5 + body.length);
            }
            frames.putInt(body.length).put((byte) type).put(body);
        }

        /** The message of an error code, sent once per code. */
        synchronized void words(int code, String words) {
            if (saidCodes.size() < WORDS_MAX && saidCodes.add(code)) {
                byte[] text = words.getBytes(StandardCharsets.UTF_8);
                ByteBuffer body = ByteBuffer.allocate(2 + text.length);
                frame(WORDS, body.putShort((short) code).put(text).array());
            }
        }

        static ByteBuffer larger(ByteBuffer full, int atLeast) {
            full.flip();
            ByteBuffer larger = ByteBuffer.allocate(2 * full.capacity() + atLeast);
            return larger.put(full);
        }

        @Override
        public void run() {
            try {
                for (int turn = 0; ; turn++) {
                    if (turn % STATUS_EACH == 0) {
                        status();
                    }
                    flush();
                    LockSupport.parkNanos(PAUSE_NS);
                }
            } catch (IOException gone) {
                // The reader has ended.
                Runtime.getRuntime().halt(0);
            }
        }

        void status() {
            frame(STATUS, longs(System.nanoTime(), handled.get()));
        }

        /** Outcomes are sent before later frames. */
        void flush() throws IOException {
            synchronized (stream) {
                synchronized (this) {
                    ByteBuffer spare = outcomesWritten;
                    outcomesWritten = outcomes;
                    outcomes = spare;
                    spare = framesWritten;
                    framesWritten = frames;
                    frames = spare;
                }
                int end = outcomesWritten.position();
                int bytesMax = OUTCOMES_MAX * (hasPlaces ? PLACED_ENTRY_BYTES : ENTRY_BYTES);
                for (int at = 0; at < end; at += bytesMax) {
                    int bytes = Math.min(end - at, bytesMax);
                    byte[] head = {0, 0, 0, 0, (byte) (hasPlaces ? PLACED_OUTCOMES : OUTCOMES)};
                    ByteBuffer.wrap(head).putInt(bytes);
                    stream.write(head);
                    stream.write(outcomesWritten.array(), at, bytes);
                }
                outcomesWritten.clear();
                stream.write(framesWritten.array(), 0, framesWritten.position());
                framesWritten.clear();
            }
        }
    }
}
