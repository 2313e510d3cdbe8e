// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace trainyard {

Expected<std::string> readTextFile(const std::string &path, const std::string &right)
{
    const auto cannotRead = [&](const std::string &why) {
        return std::unexpected(Error{ErrorCode::CannotRead, path, why, right});
    };
    std::error_code code;
    if (std::filesystem::is_directory(path, code))
        return cannotRead("this is a folder");
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return cannotRead(errno != 0 ? std::strerror(errno) : "cannot be opened");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (file.bad())
        return cannotRead("reading failed");
    return text;
}

} // namespace trainyard
