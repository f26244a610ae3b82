// SPDX-License-Identifier: GPL-3.0-or-later
// Remembers where macros are used while the compiler reads the source, which files are headers, and
// what the compiler has been asked for.
// Debug information gives all code of a macro the place of the macro's name, so code at such a
// place comes out of a macro.
#include "mutate/pass/shim.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendPluginRegistry.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/Support/Path.h>

using namespace clang;

// File names by place. Files in several directories may use a macro at the same line and column.
static llvm::StringMap<llvm::SmallVector<std::string, 1>> uses;

static llvm::StringSet<> headers, system_headers;
static bool writes_object;

static std::string key_of(llvm::StringRef file, unsigned line, unsigned column)
{
    return (llvm::sys::path::filename(file) + ":" + llvm::Twine(line) + ":" + llvm::Twine(column))
        .str();
}

namespace
{
struct MacroWatcher : PPCallbacks {
    const SourceManager &sources;
    unsigned entered = 0;
    explicit MacroWatcher(const SourceManager &sources) : sources(sources) {}

    // The source itself is the first file that is entered. One that was preprocessed names in its
    // lines the files that were.
    void FileChanged(SourceLocation at, FileChangeReason reason, SrcMgr::CharacteristicKind kind,
                     FileID) override
    {
        PresumedLoc place = sources.getPresumedLoc(at);
        if (place.isInvalid())
            return;
        if (SrcMgr::isSystem(kind))
            system_headers.insert(place.getFilename());
        if (reason == EnterFile && entered++ != 0)
            headers.insert(place.getFilename());
    }

    void MacroExpands(const Token &, const MacroDefinition &, SourceRange range,
                      const MacroArgs *) override
    {
        if (!range.getBegin().isFileID())
            return; // within another macro, which counts
        PresumedLoc place = sources.getPresumedLoc(range.getBegin());
        if (place.isInvalid())
            return;
        auto &files = uses[key_of(place.getFilename(), place.getLine(), place.getColumn())];
        if (!llvm::is_contained(files, place.getFilename()))
            files.push_back(place.getFilename());
    }
};

struct MacroAction : PluginASTAction {
    std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &compiler,
                                                   llvm::StringRef) override
    {
        writes_object = compiler.getFrontendOpts().ProgramAction == frontend::EmitObj;
        compiler.getPreprocessor().addPPCallbacks(
            std::make_unique<MacroWatcher>(compiler.getSourceManager()));
        return std::make_unique<ASTConsumer>();
    }
    bool ParseArgs(const CompilerInstance &, const std::vector<std::string> &) override
    {
        return true;
    }
    ActionType getActionType() override { return AddBeforeMainAction; }
};
} // namespace

static FrontendPluginRegistry::Add<MacroAction> registered("ordeal-macros",
                                                           "where macros are used");

// Whether two names may be the same file. Names in debug information may lack leading directories.
static bool same_file(llvm::StringRef a, llvm::StringRef b)
{
    return a.ends_with(b) || b.ends_with(a);
}

bool shim_is_macro(const char *file, unsigned line, unsigned column)
{
    auto found = uses.find(key_of(file, line, column));
    if (found == uses.end())
        return false;
    return llvm::any_of(found->second,
                        [&](const std::string &name) { return same_file(name, file); });
}

bool shim_is_header(const char *file, size_t size)
{
    return headers.contains(llvm::StringRef(file, size));
}

bool shim_is_system_header(const char *file, size_t size)
{
    return system_headers.contains(llvm::StringRef(file, size));
}

bool shim_writes_object(void)
{
    return writes_object;
}
