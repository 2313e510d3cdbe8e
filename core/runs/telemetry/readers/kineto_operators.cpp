// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/kineto_operators_internal.h"

#include "core/runs/telemetry/tensor_arguments.h"

#include <algorithm>
#include <charconv>

namespace trainyard::readers {

namespace {

constexpr std::size_t kLongestArguments = 2048; // bytes that they take in their trace; longer ones are of long lists
constexpr std::size_t kMostOperators = 1 << 16; // that differ

/// The entries of a list, each as it stands there.
std::vector<std::string_view> entriesOf(std::string_view list)
{
    std::vector<std::string_view> entries;
    if (list.size() < 2 || list.front() != '[')
        return entries;
    list = list.substr(1, list.size() - 2);
    std::size_t begin = 0;
    int depth = 0;
    bool isText = false;
    const auto add = [&](std::size_t end) {
        std::string_view entry = list.substr(begin, end - begin);
        while (!entry.empty() && entry.front() <= ' ')
            entry.remove_prefix(1);
        while (!entry.empty() && entry.back() <= ' ')
            entry.remove_suffix(1);
        entries.push_back(entry);
        begin = end + 1;
    };
    for (std::size_t i = 0; i < list.size(); ++i) {
        isText = list[i] == '"' ? !isText : isText;
        if (isText)
            continue;
        depth += list[i] == '[' ? 1 : list[i] == ']' ? -1 : 0;
        if (list[i] == ',' && depth == 0)
            add(i);
    }
    if (!list.empty())
        add(list.size());
    return entries;
}

/// "[4, 2]"; empty where it is a list of lists or holds what is no number.
std::optional<std::vector<double>> sizesOf(std::string_view list)
{
    std::vector<double> sizes;
    for (const std::string_view entry : entriesOf(list)) {
        double size = 0;
        const auto read = std::from_chars(entry.data(), entry.data() + entry.size(), size);
        if (read.ec != std::errc() || read.ptr != entry.data() + entry.size() || !(size >= 0 && size <= 1e15))
            return std::nullopt;
        sizes.push_back(size);
    }
    return sizes;
}

/// Whose work hangs on more than the sizes of its tensors: attention by any of its names. Of others a value, as a rate
/// of learning, would only make calls differ.
bool needsValues(std::string_view name)
{
    return name.find("ttention") != std::string_view::npos || name.find("ttn") != std::string_view::npos;
}

/// What a type or value may be without being taken for another argument; else it is left out.
bool isPlain(std::string_view text)
{
    return text.size() <= 64 && text.find_first_of("()\"{}\\") == std::string_view::npos;
}

std::vector<TensorArgument> tensorsOf(const TraceEvent &event)
{
    std::vector<TensorArgument> made;
    const auto sizes = entriesOf(event.inputDims), types = entriesOf(event.inputType),
               values = needsValues(event.name) ? entriesOf(event.inputValues) : std::vector<std::string_view>();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        TensorArgument &argument = made.emplace_back();
        const std::string_view type = i < types.size() ? unquoted(types[i]) : std::string_view();
        if (type.empty() || type == "Scalar" || type == "ScalarList" || type == "TensorList") {
            if (i < values.size() && isPlain(unquoted(values[i])))
                argument.value = unquoted(values[i]);
        } else if (auto own = sizesOf(sizes[i]); own && isPlain(type) && type.find_first_of("[],") == type.npos) {
            argument.type = shortTypeName(type);
            argument.sizes = *std::move(own);
        }
    }
    return made;
}

} // namespace

const std::string *OperatorTexts::argumentsOf(const TraceEvent &event)
{
    if (event.inputDims.empty() || event.inputType.empty())
        return nullptr;
    m_raw.assign(event.inputDims).append(event.inputType);
    if (needsValues(event.name))
        m_raw.append(event.inputValues);
    if (m_raw.size() > kLongestArguments) {
        ++m_leftOut;
        return nullptr;
    }
    auto known = m_textByRaw.find(m_raw);
    if (known == m_textByRaw.end()) {
        if (m_textByRaw.size() >= kMostOperators) {
            ++m_leftOut;
            return nullptr;
        }
        const std::vector<TensorArgument> arguments = tensorsOf(event);
        const bool hasTensor = std::ranges::any_of(arguments, &TensorArgument::isTensor);
        known = m_textByRaw.emplace(m_raw, hasTensor ? textOf(arguments) : std::string()).first;
    }
    return known->second.empty() ? nullptr : &known->second;
}

} // namespace trainyard::readers
