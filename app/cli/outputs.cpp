// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/outputs.h"

#include "core/base/output_file.h"

#include <sys/stat.h>
#include <unistd.h>

namespace trainyard::cli {

namespace {

/// A regular file, there or yet to be made.
struct Identity {
    std::string target; // without links; empty: no regular file
    struct stat status { };
    bool isThere = false;

    [[nodiscard]] bool isSameAs(const Identity &other) const
    {
        if (target.empty() || other.target.empty())
            return false;
        return target == other.target
            || (isThere && other.isThere && status.st_dev == other.status.st_dev
                && status.st_ino == other.status.st_ino);
    }
};

Identity identityOf(const std::string &path)
{
    Identity identity;
    if (path.empty())
        return identity;
    identity.target = outputTarget(path);
    identity.isThere = !identity.target.empty() && ::stat(identity.target.c_str(), &identity.status) == 0;
    return identity;
}

/// Where a standard stream was sent to a file, or comes from one.
Identity identityOfStream(int descriptor)
{
    Identity identity;
    identity.isThere = ::fstat(descriptor, &identity.status) == 0 && S_ISREG(identity.status.st_mode);
    if (identity.isThere)
        identity.target = "standard stream " + std::to_string(descriptor);
    return identity;
}

} // namespace

Errors outputClashes(const std::vector<NamedFile> &outputs, const std::vector<std::string> &inputs)
{
    Errors errors;
    const auto clash = [&](const NamedFile &output, const std::string &with) {
        errors.push_back(
            { ErrorCode::CannotWrite, output.option + " " + output.path, "would overwrite " + with, "another file" });
    };
    const Identity printed = identityOfStream(STDOUT_FILENO);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const Identity own = identityOf(outputs[i].path);
        for (const std::string &input : inputs)
            if (own.isSameAs(input == "-" ? identityOfStream(STDIN_FILENO) : identityOf(input)))
                clash(outputs[i], (input == "-" ? "the file of standard input" : input) + ", which is read");
        for (std::size_t other = 0; other < i; ++other)
            if (own.isSameAs(identityOf(outputs[other].path)))
                clash(outputs[i], "what " + outputs[other].option + " writes");
        if (own.isSameAs(printed))
            clash(outputs[i], "the file that standard output goes to");
    }
    return errors;
}

} // namespace trainyard::cli
