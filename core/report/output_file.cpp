// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/output_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <unistd.h>

namespace trainyard {

namespace {

std::unexpected<Error> cannotWrite(const std::string &path, const std::string &reason)
{
    return std::unexpected(Error{ErrorCode::CannotWrite, path, "cannot be written: " + reason, "a writable file in an existing folder"});
}

} // namespace

Expected<void> writeOutputFile(const std::string &path, const std::function<void(std::ostream &)> &write)
{
    if (path == "-") {
        write(std::cout);
        std::cout.flush();
        return std::cout ? Expected<void>() : cannotWrite("standard output", std::strerror(errno));
    }
    const std::string temporary = path + ".part-" + std::to_string(::getpid());
    errno = 0;
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    if (!file)
        return cannotWrite(path, std::strerror(errno));
    write(file);
    file.close();
    std::error_code error;
    if (!file) {
        const std::string reason = std::strerror(errno);
        std::filesystem::remove(temporary, error);
        return cannotWrite(path, reason);
    }
    std::filesystem::rename(temporary, path, error);
    if (error) {
        const std::string reason = error.message();
        std::filesystem::remove(temporary, error);
        return cannotWrite(path, reason);
    }
    return {};
}

} // namespace trainyard
