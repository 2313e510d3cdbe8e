// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/wandb_frames.h"

#include "core/runs/telemetry/readers/wire_message.h"

#include <zlib.h>

namespace trainyard::readers {

namespace {

constexpr std::size_t kBlock = 32768, kHead = 7;

std::uint32_t crcOf(unsigned char kind, std::string_view data)
{
    const uLong seed = crc32(0, &kind, 1);
    return static_cast<std::uint32_t>(
        crc32(seed, reinterpret_cast<const Bytef *>(data.data()), static_cast<uInt>(data.size())));
}

} // namespace

WandbFrames::WandbFrames(std::string_view text)
    : m_text(text)
    , m_at(kHead)
{
    m_isTruncated = text.size() < kHead;
}

/// The next fragment whose checksum is right.
bool WandbFrames::fragment(int &kind, std::string_view &data)
{
    while (m_at < m_text.size()) {
        const std::size_t left = kBlock - m_at % kBlock;
        if (left < kHead) { // the rest of a block is padding
            m_at += left;
            continue;
        }
        const std::string_view rest = m_text.substr(m_at, left);
        if (rest.size() < kHead) {
            m_isTruncated = true;
            return false;
        }
        const auto size = fromBytes<std::uint16_t>(rest.substr(4));
        kind = static_cast<unsigned char>(rest[6]);
        if (kind == 0 && size == 0) { // zeros where nothing was written
            m_at += left;
            continue;
        }
        if (kHead + size > left) { // a length that no writer makes: the next block has its own beginning
            ++m_broken;
            m_isInside = false;
            m_at += left;
            continue;
        }
        if (kHead + size > rest.size()) {
            m_isTruncated = true;
            return false;
        }
        data = rest.substr(kHead, size);
        m_at += kHead + size;
        if (fromBytes<std::uint32_t>(rest) == crcOf(static_cast<unsigned char>(kind), data) && kind >= 1 && kind <= 4)
            return true;
        ++m_broken;
        m_isInside = false;
    }
    return false;
}

bool WandbFrames::next(std::string_view &record)
{
    int kind = 0;
    std::string_view data;
    while (fragment(kind, data)) {
        if (kind == 1) {
            m_isInside = false;
            record = data;
            return true;
        }
        if (kind == 2) {
            m_record = data;
            m_isInside = true;
        } else if (m_isInside) {
            m_record += data;
            if (kind == 4) {
                m_isInside = false;
                record = m_record;
                return true;
            }
        }
    }
    m_isTruncated = m_isTruncated || m_isInside;
    return false;
}

} // namespace trainyard::readers
