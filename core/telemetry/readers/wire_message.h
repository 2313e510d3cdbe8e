#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Fields of a protobuf message, one after the other, without its schema: as much as event files and transaction logs
// need. Nothing is copied; a field that does not fit ends the walk.

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace trainyard::readers {

static_assert(std::endian::native == std::endian::little);

/// Of little endian bytes; `bytes` has at least sizeof(T).
template <class T> [[nodiscard]] T fromBytes(std::string_view bytes)
{
    T value {};
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

[[nodiscard]] inline std::optional<std::uint64_t> takeVarint(std::string_view &bytes)
{
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size() && i < 10; ++i) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        value |= i < 9 || byte < 2 ? std::uint64_t(byte & 0x7f) << (7 * i) : 0;
        if (byte < 0x80) {
            bytes.remove_prefix(i + 1);
            return value;
        }
    }
    return std::nullopt;
}

struct WireField {
    std::uint64_t number = 0;
    int type = 0; // 0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes
    std::uint64_t value = 0; // of a varint
    std::string_view bytes; // of the others
    [[nodiscard]] bool isBytes() const { return type == 2; }
    [[nodiscard]] std::int64_t whole() const { return static_cast<std::int64_t>(value); }
    [[nodiscard]] double real() const // of four or eight bytes
    {
        return type == 1 ? fromBytes<double>(bytes) : type == 5 ? double(fromBytes<float>(bytes)) : 0;
    }
};

class WireMessage {
public:
    explicit WireMessage(std::string_view bytes)
        : m_rest(bytes)
    {
    }

    bool next(WireField &field)
    {
        const auto key = m_rest.empty() ? std::nullopt : takeVarint(m_rest);
        if (!key)
            return stop(!m_rest.empty());
        field = { *key >> 3, static_cast<int>(*key & 7), 0, {} };
        std::uint64_t size = 0;
        if (field.type == 0 || field.type == 2) {
            const auto number = takeVarint(m_rest);
            if (!number)
                return stop(true);
            (field.type == 0 ? field.value : size) = *number;
        } else if (field.type == 1 || field.type == 5) {
            size = field.type == 1 ? 8 : 4;
        } else {
            return stop(true);
        }
        if (size > m_rest.size())
            return stop(true);
        field.bytes = m_rest.substr(0, size);
        m_rest.remove_prefix(size);
        return true;
    }
    [[nodiscard]] bool isBroken() const { return m_isBroken; }

private:
    bool stop(bool isBroken)
    {
        m_isBroken = m_isBroken || isBroken;
        m_rest = {};
        return false;
    }

    std::string_view m_rest;
    bool m_isBroken = false;
};

} // namespace trainyard::readers
