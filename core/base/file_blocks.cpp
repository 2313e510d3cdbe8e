// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/file_blocks.h"

#include "core/base/open_file_internal.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace trainyard {

Expected<FileBlocks> FileBlocks::open(const std::string &path, const std::string &right, std::size_t mostBytes)
{
    auto file = openFile(path, right, { mostBytes, FileKinds::RegularOnly });
    if (!file)
        return std::unexpected(std::move(file.error()));
    return FileBlocks(std::make_unique<OpenedFile>(*std::move(file)));
}

FileBlocks::FileBlocks(std::unique_ptr<OpenedFile> file)
    : m_file(std::move(file))
{
}

FileBlocks::~FileBlocks() = default;
FileBlocks::FileBlocks(FileBlocks &&other) noexcept = default;

std::size_t FileBlocks::read(char *into, std::size_t most)
{
    while (true) {
        const ssize_t got = ::pread(m_file->descriptor.number(), into, most, static_cast<off_t>(m_position));
        if (got >= 0) {
            m_position += static_cast<std::size_t>(got);
            return static_cast<std::size_t>(got);
        }
        if (errno != EINTR) {
            m_failure = std::strerror(errno);
            return 0;
        }
    }
}

void FileBlocks::rewind()
{
    m_position = 0;
    m_failure.clear();
}

std::size_t FileBlocks::size() const
{
    return m_file->bytes;
}

} // namespace trainyard
