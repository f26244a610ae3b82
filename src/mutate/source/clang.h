// SPDX-License-Identifier: GPL-3.0-or-later
// libclang, loaded when a source file is looked at: only few commands need it, and it is large.
#ifndef ORDEAL_MUTATE_SOURCE_CLANG_H
#define ORDEAL_MUTATE_SOURCE_CLANG_H

#include "base/error.h"

#include <clang-c/Index.h>

#define CLANG_FUNCTIONS(X)                                                                         \
    X(createIndex)                                                                                 \
    X(disposeIndex)                                                                                \
    X(parseTranslationUnit2FullArgv)                                                               \
    X(disposeTranslationUnit)                                                                      \
    X(getTranslationUnitCursor)                                                                    \
    X(getNumDiagnostics)                                                                           \
    X(getDiagnostic)                                                                               \
    X(getDiagnosticSeverity)                                                                       \
    X(formatDiagnostic)                                                                            \
    X(defaultDiagnosticDisplayOptions)                                                             \
    X(disposeDiagnostic)                                                                           \
    X(visitChildren)                                                                               \
    X(getCursorKind)                                                                               \
    X(equalCursors)                                                                                \
    X(getCursorLocation)                                                                           \
    X(getCursorExtent)                                                                             \
    X(getRangeStart)                                                                               \
    X(getRangeEnd)                                                                                 \
    X(getPresumedLocation)                                                                         \
    X(getExpansionLocation)                                                                        \
    X(getSpellingLocation)                                                                         \
    X(Location_isInSystemHeader)                                                                   \
    X(isCursorDefinition)                                                                          \
    X(getCursorReferenced)                                                                         \
    X(getCursorSpelling)                                                                           \
    X(getCursorType)                                                                               \
    X(getCanonicalType)                                                                            \
    X(getUnqualifiedType)                                                                          \
    X(equalTypes)                                                                                  \
    X(isConstQualifiedType)                                                                        \
    X(getCursorBinaryOperatorKind)                                                                 \
    X(getCursorUnaryOperatorKind)                                                                  \
    X(Cursor_getNumArguments)                                                                      \
    X(Cursor_getStorageClass)                                                                      \
    X(getLocationForOffset)                                                                        \
    X(getFileContents)                                                                             \
    X(getFileName)                                                                                 \
    X(getCString)                                                                                  \
    X(disposeString)

struct clang {
#define CLANG_FIELD(name) __typeof__(clang_##name) *name;
    CLANG_FUNCTIONS(CLANG_FIELD)
#undef CLANG_FIELD
};

// Valid after clang_need() has succeeded.
extern struct clang clang;
_must_check_ struct error *clang_need(void);

#endif
