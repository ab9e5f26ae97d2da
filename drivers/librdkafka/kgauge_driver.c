// Sends records from kgauge with librdkafka, and reports the outcome of each.
//
// One process is one producer. It reads settings and records from standard input and writes outcomes
// to standard output, as frames: length (4 bytes), type (1 byte), body. All numbers are big-endian, all
// times CLOCK_MONOTONIC. crates/load/src/driver/frames.rs is the other side. If either pipe breaks, the
// process ends at once: SIGPIPE has its default action.
//
// librdkafka is opened at run time, so its headers are not needed to build this program. The
// declarations here are part of its binary interface, which has not changed since 1.0.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

// Incoming frames.
enum { IN_SETTINGS = 1, IN_START, IN_RECORD, IN_END };
// Outgoing frames.
enum {
    OUT_READY = 1, OUT_REFUSED, OUT_OUTCOMES, OUT_STATUS, OUT_BLOCKED, OUT_STOPPED_TAKING,
    OUT_WORDS, OUT_ENDED, OUT_FAILED, OUT_PLACED_OUTCOMES
};
// Outcomes of a record.
enum { KIND_ACKED, KIND_FAILED, KIND_INDETERMINATE, KIND_SKIPPED, KIND_UNTAKEN };

// kgauge's own codes, for errors without a broker's code.
enum {
    CODE_DISCONNECTED = -101, CODE_REQUEST_TIMEOUT = -102, CODE_DELIVERY_TIMEOUT = -103,
    CODE_BUFFER_TIMEOUT = -104
};

#define AT_WILL (-1)
#define SPIN_NS 30000
#define BLOCKED_NS 1000000
#define PAUSE_NS 20000000
#define STATUS_EACH 5
#define CODES_SAID_MAX 20
#define HEADERS_MAX 64
#define METADATA_MS 30000

// ---- librdkafka ----

typedef struct rd_kafka_s rd_kafka_t;
typedef struct rd_kafka_topic_s rd_kafka_topic_t;
typedef struct rd_kafka_conf_s rd_kafka_conf_t;
typedef struct rd_kafka_headers_s rd_kafka_headers_t;

typedef struct {
    int err;
    rd_kafka_topic_t *rkt;
    int32_t partition;
    void *payload;
    size_t len;
    void *key;
    size_t key_len;
    int64_t offset;
    void *_private;
} rd_kafka_message_t;

enum { RK_PRODUCER = 0, RK_PARTITION_UA = -1, RK_F_COPY = 2, RK_CONF_UNKNOWN = -2, RK_CONF_OK = 0 };
enum { RK_E_TRANSPORT = -195, RK_E_MSG_TIMED_OUT = -192, RK_E_TIMED_OUT = -185, RK_E_QUEUE_FULL = -184 };
enum { RK_V_END, RK_V_TOPIC, RK_V_RKT, RK_V_PARTITION, RK_V_VALUE, RK_V_KEY, RK_V_OPAQUE, RK_V_MSGFLAGS,
       RK_V_TIMESTAMP, RK_V_HEADER, RK_V_HEADERS };
enum { RK_NOT_PERSISTED };

static struct {
    const char *(*version_str)(void);
    rd_kafka_conf_t *(*conf_new)(void);
    int (*conf_set)(rd_kafka_conf_t *, const char *, const char *, char *, size_t);
    void (*conf_set_dr_msg_cb)(rd_kafka_conf_t *,
                               void (*)(rd_kafka_t *, const rd_kafka_message_t *, void *));
    rd_kafka_t *(*new)(int, rd_kafka_conf_t *, char *, size_t);
    rd_kafka_topic_t *(*topic_new)(rd_kafka_t *, const char *, void *);
    int (*metadata)(rd_kafka_t *, int, rd_kafka_topic_t *, const void **, int);
    void (*metadata_destroy)(const void *);
    int (*poll)(rd_kafka_t *, int);
    int (*produce)(rd_kafka_topic_t *, int32_t, int, void *, size_t, const void *, size_t, void *);
    int (*producev)(rd_kafka_t *, ...);
    rd_kafka_headers_t *(*headers_new)(size_t);
    int (*header_add)(rd_kafka_headers_t *, const char *, ssize_t, const void *, ssize_t);
    void (*headers_destroy)(rd_kafka_headers_t *);
    int (*last_error)(void);
    const char *(*err2str)(int);
    int (*message_status)(const rd_kafka_message_t *);
    int (*flush)(rd_kafka_t *, int);
} rk;

static const char *open_library(void) {
    static const char *names[] = {
        "rd_kafka_version_str", "rd_kafka_conf_new", "rd_kafka_conf_set",
        "rd_kafka_conf_set_dr_msg_cb", "rd_kafka_new", "rd_kafka_topic_new", "rd_kafka_metadata",
        "rd_kafka_metadata_destroy", "rd_kafka_poll", "rd_kafka_produce", "rd_kafka_producev",
        "rd_kafka_headers_new", "rd_kafka_header_add", "rd_kafka_headers_destroy",
        "rd_kafka_last_error", "rd_kafka_err2str", "rd_kafka_message_status", "rd_kafka_flush",
    };
    void *library = dlopen("librdkafka.so.1", RTLD_NOW);
    if (library == NULL) {
        return dlerror();
    }
    // The struct contains only pointers, in the order of the names.
    _Static_assert(sizeof rk == sizeof names / sizeof *names * sizeof(void *), "a name each");
    void **slots = (void **)&rk;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        slots[i] = dlsym(library, names[i]);
        if (slots[i] == NULL) {
            return dlerror();
        }
    }
    return NULL;
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void die(const char *what) {
    fprintf(stderr, "kgauge_driver: %s\n", what);
    _exit(1);
}

// ---- Outgoing frames ----

struct buffer {
    unsigned char *data;
    size_t used, room;
};

static unsigned char *extend(struct buffer *buffer, size_t bytes) {
    if (buffer->room - buffer->used < bytes) {
        size_t room = 2 * buffer->room + bytes;
        buffer->data = realloc(buffer->data, room);
        if (buffer->data == NULL) {
            die("out of memory");
        }
        buffer->room = room;
    }
    unsigned char *at = buffer->data + buffer->used;
    buffer->used += bytes;
    return at;
}

static void put(unsigned char *to, int64_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; i--) {
        to[i] = (unsigned char)value;
        value >>= 8;
    }
}

static void put_64(unsigned char *to, int64_t value) {
    uint64_t swapped = __builtin_bswap64((uint64_t)value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    swapped = (uint64_t)value;
#endif
    memcpy(to, &swapped, 8);
}

// An entry, an entry with partition and offset, and the maximum of entries per frame.
enum { ENTRY_BYTES = 27, PLACED_ENTRY_BYTES = ENTRY_BYTES + 4 + 8, OUTCOMES_MAX = 24576 };
// Outcomes name partition and offset. Set before there are any.
static _Atomic int has_places;
static pthread_mutex_t out_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t write_lock = PTHREAD_MUTEX_INITIALIZER;
static struct buffer outcomes, frames;
static struct buffer outcomes_written, frames_written;
// Records that the main thread has handled, and outcomes in `outcomes` or already sent.
static _Atomic int64_t handled, told;

// Outcomes of one call of rd_kafka_poll, or of the main thread, which are passed on together.
static __thread struct buffer own;

static size_t entry_bytes(void) {
    int is_placed = atomic_load_explicit(&has_places, memory_order_relaxed);
    return is_placed ? PLACED_ENTRY_BYTES : ENTRY_BYTES;
}

// The message is NULL for a record that librdkafka never took. Partition and offset are negative if
// librdkafka does not know them.
static void outcome(int64_t index, int64_t sent_ns, int64_t end_ns, int kind, int code,
                    const rd_kafka_message_t *message) {
    size_t bytes = entry_bytes();
    unsigned char *at = extend(&own, bytes);
    put_64(at, index);
    put_64(at + 8, sent_ns);
    put_64(at + 16, end_ns);
    at[24] = (unsigned char)kind;
    put(at + 25, code, 2);
    if (bytes == PLACED_ENTRY_BYTES) {
        put(at + 27, message == NULL ? -1 : message->partition, 4);
        put_64(at + 31, message == NULL ? -1 : message->offset);
    }
}

static void hand_on(void) {
    if (own.used == 0) {
        return;
    }
    pthread_mutex_lock(&out_lock);
    memcpy(extend(&outcomes, own.used), own.data, own.used);
    pthread_mutex_unlock(&out_lock);
    atomic_fetch_add(&told, (int64_t)(own.used / entry_bytes()));
    own.used = 0;
}

static void frame_locked(int type, const void *body, size_t bytes) {
    unsigned char *at = extend(&frames, 5 + bytes);
    put(at, (int64_t)bytes, 4);
    at[4] = (unsigned char)type;
    memcpy(at + 5, body, bytes);
}

static void frame(int type, const void *body, size_t bytes) {
    pthread_mutex_lock(&out_lock);
    frame_locked(type, body, bytes);
    pthread_mutex_unlock(&out_lock);
}

static void frame_of(int type, int count, int64_t one, int64_t two) {
    unsigned char body[16];
    put_64(body, one);
    put_64(body + 8, two);
    frame(type, body, 8 * (size_t)count);
}

static void write_all(const unsigned char *data, size_t bytes) {
    while (bytes > 0) {
        ssize_t written = write(STDOUT_FILENO, data, bytes);
        if (written < 0 && errno != EINTR) {
            // The reader has ended.
            _exit(0);
        }
        if (written > 0) {
            data += written;
            bytes -= (size_t)written;
        }
    }
}

// Outcomes are sent before later frames.
static void flush_out(void) {
    pthread_mutex_lock(&write_lock);
    pthread_mutex_lock(&out_lock);
    struct buffer spare = outcomes_written;
    outcomes_written = outcomes;
    outcomes = spare;
    spare = frames_written;
    frames_written = frames;
    frames = spare;
    pthread_mutex_unlock(&out_lock);
    size_t each = entry_bytes(), bytes_max = OUTCOMES_MAX * each;
    for (size_t at = 0; at < outcomes_written.used;) {
        size_t left = outcomes_written.used - at;
        size_t bytes = left < bytes_max ? left : bytes_max;
        unsigned char head[5];
        put(head, (int64_t)bytes, 4);
        head[4] = each == PLACED_ENTRY_BYTES ? OUT_PLACED_OUTCOMES : OUT_OUTCOMES;
        write_all(head, 5);
        write_all(outcomes_written.data + at, bytes);
        at += bytes;
    }
    write_all(frames_written.data, frames_written.used);
    outcomes_written.used = 0;
    frames_written.used = 0;
    pthread_mutex_unlock(&write_lock);
}

static void *writer(void *unused) {
    (void)unused;
    for (unsigned turn = 0;; turn++) {
        if (turn % STATUS_EACH == 0) {
            frame_of(OUT_STATUS, 2, now_ns(), atomic_load_explicit(&handled, memory_order_relaxed));
        }
        flush_out();
        struct timespec pause = {0, PAUSE_NS};
        nanosleep(&pause, NULL);
    }
    return NULL;
}

// The message of an error code, sent once per code.
static void words(int code, const char *text) {
    static int said[CODES_SAID_MAX], count;
    unsigned char body[1024];
    size_t bytes = strlen(text);
    bytes = bytes > sizeof body - 2 ? sizeof body - 2 : bytes;
    put(body, code, 2);
    memcpy(body + 2, text, bytes);
    pthread_mutex_lock(&out_lock);
    int is_known = count == CODES_SAID_MAX;
    for (int i = 0; i < count; i++) {
        is_known |= said[i] == code;
    }
    if (!is_known) {
        said[count++] = code;
        frame_locked(OUT_WORDS, body, bytes + 2);
    }
    pthread_mutex_unlock(&out_lock);
}

// ---- Incoming frames ----

static struct {
    unsigned char *data;
    size_t room, from, to, end;
    // Time in which the pipe was empty, since the last frame and in total.
    int has_waited;
    int64_t starved_ns;
} in;

static void need(size_t bytes) {
    while (in.to - in.from < bytes) {
        if (in.room - in.from < bytes || in.from == in.to) {
            memmove(in.data, in.data + in.from, in.to - in.from);
            in.to -= in.from;
            in.from = 0;
            if (bytes > in.room) {
                in.room = 2 * bytes;
                in.data = realloc(in.data, in.room);
                if (in.data == NULL) {
                    die("out of memory");
                }
            }
        }
        // Outcomes are sent before the thread goes idle.
        hand_on();
        int there = 0;
        ioctl(STDIN_FILENO, FIONREAD, &there);
        int64_t began_ns = now_ns();
        ssize_t got = read(STDIN_FILENO, in.data + in.to, in.room - in.to);
        if (there == 0) {
            in.starved_ns += now_ns() - began_ns;
        }
        in.has_waited = 1;
        if (got == 0 || (got < 0 && errno != EINTR)) {
            // The feeder has ended or is done.
            _exit(0);
        }
        in.to += got > 0 ? (size_t)got : 0;
    }
}

static int64_t get(size_t at, int bytes) {
    int64_t value = (signed char)in.data[at];
    for (int i = 1; i < bytes; i++) {
        value = (int64_t)((uint64_t)value << 8 | in.data[at + (size_t)i]);
    }
    return value;
}

// Reads from the frame, never beyond it.
static size_t cursor;

static size_t skip(int64_t bytes) {
    size_t at = cursor;
    if (bytes < 0 || (uint64_t)bytes > in.end - at) {
        die("a frame is shorter than it says");
    }
    cursor += (size_t)bytes;
    return at;
}

static int64_t take(int bytes) {
    return get(skip(bytes), bytes);
}

static char *take_text(int64_t bytes) {
    size_t at = skip(bytes);
    char *text = malloc((size_t)bytes + 1);
    if (text == NULL) {
        die("out of memory");
    }
    memcpy(text, in.data + at, (size_t)bytes);
    text[bytes] = 0;
    return text;
}

// Advances to the next frame and returns its type.
static int next_frame(void) {
    in.from = in.end;
    in.has_waited = 0;
    need(5);
    int64_t length = get(in.from, 4);
    if (length < 0) {
        die("a frame has no length");
    }
    need(5 + (size_t)length);
    in.end = in.from + 5 + (size_t)length;
    cursor = in.from + 5;
    return in.data[in.from + 4];
}

static void until_end(void) {
    flush_out();
    while (read(STDIN_FILENO, in.data, in.room) > 0) {
        // Later frames do not matter.
    }
    _exit(0);
}

// ---- Records in flight ----

// The client keeps a pointer to a slot for each record. Slots are in aligned blocks, which are freed
// when all of their records have ended.
struct slot {
    int64_t index;
    _Atomic int64_t sent_ns;
};
enum { BLOCK_BYTES = 1 << 16, BLOCK_SLOTS = BLOCK_BYTES / sizeof(struct slot) - 1 };
struct block {
    _Atomic int ended;
    struct slot slots[BLOCK_SLOTS];
};

static struct slot *new_slot(void) {
    static struct block *block;
    static int used = BLOCK_SLOTS;
    if (used == BLOCK_SLOTS) {
        block = aligned_alloc(BLOCK_BYTES, BLOCK_BYTES);
        if (block == NULL) {
            die("out of memory");
        }
        atomic_init(&block->ended, 0);
        used = 0;
    }
    return &block->slots[used++];
}

static void end_slot(struct slot *slot) {
    struct block *block = (struct block *)((uintptr_t)slot & ~(uintptr_t)(BLOCK_BYTES - 1));
    if (atomic_fetch_add(&block->ended, 1) == BLOCK_SLOTS - 1) {
        free(block);
    }
}

static int own_code(int code) {
    switch (code) {
    case RK_E_TRANSPORT: return CODE_DISCONNECTED;
    case RK_E_TIMED_OUT: return CODE_REQUEST_TIMEOUT;
    case RK_E_MSG_TIMED_OUT: return CODE_DELIVERY_TIMEOUT;
    default: return code;
    }
}

static void delivered(rd_kafka_t *client, const rd_kafka_message_t *message, void *unused) {
    (void)client;
    (void)unused;
    struct slot *slot = message->_private;
    int64_t end_ns = now_ns();
    int64_t sent_ns = atomic_load_explicit(&slot->sent_ns, memory_order_relaxed);
    // The response may overtake the return of produce().
    sent_ns = sent_ns < end_ns ? sent_ns : end_ns;
    if (message->err == 0) {
        outcome(slot->index, sent_ns, end_ns, KIND_ACKED, 0, message);
    } else {
        int is_certain = rk.message_status(message) == RK_NOT_PERSISTED;
        int code = own_code(message->err);
        words(code, rk.err2str(message->err));
        int kind = is_certain ? KIND_FAILED : KIND_INDETERMINATE;
        outcome(slot->index, sent_ns, end_ns, kind, code, message);
    }
    end_slot(slot);
}

static void *poller(void *client) {
    for (;;) {
        rk.poll(client, 100);
        hand_on();
    }
    return NULL;
}

// ---- Main ----

static struct {
    rd_kafka_t *client;
    rd_kafka_topic_t *topic;
    int64_t block_ms_max;
    int64_t hold_start_ns, hold_end_ns, skip_after_ns, records_left;
    int has_stopped;
} task;

static void refuse(int type, const char *text) {
    frame(type, text, strlen(text));
    // Reads the last frame before the pipe breaks.
    until_end();
}

static void begin(void) {
    char error[512], text[1024];
    const char *missing = open_library();
    if (missing != NULL) {
        snprintf(text, sizeof text, "librdkafka cannot be opened: %s", missing);
        refuse(OUT_REFUSED, text);
    }
    if (next_frame() != IN_SETTINGS) {
        die("no settings came");
    }
    char *topic = take_text(take(2));
    int64_t count = take(4);
    rd_kafka_conf_t *conf = rk.conf_new();
    rk.conf_set_dr_msg_cb(conf, delivered);
    for (int64_t i = 0; i < count; i++) {
        char *key = take_text(take(2));
        char *value = take_text(take(4));
        int is_default = take(1) != 0;
        if (strcmp(key, "kgauge.max.block.ms") == 0) {
            task.block_ms_max = atoll(value);
        } else {
            int set = rk.conf_set(conf, key, value, error, sizeof error);
            if (set == RK_CONF_UNKNOWN && !is_default) {
                snprintf(text, sizeof text, "librdkafka %s has no %s", rk.version_str(), key);
                refuse(OUT_REFUSED, text);
            } else if (set != RK_CONF_OK && set != RK_CONF_UNKNOWN) {
                // librdkafka's message may contain the value, which may be a secret.
                snprintf(text, sizeof text, "librdkafka %s does not take %s as it is written",
                         rk.version_str(), key);
                refuse(OUT_REFUSED, text);
            }
        }
        free(key);
        free(value);
    }
    task.client = rk.new(RK_PRODUCER, conf, error, sizeof error);
    if (task.client == NULL) {
        refuse(OUT_REFUSED, error);
    }
    task.topic = rk.topic_new(task.client, topic, NULL);
    const void *metadata = NULL;
    int failed = rk.metadata(task.client, 0, task.topic, &metadata, METADATA_MS);
    if (failed != 0) {
        snprintf(text, sizeof text, "librdkafka gets no metadata of the topic: %s",
                 rk.err2str(failed));
        refuse(OUT_FAILED, text);
    }
    rk.metadata_destroy(metadata);
    pthread_t thread;
    if (pthread_create(&thread, NULL, poller, task.client) != 0) {
        die("no thread to be had");
    }
    // Sleeps of this thread end on time; those of the client's threads are as in any application.
    prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0);
    size_t bytes = (size_t)snprintf(text, sizeof text, "librdkafka %s", rk.version_str());
    unsigned char body[8 + sizeof text];
    put_64(body, now_ns());
    memcpy(body + 8, text, bytes);
    frame(OUT_READY, body, 8 + bytes);
}

static void stop_taking(int64_t at_ns) {
    if (!task.has_stopped) {
        task.has_stopped = 1;
        frame_of(OUT_STOPPED_TAKING, 1, at_ns, 0);
    }
}

// Whether a closed loop takes a record now.
static int takes(int64_t at_ns) {
    if (task.has_stopped || at_ns >= task.hold_end_ns || task.records_left == 0) {
        stop_taking(at_ns);
        return 0;
    }
    task.records_left -= at_ns >= task.hold_start_ns;
    return 1;
}

struct record {
    int32_t partition;
    void *key, *value;
    size_t key_bytes, value_bytes;
    int header_count;
    size_t headers_at;
};

// Copies nothing: librdkafka copies what it takes. A null value has a null address, an empty value does
// not.
static struct record read_record(void) {
    struct record record = {.partition = (int32_t)take(4)};
    int64_t key_bytes = take(4), value_bytes = take(4);
    record.header_count = (int)take(2);
    if (key_bytes >= 0) {
        record.key = in.data + skip(key_bytes);
        record.key_bytes = (size_t)key_bytes;
    }
    if (value_bytes >= 0) {
        record.value = in.data + skip(value_bytes);
        record.value_bytes = (size_t)value_bytes;
    }
    record.headers_at = cursor;
    return record;
}

// Passes a record to the client once; 0 or librdkafka's error.
static int produce(const struct record *record, struct slot *slot) {
    if (record->header_count <= 0) {
        int failed = rk.produce(task.topic, record->partition, RK_F_COPY, record->value,
                                record->value_bytes, record->key, record->key_bytes, slot);
        return failed ? rk.last_error() : 0;
    }
    rd_kafka_headers_t *headers = rk.headers_new((size_t)record->header_count);
    cursor = record->headers_at;
    for (int i = 0; i < record->header_count; i++) {
        int64_t name_bytes = take(2);
        size_t name = skip(name_bytes);
        int64_t value_bytes = take(4);
        const void *value = value_bytes < 0 ? NULL : in.data + skip(value_bytes);
        rk.header_add(headers, (const char *)in.data + name, (ssize_t)name_bytes, value,
                      value_bytes < 0 ? 0 : (ssize_t)value_bytes);
    }
    int failed = rk.producev(task.client, RK_V_RKT, task.topic, RK_V_PARTITION, record->partition,
                             RK_V_VALUE, record->value, record->value_bytes, RK_V_KEY, record->key,
                             record->key_bytes, RK_V_OPAQUE, slot, RK_V_MSGFLAGS, RK_F_COPY,
                             RK_V_HEADERS, headers, RK_V_END);
    if (failed) {
        rk.headers_destroy(headers);
    }
    return failed;
}

// Sends a record, waiting for space as an application does; returns the time when it was accepted.
static int64_t send_record(int64_t index, int64_t began_ns) {
    struct record record = read_record();
    struct slot *slot = new_slot();
    slot->index = index;
    atomic_store_explicit(&slot->sent_ns, began_ns, memory_order_relaxed);
    int failed = produce(&record, slot);
    int64_t at_ns = now_ns();
    if (failed == RK_E_QUEUE_FULL) {
        int64_t limit_ns = began_ns + task.block_ms_max * 1000000;
        hand_on();
        while (failed == RK_E_QUEUE_FULL && at_ns < limit_ns) {
            rk.poll(task.client, 1);
            hand_on();
            atomic_store_explicit(&slot->sent_ns, now_ns(), memory_order_relaxed);
            failed = produce(&record, slot);
            at_ns = now_ns();
        }
        if (at_ns - began_ns >= BLOCKED_NS) {
            frame_of(OUT_BLOCKED, 2, at_ns, at_ns - began_ns);
        }
    }
    if (failed) {
        int code = failed == RK_E_QUEUE_FULL ? CODE_BUFFER_TIMEOUT : own_code(failed);
        words(code, rk.err2str(failed));
        outcome(index, began_ns, at_ns, KIND_FAILED, code, NULL);
        end_slot(slot);
    }
    return at_ns;
}

static int64_t wait_until(int64_t intended_ns) {
    int64_t at_ns = now_ns();
    if (intended_ns - at_ns > SPIN_NS) {
        hand_on();
        int64_t wake_ns = intended_ns - SPIN_NS;
        struct timespec wake = {wake_ns / 1000000000, wake_ns % 1000000000};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL) == EINTR) {
        }
        at_ns = now_ns();
    }
    while (at_ns < intended_ns) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
        at_ns = now_ns();
    }
    return at_ns;
}

static void send_all(void) {
    if (next_frame() != IN_START) {
        die("no start came");
    }
    task.hold_start_ns = take(8);
    task.hold_end_ns = take(8);
    task.skip_after_ns = take(8);
    task.records_left = take(8);
    if (task.records_left < 0) {
        task.records_left = INT64_MAX;
    }
    atomic_store(&has_places, take(8) != 0);
    in.starved_ns = 0;
    int64_t index = 0, at_ns = now_ns();
    for (int type = next_frame(); type != IN_END; type = next_frame()) {
        if (type != IN_RECORD) {
            die("something came among the records");
        }
        int64_t intended_ns = take(8);
        if (intended_ns == AT_WILL) {
            at_ns = in.has_waited ? now_ns() : at_ns;
            if (takes(at_ns)) {
                at_ns = send_record(index, at_ns);
            } else {
                outcome(index, 0, 0, KIND_UNTAKEN, 0, NULL);
            }
        } else {
            at_ns = wait_until(intended_ns);
            if (at_ns - intended_ns > task.skip_after_ns) {
                outcome(index, at_ns, at_ns, KIND_SKIPPED, 0, NULL);
            } else {
                at_ns = send_record(index, at_ns);
            }
        }
        index++;
        atomic_store_explicit(&handled, index, memory_order_relaxed);
    }
    hand_on();
    stop_taking(now_ns());
}

int main(int count, char **arguments) {
    if (count > 1 && strcmp(arguments[1], "--version") == 0) {
        const char *missing = open_library();
        printf("%s\n", missing != NULL ? missing : rk.version_str());
        return missing != NULL;
    }
    in.room = 256 << 10;
    in.data = malloc(in.room);
    pthread_t thread;
    if (in.data == NULL || pthread_create(&thread, NULL, writer, NULL) != 0) {
        die("no memory or thread to be had");
    }
    begin();
    send_all();
    // Each record has one outcome, which the thread that received it may not have passed on yet.
    while (atomic_load(&told) < atomic_load(&handled)) {
        rk.flush(task.client, 100);
        rk.poll(task.client, 1);
        hand_on();
    }
    frame_of(OUT_ENDED, 1, in.starved_ns, 0);
    until_end();
}
