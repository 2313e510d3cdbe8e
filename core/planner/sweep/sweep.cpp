// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/sweep/sweep.h"

#include "core/base/printable.h"
#include "core/facts/plan/plan_io.h"
#include "core/planner/sweep/draw.h"
#include "core/planner/sweep/fingerprint_internal.h"

#include <algorithm>
#include <set>

namespace trainyard {

namespace {

constexpr std::uint64_t kTooMany = ~std::uint64_t(0);

bool hasControls(const std::string &text)
{
    return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

/// Reading a value reads a whole plan.
void checkValue(const SweepSpec &spec, const SweepAxis &axis, const std::string &value, Errors &errors)
{
    if (hasControls(value)) {
        errors.push_back(
            { ErrorCode::BadValue, axis.key, "has a value with a control character in it", "a value of one line" });
        return;
    }
    if (const auto plan = withKeySet(*spec.plan, axis.key, value); !plan)
        errors.insert(errors.end(), plan.error().begin(), plan.error().end());
}

void checkValues(const SweepSpec &spec, const SweepAxis &axis, Errors &errors)
{
    if (axis.values.empty())
        errors.push_back({ ErrorCode::BadValue, axis.key, "has no values", "at least one" });
    std::set<std::string_view> seen, told;
    for (const std::string &value : axis.values)
        if (!seen.insert(value).second && told.insert(value).second)
            errors.push_back(
                { ErrorCode::BadValue, axis.key, "has the value " + shortened(value) + " twice", "each value once" });
    const std::size_t all = axis.values.size(), most = std::min(all, kMostChecked);
    for (std::size_t i = 0; i < most; ++i) {
        const std::size_t before = errors.size();
        checkValue(spec, axis, axis.values[most > 1 ? i * (all - 1) / (most - 1) : 0], errors);
        if (errors.size() > before && errors.back().code == ErrorCode::UnknownKey)
            return; // once for all of its values
    }
}

} // namespace

std::uint64_t SweepSpec::combinations() const
{
    std::uint64_t product = 1;
    for (const SweepAxis &axis : vary) {
        const std::uint64_t size = axis.values.size();
        if (size != 0 && product > kTooMany / size)
            return kTooMany;
        product *= size;
    }
    return product;
}

std::uint64_t SweepSpec::rows() const
{
    const std::uint64_t all = combinations();
    return random == 0 ? all : std::min(random, all);
}

std::vector<std::size_t> SweepSpec::choices(std::uint64_t row) const
{
    std::uint64_t number = random == 0 ? row : drawn(row, combinations(), seed);
    std::vector<std::size_t> chosen(vary.size());
    for (std::size_t i = vary.size(); i-- > 0;) {
        chosen[i] = std::size_t(number % vary[i].values.size());
        number /= vary[i].values.size();
    }
    return chosen;
}

std::vector<std::string> SweepSpec::values(std::uint64_t row) const
{
    std::vector<std::string> texts;
    const std::vector<std::size_t> chosen = choices(row);
    for (std::size_t i = 0; i < vary.size(); ++i)
        texts.push_back(vary[i].values[chosen[i]]);
    return texts;
}

std::string SweepSpec::fingerprint() const
{
    // Parts with their lengths, so that no two sweeps have one text.
    std::string text;
    const auto add = [&](const std::string &part) { text += std::to_string(part.size()) + ":" + part; };
    add(formatPlan(*plan));
    for (const SweepAxis &axis : vary) {
        add(axis.key);
        add(std::to_string(axis.values.size()));
        for (const std::string &value : axis.values)
            add(value);
    }
    add(std::to_string(random));
    add(std::to_string(random == 0 ? 0 : seed));
    for (const SweepInput &input : inputs) {
        add(input.path);
        add(input.fingerprint);
    }
    return detail::fingerprintOf(text);
}

Errors checkSweep(const SweepSpec &spec)
{
    Errors errors;
    if (spec.vary.empty())
        errors.push_back(
            { ErrorCode::BadValue, "--vary", "no key is varied", "for example --vary parallelism.pipeline=1,2,4" });
    if (spec.rows() > kMostSweepRows)
        errors.push_back({ ErrorCode::OutOfRange, "--vary",
            spec.rows() == kTooMany ? "the combinations are beyond counting"
                                    : "there are " + std::to_string(spec.rows()) + " rows",
            "at most " + std::to_string(kMostSweepRows) + ": fewer values, or --random N" });
    if (spec.random > 0 && spec.combinations() == kTooMany)
        errors.push_back({ ErrorCode::OutOfRange, "--vary", "the combinations are beyond counting",
            "fewer than 2^64, of which --random N draws" });
    if (!errors.empty())
        return errors; // before hundreds of thousands of values are read
    std::set<std::string_view> keys;
    for (const SweepAxis &axis : spec.vary) {
        if (!keys.insert(axis.key).second)
            errors.push_back({ ErrorCode::BadValue, axis.key, "is varied twice", "all of its values in one --vary" });
        checkValues(spec, axis, errors);
    }
    return errors;
}

} // namespace trainyard
