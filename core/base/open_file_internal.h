#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Opening a file that a user named: what it may be and how long, told before a byte is read. For the readers of this
// folder.

#include "core/base/text_file.h"

#include <utility>

namespace trainyard {

class Descriptor { // closes itself
public:
    explicit Descriptor(int number = -1)
        : m_number(number)
    {
    }
    ~Descriptor();
    Descriptor(Descriptor &&other) noexcept
        : m_number(std::exchange(other.m_number, -1))
    {
    }
    Descriptor &operator=(Descriptor &&other) noexcept
    {
        std::swap(m_number, other.m_number);
        return *this;
    }
    [[nodiscard]] int number() const { return m_number; }

private:
    int m_number;
};

struct OpenedFile {
    Descriptor descriptor;
    /// of a regular file, when it was opened
    std::size_t bytes = 0;
};

[[nodiscard]] Error cannotRead(const std::string &path, const std::string &right, const std::string &why);
[[nodiscard]] Error tooLongToRead(const std::string &path, const std::string &right, std::size_t most);

/// Errors as readTextFile().
[[nodiscard]] Expected<OpenedFile> openFile(const std::string &path, const std::string &right, ReadOptions options);

} // namespace trainyard
