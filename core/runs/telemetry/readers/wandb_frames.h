#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Records of a .wandb file put together from their fragments: header ":W&B", 0xBEE1, version; then blocks of 32768
// bytes of fragments "u32 crc, u16 length, u8 kind (1 whole, 2 first, 3 middle, 4 last)". Fragments that fail their
// checksum are passed over with their record.

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::readers {

inline constexpr std::string_view kWandbMagic = ":W&B";

class WandbFrames {
public:
    /// `text` begins with the header.
    explicit WandbFrames(std::string_view text);
    /// The next record, valid until the one after it; false at the end.
    bool next(std::string_view &record);
    [[nodiscard]] bool isTruncated() const { return m_isTruncated; }
    [[nodiscard]] std::int64_t broken() const { return m_broken; } // fragments
    [[nodiscard]] std::size_t position() const { return m_at; }

private:
    bool fragment(int &kind, std::string_view &data);

    std::string_view m_text;
    std::size_t m_at = 0;
    std::string m_record;
    bool m_isTruncated = false, m_isInside = false;
    std::int64_t m_broken = 0;
};

} // namespace trainyard::readers
