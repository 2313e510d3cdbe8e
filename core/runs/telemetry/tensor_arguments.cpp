// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/tensor_arguments.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace trainyard {

namespace {

struct TensorType {
    std::string_view longName, shortName;
    double bytes;
};
constexpr std::array kTensorTypes { TensorType { "BFloat16", "bf16", 2 }, TensorType { "Half", "f16", 2 },
    TensorType { "float", "f32", 4 }, TensorType { "double", "f64", 8 }, TensorType { "long int", "i64", 8 },
    TensorType { "long", "i64", 8 }, TensorType { "int", "i32", 4 }, TensorType { "short int", "i16", 2 },
    TensorType { "short", "i16", 2 }, TensorType { "signed char", "i8", 1 }, TensorType { "char", "i8", 1 },
    TensorType { "unsigned char", "u8", 1 }, TensorType { "bool", "b8", 1 },
    TensorType { "Float8_e4m3fn", "f8e4m3", 1 }, TensorType { "Float8_e4m3fnuz", "f8e4m3z", 1 },
    TensorType { "Float8_e5m2", "f8e5m2", 1 }, TensorType { "Float8_e5m2fnuz", "f8e5m2z", 1 },
    TensorType { "complex<float>", "c64", 8 }, TensorType { "complex<double>", "c128", 16 } };

std::string sizeText(double size)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.0f", size);
    return text;
}

TensorArgument readTensorArgument(std::string_view text)
{
    TensorArgument made;
    if (text == "-")
        return made;
    const std::size_t open = text.find('[');
    if (open == std::string_view::npos || open == 0 || !text.ends_with(']')) { // a value may be a list of its own
        made.value = text;
        return made;
    }
    made.type = text.substr(0, open);
    for (std::size_t at = open + 1; at < text.size();) {
        double size = 0;
        const auto read = std::from_chars(text.data() + at, text.data() + text.size(), size);
        if (read.ec == std::errc() && std::isfinite(size))
            made.sizes.push_back(size);
        at = std::min(text.find(',', at), text.size() - 1) + 1;
        while (at < text.size() && text[at] == ' ')
            ++at;
    }
    return made;
}

} // namespace

double TensorArgument::elements() const
{
    double product = isTensor() ? 1 : 0;
    for (const double size : sizes)
        product *= size;
    return product;
}

double TensorArgument::bytes() const
{
    return elements() * bytesOfShortType(type);
}

std::string shortTypeName(std::string_view type)
{
    if (const std::size_t at = type.rfind("::"); at != std::string_view::npos)
        type.remove_prefix(at + 2);
    const auto known = std::ranges::find(kTensorTypes, type, &TensorType::longName);
    return std::string(known == kTensorTypes.end() ? type : known->shortName);
}

double bytesOfShortType(std::string_view type)
{
    const auto known = std::ranges::find(kTensorTypes, type, &TensorType::shortName);
    return known == kTensorTypes.end() ? 0 : known->bytes;
}

std::string textOf(const std::vector<TensorArgument> &arguments)
{
    std::string text;
    for (const TensorArgument &argument : arguments) {
        text += &argument == &arguments.front() ? "" : ", ";
        if (!argument.isTensor()) {
            text += argument.value.empty() ? "-" : argument.value;
            continue;
        }
        text += argument.type + "[";
        for (std::size_t d = 0; d < argument.sizes.size(); ++d)
            text += (d > 0 ? ", " : "") + sizeText(argument.sizes[d]);
        text += "]";
    }
    return text;
}

std::vector<TensorArgument> readTensorArguments(std::string_view text)
{
    std::vector<TensorArgument> made;
    while (!text.empty()) {
        int depth = 0;
        std::size_t end = 0;
        for (; end < text.size() && (depth > 0 || text[end] != ','); ++end)
            depth += text[end] == '[' ? 1 : text[end] == ']' ? -1 : 0;
        made.push_back(readTensorArgument(text.substr(0, end)));
        text.remove_prefix(std::min(end + 2, text.size()));
    }
    return made;
}

} // namespace trainyard
