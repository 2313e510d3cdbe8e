// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/output_target_internal.h"

#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace trainyard::detail {

namespace {

constexpr int kMostLinks = 40; // as the kernel does

/// The folder without links, "/…/" with a slash at its end; empty, with errno, where it is missing.
std::string realFolder(const std::string &path)
{
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
    const std::unique_ptr<char, void (*)(void *)> real(::realpath(folder.c_str(), nullptr), std::free);
    if (!real)
        return {};
    const std::string text = real.get();
    return text == "/" ? text : text + "/";
}

/// The number of a descriptor of this program that the path names, or -1.
int descriptorOf(const std::string &folder, const std::string &name)
{
    if (folder != "/proc/" + std::to_string(::getpid()) + "/fd/")
        return -1;
    int number = -1;
    const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), number);
    return code == std::errc() && end == name.data() + name.size() ? number : -1;
}

OutputTarget faulty(std::string why)
{
    OutputTarget target;
    target.fault = std::move(why);
    return target;
}

} // namespace

OutputTarget findOutputTarget(const std::string &path)
{
    OutputTarget target;
    if (path == "-") {
        target.kind = OutputTarget::Kind::StandardOutput;
        return target;
    }
    std::string at = path;
    for (int links = 0; links <= kMostLinks; ++links) {
        if (at.empty() || at.ends_with('/'))
            return faulty(at.empty() ? "the name is empty" : "this is a folder");
        const std::string folder = realFolder(at), name = at.substr(at.rfind('/') + 1);
        if (folder.empty())
            return faulty(std::strerror(errno));
        target.path = folder + name;
        if (const int number = descriptorOf(folder, name); number >= 0) {
            target.kind = number == STDOUT_FILENO ? OutputTarget::Kind::StandardOutput : OutputTarget::Kind::Stream;
            target.descriptor = number;
            return target;
        }
        struct stat status { };
        if (::lstat(target.path.c_str(), &status) != 0)
            return errno == ENOENT ? target : faulty(std::strerror(errno));
        if (S_ISDIR(status.st_mode))
            return faulty("this is a folder");
        if (S_ISBLK(status.st_mode))
            return faulty("this is a disk");
        if (!S_ISLNK(status.st_mode)) {
            target.kind = S_ISREG(status.st_mode) ? OutputTarget::Kind::File : OutputTarget::Kind::Stream;
            return target;
        }
        std::string link(PATH_MAX, '\0');
        const ssize_t length = ::readlink(target.path.c_str(), link.data(), link.size());
        if (length <= 0)
            return faulty(std::strerror(errno));
        link.resize(std::size_t(length));
        at = link.starts_with('/') ? link : folder + link;
    }
    return faulty(std::strerror(ELOOP));
}

} // namespace trainyard::detail
