// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text_file.h"
#include "core/telemetry/read_sources.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace trainyard {

namespace {

constexpr std::size_t kMostPackedBytes = std::size_t(16) << 30;
constexpr std::size_t kAlwaysUnpacked = std::size_t(1) << 20; // whatever the ratio
constexpr std::size_t kMostRatio = 200;
constexpr std::size_t kStep = std::size_t(4) << 20;

bool isGzip(std::string_view bytes)
{
    return bytes.size() > 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

/// What its last member says of its length, modulo 4 GiB: a guess of the room that it takes.
std::size_t toldSize(std::string_view packed)
{
    std::size_t size = 0;
    for (std::size_t i = 1; i <= 4 && i <= packed.size(); ++i)
        size = size << 8 | static_cast<unsigned char>(packed[packed.size() - i]);
    return size;
}

struct Unpacked {
    std::string bytes;
    bool isTruncated = false;
};

/// Members of a gzip file, one after the other.
Expected<Unpacked> unpacked(const std::string &path, std::string_view packed, const SourceOptions &options)
{
    const auto most = std::min<std::size_t>(
        std::max(kAlwaysUnpacked, packed.size() * kMostRatio), static_cast<std::size_t>(options.mostUnpacked));
    Unpacked result;
    z_stream stream {};
    if (inflateInit2(&stream, 15 + 16) != Z_OK)
        return std::unexpected(Error { ErrorCode::CannotRead, path, "there is no memory to unpack it", "" });
    result.bytes.reserve(std::min(most, toldSize(packed)) + 2 * kStep);
    std::size_t taken = 0, size = 0;
    int state = Z_OK;
    while (state == Z_OK || state == Z_BUF_ERROR) {
        if (options.stop.stop_requested() || size > most) {
            inflateEnd(&stream);
            if (size <= most)
                return std::unexpected(Error { ErrorCode::Cancelled, path, "cancelled", "" });
            return std::unexpected(
                Error { ErrorCode::OutOfRange, path, "it unpacks to more than " + std::to_string(most >> 20) + " MiB",
                    "a compressed file of at most 200 times its size" });
        }
        result.bytes.resize(size + kStep); // room was taken once, mostly
        if (stream.avail_in == 0) {
            const std::size_t part = std::min<std::size_t>(packed.size() - taken, std::numeric_limits<int>::max());
            stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(packed.data() + taken));
            stream.avail_in = static_cast<uInt>(part);
            taken += part;
        }
        stream.next_out = reinterpret_cast<Bytef *>(result.bytes.data() + size);
        stream.avail_out = static_cast<uInt>(kStep);
        const std::size_t left = packed.size() - taken + stream.avail_in;
        state = inflate(&stream, Z_NO_FLUSH);
        size += kStep - stream.avail_out;
        if (state == Z_STREAM_END && packed.size() - taken + stream.avail_in > 2)
            state = inflateReset(&stream) == Z_OK ? Z_OK : Z_STREAM_ERROR;
        else if (state == Z_BUF_ERROR && left == 0)
            break;
    }
    inflateEnd(&stream);
    result.bytes.resize(size);
    result.isTruncated = state != Z_STREAM_END;
    return result;
}

} // namespace

Expected<SourceFile> openSource(const std::string &path, const SourceOptions &options)
{
    auto bytes = readTextFile(path, "a file of a run", { kMostPackedBytes, FileKinds::RegularOnly });
    if (!bytes)
        return std::unexpected(std::move(bytes.error()));
    SourceFile file;
    file.text.file = path;
    file.text.packedBytes = static_cast<std::int64_t>(bytes->size());
    if (isGzip(*bytes)) {
        auto text = unpacked(path, *bytes, options);
        if (!text)
            return std::unexpected(std::move(text.error()));
        file.bytes = std::move(text->bytes);
        file.text.isTruncated = text->isTruncated;
    } else {
        file.bytes = *std::move(bytes);
    }
    const std::size_t size = file.bytes.size();
    file.bytes.resize(size + kSourcePadding, '\0');
    file.text.text = std::string_view(file.bytes).substr(0, size);
    return file;
}

} // namespace trainyard
