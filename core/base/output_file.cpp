// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/output_file.h"

#include "core/base/output_target_internal.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <optional>
#include <streambuf>
#include <sys/stat.h>
#include <unistd.h>

namespace trainyard {

namespace {

std::unexpected<Error> cannotWrite(const std::string &path, const std::string &reason)
{
    return std::unexpected(Error {
        ErrorCode::CannotWrite, path, "cannot be written: " + reason, "a writable file in an existing folder" });
}

/// By the system's error number.
std::unexpected<Error> cannotWrite(const std::string &path, int error)
{
    auto fault = cannotWrite(path, std::string(std::strerror(error)));
    if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
        fault.error().code = ErrorCode::NoRoom;
        fault.error().right = "room for it, or a file on another disk";
    }
    return fault;
}

/// Names of temporary files, where a handler of signals finds them.
class Unfinished {
public:
    struct Slot {
        std::atomic<int> state { 0 }; // 0 free, 1 being filled, 2 to be removed
        std::array<char, PATH_MAX> path {};
    };

    explicit Unfinished(const std::string &path)
    {
        if (path.size() >= PATH_MAX)
            return;
        for (Slot &slot : s_slots) {
            int isFree = 0;
            if (!slot.state.compare_exchange_strong(isFree, 1))
                continue;
            path.copy(slot.path.data(), path.size());
            slot.path[path.size()] = '\0';
            slot.state = 2;
            m_slot = &slot;
            return;
        }
    }
    ~Unfinished()
    {
        if (m_slot)
            m_slot->state = 0;
    }
    Unfinished(const Unfinished &) = delete;
    Unfinished &operator=(const Unfinished &) = delete;

    static void removeAll() noexcept
    {
        for (Slot &slot : s_slots)
            if (slot.state == 2)
                ::unlink(slot.path.data());
    }

private:
    static std::array<Slot, 8> s_slots;
    Slot *m_slot = nullptr;
};
std::array<Unfinished::Slot, 8> Unfinished::s_slots;
static_assert(std::atomic<int>::is_always_lock_free, "a handler of signals reads them");

/// A stream's buffer over an open file that keeps the system's reason for a failure.
class FileBuffer final : public std::streambuf {
public:
    explicit FileBuffer(int descriptor)
        : m_descriptor(descriptor)
    {
        setp(m_bytes.data(), m_bytes.data() + m_bytes.size());
    }
    [[nodiscard]] int error() const { return m_error; }

protected:
    int_type overflow(int_type c) override
    {
        if (!flush())
            return traits_type::eof();
        if (!traits_type::eq_int_type(c, traits_type::eof())) {
            *pptr() = traits_type::to_char_type(c);
            pbump(1);
        }
        return traits_type::not_eof(c);
    }
    int sync() override { return flush() ? 0 : -1; }

private:
    bool flush()
    {
        const char *from = pbase();
        while (from < pptr() && m_error == 0) {
            const ssize_t written = ::write(m_descriptor, from, std::size_t(pptr() - from));
            if (written >= 0)
                from += written;
            else if (errno != EINTR)
                m_error = errno;
        }
        setp(m_bytes.data(), m_bytes.data() + m_bytes.size());
        return m_error == 0;
    }

    int m_descriptor;
    int m_error = 0;
    std::array<char, 1 << 16> m_bytes {};
};

/// The system's error number, 0 where all is written.
int writeThrough(int descriptor, const std::function<void(std::ostream &)> &write)
{
    FileBuffer buffer(descriptor);
    std::ostream stream(&buffer);
    write(stream);
    stream.flush();
    return buffer.error() != 0 ? buffer.error() : stream ? 0 : EIO;
}

/// A file beside the target that will take its place. What is not committed leaves nothing behind.
class Replacement {
public:
    explicit Replacement(std::string target)
        : m_target(std::move(target))
    {
    }
    ~Replacement()
    {
        if (m_descriptor >= 0)
            ::close(m_descriptor);
        if (m_isNamed)
            ::unlink(m_temporary.c_str());
    }
    Replacement(const Replacement &) = delete;
    Replacement &operator=(const Replacement &) = delete;

    /// The system's error number.
    int open()
    {
        const std::size_t slash = m_target.rfind('/');
        const std::string folder = slash == std::string::npos ? "." : m_target.substr(0, slash + 1);
        static std::atomic<unsigned> count { 0 };
        m_temporary = folder + (slash == std::string::npos ? "/" : "") + ".trainyard.part-" + std::to_string(::getpid())
            + "-" + std::to_string(++count);
        const bool isThere = ::stat(m_target.c_str(), &m_old) == 0;
        if (isThere && ::access(m_target.c_str(), W_OK) != 0)
            return errno;
        const mode_t mode = isThere ? 0600 : 0666;
        if (::access("/proc/self/fd", X_OK) == 0) // which is how such a file gets its name
            m_descriptor = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
        if (m_descriptor < 0) {
            m_unfinished.emplace(m_temporary);
            m_descriptor = ::open(m_temporary.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
            m_isNamed = m_descriptor >= 0;
        }
        if (m_descriptor < 0)
            return errno;
        if (isThere && takeOver() != 0)
            return errno;
        return 0;
    }

    int commit()
    {
        // On the disk before it takes the target's place: else a machine that fails may keep the new name of no
        // content.
        if (::fsync(m_descriptor) != 0 && errno != EINVAL && errno != ENOSYS) // of file systems that cannot
            return errno;
        if (!m_isNamed) {
            m_unfinished.emplace(m_temporary);
            const std::string link = "/proc/self/fd/" + std::to_string(m_descriptor);
            if (::linkat(AT_FDCWD, link.c_str(), AT_FDCWD, m_temporary.c_str(), AT_SYMLINK_FOLLOW) != 0)
                return errno;
            m_isNamed = true;
        }
        const int closed = ::close(m_descriptor); // some network file systems write only now
        m_descriptor = -1;
        if (closed != 0 || ::rename(m_temporary.c_str(), m_target.c_str()) != 0)
            return errno;
        m_isNamed = false;
        return 0;
    }

    [[nodiscard]] int descriptor() const { return m_descriptor; }

private:
    /// Owner and permissions of the old file. Without the right to give files away, the owner changes, and with it goes
    /// what only holds for an owner (set-user-id).
    int takeOver() const
    {
        const bool isOurs = ::fchown(m_descriptor, m_old.st_uid, m_old.st_gid) == 0;
        return ::fchmod(m_descriptor, m_old.st_mode & (isOurs ? 07777 : 0777));
    }

    std::string m_target, m_temporary;
    struct stat m_old { };
    int m_descriptor = -1;
    bool m_isNamed = false;
    std::optional<Unfinished> m_unfinished;
};

Expected<void> replace(
    const std::string &path, const std::string &target, const std::function<void(std::ostream &)> &write)
{
    Replacement file(target);
    int error = file.open();
    if (error == 0)
        error = writeThrough(file.descriptor(), write);
    if (error == 0)
        error = file.commit();
    return error == 0 ? Expected<void>() : cannotWrite(path, error);
}

} // namespace

Expected<void> writeOutputFile(
    const std::string &path, const std::function<void(std::ostream &)> &write, OutputKinds kinds)
{
    const detail::OutputTarget target = detail::findOutputTarget(path);
    if (!target.fault.empty())
        return cannotWrite(path, target.fault);
    if (target.kind == detail::OutputTarget::Kind::File)
        return replace(path, target.path, write);
    if (kinds == OutputKinds::RegularOnly)
        return cannotWrite(path, "this is a pipe or a device, not a file");
    if (target.kind == detail::OutputTarget::Kind::StandardOutput) {
        write(std::cout);
        std::cout.flush();
        return std::cout ? Expected<void>() : cannotWrite("standard output", errno);
    }
    // The file that a descriptor of ours has open is written on, where it stands.
    const int descriptor = target.descriptor >= 0 ? ::dup(target.descriptor)
                                                  : ::open(target.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    int error = descriptor < 0 ? errno : writeThrough(descriptor, write);
    if (descriptor >= 0 && ::close(descriptor) != 0 && error == 0)
        error = errno;
    return error == 0 ? Expected<void>() : cannotWrite(path, error);
}

std::string outputTarget(const std::string &path)
{
    const detail::OutputTarget target = detail::findOutputTarget(path);
    return target.kind == detail::OutputTarget::Kind::File ? target.path : std::string();
}

void removeUnfinishedOutputs() noexcept
{
    Unfinished::removeAll();
}

} // namespace trainyard
