// SPDX-License-Identifier: GPL-3.0-or-later
// How many bytes a collective carries, as nccl-tests count them: all-gather by what comes out, all others by what goes
// in. Since PyTorch 2.4 the kernel says it; older traces say it by the shapes of the operator that launched it.
#include "core/runs/telemetry/readers/collective_names.h"
#include "core/runs/telemetry/readers/kineto_collect_internal.h"

#include <algorithm>
#include <charconv>

namespace trainyard::readers {

namespace {

/// The argument that nccl-tests count, of a c10d operator: (out, in, …) where both are there.
int countedArgument(std::string_view operation)
{
    return operation == "reduce_scatter" || operation == "all_to_all" ? 1 : 0;
}

/// Elements of one argument of "Input Dims": [[[4, 2048, 4096]], [], …] has a list of one tensor, then none. What is
/// empty counts as nothing.
double elementsOf(std::string_view dims, int argument)
{
    int depth = 0, at = -1;
    double sum = 0, product = 0; // of the list at hand; 0: none of its numbers was read
    for (std::size_t i = 0; i < dims.size();) {
        const char c = dims[i];
        if (c == '[') {
            depth += 1;
            at += depth == 2 ? 1 : 0;
            product = 0;
            if (at > argument)
                break;
        } else if (c == ']') {
            depth -= 1;
            sum += at == argument ? product : 0;
            product = 0;
        } else if (c >= '0' && c <= '9') {
            double number = 0;
            const auto read = std::from_chars(dims.data() + i, dims.data() + dims.size(), number);
            if (read.ec != std::errc() || read.ptr == dims.data() + i)
                return 0;
            product = product == 0 ? number : product * number;
            i = static_cast<std::size_t>(read.ptr - dims.data());
            continue;
        }
        ++i;
    }
    return sum < 1e18 ? sum : 0;
}

/// The n-th string of ["float", "", …].
std::string_view listedString(std::string_view list, int wanted)
{
    std::size_t at = 0;
    for (int i = 0; at < list.size(); ++i) {
        const std::size_t begin = list.find('"', at);
        if (begin == std::string_view::npos)
            break;
        const std::size_t end = list.find('"', begin + 1);
        if (end == std::string_view::npos)
            break;
        if (i == wanted)
            return list.substr(begin + 1, end - begin - 1);
        at = end + 1;
    }
    return {};
}

double countOf(JsonValue value)
{
    const auto number = value.empty() ? std::nullopt : wholeNumber(value);
    return number && *number > 0 ? static_cast<double>(*number) : 0;
}

} // namespace

CollectiveFacts readCollective(const TraceEvent &event)
{
    CollectiveFacts facts;
    if (!event.sequence.empty())
        facts.sequence = std::max<std::int64_t>(wholeNumber(event.sequence).value_or(-1), -1);
    if (!event.collective.empty()) {
        facts.operation = collectiveNamed(unquoted(event.collective));
        facts.elements = countOf(facts.operation == "all_gather" ? event.outElements : event.inElements);
        facts.elementBytes = bytesOfType(unquoted(event.dtype));
        facts.trust = 3;
        return facts;
    }
    const std::string_view name = unquoted(event.name);
    if (event.inputDims.empty())
        return facts;
    const bool isOperator = name.starts_with("c10d::");
    if (isOperator)
        facts.operation = collectiveNamed(name);
    const int argument = isOperator ? countedArgument(facts.operation) : 0;
    facts.elements = elementsOf(event.inputDims, argument);
    facts.elementBytes = bytesOfType(listedString(event.inputType, argument));
    facts.trust = isOperator ? 2 : 1;
    return facts;
}

} // namespace trainyard::readers
