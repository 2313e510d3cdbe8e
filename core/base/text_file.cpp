// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace trainyard {

namespace {

constexpr std::size_t kBlock = std::size_t(256) << 10;

class Reading {
public:
    Reading(std::string name, std::string right, std::size_t most)
        : m_name(std::move(name))
        , m_right(std::move(right))
        , m_most(most)
    {
    }

    std::unexpected<Error> failed(const std::string &why) const
    {
        return std::unexpected(Error { ErrorCode::CannotRead, m_name, why, m_right });
    }

    std::unexpected<Error> tooLong() const
    {
        const std::string bound =
            m_most >> 20 > 0 ? std::to_string(m_most >> 20) + " MiB" : std::to_string(m_most) + " bytes";
        return std::unexpected(Error { ErrorCode::CannotRead, m_name,
            "is longer than " + bound + ", of which no more is read", m_right + " of at most " + bound });
    }

    /// `expected`: bytes that a regular file has; room for them is taken once.
    Expected<std::string> all(int descriptor, std::size_t expected = 0) const
    {
        std::string text;
        if (expected > 0)
            text.reserve(std::min(expected, m_most) + kBlock);
        for (;;) {
            const std::size_t before = text.size();
            text.resize(before + std::min(kBlock, m_most + 1 - before));
            const ssize_t got = ::read(descriptor, text.data() + before, text.size() - before);
            text.resize(before + std::size_t(std::max<ssize_t>(got, 0)));
            if (got == 0)
                return text;
            if (text.size() > m_most)
                return tooLong();
            if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
                pollfd waiting { descriptor, POLLIN, 0 };
                ::poll(&waiting, 1, -1);
            } else if (got < 0 && errno != EINTR) {
                return failed(errno == EISDIR ? "this is a folder" : std::strerror(errno));
            }
        }
    }

    std::size_t most() const { return m_most; }

private:
    std::string m_name, m_right;
    std::size_t m_most;
};

class Descriptor {
public:
    explicit Descriptor(int number)
        : m_number(number)
    {
    }
    ~Descriptor()
    {
        if (m_number >= 0)
            ::close(m_number);
    }
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;
    [[nodiscard]] int number() const { return m_number; }

private:
    int m_number;
};

const char *kindOf(mode_t mode)
{
    return S_ISFIFO(mode) ? "a pipe" : S_ISSOCK(mode) ? "a socket" : "a device";
}

} // namespace

Expected<std::string> readTextFile(const std::string &path, const std::string &right, ReadOptions options)
{
    const Reading reading(path, right, options.mostBytes);
    if (path.find('\0') != std::string::npos) // the system would read the name up to there
        return reading.failed(std::strerror(ENOENT));
    // O_NONBLOCK: opening a pipe that nobody writes to would wait for ever. It does nothing to a regular file.
    const bool takesStreams = options.kinds == FileKinds::StreamsToo;
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | (takesStreams ? 0 : O_NONBLOCK)));
    struct stat status { };
    if (file.number() < 0 || ::fstat(file.number(), &status) != 0)
        return reading.failed(std::strerror(errno));
    if (S_ISDIR(status.st_mode))
        return reading.failed("this is a folder");
    if (!S_ISREG(status.st_mode) && !takesStreams)
        return reading.failed(std::string("this is ") + kindOf(status.st_mode) + ", which cannot be read here");
    if (S_ISREG(status.st_mode) && status.st_size > 0 && std::size_t(status.st_size) > options.mostBytes)
        return reading.tooLong();
    return reading.all(file.number(), S_ISREG(status.st_mode) ? std::size_t(std::max<off_t>(status.st_size, 0)) : 0);
}

Expected<std::string> readStandardInput(const std::string &right, std::size_t mostBytes)
{
    return Reading("stdin", right, mostBytes).all(STDIN_FILENO);
}

} // namespace trainyard
