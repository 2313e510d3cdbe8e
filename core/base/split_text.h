#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Lists as people type them: "a=1,b=[2,3],c=\"x,y\"". A separator inside brackets, braces or double quotes does not
// part. Pure functions, any thread.

#include "core/base/error.h"

#include <string_view>
#include <vector>

namespace trainyard {

/// The pieces between separators, without the spaces around them; empty pieces are pieces, and an empty text is one.
/// They refer to `text`. Errors: a bracket or quote that is not closed, or closed without being open; `where` empty.
[[nodiscard]] Expected<std::vector<std::string_view>> splitOutside(std::string_view text, char separator = ',');

} // namespace trainyard
