// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/open_file_internal.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace trainyard {

namespace {

const char *kindOf(mode_t mode)
{
    return S_ISFIFO(mode) ? "a pipe" : S_ISSOCK(mode) ? "a socket" : "a device";
}

} // namespace

Descriptor::~Descriptor()
{
    if (m_number >= 0)
        ::close(m_number);
}

Error cannotRead(const std::string &path, const std::string &right, const std::string &why)
{
    return { ErrorCode::CannotRead, path, why, right };
}

Error tooLongToRead(const std::string &path, const std::string &right, std::size_t most)
{
    const std::string bound = most >> 20 > 0 ? std::to_string(most >> 20) + " MiB" : std::to_string(most) + " bytes";
    return cannotRead(path, right + " of at most " + bound, "is longer than " + bound + ", of which no more is read");
}

Expected<OpenedFile> openFile(const std::string &path, const std::string &right, ReadOptions options)
{
    const auto failed = [&](const std::string &why) { return std::unexpected(cannotRead(path, right, why)); };
    if (path.find('\0') != std::string::npos) // the system would read the name up to there
        return failed(std::strerror(ENOENT));
    // O_NONBLOCK: opening a pipe that nobody writes to would wait for ever. It does nothing to a regular file.
    const bool takesStreams = options.kinds == FileKinds::StreamsToo;
    OpenedFile file { Descriptor(
        ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | (takesStreams ? 0 : O_NONBLOCK))) };
    struct stat status { };
    if (file.descriptor.number() < 0 || ::fstat(file.descriptor.number(), &status) != 0)
        return failed(std::strerror(errno));
    if (S_ISDIR(status.st_mode))
        return failed("this is a folder");
    if (!S_ISREG(status.st_mode) && !takesStreams)
        return failed(std::string("this is ") + kindOf(status.st_mode) + ", which cannot be read here");
    file.bytes = S_ISREG(status.st_mode) ? std::size_t(std::max<off_t>(status.st_size, 0)) : 0;
    if (file.bytes > options.mostBytes)
        return std::unexpected(tooLongToRead(path, right, options.mostBytes));
    return file;
}

} // namespace trainyard
