#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// JSON as training tools write it, and the Python literals that their logs print instead: NaN and Infinity, single
// quotes, True and None, tuples, np.float64(0.5), a file that ends in the middle. What is complete is kept; nothing is
// refused but what does not start like a value. Depth is bounded. Values, any thread.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainyard::readers {

struct LooseValue {
    enum class Kind : std::uint8_t { Null, Truth, Number, Text, List, Map };
    Kind kind = Kind::Null;
    bool isWhole = false; // a number without point and exponent
    double number = 0; // or 0 and 1 of a truth; NaN where it is not finite
    std::string text; // of a Text; of a number as it stands
    std::vector<LooseValue> items; // of a list, or the values of a map
    std::vector<std::string> keys; // of a map

    [[nodiscard]] const LooseValue *find(std::string_view key) const; // of equal ones the last; nullptr
    [[nodiscard]] bool isNumber() const { return kind == Kind::Number; }
    [[nodiscard]] bool isMap() const { return kind == Kind::Map; }
    /// A number, or a text that is one ("nan" of golden values, "1e-05" of Trainer 5).
    [[nodiscard]] bool holdsNumber(double &value) const;
    /// As an argument is shown: texts and numbers as they stand, True, None, lists as JSON.
    [[nodiscard]] std::string shown() const;
};

struct LooseText {
    LooseValue value;
    bool isRead = false; // there is a value, if only its beginning
    bool isTruncated = false; // the text ends in it
    bool isBroken = false; // something in it is no value; all that stands before it was kept
    std::size_t end = 0; // behind it
};
[[nodiscard]] LooseText parseLoose(std::string_view text);

} // namespace trainyard::readers
