// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/file/gzip_json_internal.h"

#include "core/base/printable.h"

#include <zlib.h>

#include <charconv>
#include <cmath>
#include <new>

namespace trainyard::recording_file {

namespace {

/// Files that unpack to more than 200 times their size are refused where they are read: what packs better than this is
/// stored unpacked for a while.
constexpr std::uint64_t kMostRatio = 100;
constexpr std::uint64_t kAnyRatio = std::uint64_t(512) << 10; // bytes that may pack at any ratio

/// How many bytes the first character has, 0 where it is none or one that stands for a byte.
std::size_t characterLength(std::string_view text)
{
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    const std::string_view character = text.substr(0, length);
    const bool standsForAByte = character.starts_with("\xee\xbe") || character.starts_with("\xee\xbf");
    return character.size() == length && !standsForAByte && isUtf8(character) ? length : 0;
}

} // namespace

struct GzipJson::Deflater {
    z_stream stream {};
    bool isStoring = false;
    Deflater()
    {
        if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
            throw std::bad_alloc();
    }
    ~Deflater() { deflateEnd(&stream); }
    Deflater(const Deflater &) = delete;
    Deflater &operator=(const Deflater &) = delete;
};

GzipJson::GzipJson(Take take)
    : m_take(std::move(take))
    , m_deflater(std::make_unique<Deflater>())
{
    m_buffer.reserve(kBuffer * 2);
    m_packed.resize(kBuffer);
}

GzipJson::~GzipJson() = default;

void GzipJson::pack(bool isLast)
{
    z_stream &stream = m_deflater->stream;
    const auto give = [&] {
        const std::size_t size = m_packed.size() - stream.avail_out;
        if (size > 0 && !m_isStopped)
            m_isStopped = !m_take(std::string_view(m_packed).substr(0, size));
        stream.next_out = reinterpret_cast<Bytef *>(m_packed.data());
        stream.avail_out = static_cast<uInt>(m_packed.size());
    };
    stream.next_out = reinterpret_cast<Bytef *>(m_packed.data());
    stream.avail_out = static_cast<uInt>(m_packed.size());
    const bool stores = stream.total_in > kAnyRatio && stream.total_in > kMostRatio * stream.total_out;
    if (stores != m_deflater->isStoring) {
        m_deflater->isStoring = stores;
        while (!m_isStopped && deflateParams(&stream, stores ? 0 : 6, Z_DEFAULT_STRATEGY) == Z_BUF_ERROR)
            give();
    }
    stream.next_in = reinterpret_cast<Bytef *>(m_buffer.data());
    stream.avail_in = static_cast<uInt>(m_buffer.size());
    int state = Z_OK;
    do {
        state = deflate(&stream, isLast ? Z_FINISH : Z_NO_FLUSH);
        give();
    } while (!m_isStopped && (isLast ? state == Z_OK || state == Z_BUF_ERROR : stream.avail_in > 0));
    m_buffer.clear();
}

void GzipJson::whole(std::int64_t value)
{
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value);
    raw({ digits, static_cast<std::size_t>(end.ptr - digits) });
}

void GzipJson::real(double value)
{
    if (std::isnan(value))
        return raw("null");
    if (std::isinf(value))
        return raw(value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, value);
    raw({ digits, static_cast<std::size_t>(end.ptr - digits) });
}

void GzipJson::text(std::string_view text)
{
    static constexpr char kHex[] = "0123456789abcdef";
    std::string quoted = "\"";
    while (!text.empty()) {
        const auto byte = static_cast<unsigned char>(text.front());
        std::size_t length = 1;
        if (byte == '"' || byte == '\\')
            (quoted += '\\') += static_cast<char>(byte);
        else if (byte < 0x20)
            ((quoted += "\\u00") += kHex[byte >> 4]) += kHex[byte & 15];
        else if (length = characterLength(text); length > 0)
            quoted += text.substr(0, length);
        else // U+EF80 + (byte - 0x80)
            ((quoted += '\xee') += static_cast<char>(byte < 0xc0 ? 0xbe : 0xbf)) +=
                static_cast<char>(0x80 | (byte & 0x3f));
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    raw(quoted += '"');
}

bool GzipJson::finish()
{
    pack(true);
    return !m_isStopped;
}

} // namespace trainyard::recording_file
