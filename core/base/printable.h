#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Text of others (names, keys, values of a file) as it may stand before people: no byte that a terminal would obey, no
// line of its own, and not longer than a reader reads. For messages and tables; JSON has its own escapes. Any thread.

#include <string>
#include <string_view>

namespace trainyard {

enum class LineBreaks : bool { Escaped, Kept };

/// Control characters as \x1b, with those of the C1 set and the marks that turn the direction of writing as \u202e, and
/// bytes that are no UTF-8 as \xff. A text without them comes back as it is.
[[nodiscard]] std::string printable(std::string_view text, LineBreaks breaks = LineBreaks::Escaped);

/// At most some `most` bytes: beginning and end, with … between them; never cuts within a character.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t most = 60);

/// Whether the bytes are UTF-8 as JSON wants it: no overlong form, no surrogate.
[[nodiscard]] bool isUtf8(std::string_view text);

} // namespace trainyard
