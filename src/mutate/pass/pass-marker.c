// SPDX-License-Identifier: GPL-3.0-or-later
// Markers: where code may leave for its faulty copies, and the records that say so. A marker is a
// nop of five bytes in an assembly statement that may jump. The statement also writes the marker's
// record, so that whoever copies the code copies the record as well.
#include "mutate/pass/pass.h"

#include "mutate/pass/shim.h"

#include <inttypes.h>
#include <string.h>

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
        pass_must(buffer_printf(text, ".Lordeal_base_%" PRIx64 "\n", subject->id));
    else
        pass_must(buffer_printf(text, ".Lordeal${:uid}\n"));
}

void pass_put_base(struct pass *pass, const struct pass_function *subject)
{
    if (!is_near(pass, subject))
        return;
    struct buffer text = {0}, labels = {0};
    pass_must(buffer_printf(&text, ".Lordeal_base_%" PRIx64 ":\n", subject->id));
    open_section(pass, subject, &text);
    if (subject->together)
        pass_must(buffer_printf(&text,
                                "\t.byte %d\n\t.uleb128 .Lordeal_base_%" PRIx64 " - " TWINS_LABEL
                                "\n\t.quad 0x%" PRIx64 "\n\t.popsection\n",
                                MARK_NEXT, subject->id, subject->id));
    else
        pass_must(buffer_printf(
            &text, "\t.byte %d\n\t.quad .Lordeal_base_%" PRIx64 ", 0x%" PRIx64 "\n\t.popsection\n",
            MARK_BASE, subject->id, subject->id));
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

static void write_near(const struct pass_function *subject, const struct pass_marker *marker,
                       struct buffer *text)
{
    size_t before = 0;
    pass_must(buffer_printf(text,
                            "\t.uleb128 %zu\n"
                            "\t.uleb128 .Lordeal${:uid} - .Lordeal_base_%" PRIx64 "\n",
                            marker->number_count * MARK_KINDS + MARK_NEAR, subject->id));
    for (size_t i = 0; i < marker->number_count; i++) {
        pass_must(buffer_printf(
            text, "\t.uleb128 ${%zu:l} - .Lordeal_base_%" PRIx64 "\n\t.uleb128 %zu\n",
            marker->numbers[i].target, subject->id, marker->numbers[i].number - before));
        before = marker->numbers[i].number;
    }
}

static void write_far(const struct pass_function *subject, const struct pass_marker *marker,
                      struct buffer *text)
{
    size_t before = 0;
    pass_must(buffer_printf(text, "\t.uleb128 %zu\n\t.quad .Lordeal${:uid}, 0x%" PRIx64 "\n",
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
    pass_must(buffer_printf(&text, ".Lordeal${:uid}:\n\t.byte 15, 31, 68, 0, 0\n"));
    open_section(pass, subject, &text);
    if (is_near(pass, subject))
        write_near(subject, marker, &text);
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
    buffer_deinit(&text);
    buffer_deinit(&labels);
}
