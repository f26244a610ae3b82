// SPDX-License-Identifier: GPL-3.0-or-later
// gdb's remote protocol: "$TEXT#SUM", each acknowledged by "+".
#include "guest/gdb.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PACKET_MOST 2048 // bytes of an answer that is of any use here

static struct error *send_packet(struct guest_gdb *gdb, const char *text)
{
    _cleanup_(buffer_deinit) struct buffer packet = {0};
    unsigned sum = 0;
    for (const char *c = text; *c != '\0'; c++)
        sum += (unsigned char)*c;
    TRY(buffer_printf(&packet, "$%s#%02x", text, sum & 0xff));
    return guest_link_send(&gdb->link, packet.data, packet.size);
}

// Takes the first packet of what has come; the caller acknowledges it. False if there is no whole
// one yet.
static bool next_packet(struct guest_gdb *gdb, char text[PACKET_MOST])
{
    struct buffer *in = &gdb->link.in;
    const char *start = in->size != 0 ? memchr(in->data, '$', in->size) : NULL;
    if (start == NULL) { // acknowledgements of ours
        if (in->size != 0)
            guest_link_drop(&gdb->link, in->size);
        return false;
    }
    size_t first = (size_t)(start - in->data) + 1;
    const char *end = memchr(in->data + first, '#', in->size - first);
    if (end == NULL || (size_t)(end - in->data) + 3 > in->size)
        return false;
    size_t size = (size_t)(end - (in->data + first));
    size_t kept = size < PACKET_MOST - 1 ? size : PACKET_MOST - 1;
    memcpy(text, in->data + first, kept);
    text[kept] = '\0';
    guest_link_drop(&gdb->link, first + size + 3);
    return true;
}

static struct error *acknowledge(struct guest_gdb *gdb)
{
    return guest_link_send(&gdb->link, "+", 1);
}

// Whether a packet says that the machine stopped: these also come without a question.
static bool is_stop(const char *text)
{
    return text[0] == 'T' || text[0] == 'S';
}

static struct error *ask(struct guest_gdb *gdb, const char *question, uint64_t deadline_ns,
                         char answer[PACKET_MOST])
{
    bool in_time = true;
    TRY(send_packet(gdb, question));
    for (;;) {
        while (next_packet(gdb, answer)) {
            TRY(acknowledge(gdb));
            if (!is_stop(answer) || question[0] == '?')
                return NULL;
        }
        if (!in_time)
            return error_new("QEMU's gdb stub did not answer in time");
        TRY(guest_link_wait(&gdb->link, deadline_ns, &in_time));
    }
}

static struct error *demand(struct guest_gdb *gdb, const char *question, uint64_t deadline_ns)
{
    char answer[PACKET_MOST];
    TRY(ask(gdb, question, deadline_ns, answer));
    if (strcmp(answer, "OK") == 0)
        return NULL;
    return error_new("QEMU's gdb stub refuses '%.40s' (%.20s)", question,
                     *answer != '\0' ? answer : "unknown");
}

struct error *guest_gdb_start(struct guest_gdb *gdb, uint64_t deadline_ns)
{
    char answer[PACKET_MOST];
    return ask(gdb, "?", deadline_ns, answer);
}

struct error *guest_gdb_breakpoint(struct guest_gdb *gdb, bool set, bool hardware, uint64_t address,
                                   uint64_t deadline_ns)
{
    char text[64];
    snprintf(text, sizeof text, "%c%c,%llx,1", set ? 'Z' : 'z', hardware ? '1' : '0',
             (unsigned long long)address);
    return demand(gdb, text, deadline_ns);
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(const char *text, unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        int high = digit(text[2 * i]), low = high < 0 ? -1 : digit(text[2 * i + 1]);
        if (low < 0)
            return false;
        bytes[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

// Addresses are the machine's (1) or the processor's (0).
static struct error *use_physical(struct guest_gdb *gdb, bool physical, uint64_t deadline_ns)
{
    return demand(gdb, physical ? "Qqemu.PhyMemMode:1" : "Qqemu.PhyMemMode:0", deadline_ns);
}

struct error *guest_gdb_read_virtual(struct guest_gdb *gdb, uint64_t address, void *ret_bytes,
                                     size_t size, uint64_t deadline_ns)
{
    char text[64], answer[PACKET_MOST];
    unsigned char bytes[GUEST_GDB_MOST];
    snprintf(text, sizeof text, "m%llx,%zx", (unsigned long long)address, size);
    TRY(ask(gdb, text, deadline_ns, answer));
    if (size > sizeof bytes || strlen(answer) != 2 * size || !read_hex(answer, bytes, size))
        return error_new("QEMU's gdb stub cannot read the guest's memory at %#llx",
                         (unsigned long long)address);
    memcpy(ret_bytes, bytes, size);
    return NULL;
}

struct error *guest_gdb_read(struct guest_gdb *gdb, uint64_t physical, void *ret_bytes, size_t size,
                             uint64_t deadline_ns)
{
    TRY(use_physical(gdb, true, deadline_ns));
    TRY(guest_gdb_read_virtual(gdb, physical, ret_bytes, size, deadline_ns));
    return use_physical(gdb, false, deadline_ns);
}

struct error *guest_gdb_write(struct guest_gdb *gdb, uint64_t physical, const void *bytes,
                              size_t size, uint64_t deadline_ns)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(use_physical(gdb, true, deadline_ns));
    TRY(buffer_printf(&text, "M%llx,%zx:", (unsigned long long)physical, size));
    for (size_t i = 0; i < size; i++)
        TRY(buffer_printf(&text, "%02x", ((const unsigned char *)bytes)[i]));
    TRY(demand(gdb, text.data, deadline_ns));
    return use_physical(gdb, false, deadline_ns);
}

// All registers at once: rip follows the sixteen general ones, in the machine's order of bytes.
// QEMU tells of single registers only to whoever has read its description of them.
struct error *guest_gdb_registers(struct guest_gdb *gdb, uint64_t deadline_ns,
                                  struct guest_registers *ret_registers)
{
    char answer[PACKET_MOST];
    unsigned char bytes[17 * 8];
    uint64_t values[17] = {0};
    TRY(ask(gdb, "g", deadline_ns, answer));
    if (strlen(answer) < 2 * sizeof bytes || !read_hex(answer, bytes, sizeof bytes))
        return error_new("QEMU's gdb stub does not tell where the processor is");
    for (size_t i = sizeof bytes; i-- > 0;)
        values[i / 8] = values[i / 8] << 8 | bytes[i];
    memcpy(ret_registers->general, values, sizeof ret_registers->general);
    ret_registers->place = values[16];
    return NULL;
}

// "s" would let the other processors run meanwhile, past a breakpoint that is not set.
struct error *guest_gdb_continue(struct guest_gdb *gdb, bool one)
{
    char text[32];
    if (!one || *gdb->thread == '\0')
        return send_packet(gdb, one ? "s" : "c");
    snprintf(text, sizeof text, "vCont;s:%s", gdb->thread);
    return send_packet(gdb, text);
}

// "T05thread:02;…"
static void note_thread(struct guest_gdb *gdb, const char *stop)
{
    static const char key[] = "thread:";
    const char *name = strstr(stop, key);
    gdb->thread[0] = '\0';
    if (name == NULL)
        return;
    name += sizeof key - 1;
    size_t size = strspn(name, "0123456789abcdef");
    if (size < sizeof gdb->thread)
        *(char *)mempcpy(gdb->thread, name, size) = '\0';
}

struct error *guest_gdb_take_stop(struct guest_gdb *gdb, bool *ret_stopped)
{
    char text[PACKET_MOST];
    *ret_stopped = false;
    TRY(guest_link_receive(&gdb->link));
    while (next_packet(gdb, text)) {
        if (is_stop(text))
            note_thread(gdb, text);
        *ret_stopped |= is_stop(text);
        if (gdb->link.socket >= 0)
            TRY(acknowledge(gdb));
    }
    return NULL;
}
