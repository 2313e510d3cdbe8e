#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Texts as zlib packs them.

#include <zlib.h>

#include <string>

namespace trainyard::test {

/// `windowBits`: 31 gzip, 15 with zlib's frame, -15 without.
inline std::string packed(const std::string &text, int windowBits)
{
    z_stream stream {};
    deflateInit2(&stream, 9, Z_DEFLATED, windowBits, 9, Z_DEFAULT_STRATEGY);
    std::string bytes(deflateBound(&stream, uLong(text.size())) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(text.data()));
    stream.avail_in = uInt(text.size());
    stream.next_out = reinterpret_cast<Bytef *>(bytes.data());
    stream.avail_out = uInt(bytes.size());
    deflate(&stream, Z_FINISH);
    bytes.resize(stream.total_out);
    deflateEnd(&stream);
    return bytes;
}

inline std::string gzipped(const std::string &text)
{
    return packed(text, 31);
}

} // namespace trainyard::test
