// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/read_sources.h"
#include "core/runs/telemetry/file/check_recording.h"
#include "core/runs/telemetry/join_event_files.h"
#include "core/runs/telemetry/readers/training_logs.h"
#include "core/runs/telemetry/source_stream.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <thread>

namespace trainyard {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHead = std::size_t(64) << 10;

Recording refusedSource(const std::string &file, std::int64_t bytes, SourceKind kind, std::string why)
{
    Recording recording;
    RecordedSource &made = recording.sources.emplace_back();
    made.file = file;
    made.kind = kind;
    made.bytes = bytes;
    made.refused = std::move(why);
    return recording;
}

/// What is wrong and what would be right, with the place in the file where that is told.
std::string sentenceOf(const Error &error, const std::string &file)
{
    const bool hasPlace = error.where.size() > file.size() + 2 && error.where.starts_with(file + ": ");
    return (hasPlace ? error.where.substr(file.size() + 2) + " " : "") + error.what
        + (error.right.empty() ? "" : "; expected " + error.right);
}

struct Signature {
    std::string_view bytes;
    const char *what;
};

/// Why a file that no reader knows is not read: what it is, by its first bytes.
std::string unknownFile(std::string_view head)
{
    static constexpr std::array kKnown { Signature { "\x89PNG\r\n", "a picture (PNG)" },
        Signature { "\xff\xd8\xff", "a picture (JPEG)" }, Signature { "GIF8", "a picture (GIF)" },
        Signature { "%PDF-", "a PDF document" }, Signature { "PK\x03\x04", "a ZIP archive or an office document" },
        Signature { "\x7f\x45LF", "a program or a library (ELF)" }, Signature { "7z\xbc\xaf", "a 7z archive" },
        Signature { "\xfd\x37zXZ", "packed by xz" }, Signature { "BZh", "packed by bzip2" },
        Signature { "\x93NUMPY", "an array of NumPy" }, Signature { "OggS", "a sound or video (Ogg)" },
        Signature { "\x89HDF", "an HDF5 file" } };
    for (const Signature &one : kKnown)
        if (head.starts_with(one.bytes))
            return std::string("It is ") + one.what + ", which tells nothing of a run";
    if (head.starts_with("RIFF") && head.substr(8).starts_with("WEBP"))
        return "It is a picture (WebP), which tells nothing of a run";
    return "It is no text, and nothing in it tells which tool wrote it";
}

/// Of a file that could not be opened or read.
Recording refusedFile(const std::string &path, const Error &error)
{
    return refusedSource(path, 0, SourceKind::Unknown, sentenceOf(error, path));
}

/// The first bytes of a stream.
std::string headOf(SourceStream &stream)
{
    std::string head(kHead, '\0');
    std::size_t size = 0;
    while (size < head.size()) {
        const std::size_t got = stream.read(head.data() + size, head.size() - size);
        if (got == 0)
            break;
        size += got;
    }
    head.resize(size);
    return head;
}

Expected<Recording> readBy(const SourceReader &reader, SourceStream &stream, const SourceOptions &options)
{
    if (reader.readStream)
        return reader.readStream(stream, options);
    const auto file = readWhole(stream);
    if (!file)
        return std::unexpected(file.error());
    auto recording = reader.read(file->text, options);
    if (options.stop.stop_requested()) // it ends early in what a reader answers then, or is refused for it
        return std::unexpected(Error { ErrorCode::Cancelled, stream.file(), "cancelled", "" });
    return recording;
}

void addFiles(const fs::path &folder, std::vector<std::string> &files)
{
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end;
         !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename().string();
        const bool isHidden = name.starts_with('.') || name.ends_with(".tmp");
        std::error_code ignored;
        if (at->is_directory(ignored) && isHidden)
            at.disable_recursion_pending();
        else if (!isHidden && at->is_regular_file(ignored))
            found.push_back(at->path());
    }
    std::ranges::sort(found);
    for (const fs::path &path : found)
        files.push_back(path.string());
}

} // namespace

Expected<Recording> readSource(const std::string &path, const SourceOptions &options)
{
    const auto opened = openSourceStream(path, options);
    if (!opened)
        return std::unexpected(opened.error());
    SourceStream &stream = **opened;
    const std::string head = headOf(stream);
    if (stream.failure())
        return std::unexpected(*stream.failure());
    const SourceReader *reader = readerFor(fs::path(path).filename().string(), head);
    if (!reader)
        return refusedSource(path, stream.packedBytes(), SourceKind::Unknown,
            head.empty()
                ? stream.isTruncated() ? "It is compressed and ends before anything of it" : "The file is empty"
                : unknownFile(head));
    stream.rewind();
    auto recording = readBy(*reader, stream, options);
    if (stream.failure())
        return std::unexpected(*stream.failure());
    if (!recording && recording.error().code != ErrorCode::Cancelled) {
        Recording refused =
            refusedSource(path, stream.packedBytes(), reader->kind, sentenceOf(recording.error(), path));
        refused.sources.front().mayTakeLinePattern =
            reader->kind == SourceKind::Unknown && readers::mayTakeLinePattern(path, head);
        return refused;
    }
    if (recording && reader->kind != SourceKind::Recording)
        recording_file::dropOutOfBounds(*recording);
    if (recording && stream.hasRest() && !recording->sources.empty())
        recording->sources.front().notes.push_back(
            "What follows the compressed data is no part of it, and was passed over");
    return recording;
}

Expected<Recording> readSources(
    const std::vector<std::string> &paths, const SourceOptions &options, int threads, const SourcesProgress &progress)
{
    std::vector<std::string> files;
    for (const std::string &path : paths)
        if (std::error_code error; fs::is_directory(path, error))
            addFiles(path, files);
        else
            files.push_back(path);
    std::vector<Recording> parts(files.size());
    std::vector<double> shares(files.size(), 0), sizes(files.size(), 1);
    double bytes = 0;
    for (std::size_t i = 0; i < files.size(); ++i) {
        std::error_code error;
        if (const auto size = fs::file_size(files[i], error); !error)
            sizes[i] += static_cast<double>(size); // an empty file is one of the files too
        bytes += sizes[i];
    }
    std::atomic<std::size_t> next = 0;
    std::size_t done = 0;
    std::mutex mutex;
    const auto tell = [&](std::size_t i, double share) {
        const std::scoped_lock lock(mutex);
        done += share >= 1 && shares[i] < 1 ? 1 : 0;
        shares[i] = share;
        if (!progress.report)
            return;
        double sum = 0;
        for (std::size_t k = 0; k < shares.size(); ++k)
            sum += shares[k] * sizes[k];
        progress.report(done, files.size(), sum / bytes);
    };
    const auto work = [&] {
        for (std::size_t i = next++; i < files.size() && !options.stop.stop_requested(); i = next++) {
            if (progress.began)
                progress.began(files[i]);
            SourceOptions own = options;
            own.progress = [&, i](double share) { tell(i, std::min(share, 0.999)); };
            auto part = readSource(files[i], own);
            if (part)
                parts[i] = *std::move(part);
            else if (part.error().code != ErrorCode::Cancelled)
                parts[i] = refusedFile(files[i], part.error());
            tell(i, 1);
        }
    };
    {
        std::vector<std::jthread> helpers;
        for (std::size_t i = 1; i < std::min(files.size(), static_cast<std::size_t>(std::max(threads, 1))); ++i)
            helpers.emplace_back(work);
        work();
    }
    if (options.stop.stop_requested())
        return std::unexpected(Error { ErrorCode::Cancelled, "", "cancelled", "" });
    Recording merged = mergeRecordings(std::move(parts));
    joinEventFiles(merged);
    return merged;
}

} // namespace trainyard
