// SPDX-License-Identifier: GPL-3.0-or-later
// Markers: where code may leave for its faulty copies, and the records that say so. A marker is a
// nop of five bytes in an assembly statement that may jump. The statement also writes the marker's
// record, so that whoever copies the code copies the record as well. A large module has thousands
// of them, the compiler keeps each text that differs, and the assembler text and labels of all: so
// numbers are operands, and markers with as many targets have the same text; and labels are short.
#include "mutate/pass/pass.h"

#include "mutate/pass/shim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK_LABEL   ".Lom${:uid}"
#define BASE_LABEL   ".Lob%zu" // with base_number()
#define BASE_OPERAND ".Lob${0:c}"

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
                         const char *base, struct buffer *text)
{
    pass_must(buffer_printf(text, ".pushsection " MARK_SECTION ",\"?o\",@progbits,"));
    if (is_near(pass, subject) && subject->together)
        pass_must(buffer_printf(text, TWINS_LABEL "\n"));
    else if (is_near(pass, subject))
        pass_must(buffer_printf(text, "%s\n", base));
    else
        pass_must(buffer_printf(text, MARK_LABEL "\n"));
}

static void write_bytes(const unsigned char *bytes, size_t size, struct buffer *text)
{
    pass_must(buffer_printf(text, ".ascii \""));
    for (size_t i = 0; i < size; i++)
        pass_must(buffer_printf(text, "\\%o", bytes[i]));
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
    char label[32];
    snprintf(label, sizeof label, BASE_LABEL, base);
    pass_must(buffer_printf(&text, "%s:\n", label));
    open_section(pass, subject, label, &text);
    if (subject->together)
        pass_must(buffer_printf(&text,
                                ".byte %d\n.uleb128 " BASE_LABEL " - " TWINS_LABEL
                                "\n.quad 0x%" PRIx64 "\n.popsection\n",
                                MARK_NEXT, base, subject->id));
    else
        pass_must(buffer_printf(&text,
                                ".byte %d\n.quad " BASE_LABEL ", 0x%" PRIx64 "\n.popsection\n",
                                MARK_BASE, base, subject->id));
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

// Operands are the number of the base and the distances of candidates' numbers, then labels.
static void write_near(const struct pass_marker *marker, struct buffer *text)
{
    write_number(marker->number_count * MARK_KINDS + MARK_NEAR, text);
    pass_must(buffer_printf(text, ".uleb128 " MARK_LABEL "-" BASE_OPERAND "\n"));
    for (size_t i = 0; i < marker->number_count; i++)
        pass_must(buffer_printf(text, ".uleb128 ${%zu:l}-" BASE_OPERAND "\n.uleb128 ${%zu:c}\n",
                                1 + marker->number_count + marker->numbers[i].target, 1 + i));
}

static size_t near_operands(const struct pass *pass, const struct pass_function *subject,
                            const struct pass_marker *marker, LLVMValueRef *operands)
{
    LLVMTypeRef word = LLVMInt64TypeInContext(pass->context);
    size_t count = 0, before = 0;
    operands[count++] = LLVMConstInt(word, base_number(pass, subject), false);
    for (size_t i = 0; i < marker->number_count; i++) {
        operands[count++] = LLVMConstInt(word, marker->numbers[i].number - before, false);
        before = marker->numbers[i].number;
    }
    return count;
}

static void write_far(const struct pass_function *subject, const struct pass_marker *marker,
                      struct buffer *text)
{
    size_t before = 0;
    pass_must(buffer_printf(text, ".uleb128 %zu\n.quad " MARK_LABEL ", 0x%" PRIx64 "\n",
                            marker->number_count * MARK_KINDS + MARK_FAR, subject->id));
    for (size_t i = 0; i < marker->number_count; i++) {
        pass_must(buffer_printf(text, ".quad ${%zu:l}\n.uleb128 %zu\n", marker->numbers[i].target,
                                marker->numbers[i].number - before));
        before = marker->numbers[i].number;
    }
}

void pass_put_marker(struct pass *pass, const struct pass_function *subject,
                     const struct pass_marker *marker, LLVMBuilderRef builder)
{
    struct buffer text = {0}, labels = {0};
    bool near = is_near(pass, subject);
    LLVMValueRef *operands = calloc(1 + marker->number_count, sizeof(LLVMValueRef));
    LLVMTypeRef *types = calloc(1 + marker->number_count, sizeof(LLVMTypeRef));
    if (operands == NULL || types == NULL)
        pass_must(error_no_memory());
    size_t count = near ? near_operands(pass, subject, marker, operands) : 0;
    for (size_t i = 0; i < count; i++)
        types[i] = LLVMTypeOf(operands[i]);
    pass_must(buffer_printf(&text, MARK_LABEL ":\n"));
    write_bytes(mark_nop, sizeof mark_nop, &text);
    open_section(pass, subject, BASE_OPERAND, &text);
    if (near)
        write_near(marker, &text);
    else
        write_far(subject, marker, &text);
    pass_must(buffer_printf(&text, ".popsection\n"));
    for (size_t i = 0; i < count + marker->target_count; i++)
        pass_must(buffer_printf(&labels, "%s%s", i == 0 ? "" : ",", i < count ? "i" : "!i"));
    LLVMTypeRef type =
        LLVMFunctionType(LLVMVoidTypeInContext(pass->context), types, (unsigned)count, false);
    LLVMValueRef call = LLVMBuildCallBr(
        builder, type, assembly(pass, type, &text, &labels), marker->next, marker->targets,
        (unsigned)marker->target_count, operands, (unsigned)count, NULL, 0, "");
    free(operands);
    free(types);
    set_attribute(pass, call, "nounwind");
    set_attribute(pass, call, "memory"); // of value 0: none
    if (pass->options.fits && subject->twin != NULL && subject->candidates.count != 0)
        pass_note_marker(pass, subject, marker, call);
    buffer_deinit(&text);
    buffer_deinit(&labels);
}
