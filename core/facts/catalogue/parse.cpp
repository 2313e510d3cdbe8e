// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/parse.h"

#include "core/base/words.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/catalogue/entry_readers_internal.h"

#include <algorithm>

namespace trainyard {

namespace {

template <class Entry>
ExpectedAll<Entry> parseEntry(std::string_view json, const std::string &where, Entry (*read)(ObjectReader &))
{
    const auto object = parseJson(json, where);
    if (!object)
        return std::unexpected(Errors { object.error() });
    Errors errors;
    ObjectReader reader(*object, where, errors);
    Entry entry = read(reader);
    if (!errors.empty())
        return std::unexpected(std::move(errors));
    return entry;
}

} // namespace

ExpectedAll<GpuSpec> parseGpu(std::string_view json, const std::string &where)
{
    return parseEntry<GpuSpec>(json, where, &readGpu);
}

ExpectedAll<ModelSpec> parseModel(std::string_view json, const std::string &where)
{
    return parseEntry<ModelSpec>(json, where, &readModel);
}

Expected<StackSpec> withOverrides(const StackSpec &base, const std::map<std::string, double> &overrides)
{
    StackSpec stack = base;
    for (const auto &[key, value] : overrides) {
        const auto field = std::ranges::find(stackFields(), key, &StackField::key);
        if (field == stackFields().end()) {
            const std::string near = nearestName(key, stackKeys());
            return std::unexpected(Error { ErrorCode::UnknownKey, "stack." + key, "unknown key " + key,
                near.empty() ? "a field of a stack" : "perhaps " + near });
        }
        if (!(value >= field->range.low && value <= field->range.high))
            return std::unexpected(Error { ErrorCode::BadValue, "stack." + key, key + " is " + plainNumber(value),
                field->flag
                    ? "0 or 1"
                    : "a number from " + plainNumber(field->range.low) + " to " + plainNumber(field->range.high) });
        if (field->flag)
            stack.*(field->flag) = value != 0;
        else
            stack.*(field->figure) = value;
    }
    return stack;
}

StackSpec slowedBy(const StackSpec &stack, double time)
{
    StackSpec slowed = stack;
    for (const StackField &field : stackFields()) {
        if (field.kind == StackField::Kind::Time)
            slowed.*(field.figure) *= time;
        else if (field.kind == StackField::Kind::Speed)
            slowed.*(field.figure) /= time;
    }
    return slowed;
}

const StackRelease *StackSpec::release(const std::string &wanted) const
{
    const auto found = std::ranges::find(releases, wanted, &StackRelease::id);
    return found == releases.end() ? nullptr : &*found;
}

const std::vector<std::string> &stackKeys()
{
    static const std::vector<std::string> keys = [] {
        std::vector<std::string> names;
        for (const StackField &field : stackFields())
            names.emplace_back(field.key);
        std::ranges::sort(names);
        return names;
    }();
    return keys;
}

} // namespace trainyard
