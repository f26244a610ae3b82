// SPDX-License-Identifier: GPL-3.0-or-later
// A unit of work takes a fraction of a millisecond to a few milliseconds; a load does as many as
// fill the time of a function. Errors of the system are not looked for: what could not be read or
// written leaves other data in the array.
#include "stress/work.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *const stress_area_names[STRESS_AREAS] = {"cpu", "mem", "io"};

#define CPU_ROUNDS 40000 // of one unit

static uint64_t mix(uint64_t word)
{
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
    word = (word ^ word >> 27) * 0x94d049bb133111eb;
    return word ^ word >> 31;
}

static void *map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

struct error *stress_work_init(struct stress_work *work, size_t megabytes, double kept)
{
    *work = (struct stress_work){.file = -1, .kept = kept};
    work->memory_words = megabytes * (1 << 20) / sizeof(uint64_t);
    work->array = map(WORK_ARRAY_WORDS * sizeof(uint64_t));
    work->memory = map(work->memory_words * sizeof(uint64_t));
    work->buffer = map(WORK_FILE_BYTES);
    if (work->array == NULL || work->memory == NULL || work->buffer == NULL) {
        stress_work_deinit(work);
        return error_new("there is no room for %zu MB of memory; --memory sets another size",
                         megabytes);
    }
    for (size_t i = 0; i < WORK_ARRAY_WORDS; i++)
        work->array[i] = mix(i + 1);
    for (size_t i = 0; i < work->memory_words; i++)
        work->memory[i] = i;
    return NULL;
}

void stress_work_deinit(struct stress_work *work)
{
    if (work->array != NULL)
        munmap(work->array, WORK_ARRAY_WORDS * sizeof(uint64_t));
    if (work->memory != NULL)
        munmap(work->memory, work->memory_words * sizeof(uint64_t));
    if (work->buffer != NULL)
        munmap(work->buffer, WORK_FILE_BYTES);
    *work = (struct stress_work){.file = -1};
}

void stress_work_reset(struct stress_work *work)
{
    for (size_t i = (size_t)(work->kept * WORK_ARRAY_WORDS); i < WORK_ARRAY_WORDS; i++)
        work->array[i] = mix(i + 1);
}

// Whole and floating-point numbers in registers: additions, subtractions, multiplications,
// divisions and branches that depend on them.
static void use_cpu(uint64_t *words)
{
    uint64_t a = words[0], b = words[1] | 1, c = words[2], d = words[3];
    double x = 1 + (double)(c >> 12) * 0x1p-52, y = 1 + (double)(d >> 12) * 0x1p-52;
    for (unsigned i = 0; i < CPU_ROUNDS; i++) {
        a = a * 6364136223846793005 + b;
        if ((a >> 62) == 0)
            c += a / (b | 3);
        else if ((a & 1) != 0)
            d -= a ^ c;
        else
            b = (b * 5 + d) | 1;
        x = x * y - (double)(a >> 40) * 0x1p-24;
        y = x > 2 || x < -2 ? y / (1 + x * x) : y + 0x1p-10;
    }
    uint64_t bits;
    x += y;
    memcpy(&bits, &x, sizeof bits);
    words[0] = mix(a ^ bits);
    words[1] = b;
    words[2] = c;
    words[3] = d;
}

// One chunk after the other, so that what was written is not read before all others were.
static void use_mem(struct stress_work *work, uint64_t *words)
{
    size_t chunks = work->memory_words / WORK_CHUNK_WORDS;
    uint64_t *chunk = work->memory + work->next_chunk * WORK_CHUNK_WORDS;
    uint64_t sum = words[0];
    for (size_t i = 0; i < WORK_CHUNK_WORDS; i++) {
        sum = (sum << 7 | sum >> 57) + chunk[i];
        chunk[i] = sum;
    }
    words[0] = mix(sum);
    words[1] += sum;
    work->next_chunk = (work->next_chunk + 1) % chunks;
}

static void use_io(struct stress_work *work, uint64_t *words)
{
    char path[64];
    uint64_t sum = words[0];
    for (size_t i = 0; i + sizeof sum <= WORK_FILE_BYTES; i += sizeof sum) {
        sum = sum * 6364136223846793005 + 1442695040888963407;
        memcpy(work->buffer + i, &sum, sizeof sum);
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", work->file);
    int file = open(path, O_RDWR);
    ssize_t size = pwrite(file, work->buffer, WORK_FILE_BYTES, 0);
    size += fdatasync(file);
    memset(work->buffer, 0, WORK_FILE_BYTES);
    size += pread(file, work->buffer, WORK_FILE_BYTES, 0);
    size += close(file);
    for (size_t i = 0; i + sizeof sum <= WORK_FILE_BYTES; i += sizeof sum) {
        uint64_t word;
        memcpy(&word, work->buffer + i, sizeof word);
        sum = (sum << 9 | sum >> 55) + word;
    }
    words[0] = mix(sum + (uint64_t)size);
    words[1] ^= sum;
}

void stress_work_unit(struct stress_work *work, enum stress_area area, uint64_t turn)
{
    uint64_t *words = work->array + mix(turn + 1) % (WORK_ARRAY_WORDS - 4);
    switch (area) {
    case STRESS_CPU:
        use_cpu(words);
        break;
    case STRESS_MEM:
        use_mem(work, words);
        break;
    case STRESS_IO:
    case STRESS_AREAS:
        use_io(work, words);
        break;
    }
}

uint64_t stress_work_sum(const struct stress_work *work)
{
    uint64_t sum = work->next_chunk;
    for (size_t i = 0; i < WORK_ARRAY_WORDS; i++)
        sum = mix(sum + work->array[i]);
    return sum;
}
