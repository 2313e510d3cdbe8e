// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/changed_keys.h"

#include "core/facts/plan/key_list.h"
#include "core/facts/plan/plan_json_internal.h"

#include <algorithm>

namespace trainyard {

namespace {

using detail::Json;

/// A section that is left out where all of it is at its defaults.
bool isPlainSection(const std::string &row)
{
    const auto found = std::ranges::find(planKeys(), row, &KeyRow::path);
    return found != planKeys().end() && found->kind == KeyKind::Section && !found->mayBeMissing;
}

class KeyDiffer {
public:
    std::vector<ChangedKey> found;

    /// Null stands for a key that is not there.
    void compare(const Json *before, const Json *after, const ChangedKey &at)
    {
        if (before == after || (before && after && *before == *after))
            return;
        const auto hasKeys = [](const Json *json) { return json && json->is_object(); };
        const auto isLeftOut = [&](const Json *json) { return !json && isPlainSection(at.row); };
        if ((hasKeys(before) || isLeftOut(before)) && (hasKeys(after) || isLeftOut(after)))
            compareObjects(before, after, at);
        else if (areLikeLists(before, after))
            for (std::size_t i = 0; i < before->size(); ++i) {
                const std::string index = std::to_string(i);
                compare(&(*before)[i], &(*after)[i],
                    { at.path + "[" + index + "]", at.row + "[]", at.pointer + "/" + index });
            }
        else
            found.push_back(at);
    }

private:
    /// Of sections, one for one.
    static bool areLikeLists(const Json *before, const Json *after)
    {
        const auto isObject = [](const Json &item) { return item.is_object(); };
        return before && after && before->is_array() && after->is_array() && before->size() == after->size()
            && std::ranges::all_of(*before, isObject) && std::ranges::all_of(*after, isObject);
    }

    void compareObjects(const Json *before, const Json *after, const ChangedKey &at)
    {
        const auto member = [](const Json *json, const std::string &name) -> const Json * {
            const auto it = json ? json->find(name) : Json::const_iterator();
            return json && it != json->end() ? &*it : nullptr;
        };
        const auto inside = [&](const std::string &name) {
            const std::string dot = at.path.empty() ? "" : ".";
            return ChangedKey { at.path + dot + name, at.row + dot + name,
                at.pointer + "/" + detail::escapedPointerStep(name) };
        };
        if (before)
            for (const auto &[name, value] : before->items())
                compare(&value, member(after, name), inside(name));
        if (after)
            for (const auto &[name, value] : after->items())
                if (!member(before, name))
                    compare(nullptr, &value, inside(name));
    }
};

} // namespace

std::vector<ChangedKey> changedKeys(const Plan &before, const Plan &after)
{
    const Json from = detail::planToJson(before), to = detail::planToJson(after);
    KeyDiffer differ;
    differ.compare(&from, &to, {});
    std::erase_if(differ.found, [](const ChangedKey &key) { return key.row == "name" || key.row == "notes"; });
    return std::move(differ.found);
}

ExpectedAll<Plan> withKeyOf(const Plan &plan, const Plan &other, const ChangedKey &key)
{
    Json document = detail::planToJson(plan);
    const Json from = detail::planToJson(other);
    const Json::json_pointer pointer(key.pointer);
    if (from.contains(pointer))
        document[pointer] = from[pointer];
    else if (document.contains(pointer))
        document[pointer.parent_pointer()].erase(pointer.back());
    auto next = detail::planFromJson(document, "", detail::Where::DottedKey);
    if (next)
        next->baseDir = plan.baseDir;
    return next;
}

} // namespace trainyard
