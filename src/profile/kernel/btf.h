// SPDX-License-Identifier: GPL-3.0-or-later
// The types in section .BTF of a kernel image: parameters and results of functions, and members of
// structures. Types are referred to by number; 0 is none.
#ifndef ORDEAL_PROFILE_KERNEL_BTF_H
#define ORDEAL_PROFILE_KERNEL_BTF_H

#include "elf/object.h"

struct btf;

// If there are no types, *ret_btf is NULL. `object` must outlive them. Broken types are left out.
_must_check_ struct error *btf_open(const struct elf_object *object, struct btf **ret_btf);
void btf_close(struct btf *btf);

// The structure or union with a name.
uint32_t btf_structure(const struct btf *btf, const char *name);

// The structure that a parameter (from 0) or the result of a function points to.
uint32_t btf_parameter(const struct btf *btf, const char *function, size_t name_size,
                       unsigned index);
uint32_t btf_result(const struct btf *btf, const char *function, size_t name_size);

// The structure that the pointer at an offset of a structure points to.
uint32_t btf_pointer_at(const struct btf *btf, uint32_t structure, uint64_t offset);
// The offset of a direct member of a structure in bytes; UINT64_MAX if there is none.
uint64_t btf_offset(const struct btf *btf, uint32_t structure, const char *member);

#endif
