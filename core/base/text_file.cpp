// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text_file.h"

#include "core/base/open_file_internal.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <unistd.h>

namespace trainyard {

namespace {

constexpr std::size_t kBlock = std::size_t(256) << 10;

struct Reading {
    std::string name, right;
    std::size_t most;

    /// `expected`: bytes that a regular file has; room for them is taken once.
    Expected<std::string> all(int descriptor, std::size_t expected = 0) const
    {
        std::string text;
        if (expected > 0)
            text.reserve(std::min(expected, most) + kBlock);
        for (;;) {
            const std::size_t before = text.size();
            text.resize(before + std::min(kBlock, most + 1 - before));
            const ssize_t got = ::read(descriptor, text.data() + before, text.size() - before);
            text.resize(before + std::size_t(std::max<ssize_t>(got, 0)));
            if (got == 0)
                return text;
            if (text.size() > most)
                return std::unexpected(tooLongToRead(name, right, most));
            if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
                pollfd waiting { descriptor, POLLIN, 0 };
                ::poll(&waiting, 1, -1);
            } else if (got < 0 && errno != EINTR) {
                return std::unexpected(
                    cannotRead(name, right, errno == EISDIR ? "this is a folder" : std::strerror(errno)));
            }
        }
    }
};

} // namespace

Expected<std::string> readTextFile(const std::string &path, const std::string &right, ReadOptions options)
{
    auto file = openFile(path, right, options);
    if (!file)
        return std::unexpected(std::move(file.error()));
    return Reading { path, right, options.mostBytes }.all(file->descriptor.number(), file->bytes);
}

Expected<std::string> readStandardInput(const std::string &right, std::size_t mostBytes)
{
    return Reading { "stdin", right, mostBytes }.all(STDIN_FILENO);
}

} // namespace trainyard
