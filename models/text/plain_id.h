#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Ids made of names that people give, so that they can be typed in a shell. Pure.

#include <QString>

#include <string>

namespace trainyard {

/// "My lab #2" → "my-lab-2": ASCII letters and digits, single dashes between them; `otherwise` where the name has
/// neither.
[[nodiscard]] inline std::string plainId(const QString &name, const char *otherwise)
{
    std::string id;
    for (const QChar c : name.toLower()) {
        if (c.unicode() < 128 && c.isLetterOrNumber())
            id += char(c.unicode());
        else if (!id.empty() && id.back() != '-')
            id += '-';
    }
    if (!id.empty() && id.back() == '-')
        id.pop_back();
    return id.empty() ? otherwise : id;
}

} // namespace trainyard
