// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/net/unpack.h"

#include "core/base/ascii_text.h"

#include <zlib.h>

#include <algorithm>

namespace trainyard::live::net {

namespace {

constexpr std::size_t kAlwaysAllowed = std::size_t(1) << 20;
constexpr std::size_t kUnpackedBlock = std::size_t(64) << 10;

Expected<std::string> inflateAll(const std::string &packed, int windowBits, const UnpackLimits &limits)
{
    z_stream stream {};
    if (inflateInit2(&stream, windowBits) != Z_OK)
        return std::unexpected(Error { ErrorCode::Internal, "body", "no memory to unpack it", {} });
    struct End {
        z_stream *stream;
        ~End() { inflateEnd(stream); }
    } end { &stream };
    const std::size_t most = std::min(limits.bytes, std::max(kAlwaysAllowed, packed.size() * limits.ratio));
    std::string out(std::min(std::max(kUnpackedBlock, 2 * packed.size()), most + 1), '\0');
    std::size_t have = 0, members = 1;
    // zlib never writes to its input.
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    for (;;) {
        if (have == out.size()) // doubled: each byte is moved once or twice, however many members bring them
            out.resize(std::min(2 * have, most + 1));
        stream.next_out = reinterpret_cast<Bytef *>(out.data() + have);
        stream.avail_out = static_cast<uInt>(out.size() - have);
        const int state = inflate(&stream, Z_NO_FLUSH);
        have = out.size() - stream.avail_out;
        if (have > most)
            return std::unexpected(Error { ErrorCode::OutOfRange, "body",
                "it unpacks to more than " + std::to_string(most) + " bytes from " + std::to_string(packed.size()),
                "smaller batches" });
        if (state == Z_STREAM_END) {
            // gzip may hold several members, one behind the other.
            if (stream.avail_in == 0 || windowBits <= MAX_WBITS || inflateReset(&stream) != Z_OK) {
                out.resize(have);
                out.shrink_to_fit(); // what holds it is counted by its size
                return out;
            }
            if (++members > limits.members)
                return std::unexpected(Error { ErrorCode::OutOfRange, "body",
                    "it has more than " + std::to_string(limits.members) + " gzip members", "one body as one member" });
            continue;
        }
        if (state != Z_OK)
            return std::unexpected(Error { ErrorCode::BadSyntax, "body",
                state == Z_BUF_ERROR ? "the packed body is cut off" : "the packed body is damaged",
                "what its Content-Encoding says" });
        if (stream.avail_in == 0 && stream.avail_out > 0)
            return std::unexpected(
                Error { ErrorCode::BadSyntax, "body", "the packed body is cut off", "all of its bytes" });
    }
}

} // namespace

Expected<std::string> unpack(std::string packed, std::string_view encoding, const UnpackLimits &limits)
{
    const std::string name = lowered(encoding);
    if (name.empty() || name == "identity")
        return packed;
    if (packed.size() > limits.bytes)
        return std::unexpected(Error { ErrorCode::OutOfRange, "body",
            "it has " + std::to_string(packed.size()) + " bytes", "at most " + std::to_string(limits.bytes) });
    if (name == "gzip" || name == "x-gzip")
        return inflateAll(packed, MAX_WBITS + 16, limits);
    if (name == "deflate") {
        const bool isFramed = packed.size() >= 2 && (static_cast<unsigned char>(packed[0]) & 0x0F) == Z_DEFLATED
            && (static_cast<unsigned char>(packed[0]) * 256 + static_cast<unsigned char>(packed[1])) % 31 == 0;
        return inflateAll(packed, isFramed ? MAX_WBITS : -MAX_WBITS, limits);
    }
    return std::unexpected(Error {
        ErrorCode::BadValue, "Content-Encoding", "it is \"" + name.substr(0, 40) + '"', "gzip, deflate or none" });
}

} // namespace trainyard::live::net
