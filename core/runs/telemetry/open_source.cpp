// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/source_stream.h"

namespace trainyard {

Expected<SourceFile> readWhole(SourceStream &stream)
{
    constexpr std::size_t kStep = std::size_t(1) << 20;
    SourceFile file;
    file.bytes.reserve(stream.expectedBytes() + kStep + kSourcePadding);
    std::size_t size = 0;
    while (true) {
        file.bytes.resize(size + kStep);
        const std::size_t got = stream.read(file.bytes.data() + size, kStep);
        if (got == 0)
            break;
        size += got;
    }
    if (stream.failure())
        return std::unexpected(*stream.failure());
    file.bytes.resize(size);
    file.bytes.resize(size + kSourcePadding, '\0');
    file.text = { stream.file(), std::string_view(file.bytes).substr(0, size), stream.packedBytes(),
        stream.isTruncated() };
    return file;
}

Expected<SourceFile> openSource(const std::string &path, const SourceOptions &options)
{
    const auto stream = openSourceStream(path, options);
    if (!stream)
        return std::unexpected(stream.error());
    return readWhole(**stream);
}

} // namespace trainyard
