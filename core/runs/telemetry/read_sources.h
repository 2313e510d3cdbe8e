#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Front door of the room: files and folders of a run in, one recording out. Each file is recognised by what is in it
// (never by its name alone), and is read, or refused with a sentence that names what it is; one bad file never spoils
// the others. Files are read by several threads; nothing is kept of a file beside what its recording holds.

#include "core/base/error.h"
#include "core/runs/telemetry/recording.h"

#include <functional>
#include <memory>
#include <span>
#include <stop_token>

namespace trainyard {

/// kernel_classes.h
class KernelClasses;
/// source_stream.h
class SourceStream;
/// line_pattern.h
class LinePattern;

struct SourceOptions {
    std::stop_token stop = {};
    /// of the bytes of this file; called from the reading thread
    std::function<void(double share)> progress = {};
    /// operators and calls of the host, of profiler traces (their links are kept anyway)
    bool keepsHostSpans = false;
    /// of profiler traces with stacks: most of their events
    bool keepsPythonFunctions = false;
    /// of the user, for lines of logs; may be null
    std::shared_ptr<const LinePattern> linePattern = {};
    /// what kernels do, by name; nullptr: the built-in table
    const KernelClasses *kernels = nullptr;
    /// bytes of a compressed file
    std::int64_t mostUnpacked = std::int64_t(8) << 30;
};

/// What a reader is given: the bytes of a file, unpacked where they were gzip. Padded by kSourcePadding zero bytes
/// behind `text`, so that simdjson may read on.
inline constexpr std::size_t kSourcePadding = 64;
struct SourceText {
    /// as given
    std::string file;
    std::string_view text;
    std::int64_t packedBytes = 0;
    /// its gzip ends early
    bool isTruncated = false;
};

/// One reader: it recognises its files by their bytes, and makes a recording with one source of them. Readers are plain
/// functions; `looksLike` answers how sure it is from the first bytes (0 no, 100 certain), the surest reads.
struct SourceReader {
    SourceKind kind;
    /// head: up to 64 KiB
    int (*looksLike)(std::string_view fileName, std::string_view head);
    /// Errors: BadSyntax with line or byte, where nothing of it can be used. Truncated or partly bad files are read as
    /// far as they go. One that is stopped answers anything: readSource() makes Cancelled of it.
    Expected<Recording> (*read)(const SourceText &source, const SourceOptions &options);
    /// it is recognised to be named: `read` says why it is not read
    bool isRefused = false;
    /// The same, of files that may be longer than memory: block by block. nullptr: `read` is given the whole.
    Expected<Recording> (*readStream)(SourceStream &stream, const SourceOptions &options) = nullptr;
};
/// All of them (readers.cpp lists those of the folder readers/).
[[nodiscard]] std::span<const SourceReader> sourceReaders();
/// Of the surest reader; nullptr where nobody knows the file.
[[nodiscard]] const SourceReader *readerFor(std::string_view fileName, std::string_view head);

/// The bytes of a file, unpacked. Errors: CannotRead; OutOfRange where it unpacks to more than it may (a ratio of 200 :
/// 1 beyond a megabyte, or mostUnpacked).
struct SourceFile {
    /// with the padding
    std::string bytes;
    SourceText text;
};
[[nodiscard]] Expected<SourceFile> openSource(const std::string &path, const SourceOptions &options);

/// One file. A file that nobody knows is a recording with a refused source.
[[nodiscard]] Expected<Recording> readSource(const std::string &path, const SourceOptions &options);

/// Files and folders (walked, sorted by name; hidden and *.tmp files left out), read by `threads`, merged.
struct SourcesProgress {
    /// share: of the bytes
    std::function<void(std::size_t filesDone, std::size_t files, double share)> report = {};
    /// from the reading thread
    std::function<void(const std::string &file)> began = {};
};
[[nodiscard]] Expected<Recording> readSources(const std::vector<std::string> &paths, const SourceOptions &options,
    int threads, const SourcesProgress &progress = {});

} // namespace trainyard
