// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/source_stream.h"

#include "core/base/file_blocks.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace trainyard {

namespace {

constexpr std::size_t kMostPackedBytes = std::size_t(16) << 30;
constexpr std::size_t kAlwaysUnpacked = std::size_t(1) << 20; // whatever the ratio
constexpr std::size_t kMostRatio = 200;
constexpr std::size_t kPackedBlock = std::size_t(256) << 10;
constexpr std::size_t kBlock = std::size_t(1) << 20, kLeastBlock = std::size_t(16) << 10;
constexpr const char *kRight = "a file of a run";

class FileStream : public SourceStream {
public:
    FileStream(const std::string &path, FileBlocks blocks, std::stop_token stop)
        : SourceStream(path, static_cast<std::int64_t>(blocks.size()))
        , m_blocks(std::move(blocks))
        , m_stop(std::move(stop))
    {
    }

    std::size_t read(char *into, std::size_t most) override { return readFile(into, most); }
    void rewind() override
    {
        m_blocks.rewind();
        m_failure.reset();
    }
    [[nodiscard]] double share() const override
    {
        const std::size_t all = std::max(m_blocks.size(), m_blocks.position());
        return all == 0 ? 1 : static_cast<double>(m_blocks.position()) / static_cast<double>(all);
    }
    [[nodiscard]] std::size_t expectedBytes() const override { return m_blocks.size(); }

protected:
    std::size_t readFile(char *into, std::size_t most)
    {
        if (m_stop.stop_requested()) {
            m_failure = Error { ErrorCode::Cancelled, file(), "cancelled", "" };
            return 0;
        }
        const std::size_t got = m_blocks.read(into, most);
        if (got == 0 && !m_blocks.failure().empty())
            m_failure = Error { ErrorCode::CannotRead, file(), m_blocks.failure(), kRight };
        return got;
    }

private:
    FileBlocks m_blocks;
    std::stop_token m_stop;
};

/// Members of a gzip file, one after the other.
class GzipStream final : public FileStream {
public:
    GzipStream(const std::string &path, FileBlocks blocks, const SourceOptions &options)
        : FileStream(path, std::move(blocks), options.stop)
        , m_packed(kPackedBlock)
        , m_most(std::min<std::size_t>(std::max(kAlwaysUnpacked, static_cast<std::size_t>(packedBytes()) * kMostRatio),
              static_cast<std::size_t>(std::max<std::int64_t>(options.mostUnpacked, 0))))
        , m_isOpen(inflateInit2(&m_stream, 15 + 16) == Z_OK)
    {
        m_stream.next_in = m_packed.data();
        if (!m_isOpen)
            m_failure = Error { ErrorCode::CannotRead, path, "there is no memory to unpack it", "" };
    }
    ~GzipStream() override
    {
        if (m_isOpen)
            inflateEnd(&m_stream);
    }

    std::size_t read(char *into, std::size_t most) override
    {
        if (!m_isOpen || m_isDone || m_failure)
            return 0;
        std::size_t got = 0;
        while (got < most && !m_isDone && !m_failure)
            got += step(into + got, std::min<std::size_t>(most - got, 1 << 30));
        m_unpacked += got;
        if (m_unpacked > m_most)
            m_failure = Error { ErrorCode::OutOfRange, file(),
                "it unpacks to more than " + std::to_string(m_most >> 20) + " MiB",
                "a compressed file of at most 200 times its size" };
        return m_failure ? 0 : got;
    }

    void rewind() override
    {
        FileStream::rewind();
        inflateReset(&m_stream);
        m_stream.next_in = m_packed.data();
        m_stream.avail_in = 0;
        m_unpacked = 0;
        m_isDone = m_isTruncated = m_hasRest = false;
    }

    [[nodiscard]] bool isTruncated() const override { return m_isTruncated; }
    [[nodiscard]] bool hasRest() const override { return m_hasRest; }
    [[nodiscard]] std::size_t expectedBytes() const override
    {
        return std::min(m_most, 8 * static_cast<std::size_t>(packedBytes()));
    }

private:
    void fill()
    {
        if (m_stream.avail_in > 2)
            return;
        std::memmove(m_packed.data(), m_stream.next_in, m_stream.avail_in);
        const std::size_t more = readFile(
            reinterpret_cast<char *>(m_packed.data()) + m_stream.avail_in, m_packed.size() - m_stream.avail_in);
        m_stream.next_in = m_packed.data();
        m_stream.avail_in += static_cast<uInt>(more);
    }

    /// One call of zlib; the bytes that it gave.
    std::size_t step(char *into, std::size_t most)
    {
        fill();
        const bool isEnd = m_stream.avail_in == 0;
        m_stream.next_out = reinterpret_cast<Bytef *>(into);
        m_stream.avail_out = static_cast<uInt>(most);
        const int state = inflate(&m_stream, Z_NO_FLUSH);
        const std::size_t got = most - m_stream.avail_out;
        if (state == Z_STREAM_END) {
            fill();
            // What follows is another member, or, as of tapes, a rest that is none: gzip passes over it too.
            if (m_stream.avail_in < 2 || m_stream.next_in[0] != 0x1f || m_stream.next_in[1] != 0x8b)
                m_isDone = true, m_hasRest = m_stream.avail_in > 0 && m_stream.next_in[0] != 0;
            else if (inflateReset(&m_stream) != Z_OK)
                m_isDone = m_isTruncated = true;
        } else if ((state != Z_OK && state != Z_BUF_ERROR) || (isEnd && got == 0)) {
            m_isDone = m_isTruncated = true;
        }
        return got;
    }

    std::vector<Bytef> m_packed;
    std::size_t m_most, m_unpacked = 0;
    z_stream m_stream {};
    bool m_isOpen, m_isDone = false, m_isTruncated = false, m_hasRest = false;
};

} // namespace

Expected<std::unique_ptr<SourceStream>> openSourceStream(const std::string &path, const SourceOptions &options)
{
    auto blocks = FileBlocks::open(path, kRight, kMostPackedBytes);
    if (!blocks)
        return std::unexpected(std::move(blocks.error()));
    char head[3] = {};
    const bool isGzip = blocks->read(head, sizeof head) == sizeof head && head[0] == '\x1f' && head[1] == '\x8b';
    blocks->rewind();
    if (isGzip)
        return std::make_unique<GzipStream>(path, *std::move(blocks), options);
    return std::make_unique<FileStream>(path, *std::move(blocks), options.stop);
}

SlidingText::SlidingText(SourceStream &stream)
    : m_stream(stream)
    , m_buffer(std::clamp(stream.expectedBytes(), kLeastBlock, kBlock) + kSourcePadding, '\0')
{
}

std::string_view SlidingText::view(std::size_t most)
{
    if (m_end - m_begin < most && !m_isEnd) {
        std::memmove(m_buffer.data(), m_buffer.data() + m_begin, m_end - m_begin);
        m_end -= m_begin;
        m_begin = 0;
        if (m_buffer.size() < most + kSourcePadding)
            m_buffer.resize(most + kSourcePadding);
        while (m_end < m_buffer.size() - kSourcePadding) {
            const std::size_t got = m_stream.read(m_buffer.data() + m_end, m_buffer.size() - kSourcePadding - m_end);
            m_isEnd = got == 0;
            if (m_isEnd)
                break;
            m_end += got;
            m_seen += got;
        }
        std::memset(m_buffer.data() + m_end, 0, kSourcePadding);
    }
    return { m_buffer.data() + m_begin, m_end - m_begin };
}

void SlidingText::advance(std::size_t bytes)
{
    m_begin += std::min(bytes, m_end - m_begin);
}

void SlidingText::toEnd()
{
    m_begin = m_end;
    m_isEnd = true;
}

void SlidingText::rewind()
{
    m_stream.rewind();
    m_begin = m_end = 0;
    m_isEnd = false;
}

} // namespace trainyard
