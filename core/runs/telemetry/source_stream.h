#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The bytes of a file of a run, one block after the other, unpacked where they are gzip: who reads them so holds a few
// blocks, however long the file is. One thread at a time.

#include "core/runs/telemetry/read_sources.h"

#include <memory>
#include <optional>

namespace trainyard {

class SourceStream {
public:
    SourceStream(std::string file, std::int64_t packedBytes)
        : m_file(std::move(file))
        , m_packedBytes(packedBytes)
    {
    }
    virtual ~SourceStream() = default;
    SourceStream(const SourceStream &) = delete;
    SourceStream &operator=(const SourceStream &) = delete;

    /// Up to `most` bytes; 0: the end, or that it cannot go on, which failure() tells.
    [[nodiscard]] virtual std::size_t read(char *into, std::size_t most) = 0;
    virtual void rewind() = 0;
    /// of the file's bytes that were read
    [[nodiscard]] virtual double share() const = 0;
    [[nodiscard]] virtual bool isTruncated() const { return false; } // its gzip ends early; known at the end
    [[nodiscard]] virtual bool hasRest() const { return false; } // bytes behind the compressed data, read to its end
    /// a guess of all of them, of no bad file's making
    [[nodiscard]] virtual std::size_t expectedBytes() const = 0;
    /// CannotRead; OutOfRange where it unpacks to more than it may; Cancelled.
    [[nodiscard]] const std::optional<Error> &failure() const { return m_failure; }
    [[nodiscard]] const std::string &file() const { return m_file; }
    [[nodiscard]] std::int64_t packedBytes() const { return m_packedBytes; }

protected:
    std::optional<Error> m_failure;

private:
    std::string m_file;
    std::int64_t m_packedBytes;
};

/// Errors as openSource().
[[nodiscard]] Expected<std::unique_ptr<SourceStream>> openSourceStream(
    const std::string &path, const SourceOptions &options);

/// All that is left of it. Errors: its failure.
[[nodiscard]] Expected<SourceFile> readWhole(SourceStream &stream);

/// Of bytes that are there, which have to outlive it.
class TextStream final : public SourceStream {
public:
    explicit TextStream(const SourceText &source)
        : SourceStream(source.file, source.packedBytes)
        , m_text(source.text)
        , m_isTruncated(source.isTruncated)
    {
    }
    std::size_t read(char *into, std::size_t most) override
    {
        const std::size_t size = m_text.substr(m_at).copy(into, most);
        m_at += size;
        return size;
    }
    void rewind() override { m_at = 0; }
    [[nodiscard]] double share() const override
    {
        return m_text.empty() ? 1 : static_cast<double>(m_at) / static_cast<double>(m_text.size());
    }
    [[nodiscard]] bool isTruncated() const override { return m_isTruncated; }
    [[nodiscard]] std::size_t expectedBytes() const override { return m_text.size(); }

private:
    std::string_view m_text;
    std::size_t m_at = 0;
    bool m_isTruncated;
};

/// A stretch of a stream that slides along it, to be looked at as one text. It grows where a longer one is asked for.
class SlidingText {
public:
    explicit SlidingText(SourceStream &stream);
    /// From where it is: `most` bytes at least, or all there are. Holds until the next call; kSourcePadding zero bytes
    /// stand behind it.
    [[nodiscard]] std::string_view view(std::size_t most);
    [[nodiscard]] bool isLast() const { return m_isEnd; } // no bytes follow the last view
    /// of the last view
    void advance(std::size_t bytes);
    /// as if all were read
    void toEnd();
    void rewind();
    [[nodiscard]] std::size_t bytesSeen() const { return m_seen; }

private:
    SourceStream &m_stream;
    std::string m_buffer;
    std::size_t m_begin = 0, m_end = 0, m_seen = 0;
    bool m_isEnd = false;
};

} // namespace trainyard
