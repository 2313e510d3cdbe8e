// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/embedded_plan.h"

#include "core/facts/plan/plan_io.h"

#include <initializer_list>

namespace trainyard {

namespace {

struct Around {
    std::string_view begin, end;
};
constexpr Around kElement { "<template id=\"trainyard-plan\">", "</template>" };
constexpr Around kProperty { "<trainyard:plan>", "</trainyard:plan>" };

std::string wrapped(const Around &around, const Plan &plan)
{
    return std::string(around.begin) + embeddablePlan(plan) + std::string(around.end);
}

} // namespace

std::string embeddablePlan(const Plan &plan)
{
    std::string safe;
    for (const char c : formatPlan(plan)) { // outside of JSON's strings none of the three occurs
        switch (c) {
        case '<':
            safe += "\\u003c";
            break;
        case '>':
            safe += "\\u003e";
            break;
        case '&':
            safe += "\\u0026";
            break;
        default:
            safe += c;
        }
    }
    return safe;
}

std::string planElement(const Plan &plan)
{
    return wrapped(kElement, plan);
}

std::string planMetadata(const Plan &plan)
{
    return "<?xpacket begin=\"\xEF\xBB\xBF\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">"
           "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:Description rdf:about=\"\" "
           "xmlns:trainyard=\"urn:trainyard:plan\">"
        + wrapped(kProperty, plan) + "</rdf:Description></rdf:RDF></x:xmpmeta>\n<?xpacket end=\"r\"?>\n";
}

bool isPage(std::string_view content)
{
    const std::size_t first = content.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
    return first != std::string_view::npos && (content[first] == '<' || content.substr(first).starts_with("%PDF-"));
}

std::optional<std::string_view> planInside(std::string_view page)
{
    if (!isPage(page))
        return std::nullopt;
    for (const auto &[begin, end] : { kElement, kProperty }) {
        const std::size_t from = page.find(begin);
        const std::size_t to = from == std::string_view::npos ? from : page.find(end, from);
        if (to != std::string_view::npos)
            return page.substr(from + begin.size(), to - from - begin.size());
    }
    return std::nullopt;
}

Plan withModelInside(const Plan &plan, const ModelSpec &model)
{
    Plan next = plan;
    // A model of the catalogue has an id, and one that is not known has no layers.
    if (!next.workload.inlineModel && !next.workload.model.empty() && model.id.empty() && model.layers > 0) {
        next.workload.model.clear();
        next.workload.inlineModel = model;
    }
    return next;
}

} // namespace trainyard
