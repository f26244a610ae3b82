// SPDX-License-Identifier: GPL-3.0-or-later
// What is added to the program's code. Each block: whether the library is entered or left. In the
// library and its helpers: each store outside of the library's own frames.
#include "interface/tool/tool.h"

#include <libvex_guest_amd64.h>
#include <pub_tool_debuginfo.h>
#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_machine.h>

static IRExpr *word(HWord value)
{
    return IRExpr_Const(IRConst_U64(value));
}

static IRExpr *keep(IRSB *block, IRType type, IRExpr *value)
{
    IRTemp temp = newIRTemp(block->tyenv, type);
    addStmtToIRSB(block, IRStmt_WrTmp(temp, value));
    return IRExpr_RdTmp(temp);
}

static IRExpr *operation(IRSB *block, IROp op, IRExpr *a, IRExpr *b)
{
    return keep(block, Ity_I64, IRExpr_Binop(op, a, b));
}

static IRExpr *global(IRSB *block, const ULong *variable)
{
    return keep(block, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, word((HWord)variable)));
}

static IRExpr *guest(IRSB *block, Int offset)
{
    return keep(block, Ity_I64, IRExpr_Get(offset, Ity_I64));
}

// 1 if a < b, else 0.
static IRExpr *below(IRSB *block, IRExpr *a, IRExpr *b)
{
    IRExpr *condition = keep(block, Ity_I1, IRExpr_Binop(Iop_CmpLT64U, a, b));
    return keep(block, Ity_I64, IRExpr_Unop(Iop_1Uto64, condition));
}

static IRExpr *is_set(IRSB *block, IRExpr *value)
{
    return keep(block, Ity_I1, IRExpr_Binop(Iop_CmpNE64, value, word(0)));
}

static void add_boundary(IRSB *block, Addr code, enum interface_role role)
{
    IRExpr *sp = guest(block, offsetof(VexGuestAMD64State, guest_RSP));
    IRExpr *crossed = below(block, global(block, &context_limit), sp);
    if (role != INTERFACE_ROLE_HELPER) {
        IRExpr *inside = global(block, &context_inside);
        if (role == INTERFACE_ROLE_LIBRARY)
            inside = operation(block, Iop_Xor64, inside, word(1));
        crossed = operation(block, Iop_Or64, crossed, inside);
    }
    IRDirty *call =
        unsafeIRDirty_0_N(0, "context_boundary", VG_(fnptr_to_fnentry)(context_boundary),
                          mkIRExprVec_3(IRExpr_GSPTR(), word(code), word(role)));
    call->guard = is_set(block, crossed);
    call->nFxState = 2;
    VG_(memset)(call->fxState, 0, sizeof call->fxState);
    call->fxState[0].fx = call->fxState[1].fx = Ifx_Read;
    call->fxState[0].offset = offsetof(VexGuestAMD64State, guest_RAX); // up to r9, with rsp
    call->fxState[0].size =
        offsetof(VexGuestAMD64State, guest_R10) - offsetof(VexGuestAMD64State, guest_RAX);
    call->fxState[1].offset = offsetof(VexGuestAMD64State, guest_YMM0);
    call->fxState[1].size = sizeof(ULong);
    addStmtToIRSB(block, IRStmt_Dirty(call));
}

struct block_state {
    IRSB *block;
    enum interface_role role;
    Addr code; // of the instruction
};

// A store that was just made. `made` is its condition, a word or NULL.
static void add_store(const struct block_state *state, IRExpr *address, UInt size, IRExpr *made)
{
    IRSB *block = state->block;
    tl_assert(size <= INTERFACE_STORE_LIMIT);
    IRExpr *lowest =
        operation(block, Iop_Sub64, guest(block, offsetof(VexGuestAMD64State, guest_RSP)),
                  word(VG_STACK_REDZONE_SZB));
    IRExpr *own_size = operation(block, Iop_Sub64, global(block, &context_entry), lowest);
    IRExpr *outside =
        operation(block, Iop_Xor64,
                  below(block, operation(block, Iop_Sub64, address, lowest), own_size), word(1));
    outside = operation(block, Iop_And64, outside, global(block, &context_inside));
    if (made != NULL)
        outside = operation(block, Iop_And64, outside, made);
    IRExpr *code = state->role == INTERFACE_ROLE_LIBRARY ? word(state->code)
                                                         : global(block, &context_lib_code);
    IRDirty *call = unsafeIRDirty_0_N(0, "stores_record", VG_(fnptr_to_fnentry)(stores_record),
                                      mkIRExprVec_3(code, address, word(size)));
    call->guard = is_set(block, outside);
    addStmtToIRSB(block, IRStmt_Dirty(call));
}

static IRExpr *as_word(IRSB *block, IRExpr *condition)
{
    return keep(block, Ity_I64, IRExpr_Unop(Iop_1Uto64, condition));
}

static void add_compare_and_swap(const struct block_state *state, const IRCAS *cas)
{
    IRSB *block = state->block;
    IRType type = typeOfIRExpr(block->tyenv, cas->dataLo);
    UInt size = sizeofIRType(type);
    IRExpr *made = NULL;
    if (cas->oldHi == IRTemp_INVALID) {
        IROp compare = size == 1   ? Iop_CasCmpEQ8
                       : size == 2 ? Iop_CasCmpEQ16
                       : size == 4 ? Iop_CasCmpEQ32
                                   : Iop_CasCmpEQ64;
        made = as_word(block, keep(block, Ity_I1,
                                   IRExpr_Binop(compare, IRExpr_RdTmp(cas->oldLo), cas->expdLo)));
    } else {
        size *= 2;
    }
    add_store(state, cas->addr, size, made);
}

static void add_after(const struct block_state *state, const IRStmt *statement)
{
    IRSB *block = state->block;
    switch (statement->tag) {
    case Ist_Store:
        add_store(state, statement->Ist.Store.addr,
                  sizeofIRType(typeOfIRExpr(block->tyenv, statement->Ist.Store.data)), NULL);
        break;
    case Ist_StoreG: {
        const IRStoreG *store = statement->Ist.StoreG.details;
        add_store(state, store->addr, sizeofIRType(typeOfIRExpr(block->tyenv, store->data)),
                  as_word(block, store->guard));
        break;
    }
    case Ist_CAS:
        add_compare_and_swap(state, statement->Ist.CAS.details);
        break;
    case Ist_Dirty: {
        const IRDirty *call = statement->Ist.Dirty.details;
        // The state of the floating point unit, with xsave, is larger than a store; nobody keeps
        // data there.
        if ((call->mFx == Ifx_Write || call->mFx == Ifx_Modify) &&
            call->mSize <= INTERFACE_STORE_LIMIT)
            add_store(state, call->mAddr, call->mSize, as_word(block, call->guard));
        break;
    }
    default:
        break;
    }
}

// The processor's counter of cycles is a clock, too.
static IRStmt *without_cycles(IRStmt *statement)
{
    if (statement->tag != Ist_Dirty ||
        VG_(strcmp)(statement->Ist.Dirty.details->cee->name, "amd64g_dirtyhelper_RDTSC") != 0)
        return statement;
    IRDirty *call = deepCopyIRDirty(statement->Ist.Dirty.details);
    call->cee = mkIRCallee(0, "virtual_cycles", VG_(fnptr_to_fnentry)(virtual_cycles));
    return IRStmt_Dirty(call);
}

// Stubs that lead to other modules are no place that a person knows.
static Bool is_stub(Addr code)
{
    VgSectKind kind = VG_(DebugInfo_sect_kind)(NULL, code);
    return kind == Vg_SectPLT || kind == Vg_SectGOTPLT;
}

IRSB *instrument(VgCallbackClosure *closure, IRSB *old, const VexGuestLayout *layout,
                 const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
                 IRType host_word)
{
    struct block_state state = {.block = deepCopyIRSBExceptStmts(old),
                                .role = modules_role(closure->nraddr),
                                .code = closure->nraddr};
    Int i = 0;
    for (; i < old->stmts_used && old->stmts[i]->tag != Ist_IMark; i++)
        addStmtToIRSB(state.block, old->stmts[i]);
    Bool records = state.role == INTERFACE_ROLE_LIBRARY || state.role == INTERFACE_ROLE_HELPER;
    for (Bool first = True; i < old->stmts_used; i++) {
        IRStmt *statement = old->stmts[i];
        if (statement->tag == Ist_IMark)
            state.code = statement->Ist.IMark.addr;
        addStmtToIRSB(state.block, without_cycles(statement));
        if (first)
            add_boundary(state.block, state.code,
                         state.role == INTERFACE_ROLE_NONE ? INTERFACE_ROLE_HELPER : state.role);
        first = False;
        if (records)
            add_after(&state, statement);
    }
    if (state.role == INTERFACE_ROLE_LIBRARY && !is_stub(state.code))
        addStmtToIRSB(state.block,
                      IRStmt_Store(Iend_LE, word((HWord)&context_lib_code), word(state.code)));
    return state.block;
}
