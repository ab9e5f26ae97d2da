// Sends records with librdkafka and says what that took: one producer, as fast as it goes or at a rate.
//
//     bench SERVERS TOPIC RECORDS VALUE_BYTES BATCH_BYTES LINGER_MS BUFFER_BYTES CODEC KEYS RATE
//
// CODEC is none or lz4, KEYS how many different keys there are (0: none), RATE records a second (0: at
// full speed). It takes three times for each record, as an honest load generator has to: when it was
// due, when it was handed over, when its ack came.
//
// librdkafka is opened when the program runs, so that it is built without librdkafka's headers.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define POOL_BYTES (1 << 20)
#define QUEUE_FULL (-184)
#define PARTITION_UA (-1)
#define F_COPY 2
#define PRODUCER 0

static void *library;
static int64_t acked, failed, waited, start_ns;

static void fail(const char *why) {
    fprintf(stderr, "bench: %s\n", why);
    exit(1);
}

static void *symbol(const char *name) {
    void *found = dlsym(library, name);
    if (found == NULL) {
        fail(dlerror());
    }
    return found;
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

// What a record's report needs; the message's opaque pointer leads here.
typedef struct {
    int64_t due_ns, sent_ns;
} times_t;

static times_t *times;

// rd_kafka_message_t, as far as it is needed: its opaque pointer stands last.
typedef struct {
    int err;
    void *rkt;
    int32_t partition;
    void *payload;
    size_t len;
    void *key;
    size_t key_len;
    int64_t offset;
    void *opaque;
} report_t;

static void on_report(void *client, const void *message, void *opaque) {
    (void)client;
    (void)opaque;
    const report_t *report = message;
    if (report->err != 0) {
        failed++;
        return;
    }
    const times_t *record = report->opaque;
    waited += now_ns() - start_ns - record->due_ns + record->sent_ns - record->due_ns;
    acked++;
}

int main(int argc, char **argv) {
    if (argc != 11) {
        fail("ten arguments are wanted");
    }
    library = dlopen("librdkafka.so.1", RTLD_NOW);
    if (library == NULL) {
        fail(dlerror());
    }
    void *(*conf_new)(void) = symbol("rd_kafka_conf_new");
    int (*conf_set)(void *, const char *, const char *, char *, size_t) = symbol("rd_kafka_conf_set");
    void (*set_report)(void *, void (*)(void *, const void *, void *)) =
        symbol("rd_kafka_conf_set_dr_msg_cb");
    void *(*new)(int, void *, char *, size_t) = symbol("rd_kafka_new");
    void *(*topic_new)(void *, const char *, void *) = symbol("rd_kafka_topic_new");
    int (*produce)(void *, int32_t, int, void *, size_t, const void *, size_t, void *) =
        symbol("rd_kafka_produce");
    int (*poll)(void *, int) = symbol("rd_kafka_poll");
    int (*flush)(void *, int) = symbol("rd_kafka_flush");
    int (*last_error)(void) = symbol("rd_kafka_last_error");

    const long records = atol(argv[3]), value_bytes = atol(argv[4]), buffer_bytes = atol(argv[7]);
    const long keys = atol(argv[9]), rate = atol(argv[10]);
    const int compressible = strcmp(argv[8], "none") != 0;
    char kib[32], words[512];
    snprintf(kib, sizeof kib, "%ld", buffer_bytes / 1024);
    const char *settings[][2] = {
        {"bootstrap.servers", argv[1]}, {"acks", "all"}, {"enable.idempotence", "true"},
        {"batch.size", argv[5]}, {"batch.num.messages", "1000000"}, {"linger.ms", argv[6]},
        {"queue.buffering.max.kbytes", kib}, {"queue.buffering.max.messages", "10000000"},
        {"compression.type", argv[8]},
    };
    void *conf = conf_new();
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (conf_set(conf, settings[i][0], settings[i][1], words, sizeof words) != 0) {
            fail(words);
        }
    }
    set_report(conf, on_report);
    void *client = new(PRODUCER, conf, words, sizeof words);
    if (client == NULL) {
        fail(words);
    }
    void *topic = topic_new(client, argv[2], NULL);
    times = malloc(sizeof *times * (size_t)records);
    uint8_t *pool = malloc(POOL_BYTES + (size_t)value_bytes);
    if (topic == NULL || times == NULL || pool == NULL) {
        fail("no topic, or no memory");
    }
    uint64_t state = 1;
    for (long i = 0; i < POOL_BYTES + value_bytes; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        pool[i] = compressible && i % 64 >= 32 ? (uint8_t)('a' + i % 26) : (uint8_t)(state >> 56);
    }
    uint8_t *value = malloc((size_t)value_bytes);
    start_ns = now_ns();
    for (long i = 0; i < records; i++) {
        int64_t due_ns = now_ns() - start_ns;
        if (rate > 0) {
            due_ns = (int64_t)((double)i / (double)rate * 1e9);
            int64_t left_ns;
            while ((left_ns = due_ns - (now_ns() - start_ns)) > 0) {
                if (left_ns > 1000000) {
                    struct timespec pause = {0, left_ns - 1000000};
                    nanosleep(&pause, NULL);
                }
                poll(client, 0);
            }
        }
        times[i].due_ns = due_ns;
        times[i].sent_ns = now_ns() - start_ns;
        memcpy(value, pool + ((size_t)(i * value_bytes) & (POOL_BYTES - 1)), (size_t)value_bytes);
        const uint64_t mark = (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15);
        memcpy(value, &mark, value_bytes < 8 ? (size_t)value_bytes : 8);
        char key[16];
        const int key_bytes = keys > 0 ? snprintf(key, sizeof key, "%08lx", i % keys) : 0;
        while (produce(topic, PARTITION_UA, F_COPY, value, (size_t)value_bytes,
                       keys > 0 ? key : NULL, (size_t)key_bytes, &times[i]) != 0) {
            if (last_error() != QUEUE_FULL) {
                fail("a record was refused");
            }
            poll(client, 10);
        }
        if (i % 64 == 0) {
            poll(client, 0);
        }
    }
    if (flush(client, 120000) != 0) {
        fail("not all was acked within two minutes");
    }
    const double seconds = (double)(now_ns() - start_ns) / 1e9;
    printf("{\"acked\": %ld, \"failed\": %ld, \"seconds\": %.6f, \"wait_ns\": %ld}\n", (long)acked,
           (long)failed, seconds, (long)waited);
    return 0;
}
