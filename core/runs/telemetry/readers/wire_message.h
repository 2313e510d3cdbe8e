#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Fields of a protobuf message, one after the other, without its schema: as much as event files, transaction logs,
// metrics and execution traces need. Nothing is copied; a field that does not fit ends the walk, and says whether the
// bytes end in it or it is none.

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

/// What follows its own length; nothing where the bytes end before.
[[nodiscard]] inline std::optional<std::string_view> takeDelimited(std::string_view &bytes)
{
    std::string_view rest = bytes;
    const auto size = takeVarint(rest);
    if (!size || *size > rest.size())
        return std::nullopt;
    bytes = rest.substr(*size);
    return rest.substr(0, *size);
}

struct WireField {
    std::uint64_t number = 0;
    int type = 0; // 0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes
    std::uint64_t value = 0; // of a varint; the bits of four or eight bytes
    std::string_view bytes; // of all but a varint
    bool isCut = false; // there should be more bytes
    [[nodiscard]] bool isBytes() const { return type == 2; }
    [[nodiscard]] std::int64_t whole() const { return static_cast<std::int64_t>(value); }
    [[nodiscard]] double real() const // of four or eight bytes
    {
        return type == 1 ? fromBytes<double>(bytes) : type == 5 ? double(fromBytes<float>(bytes)) : 0;
    }
};

class WireMessage {
public:
    /// What becomes of bytes whose length reaches beyond the end.
    enum class Cut : bool { Refused, Given };
    explicit WireMessage(std::string_view bytes, Cut cut = Cut::Refused)
        : m_rest(bytes)
        , m_givesCut(cut == Cut::Given)
    {
    }

    bool next(WireField &field)
    {
        if (m_rest.empty())
            return false;
        std::uint64_t key = 0, size = 0;
        if (!takeNumber(key))
            return false;
        field = { key >> 3, static_cast<int>(key & 7), 0, {}, false };
        if (field.number == 0 || field.number > kMostNumber)
            return stop(m_isWrong);
        switch (field.type) {
        case 0:
            return takeNumber(field.value);
        case 1:
            size = 8;
            break;
        case 2:
            if (!takeNumber(size))
                return false;
            break;
        case 5:
            size = 4;
            break;
        default:
            return stop(m_isWrong);
        }
        field.isCut = size > m_rest.size();
        if (field.isCut && !(m_givesCut && field.isBytes()))
            return stop(m_isCut);
        field.bytes = m_rest.substr(0, size);
        m_rest.remove_prefix(field.bytes.size());
        if (!field.isBytes())
            std::memcpy(&field.value, field.bytes.data(), field.bytes.size());
        return true;
    }
    [[nodiscard]] bool isBroken() const { return m_isCut || m_isWrong; }
    [[nodiscard]] bool isCut() const { return m_isCut; } // the bytes end in a field
    [[nodiscard]] bool isWrong() const { return m_isWrong; } // a byte begins no field

private:
    static constexpr std::uint64_t kMostNumber = (1u << 29) - 1;
    static constexpr std::size_t kLongestVarint = 10;

    bool takeNumber(std::uint64_t &number)
    {
        const auto taken = takeVarint(m_rest);
        if (!taken)
            return stop(m_rest.size() < kLongestVarint ? m_isCut : m_isWrong);
        number = *taken;
        return true;
    }
    bool stop(bool &why)
    {
        why = true;
        m_rest = {};
        return false;
    }

    std::string_view m_rest;
    bool m_givesCut = false, m_isCut = false, m_isWrong = false;
};

} // namespace trainyard::readers
