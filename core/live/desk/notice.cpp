// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/desk/notice.h"

#include <nlohmann/json.hpp>

namespace trainyard::desk {

std::string messageOf(const Notice &notice)
{
    using Json = nlohmann::ordered_json;
    const auto timeOrNull = [](Moment at) { return at == 0 ? Json(nullptr) : Json(isoText(at)); };
    const Json message { { "format", "trainyard.alarm" }, { "version", 1 }, { "event", nameOf(notice.act) },
        { "number", notice.alarm.number }, { "rule", notice.alarm.rule }, { "place", notice.alarm.place },
        { "sentence", notice.alarm.sentence }, { "since", timeOrNull(notice.alarm.since) },
        { "until", timeOrNull(notice.alarm.until) }, { "at", timeOrNull(notice.at) }, { "run", notice.run } };
    return message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace trainyard::desk
