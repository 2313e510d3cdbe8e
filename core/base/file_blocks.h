#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A file that is too long to be held whole, read block by block from its beginning as often as one likes. It may shrink
// or grow meanwhile: it is read up to where it ends. One thread at a time.

#include "core/base/error.h"

#include <cstddef>
#include <memory>
#include <string>

namespace trainyard {

struct OpenedFile;

class FileBlocks {
public:
    /// Errors as readTextFile() for regular files.
    [[nodiscard]] static Expected<FileBlocks> open(
        const std::string &path, const std::string &right, std::size_t mostBytes);
    ~FileBlocks();
    FileBlocks(FileBlocks &&other) noexcept;
    FileBlocks &operator=(FileBlocks &&) = delete;

    /// Up to `most` bytes; 0: the end, or that the system cannot go on, which failure() tells.
    [[nodiscard]] std::size_t read(char *into, std::size_t most);
    void rewind();
    /// bytes, when it was opened
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] std::size_t position() const { return m_position; }
    [[nodiscard]] const std::string &failure() const { return m_failure; }

private:
    explicit FileBlocks(std::unique_ptr<OpenedFile> file);
    std::unique_ptr<OpenedFile> m_file;
    std::size_t m_position = 0;
    std::string m_failure;
};

} // namespace trainyard
