// SPDX-License-Identifier: GPL-3.0-or-later
// Markers: where code may leave for its faulty copies, and the records that say so. A marker is a
// nop of five bytes in an assembly statement that may jump. The statement also writes the marker's
// record, so that whoever copies the code copies the record as well. A large module has thousands
// of them, and the assembler keeps text, numbers and labels of all: so labels are short, and
// numbers that are known are bytes of a string.
#include "mutate/pass/pass.h"

#include "mutate/pass/shim.h"

#include <inttypes.h>
#include <string.h>

#define MARK_LABEL ".Lom${:uid}"
#define BASE_LABEL ".Lob%zu" // with base_number()

static size_t base_number(const struct pass *pass, const struct pass_function *subject)
{
    return (size_t)(subject - pass->functions.items);
}

// Whether all code of the function stays in one section that nothing else gets into, so that
// records can say where a place is from the function's beginning.
static bool is_near(const struct pass *pass, const struct pass_function *subject)
{
    return subject->twin != NULL && !pass->options.lto && !pass->options.scattered;
}

static LLVMValueRef assembly(struct pass *pass, LLVMTypeRef type, const struct buffer *text,
                             const struct buffer *labels)
{
    return LLVMGetInlineAsm(type, text->data, text->size, labels->size != 0 ? labels->data : "",
                            labels->size, true, false, LLVMInlineAsmDialectATT, false);
}

static void set_attribute(struct pass *pass, LLVMValueRef call, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(pass->context, kind, 0));
}

// Opens the section of records, and ties it to the code for the linker.
static void open_section(const struct pass *pass, const struct pass_function *subject,
                         struct buffer *text)
{
    pass_must(buffer_printf(text, "\t.pushsection " MARK_SECTION ",\"?o\",@progbits,"));
    if (is_near(pass, subject) && subject->together)
        pass_must(buffer_printf(text, TWINS_LABEL "\n"));
    else if (is_near(pass, subject))
        pass_must(buffer_printf(text, BASE_LABEL "\n", base_number(pass, subject)));
    else
        pass_must(buffer_printf(text, MARK_LABEL "\n"));
}

static void write_bytes(const unsigned char *bytes, size_t size, struct buffer *text)
{
    pass_must(buffer_printf(text, "\t.ascii \""));
    for (size_t i = 0; i < size; i++)
        pass_must(buffer_printf(text, "\\%03o", bytes[i]));
    pass_must(buffer_printf(text, "\"\n"));
}

// As .uleb128 does.
static void write_number(size_t number, struct buffer *text)
{
    unsigned char bytes[10];
    size_t size = 0;
    do {
        bytes[size++] = (unsigned char)((number & 0x7f) | (number > 0x7f ? 0x80 : 0));
        number >>= 7;
    } while (number != 0);
    write_bytes(bytes, size, text);
}

void pass_put_base(struct pass *pass, const struct pass_function *subject)
{
    if (!is_near(pass, subject))
        return;
    struct buffer text = {0}, labels = {0};
    size_t base = base_number(pass, subject);
    pass_must(buffer_printf(&text, BASE_LABEL ":\n", base));
    open_section(pass, subject, &text);
    if (subject->together)
        pass_must(buffer_printf(&text,
                                "\t.byte %d\n\t.uleb128 " BASE_LABEL " - " TWINS_LABEL
                                "\n\t.quad 0x%" PRIx64 "\n\t.popsection\n",
                                MARK_NEXT, base, subject->id));
    else
        pass_must(buffer_printf(
            &text, "\t.byte %d\n\t.quad " BASE_LABEL ", 0x%" PRIx64 "\n\t.popsection\n", MARK_BASE,
            base, subject->id));
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(subject->twin);
    LLVMValueRef place = LLVMGetFirstInstruction(entry);
    while (LLVMIsAAllocaInst(place) != NULL)
        place = LLVMGetNextInstruction(place);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(pass->context);
    LLVMPositionBuilderBefore(builder, place);
    LLVMSetInstDebugLocation(builder, place);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(pass->context), NULL, 0, false);
    LLVMValueRef call =
        LLVMBuildCall2(builder, type, assembly(pass, type, &text, &labels), NULL, 0, "");
    set_attribute(pass, call, "nounwind");
    LLVMDisposeBuilder(builder);
    buffer_deinit(&text);
}

static void write_near(size_t base, const struct pass_marker *marker, struct buffer *text)
{
    size_t before = 0;
    write_number(marker->number_count * MARK_KINDS + MARK_NEAR, text);
    pass_must(buffer_printf(text, "\t.uleb128 " MARK_LABEL " - " BASE_LABEL "\n", base));
    for (size_t i = 0; i < marker->number_count; i++) {
        pass_must(buffer_printf(text, "\t.uleb128 ${%zu:l} - " BASE_LABEL "\n",
                                marker->numbers[i].target, base));
        write_number(marker->numbers[i].number - before, text);
        before = marker->numbers[i].number;
    }
}

static void write_far(const struct pass_function *subject, const struct pass_marker *marker,
                      struct buffer *text)
{
    size_t before = 0;
    pass_must(buffer_printf(text, "\t.uleb128 %zu\n\t.quad " MARK_LABEL ", 0x%" PRIx64 "\n",
                            marker->number_count * MARK_KINDS + MARK_FAR, subject->id));
    for (size_t i = 0; i < marker->number_count; i++) {
        pass_must(buffer_printf(text, "\t.quad ${%zu:l}\n\t.uleb128 %zu\n",
                                marker->numbers[i].target, marker->numbers[i].number - before));
        before = marker->numbers[i].number;
    }
}

void pass_put_marker(struct pass *pass, const struct pass_function *subject,
                     const struct pass_marker *marker, LLVMBuilderRef builder)
{
    struct buffer text = {0}, labels = {0};
    pass_must(buffer_printf(&text, MARK_LABEL ":\n"));
    write_bytes(mark_nop, sizeof mark_nop, &text);
    open_section(pass, subject, &text);
    if (is_near(pass, subject))
        write_near(base_number(pass, subject), marker, &text);
    else
        write_far(subject, marker, &text);
    pass_must(buffer_printf(&text, "\t.popsection\n"));
    for (size_t i = 0; i < marker->target_count; i++)
        pass_must(buffer_printf(&labels, "%s!i", i == 0 ? "" : ","));
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(pass->context), NULL, 0, false);
    LLVMValueRef call =
        LLVMBuildCallBr(builder, type, assembly(pass, type, &text, &labels), marker->next,
                        marker->targets, (unsigned)marker->target_count, NULL, 0, NULL, 0, "");
    set_attribute(pass, call, "nounwind");
    set_attribute(pass, call, "memory"); // of value 0: none
    if (pass->options.fits && subject->twin != NULL && subject->candidates.count != 0)
        pass_note_marker(pass, subject, marker, call);
    buffer_deinit(&text);
    buffer_deinit(&labels);
}
