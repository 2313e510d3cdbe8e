// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/error.h"

#include "core/base/printable.h"

namespace trainyard {

std::string toString(const Error &error)
{
    std::string line = error.where;
    if (!line.empty())
        line += ": ";
    line += error.what;
    if (!error.right.empty())
        line += "; expected " + error.right;
    return printable(line);
}

} // namespace trainyard
